import { and, desc, eq, gte, inArray, isNull, ne, sql } from 'drizzle-orm';
import type { Settings } from '../../contract/auth.ts';
import type { Executor } from '../db/database.ts';
import { friends, history, sessions, users } from '../db/schema.ts';
import { statement } from '../db/statement.ts';

const columns = {
  id: sessions.id,
  uuid: sessions.uuid,
  type: sessions.type,
  model: sessions.model,
  userId: sessions.userId,
  prompt: sessions.prompt,
  summary: sessions.summary,
  private: sessions.private,
  replyCount: sessions.replyCount,
  likeCount: sessions.likeCount,
  createdAt: sessions.createdAt,
  updatedAt: sessions.updatedAt,
  deletedAt: sessions.deletedAt,
  scenarioId: sessions.scenarioId,
  embeddingKey: sessions.embeddingKey,
  temporary: sessions.temporary,
  /** The two people of a session that new_friend made. */
  lowUserId: friends.lowUserId,
  highUserId: friends.highUserId,
  userName: users.userName,
  ownerForcedPrivate: users.sessionPrivate,
  ownerSetting: users.setting,
  ownerVip: sql<boolean>`coalesce(${users.vipExpiredAt} > now(), false)`,
};

export type SessionRow = Awaited<ReturnType<typeof listSessions>>['list'][number];

interface RawSession {
  id: number;
  uuid: string;
  type: number;
  model: string;
  user_id: number;
  prompt: string;
  summary: string;
  private: boolean;
  reply_count: number;
  like_count: number;
  created_at: string;
  updated_at: string;
  deleted_at: string | null;
  scenario_id: number | null;
  embedding_key: string;
  temporary: boolean;
  low_user_id: number | null;
  high_user_id: number | null;
  user_name: string;
  session_private: boolean;
  setting: Settings;
  owner_vip: boolean;
}

const oneSession = (name: string, column: 'id' | 'uuid', end: '' | 'FOR UPDATE OF s') =>
  statement<RawSession>(
    name,
    `SELECT s.id::float8, s.uuid, s.type, s.model, s.user_id::float8, s.prompt, s.summary,
       s.private, s.reply_count, s.like_count, s.created_at, s.updated_at, s.deleted_at,
       s.scenario_id::float8, s.embedding_key, s.temporary,
       f.low_user_id::float8, f.high_user_id::float8,
       u.user_name, u.session_private, u.setting,
       coalesce(u.vip_expired_at > now(), false) AS owner_vip
     FROM sessions s JOIN users u ON u.id = s.user_id LEFT JOIN friends f ON f.session_id = s.id
     WHERE s.${column} = $1 ${end}`,
  );
const byId = oneSession('session_by_id', 'id', '');
const byUuid = oneSession('session_by_uuid', 'uuid', '');
const byIdLocked = oneSession('session_by_id_locked', 'id', 'FOR UPDATE OF s');
const byUuidLocked = oneSession('session_by_uuid_locked', 'uuid', 'FOR UPDATE OF s');

/** A session by its uuid or number, deleted ones included. `lock` keeps its changes waiting. */
export const findSession = async (
  db: Executor,
  ref: string,
  { lock = false } = {},
): Promise<SessionRow | null> => {
  const isUuid = ref.includes('-');
  const read = isUuid ? (lock ? byUuidLocked : byUuid) : lock ? byIdLocked : byId;
  const [row] = await read(db, [isUuid ? ref : Number(ref)]);
  if (!row) return null;
  return {
    id: row.id,
    uuid: row.uuid,
    type: row.type,
    model: row.model,
    userId: row.user_id,
    prompt: row.prompt,
    summary: row.summary,
    private: row.private,
    replyCount: row.reply_count,
    likeCount: row.like_count,
    createdAt: new Date(row.created_at),
    updatedAt: new Date(row.updated_at),
    deletedAt: row.deleted_at === null ? null : new Date(row.deleted_at),
    scenarioId: row.scenario_id,
    embeddingKey: row.embedding_key,
    temporary: row.temporary,
    lowUserId: row.low_user_id,
    highUserId: row.high_user_id,
    userName: row.user_name,
    ownerForcedPrivate: row.session_private,
    ownerSetting: row.setting,
    ownerVip: row.owner_vip,
  };
};

/** What new_session must know of the maker, whose row stays locked so that two calls count right. */
export const lockMaker = async (db: Executor, userId: number) => {
  const rows = await db
    .select({
      setting: users.setting,
      sessionPrivate: users.sessionPrivate,
      sessionBlacklist: users.sessionBlacklist,
      vip: sql<boolean>`coalesce(${users.vipExpiredAt} > now(), false)`,
      guest: users.guest,
    })
    .from(users)
    .where(eq(users.id, userId))
    .for('no key update');
  return rows[0] ?? null;
};

