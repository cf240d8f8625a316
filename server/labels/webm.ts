import { createFairQueue, type Waiter } from '#server/fair-queue.ts';
import { createThreadWork } from '#server/engines/thread-work.ts';
import { workerUrl } from '#server/worker-url.ts';
import { type Aigc, aigcText, readAigc } from './aigc.ts';

/** The label in WebM: a tag AIGC of the whole film, in its head. */

export interface WebmLabelJob {
  task: { data: Uint8Array; name: string; text: string };
  /** Null: it holds what cannot be copied. */
  answer: Uint8Array | null;
}

/** Films at once, of each person one: a long one keeps nobody else waiting. */
const atOnce = 2;
const inTurn = createFairQueue(atOnce);

const write = createThreadWork<WebmLabelJob>({
  url: workerUrl('./webm-worker.ts', import.meta.url),
  threads: atOnce,
  workMs: 60_000,
  failure: (why) => new Error(why),
});

/** A film with a label. @throws Error for what is no WebM that can be copied; the signal's reason */
export const labelledWebm = async (
  data: Buffer,
  label: Aigc,
  { signal, owner }: { signal: AbortSignal; owner: Waiter },
): Promise<Buffer> => {
  const made = await inTurn(owner, () =>
    write({ data, name: 'AIGC', text: aigcText(label) }, signal),
  );
  if (!made) throw new Error('a WebM that cannot be copied');
  return Buffer.from(made.buffer, made.byteOffset, made.byteLength);
};

/** Bytes of the head of a film that are looked through. */
const headBytes = 1024 * 1024;

/** The label in the head of a film; null: there is none. */
export const readWebmLabel = (data: Buffer): Aigc | null => {
  const head = data.subarray(0, headBytes);
  const name = head.indexOf(Buffer.from('AIGC', 'latin1'));
  const from = name < 0 ? -1 : head.indexOf('{', name);
  const until = from < 0 ? -1 : head.indexOf('}', from);
  return until < 0 ? null : readAigc(head.toString('utf8', from, until + 1));
};
