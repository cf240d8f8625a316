import type { Message } from '#contract/chat.ts';
import { limits } from '#contract/limits.ts';
import type { Executor } from '#server/db/database.ts';
import { heavyPage, pageOf } from '#server/paging.ts';
import * as store from './chat.store.ts';
import { viewSharedMessages } from './views.ts';

/** As far as messages of a session are counted and paged through. */
export const countedMessages = 10_000;

/** So many messages are weighed at least: a talk that is no longer knows how many pages it has. */
const weighedMessages = 200;

/** A page of messages that ends once it is heavy, and how many pages and messages there are. */
export const pageOfTalk = async (
  db: Executor,
  viewer: number | null,
  filter: store.MessageFilter,
  { page, pageSize, ...order }: store.MessageOrder & { page: number; pageSize: number },
) => {
  const { total, weights } = await store.measureMessages(db, store.conditions(filter), {
    ...order,
    most: countedMessages,
    reach: Math.min(Math.max(page * pageSize, weighedMessages), countedMessages + pageSize),
  });
  const { window, pages } = heavyPage(weights, total, {
    page,
    size: pageSize,
    most: limits.historyPageBytes,
  });
  const rows =
    window.limit === 0 ? [] : await store.listMessages(db, viewer, filter, { ...order, ...window });
  return { rows, told: { ...pageOf(total, page, pageSize), page_count: pages } };
};

/**
 * A page of what a session shows up to a message, oldest first, for strangers, and how many there
 * are in all. Likes are the viewer's; null: a visitor.
 */
export const sharedTalk = async (
  db: Executor,
  { sessionId, lastHistoryId }: { sessionId: number; lastHistoryId: number },
  viewer: number | null,
  { page, pageSize }: { page: number; pageSize: number },
): Promise<{ list: Message[] } & ReturnType<typeof pageOf>> => {
  const filter = { sessionId, sharedUpTo: lastHistoryId, forStrangers: true };
  const { rows, told } = await pageOfTalk(db, viewer, filter, {
    newestFirst: false,
    page,
    pageSize,
  });
  return { list: await viewSharedMessages(db, rows, sessionId, viewer), ...told };
};