/** Sessions made this calendar month (UTC), deleted ones included; counts no further than `most`. */
export const countThisMonth = async (
  db: Executor,
  userId: number,
  most: number,
): Promise<number> => {
  const month = db
    .select({ one: sql`1` })
    .from(sessions)
    .where(
      and(
        eq(sessions.userId, userId),
        gte(
          sessions.createdAt,
          sql`date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'`,
        ),
      ),
    )
    .limit(most)
    .as('month');
  const rows = await db.select({ count: sql<number>`count(*)::int` }).from(month);
  return rows[0]?.count ?? 0;
};

export const insertSession = async (
  db: Executor,
  values: { userId: number; type: number; model: string; private: boolean },
): Promise<{ id: number; uuid: string }> => {
  const rows = await db
    .insert(sessions)
    .values(values)
    .returning({ id: sessions.id, uuid: sessions.uuid });
  if (!rows[0]) throw new Error('the session was not inserted');
  return rows[0];
};

export const updateSession = async (
  db: Executor,
  id: number,
  values: { private?: boolean; model?: string },
): Promise<void> => {
  await db.update(sessions).set(values).where(eq(sessions.id, id));
};

export const markDeleted = async (db: Executor, id: number): Promise<void> => {
  await db
    .update(sessions)
    .set({ deletedAt: sql`now()` })
    .where(and(eq(sessions.id, id), isNull(sessions.deletedAt)));
};

export const hasMessages = async (db: Executor, sessionId: number): Promise<boolean> => {
  const rows = await db
    .select({ id: history.id })
    .from(history)
    .where(eq(history.sessionId, sessionId))
    .limit(1);
  return rows.length > 0;
};

export const noteReply = async (
  db: Executor,
  id: number,
  { replies, summary }: { replies: number; summary?: string },
): Promise<void> => {
  await db
    .update(sessions)
    .set({
      replyCount: sql`greatest(0, ${sessions.replyCount} + ${replies})`,
      updatedAt: sql`now()`,
      ...(summary === undefined ? {} : { summary }),
    })
    .where(eq(sessions.id, id));
};

export const moveSessions = async (
  db: Executor,
  fromUserId: number,
  toUserId: number,
): Promise<void> => {
  const moved = await db
    .update(sessions)
    .set({ userId: toUserId })
    .where(eq(sessions.userId, fromUserId))
    .returning({ id: sessions.id });
  if (moved.length === 0) return;
  const ids = moved.map((session) => session.id);
  await db.update(history).set({ userId: toUserId }).where(inArray(history.sessionId, ids));
};

export interface SessionFilter {
  /** Sessions of this person. */
  userId?: number;
  /** Leave out private sessions and those without messages. */
  publicOnly: boolean;
  model?: string;
  query?: string;
}

/**
 * A page of sessions, newest first, among the newest `window` of them, and how many of those fit.
 * Both cost the same whether the database holds a thousand sessions or millions.
 */
export const listSessions = async (
  db: Executor,
  filter: SessionFilter,
  { window, offset, limit }: { window: number; offset: number; limit: number },
) => {
  const newest = db
    .select({
      id: sessions.id,
      model: sessions.model,
      prompt: sessions.prompt,
      updatedAt: sessions.updatedAt,
    })
    .from(sessions)
    .where(
      and(
        isNull(sessions.deletedAt),
        filter.userId === undefined ? undefined : eq(sessions.userId, filter.userId),
        // Written as the partial index has it.
        filter.publicOnly
          ? and(sql`NOT ${sessions.private}`, ne(sessions.prompt, sql`''`))
          : undefined,
      ),
    )
    .orderBy(desc(sessions.updatedAt), desc(sessions.id))
    .limit(window)
    .as('newest');
  const fits = and(
    filter.model === undefined ? undefined : eq(newest.model, filter.model),
    filter.query === undefined
      ? undefined
      : sql`strpos(lower(${newest.prompt}), lower(${filter.query})) > 0`,
  );
  const chosen = db
    .select({ id: newest.id })
    .from(newest)
    .where(fits)
    .orderBy(desc(newest.updatedAt), desc(newest.id))
    .offset(offset)
    .limit(limit)
    .as('chosen');
  const list = await db
    .select(columns)
    .from(chosen)
    .innerJoin(sessions, eq(sessions.id, chosen.id))
    .innerJoin(users, eq(users.id, sessions.userId))
    .leftJoin(friends, eq(friends.sessionId, sessions.id))
    .orderBy(desc(sessions.updatedAt), desc(sessions.id));
  const counted = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(newest)
    .where(fits);
  return { list, total: counted[0]?.count ?? 0 };
};
