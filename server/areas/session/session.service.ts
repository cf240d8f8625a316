import type { CodeName } from '#contract/errors.ts';
import { sessionTypes } from '#contract/kinds.ts';
import type { Executor } from '#server/db/database.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import { markSeen } from './friend.store.ts';
import { isOtherManager } from './manage-session.store.ts';
import { findSession, type SessionRow } from './session.store.ts';

export type { SessionRow } from './session.store.ts';
export { findSession, markDeleted, noteReply } from './session.store.ts';
export {
  allIdsOf,
  busyAmong,
  countThisMonth,
  deleteAllOf,
  lockSessions,
  makeAllPrivate,
  moveSessions,
  removeTemporary,
  sessionIdsOf,
  sessionsByMonth,
} from './person-sessions.store.ts';

/** At the end of the title of what was taken over from another session. */
export const forkMark = ' ·续';

/** The session whoever asks, deleted ones included: its reader decides who may know of it. */
export const anySession = (db: Executor, ref: string): Promise<SessionRow | null> =>
  findSession(db, ref);

/** Keys of the knowledge bases that it is asked about. */
export const basesOf = ({
  embeddingKey: key,
  moreEmbeddings: more,
}: Pick<SessionRow, 'embeddingKey' | 'moreEmbeddings'>): string[] =>
  key === '' ? [] : [key, ...more];

export const ownedBy = (row: SessionRow, user: Identity | null): boolean => row.userId === user?.id;

/** The owner, or one of the two people of a session that new_friend made. */
export const belongsTo = (
  row: Pick<SessionRow, 'userId' | 'lowUserId' | 'highUserId'>,
  user: Identity | null,
): boolean =>
  user !== null &&
  (row.userId === user.id || row.lowUserId === user.id || row.highUserId === user.id);

/** One of two people has had these messages of their session before them. */
export const noteSeen = async (
  db: Executor,
  row: SessionRow,
  user: Identity | null,
  messages: readonly { id: number }[],
): Promise<void> => {
  if (!user || messages.length === 0) return;
  if (row.lowUserId !== user.id && row.highUserId !== user.id) return;
  await markSeen(db, row.id, user.id, Math.max(...messages.map(({ id }) => id)));
};

/** In the forum people read what strangers wrote; managers see all of it. */
export const amongStrangers = (session: SessionRow, user: Identity | null): boolean =>
  session.type === sessionTypes.people && session.lowUserId === null && user?.manager !== true;

/**
 * Why somebody may not write in a session; null when they may: in their own one, in one of two
 * friends, and in a public one of people, for which guests have to register.
 */
export const writeRefusal = (row: SessionRow, user: Identity): CodeName | null => {
  if (row.deletedAt) return 'session_deleted';
  const ofPeople = row.type === sessionTypes.people;
  if (row.private && !belongsTo(row, user)) return 'private_session';
  if (!ofPeople) return ownedBy(row, user) ? null : 'not_owner';
  if (user.guest) return 'login_required';
  return row.closed && !user.manager ? 'question_closed' : null;
};

/** That a manager sees words of somebody else's private or deleted session is in the log of acts. */
export const noteOpened = async (
  db: Executor,
  row: Parameters<typeof belongsTo>[0] & Pick<SessionRow, 'id' | 'private' | 'deletedAt'>,
  user: Identity,
): Promise<void> => {
  if ((!row.private && row.deletedAt === null) || belongsTo(row, user)) return;
  const to = { user_id: row.userId, private: row.private ? 1 : 0 };
  await user.opens?.(db, { subject: `session:${row.id}`, to });
};

/** Whether a manager may open it; if so it is noted. */
const openedBy = async (db: Executor, row: SessionRow, user: Identity): Promise<boolean> => {
  const may =
    !row.private ||
    user.owner ||
    belongsTo(row, user) ||
    !(await isOtherManager(db, [row.userId], user.id));
  if (may) await noteOpened(db, row, user);
  return may;
};

/**
 * The session for somebody who wants to read it. Missing: 404; deleted: 1433; another's private
 * one: 1432. Managers see all, but for what other managers keep to themselves; which of others' they
 * opened is in the log of acts.
 */
export const readableSession = async (
  db: Executor,
  ref: string,
  user: Identity | null,
): Promise<SessionRow> => {
  const row = await anySession(db, ref);
  if (!row) throw new Refusal('not_found');
  if (user?.manager && (await openedBy(db, row, user))) return row;
  if (row.deletedAt) throw new Refusal('session_deleted');
  if (row.private && !belongsTo(row, user)) throw new Refusal('private_session');
  return row;
};

/**
 * The session for somebody to write in (see `writeRefusal`), locked until the transaction ends.
 * `closedToo`: one may still take away what is one's own.
 */
export const writableSession = async (
  db: Executor,
  ref: string,
  user: Identity,
  { closedToo = false } = {},
): Promise<SessionRow> => {
  const row = await findSession(db, ref, { lock: true });
  if (!row) throw new Refusal('not_found');
  const refusal = writeRefusal(closedToo ? { ...row, closed: false } : row, user);
  if (refusal === 'login_required') throw new Refusal(refusal, '登录之后就可以回复');
  if (refusal) throw new Refusal(refusal);
  return row;
};

/** The session for its owner to change, locked; others' sessions are as if they were not there. */
export const ownSession = async (
  db: Executor,
  ref: string,
  user: Identity,
): Promise<SessionRow> => {
  const row = await findSession(db, ref, { lock: true });
  if (!row || !ownedBy(row, user)) throw new Refusal('not_found');
  if (row.deletedAt) throw new Refusal('session_deleted');
  return row;
};

/** Only what is a chat, is kept and has begun can be gone on with as one's own. */
export const forkable = (row: SessionRow): boolean =>
  row.type === sessionTypes.chat && !row.temporary && row.prompt !== '' && row.deletedAt === null;
