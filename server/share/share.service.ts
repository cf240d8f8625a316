import { randomBytes } from 'node:crypto';
import type { Parsed } from '../../contract/calls.ts';
import type { Message } from '../../contract/chat.ts';
import { limits } from '../../contract/limits.ts';
import { sessionTypes } from '../../contract/session.ts';
import { humanText } from '../chat/views.ts';
import type { Executor } from '../db/database.ts';
import { Refusal, type Identity } from '../http/handlers.ts';
import { readableSession, type SessionRow } from '../session/session.service.ts';
import * as store from './share.store.ts';

/** As far as messages behind a link are counted and paged through. */
const countedMessages = 10_000;

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

/** A message as a stranger may see it: nothing of what it cost, no other branches. */
const view = (row: store.SharedMessage): Message => ({
  id: row.id,
  human: humanText(row.human, row.request),
  format: row.request ? 1 : 0,
  title: row.title,
  ai: row.ai,
  reasoning: row.reasoning,
  type: row.type,
  model: row.model,
  state: row.state,
  error_code: row.errorCode,
  error_message: row.errorMessage,
  user_id: row.userId,
  user_name: row.userName,
  created_at: row.createdAt.toISOString(),
  prompt_tokens: 0,
  completion_tokens: 0,
  deduct_tokens: 0,
  like_count: row.likeCount,
  liked: row.liked,
  in_favorites: false,
  edited: row.editedAt !== null,
  job: null,
  siblings: [],
  beside: null,
});

/** What a link leads to. @throws Refusal not_found when it leads nowhere (any more) */
export const sharedSession = async (
  db: Executor,
  { key, page }: Parsed<'sharedSession'>,
  user: Identity | null,
) => {
  const shared = await store.findShared(db, key);
  if (!shared) throw new Refusal('not_found', '链接不存在或已被收回');
  const pageSize = limits.historyPageSize;
  const rows = await store.sharedMessages(db, shared, user?.id ?? 0, {
    offset: Math.min((page - 1) * pageSize, countedMessages),
    limit: pageSize,
  });
  const total = await store.countShared(db, shared, countedMessages);
  return {
    title: shared.title,
    user_name: shared.userName,
    model: shared.model,
    created_at: shared.createdAt.toISOString(),
    list: rows.map(view),
    page,
    page_count: Math.ceil(total / pageSize),
    page_size: pageSize,
    total,
  };
};
