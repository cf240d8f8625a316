import type { Own, RepliesContext } from './live-replies.ts';
import { ReplyLog } from './reply-log.ts';
import * as store from './reply.store.ts';

const flushBatch = 200;
/** Rows that are stored in a second where nothing is gained by more. */
const mostFlushes = 400;
const noText = new ReplyLog();

/** The row is written anew each time: the longer it is and the more there are, the less often. */
export const flushPause = (
  { live, settings }: Pick<RepliesContext, 'live' | 'settings'>,
  length: number,
): number =>
  Math.min(
    settings.longestFlushMs,
    Math.max(settings.flushMs, (live.size / mostFlushes) * 1000, length / 50),
  );

/** Stores what the replies of this process have so far, and learns which of them are to be cut. */
export const flushDue = async (context: RepliesContext): Promise<void> => {
  const { db, instance, live, log } = context;
  const now = Date.now();
  const due: { id: number; own: Own; length: number }[] = [];
  for (const [id, { own, log: text }] of live) {
    if (!own || own.flushing || own.finishing || own.nextFlush > now) continue;
    own.nextFlush = now + flushPause(context, text.length);
    if (text.length === own.stored) continue;
    own.flushing = true;
    due.push({ id, own, length: text.length });
  }
  for (let from = 0; from < due.length; from += flushBatch) {
    const batch = due.slice(from, from + flushBatch);
    try {
      const kept = await store.flushReplies(
        db,
        instance.id,
        batch.map(({ id, own }) => ({
          id,
          log: own.answer.request.temporary ? noText : own.answer.log,
          promptTokens: own.answer.roughPrompt,
        })),
      );
      for (const { id, own, length } of batch) {
        own.stored = length;
        const row = kept.get(id);
        if (own.finishing) continue;
        if (!row) own.answer.cut('lost');
        else if (row.stopRequested) own.answer.cut('stopped');
      }
    } catch (error) {
      log.warn({ err: error, replies: batch.length }, 'replies could not be stored for now');
    } finally {
      for (const { own } of batch) own.flushing = false;
    }
  }
};
