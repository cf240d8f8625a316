import type { Message } from '#contract/chat.ts';
import type { Executor } from '#server/db/database.ts';
import { windowOf } from '#server/paging.ts';
import * as store from './chat.store.ts';
import { viewSharedMessages } from './views.ts';

/** As far as messages of a session are counted and paged through. */
export const countedMessages = 10_000;

/**
 * A page of what a session shows up to a message, oldest first, for strangers, and how many there
 * are in all. Likes are the viewer's; null: a visitor.
 */
export const sharedTalk = async (
  db: Executor,
  { sessionId, lastHistoryId }: { sessionId: number; lastHistoryId: number },
  viewer: number | null,
  { page, pageSize }: { page: number; pageSize: number },
): Promise<{ list: Message[]; total: number }> => {
  const filter = { sessionId, sharedUpTo: lastHistoryId, forStrangers: true };
  const rows = await store.listMessages(db, viewer, filter, {
    newestFirst: false,
    ...windowOf(page, pageSize, countedMessages),
  });
  return {
    list: await viewSharedMessages(db, rows, sessionId, viewer),
    total: await store.countMessages(db, filter, countedMessages),
  };
};
