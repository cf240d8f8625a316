import { sessionTypes } from '#contract/kinds.ts';
import { holdBox, readDraft, writeDraft } from '#src/platform/draft.ts';
import { lazyChunk } from '#src/platform/lazy-chunk.ts';
import type { SessionDetail } from '#contract/session.ts';
import type { Outgoing } from './outgoing.ts';
import type { Thread } from '#src/widgets/conversation/thread.ts';
import type { SendOptions } from '#src/widgets/conversation/thread-commands.ts';

/** Images, prices, mentions: all that a plain message does without. */
export const loadKit = lazyChunk(() => import('./send-kit.tsx'));
export type Kit = Awaited<ReturnType<typeof loadKit>>;

/** Resolves to false when the message was not taken. */
export type Send = (text: string, options?: SendOptions) => Promise<boolean>;

/** Whether more than its words may belong to the next message. */
const hasMore = ({ uuid, type, scenario, embedding_key }: SessionDetail): boolean =>
  type !== sessionTypes.chat ||
  scenario !== null ||
  embedding_key !== '' ||
  ['attach', 'choices'].some((kind) => readDraft(`${kind}:${uuid}`) !== '');

/**
 * Sends the draft with what was added to it; one whose images are on their way goes after them.
 * What was not taken comes back into the box.
 */
export const deliver = async (
  thread: Thread,
  session: SessionDetail,
  prompt: string,
  send: Send,
  options: SendOptions = {},
  /** The words have left the box, which is free for the next ones. */
  onTaken = () => {},
): Promise<void> => {
  const { uuid } = session;
  // What sends them is there before the words leave the draft.
  await thread.commands();
  const release = holdBox(uuid);
  try {
    let outgoing: Outgoing = { text: prompt, options: {}, restore: () => undefined };
    if (hasMore(session)) {
      const kit = await loadKit();
      if (kit.waitForUploads(uuid)) return;
      outgoing = await kit.takeMessage(session, prompt);
    }
    writeDraft(uuid, '');
    onTaken();
    if (await send(outgoing.text, { ...options, ...outgoing.options })) return;
    // Something may have been written meanwhile.
    writeDraft(uuid, [prompt, readDraft(uuid)].filter((text) => text !== '').join('\n'));
    outgoing.restore();
  } finally {
    release();
  }
};
