import { limits } from '#contract/limits.ts';
import { createFairQueue, type Waiter } from '#server/fair-queue.ts';
import { runApart } from '#server/guarded-process.ts';
import { ThreadFailure } from '#server/guarded-thread.ts';
import { Refusal } from '#server/http/handlers.ts';
import type { Block } from '#server/reading/block.ts';
import type { ReadKind } from '#server/reading/kinds.ts';
import { seePages, whyNothing } from '#server/reading/see-pages.ts';
import { workerUrl } from '#server/worker-url.ts';

export interface DocumentTask {
  kind: ReadKind;
  data: Uint8Array;
  /** Characters of text after which reading ends. */
  most: number;
  /** What was seen on pages that are pictures. */
  seen?: Block[];
}

interface DocumentText {
  text: string;
  cut: boolean;
}
/** `pictures`: pages of which only the picture tells what stands there. */
export type DocumentAnswer = (DocumentText & { pictures: number[] }) | { refused: string };

const bounds = { heapMb: 256, growth: 500 * 1024 * 1024 };
/** Pages of one attachment that are looked at: somebody waits for it. */
const mostSeen = 10;

/** Two for everybody and one that guests never hold; what one person may have waiting. */
const inTurn = createFairQueue(3, 12);

const unreadable = (why: string) => new Refusal('upload_unreadable', why);

const ask = (task: DocumentTask, { seconds, owner }: { seconds: number; owner: Waiter }) =>
  inTurn(owner, async () => {
    try {
      const url = workerUrl('./document-worker.ts', import.meta.url);
      const answer = await runApart<DocumentAnswer>(url, task, { ...bounds, seconds });
      if ('refused' in answer) throw unreadable(answer.refused);
      return answer;
    } catch (error) {
      if (!(error instanceof ThreadFailure)) throw error;
      throw unreadable(error.tooMuch ? '文件太复杂，无法读取' : '文件已损坏、已加密或无法读取');
    }
  });

/**
 * The text of a document, read in a process that is ended after `seconds`, or when it takes too much
 * memory; what its pages show as pictures is read as well. `owner`: who has one slot at a time.
 * @throws Refusal upload_unreadable, too_many
 */
export const readDocument = async (
  kind: ReadKind,
  data: Buffer,
  reading: { seconds: number; owner: Waiter; signal?: AbortSignal },
): Promise<DocumentText> => {
  const task = { kind, data, most: limits.fileText };
  const { text, cut, pictures } = await ask(task, reading);
  if (pictures.length === 0) return { text, cut };
  const pages = pictures.slice(0, mostSeen);
  const seen = await seePages(data, kind === 'image' ? null : pages, reading);
  const { blocks } = seen;
  const less = cut || pages.length < pictures.length || seen.cut > 0;
  if (blocks.length > 0) return { ...(await ask({ ...task, seen: blocks }, reading)), cut: less };
  if (text.trim() !== '') return { text, cut: less };
  throw unreadable(whyNothing(seen));
};
