import { randomBytes } from 'node:crypto';
import type { Parsed } from '#contract/calls.ts';
import { limits } from '#contract/limits.ts';
import { sessionTypes } from '#contract/kinds.ts';
import { sharedTalk } from '../chat/shared-talk.ts';
import type { Executor } from '#server/db/database.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import { readableSession, type SessionRow } from '../session/session.service.ts';
import * as store from './share.store.ts';

/** The session for its owner. @throws Refusal also not_owner */
const ownSession = async (db: Executor, ref: string, user: Identity): Promise<SessionRow> => {
  const row = await readableSession(db, ref, user);
  if (row.userId !== user.id) throw new Refusal('not_owner');
  if (row.deletedAt) throw new Refusal('session_deleted');
  return row;
};

/** Makes the public link of one's own session, or brings the one that it has up to date. */
export const makeLink = async (db: Executor, ref: string, user: Identity) => {
  const session = await ownSession(db, ref, user);
  if (session.ownerForcedPrivate) throw new Refusal('private_forced');
  if (session.temporary) throw new Refusal('bad_input', 'session_id：临时对话没有保存，不能分享');
  const ofPeople = session.type === sessionTypes.people;
  if (ofPeople && session.private)
    throw new Refusal('private_session', '私聊与私有的问答不能公开分享');
  const lastHistoryId = await store.lastShown(db, session.id);
  if (lastHistoryId === null) throw new Refusal('bad_input', 'session_id：会话还没有消息');
  const { key, createdAt } = await store.putLink(db, {
    key: randomBytes(18).toString('base64url'),
    sessionId: session.id,
    userId: user.id,
    lastHistoryId,
  });
  return { key, created_at: createdAt.toISOString() };
};

export const readLink = async (db: Executor, ref: string, user: Identity) => {
  const session = await ownSession(db, ref, user);
  const link = await store.findLink(db, session.id);
  return { key: link?.key ?? null, created_at: link?.createdAt.toISOString() ?? null };
};

export const revokeLink = async (db: Executor, ref: string, user: Identity): Promise<void> => {
  const session = await ownSession(db, ref, user);
  await store.revokeLinks(db, session.id);
};

/** What a link leads to. @throws Refusal not_found when it leads nowhere (any more) */
export const sharedSession = async (
  db: Executor,
  { key, page }: Parsed<'sharedSession'>,
  user: Identity | null,
) => {
  const shared = await store.findShared(db, key);
  if (!shared) throw new Refusal('not_found', '链接不存在或已停止分享');
  const pageSize = limits.historyPageSize;
  const talk = await sharedTalk(db, shared, user?.id ?? null, { page, pageSize });
  return {
    // A title may come of what was said later.
    title: talk.total === 0 ? '' : shared.title,
    user_name: shared.userName,
    model: shared.model,
    created_at: shared.createdAt.toISOString(),
    ...talk,
  };
};
