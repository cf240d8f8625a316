import type { Parsed } from '#contract/calls.ts';
import { sessionTypes } from '#contract/kinds.ts';
import type { Executor } from '#server/db/database.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import { pageOf } from '#server/paging.ts';
import { friendStateOf } from '../session/friend.service.ts';
import {
  amongStrangers,
  noteSeen,
  readableSession,
  type SessionRow,
} from '../session/session.service.ts';
import { requireVisible, seesHidden } from './access.ts';
import * as store from './chat.store.ts';
import { pageOfTalk } from './shared-talk.ts';
import { viewMessages } from './views.ts';

/** Whoever asked another one and was not answered yet; undefined: nobody. */
const waitsIn = async (db: Executor, session: SessionRow, user: Identity | null) =>
  user !== null &&
  session.lowUserId !== null &&
  (await friendStateOf(db, session.id, user.id)) === 'asking'
    ? user.id
    : undefined;

export const messagePage = async (
  db: Executor,
  input: Parsed<'historyList'>,
  user: Identity | null,
) => {
  const session = await readableSession(db, input.session_id, user);
  const { page, page_size: pageSize } = input;
  const filter = {
    sessionId: session.id,
    forStrangers: amongStrangers(session, user),
    waitingOf: await waitsIn(db, session, user),
    before: input.before,
    after: input.after,
    ...(input.id === undefined
      ? {}
      : { only: { id: input.id, hidden: seesHidden(session, user) } }),
  };
  if (session.temporary) return { list: [], ...pageOf(0, page, pageSize) };
  const { rows, told } = await pageOfTalk(db, user?.id ?? null, filter, {
    newestFirst: input.newest === 1,
    byVotes: input.sort === 'votes' && session.type === sessionTypes.people,
    page,
    pageSize,
  });
  await noteSeen(db, session, user, rows);
  return { list: await viewMessages(db, rows, session, user), ...told };
};

export const newerMessages = async (
  db: Executor,
  input: Parsed<'lastMessages'>,
  user: Identity | null,
) => {
  const session = await readableSession(db, input.sessionId, user);
  if (session.temporary) return [];
  const filter = {
    sessionId: session.id,
    forStrangers: amongStrangers(session, user),
    waitingOf: await waitsIn(db, session, user),
    after: input.maxHistoryId,
    orChanged: session.type === sessionTypes.people,
  };
  const { rows } = await pageOfTalk(db, user?.id ?? null, filter, {
    newestFirst: false,
    page: 1,
    pageSize: 100,
  });
  await noteSeen(db, session, user, rows);
  return viewMessages(db, rows, session, user);
};

/** The state of a message's reply, for somebody who wants to read it. */
export const readableReply = async (
  db: Executor,
  input: Parsed<'eventStream'>,
  user: Identity | null,
) => {
  const session = await readableSession(db, input.session_id, user);
  const message = await requireVisible(db, input.history_id, session, user);
  return { state: message.state, asker: message.userId === user?.id };
};

/** Whether the person's own reply is being written. Others' messages are as if missing. */
export const isStoppable = async (db: Executor, id: number, user: Identity): Promise<boolean> => {
  const message = await store.findMessage(db, id);
  if (message?.userId !== user.id) throw new Refusal('not_found');
  return message.state === 'streaming';
};
