import {
  and,
  desc,
  eq,
  gt,
  gte,
  inArray,
  isNull,
  lt,
  notExists,
  or,
  sql,
  type SQL,
} from 'drizzle-orm';
import type { Settings } from '../../../contract/auth.ts';
import type { Executor } from '../../db/database.ts';
import { favorites, friends, history, pins, sessions, shares, users } from '../../db/schema.ts';
import { statement } from '../../db/statement.ts';

export interface SessionRow {
  id: number;
  uuid: string;
  type: number;
  /** Empty in sessions of people: who answers there is mentioned in the message. */
  model: string;
  userId: number;
  userName: string;
  prompt: string;
  summary: string;
  private: boolean;
  /** It is private only while its owner is disabled or forced to be. */
  closedWithOwner: boolean;
  replyCount: number;
  likeCount: number;
  createdAt: Date;
  updatedAt: Date;
  deletedAt: Date | null;
  scenarioId: number | null;
  /** Empty: none. */
  embeddingKey: string;
  temporary: boolean;
  /** The two people of a session that new_friend made. */
  lowUserId: number | null;
  highUserId: number | null;
  /** Of the forum. */
  groupId: number;
  acceptedId: number | null;
  essence: boolean;
  pinned: boolean;
  closed: boolean;
  ownerForcedPrivate: boolean;
  ownerSetting: Settings;
  ownerVip: boolean;
}

interface RawSession {
  id: number;
  uuid: string;
  type: number;
  model: string;
  user_id: number;
  prompt: string;
  summary: string;
  private: boolean;
  closed_with_owner: boolean;
  reply_count: number;
  like_count: number;
  created_at: Date;
  updated_at: Date;
  deleted_at: Date | null;
  scenario_id: number | null;
  embedding_key: string;
  temporary: boolean;
  low_user_id: number | null;
  high_user_id: number | null;
  group_id: number;
  accepted_id: number | null;
  essence: boolean;
  pinned: boolean;
  closed: boolean;
  user_name: string;
  session_private: boolean;
  setting: Settings;
  owner_vip: boolean;
}

const columns = `s.id::float8, s.uuid, s.type, s.model, s.user_id::float8, s.prompt, s.summary,
  s.private, s.closed_with_owner, s.reply_count, s.like_count, s.created_at, s.updated_at, s.deleted_at,
  s.scenario_id::float8, s.embedding_key, s.temporary, f.low_user_id::float8,
  f.high_user_id::float8, s.group_id::float8, s.accepted_id::float8, s.essence, s.pinned, s.closed,
  u.user_name, u.session_private, u.setting,
  coalesce(u.vip_expired_at > now(), false) AS owner_vip`;
const tables = `sessions s JOIN users u ON u.id = s.user_id
  LEFT JOIN friends f ON f.session_id = s.id`;

const rowOf = (row: RawSession): SessionRow => ({
  id: row.id,
  uuid: row.uuid,
  type: row.type,
  model: row.model,
  userId: row.user_id,
  prompt: row.prompt,
  summary: row.summary,
  private: row.private,
  closedWithOwner: row.closed_with_owner,
  replyCount: row.reply_count,
  likeCount: row.like_count,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  deletedAt: row.deleted_at,
  scenarioId: row.scenario_id,
  embeddingKey: row.embedding_key,
  temporary: row.temporary,
  lowUserId: row.low_user_id,
  highUserId: row.high_user_id,
  groupId: row.group_id,
  acceptedId: row.accepted_id,
  essence: row.essence,
  pinned: row.pinned,
  closed: row.closed,
  userName: row.user_name,
  ownerForcedPrivate: row.session_private,
  ownerSetting: row.setting,
  ownerVip: row.owner_vip,
});

const oneSession = (name: string, column: 'id' | 'uuid', end: '' | 'FOR UPDATE OF s') =>
  statement<RawSession>(name, `SELECT ${columns} FROM ${tables} WHERE s.${column} = $1 ${end}`, {
    shared: end === '',
  });
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
  return row ? rowOf(row) : null;
};

/** What a card shows beside the session itself. */
export interface Card {
  session: SessionRow;
  /** Addresses of its newest images that are shown, newest first, at most 5. */
  images: string[];
  /** The asker marked it or messages of it. */
  favorite: boolean;
  onTop: boolean;
  /** Of a private session of two people: the one who is not the asker. */
  friendName: string | null;
  /** Messages of that one that the asker has not had before them, at most 99. */
  unread: number;
}

const cards = statement<
  RawSession & {
    images: string[];
    favorite: boolean;
    on_top: boolean;
    friend_name: string | null;
    unread: number;
  }
>(
  'session_cards',
  `SELECT ${columns},
     CASE WHEN s.type = 1 THEN ARRAY(SELECT '/files/' || i.key || '.png' FROM images i
       JOIN history h ON h.id = i.history_id AND h.shown
       WHERE i.session_id = s.id AND i.deleted_at IS NULL ORDER BY i.id DESC LIMIT 5)
     WHEN s.type = 4 THEN ARRAY(SELECT '/files/video/' || v.key || '.webp' FROM videos v
       JOIN history h ON h.id = v.history_id AND h.shown
       WHERE v.session_id = s.id ORDER BY v.id DESC LIMIT 5)
     ELSE ARRAY(SELECT p.url FROM (
         SELECT h.id, h.request -> 'images' AS list FROM history h
         WHERE h.session_id = s.id AND h.request -> 'images' -> 0 IS NOT NULL AND h.shown
         ORDER BY h.id DESC LIMIT 5
       ) h, jsonb_array_elements_text(h.list) WITH ORDINALITY p (url, place)
       ORDER BY h.id DESC, p.place LIMIT 5) END AS images,
     EXISTS (SELECT FROM favorites m WHERE m.user_id = $2 AND m.session_id = s.id
       AND m.history_id = 0) AS favorite,
     EXISTS (SELECT FROM pins p WHERE p.user_id = $2 AND p.session_id = s.id) AS on_top,
     o.user_name AS friend_name,
     CASE WHEN $2 IN (f.low_user_id, f.high_user_id) THEN (SELECT count(*)::int FROM (
       SELECT FROM history h WHERE h.session_id = s.id AND h.user_id <> $2 AND h.shown
         AND h.id > CASE WHEN f.low_user_id = $2 THEN f.low_seen ELSE f.high_seen END
       LIMIT 99) n) ELSE 0 END AS unread
   FROM unnest($1::bigint[]) WITH ORDINALITY AS asked (id, place)
   JOIN sessions s ON s.id = asked.id JOIN users u ON u.id = s.user_id
   LEFT JOIN friends f ON f.session_id = s.id
   LEFT JOIN users o
     ON o.id = CASE WHEN f.low_user_id = $2 THEN f.high_user_id ELSE f.low_user_id END
   ORDER BY asked.place`,
  { shared: true },
);

/** The cards of sessions in the order given, as one person sees them (0: a visitor). */
export const readCards = async (
  db: Executor,
  ids: readonly number[],
  userId: number,
): Promise<Card[]> => {
  if (ids.length === 0) return [];
  const rows = await cards(db, [ids, userId]);
  return rows.map((row) => ({
    session: rowOf(row),
    images: row.images,
    favorite: row.favorite,
    onTop: row.on_top,
    friendName: row.friend_name,
    unread: row.unread,
  }));
};

/** One of the two people of a session has had its messages up to this one before them. */
export const markSeen = async (
  db: Executor,
  sessionId: number,
  userId: number,
  upTo: number,
): Promise<void> => {
  await db
    .update(friends)
    .set({
      lowSeen: sql`CASE WHEN ${friends.lowUserId} = ${userId} THEN greatest(${friends.lowSeen}, ${upTo}) ELSE ${friends.lowSeen} END`,
      highSeen: sql`CASE WHEN ${friends.highUserId} = ${userId} THEN greatest(${friends.highSeen}, ${upTo}) ELSE ${friends.highSeen} END`,
    })
    .where(eq(friends.sessionId, sessionId));
};

/** Keeps a session at the top of somebody's list, or no longer. */
export const setOnTop = async (
  db: Executor,
  pin: { userId: number; sessionId: number },
  onTop: boolean,
): Promise<void> => {
  if (onTop) await db.insert(pins).values(pin).onConflictDoNothing();
  else
    await db
      .delete(pins)
      .where(and(eq(pins.userId, pin.userId), eq(pins.sessionId, pin.sessionId)));
};

export const countPins = async (db: Executor, userId: number): Promise<number> => {
  const [row] = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(pins)
    .innerJoin(sessions, eq(sessions.id, pins.sessionId))
    .where(and(eq(pins.userId, userId), isNull(sessions.deletedAt)));
  return row?.count ?? 0;
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

const madeThisMonth = statement<{ count: number }>(
  'sessions_this_month',
  `SELECT count(*)::int FROM (
     SELECT FROM sessions s WHERE s.user_id = $1 AND NOT s.imported
       AND s.created_at >= date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
       AND NOT EXISTS (SELECT FROM friends f WHERE f.session_id = s.id)
     LIMIT $2) month`,
  { shared: true },
);

/**
 * Sessions made this calendar month (UTC), deleted ones included, but not those that were imported
 * or are a talk with a friend; counts no further than `most`.
 */
export const countThisMonth = async (db: Executor, userId: number, most: number): Promise<number> =>
  (await madeThisMonth(db, [userId, most]))[0]?.count ?? 0;

/** Null: there is one of that address already. */
export const insertSession = async (
  db: Executor,
  values: {
    /** Left out: a new one. */
    uuid?: string | undefined;
    userId: number;
    type: number;
    model: string;
    private: boolean;
    scenarioId?: number | null;
    embeddingKey?: string;
    groupId?: number;
    temporary?: boolean;
    forkedFrom?: number;
    prompt?: string;
    summary?: string;
  },
): Promise<{ id: number; uuid: string } | null> => {
  const rows = await db
    .insert(sessions)
    .values(values)
    .onConflictDoNothing({ target: sessions.uuid })
    .returning({ id: sessions.id, uuid: sessions.uuid });
  return rows[0] ?? null;
};

export const updateSession = async (
  db: Executor,
  id: number,
  values: { private?: boolean; model?: string; prompt?: string },
): Promise<void> => {
  // Made private by somebody, it stays so when its owner is served again.
  const closing = values.private === true ? { closedWithOwner: false } : {};
  await db
    .update(sessions)
    .set({ ...values, ...closing })
    .where(eq(sessions.id, id));
};

export const markDeleted = async (db: Executor, id: number): Promise<void> => {
  await db
    .update(sessions)
    .set({ deletedAt: sql`now()` })
    .where(and(eq(sessions.id, id), isNull(sessions.deletedAt)));
};

const monthOf = sql<string>`to_char(${sessions.createdAt} AT TIME ZONE 'Asia/Shanghai', 'YYYY-MM')`;

/** How many sessions a person began in each month of China, YYYY-MM; deleted ones count, too. */
export const sessionsByMonth = async (
  db: Executor,
  userId: number,
  from: Date,
  to: Date,
): Promise<Map<string, number>> => {
  const rows = await db
    .select({ month: monthOf, count: sql<number>`count(*)::int` })
    .from(sessions)
    .where(
      and(eq(sessions.userId, userId), gte(sessions.createdAt, from), lt(sessions.createdAt, to)),
    )
    .groupBy(sql`1`);
  return new Map(rows.map(({ month, count }) => [month, count]));
};

/** A talk with a friend belongs to both, and goes with neither. */
const ownAlone = (userId: number) =>
  and(
    eq(sessions.userId, userId),
    isNull(sessions.deletedAt),
    notExists(sql`(SELECT FROM friends f WHERE f.session_id = ${sessions.id})`),
  );

export const makeAllPrivate = async (db: Executor, userId: number): Promise<number> => {
  const rows = await db
    .update(sessions)
    .set({ private: true, closedWithOwner: false })
    .where(and(ownAlone(userId), or(eq(sessions.private, false), sessions.closedWithOwner)))
    .returning({ id: sessions.id });
  return rows.length;
};

/** Deletes all of a person's sessions; gives their numbers. */
export const deleteAllOf = async (db: Executor, userId: number): Promise<number[]> => {
  const rows = await db
    .update(sessions)
    .set({ deletedAt: sql`now()` })
    .where(ownAlone(userId))
    .returning({ id: sessions.id });
  return rows.map(({ id }) => id);
};

/** Those among them in which something is being made now. */
export const busyAmong = async (db: Executor, ids: readonly number[]): Promise<number[]> => {
  const { rows } = await db.execute<{ id: number }>(sql`
    SELECT id::float8 FROM unnest(ARRAY[${sql.join(
      ids.map((id) => sql`${id}::bigint`),
      sql`, `,
    )}]::bigint[]) AS id
    WHERE EXISTS (SELECT FROM history h WHERE h.session_id = id AND h.state = 'streaming')
       OR EXISTS (SELECT FROM jobs j WHERE j.session_id = id AND j.finished_at IS NULL)`);
  return rows.map(({ id }) => id);
};

/** Numbers of what a person has, oldest first, behind one. */
export const sessionIdsOf = async (
  db: Executor,
  userId: number,
  after: number,
  limit: number,
): Promise<{ id: number; uuid: string }[]> =>
  db
    .select({ id: sessions.id, uuid: sessions.uuid })
    .from(sessions)
    .where(
      and(
        eq(sessions.userId, userId),
        isNull(sessions.deletedAt),
        eq(sessions.temporary, false),
        gt(sessions.id, after),
      ),
    )
    .orderBy(sessions.id)
    .limit(limit);

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
  { replies, likes = 0, summary }: { replies: number; likes?: number; summary?: string },
): Promise<void> => {
  await db
    .update(sessions)
    .set({
      replyCount: sql`greatest(0, ${sessions.replyCount} + ${replies})`,
      likeCount: sql`greatest(0, ${sessions.likeCount} + ${likes})`,
      updatedAt: sql`now()`,
      ...(summary === undefined ? {} : { summary }),
    })
    .where(eq(sessions.id, id));
};

/** A person for whom a private session can be made: registered and not disabled. */
export const findFriend = async (db: Executor, userId: number) => {
  const [row] = await db
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.id, userId), eq(users.guest, false), eq(users.disabled, false)));
  return row ?? null;
};

/** The session of two people that is not deleted. */
export const findFriendSession = async (db: Executor, low: number, high: number) => {
  const [row] = await db
    .select({ id: sessions.id, uuid: sessions.uuid })
    .from(friends)
    .innerJoin(sessions, eq(sessions.id, friends.sessionId))
    .where(
      and(eq(friends.lowUserId, low), eq(friends.highUserId, high), isNull(sessions.deletedAt)),
    );
  return row ?? null;
};

/** Makes a session that of two people, in the place of a deleted one. */
export const setFriendSession = async (
  tx: Executor,
  low: number,
  high: number,
  sessionId: number,
): Promise<void> => {
  await tx
    .insert(friends)
    .values({ lowUserId: low, highUserId: high, sessionId })
    .onConflictDoUpdate({ target: [friends.lowUserId, friends.highUserId], set: { sessionId } });
};

/** How two people stand to each other; locked until the transaction ends where that is asked for. */
export const findFriends = async (db: Executor, sessionId: number, { lock = false } = {}) => {
  const query = db.select().from(friends).where(eq(friends.sessionId, sessionId));
  const [row] = await (lock ? query.for('update') : query);
  return row ?? null;
};
export type FriendRow = NonNullable<Awaited<ReturnType<typeof findFriends>>>;

export const updateFriends = async (
  db: Executor,
  sessionId: number,
  values: Partial<
    Pick<FriendRow, 'askedBy' | 'askedAt' | 'acceptedAt' | 'lowBlocks' | 'highBlocks'>
  >,
): Promise<void> => {
  await db.update(friends).set(values).where(eq(friends.sessionId, sessionId));
};

/**
 * In a talk of two nothing branches: what is not shown waits for the other one's consent.
 * Shows it behind what is shown; gives the texts in order.
 */
export const showWaiting = async (db: Executor, sessionId: number): Promise<string[]> => {
  const { rows } = await db.execute<{ human: string }>(sql`
    WITH waiting AS (
      SELECT id, lag(id) OVER (ORDER BY id) AS before FROM history
      WHERE session_id = ${sessionId} AND NOT shown
    ), arrived AS (
      UPDATE history SET shown = true, prev_id = coalesce(waiting.before,
        (SELECT max(id) FROM history WHERE session_id = ${sessionId} AND shown), 0)
      FROM waiting WHERE history.id = waiting.id RETURNING history.id, human
    )
    SELECT human FROM arrived ORDER BY id`);
  return rows.map(({ human }) => human);
};

/** People whom somebody wrote to in the last day and who have not accepted. */
export const openRequests = async (db: Executor, userId: number): Promise<number> => {
  const [row] = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(friends)
    .where(
      and(
        eq(friends.askedBy, userId),
        isNull(friends.acceptedAt),
        gt(friends.askedAt, sql`now() - interval '1 day'`),
      ),
    );
  return row?.count ?? 0;
};

/** Makes whoever else is about to look for the session of these two wait for this transaction. */
export const lockPeople = async (tx: Executor, low: number, high: number): Promise<void> => {
  await tx.execute(
    sql`SELECT pg_advisory_xact_lock(hashtextextended(${`friends ${low} ${high}`}, 0))`,
  );
};

/** A message as far as taking over its session needs it. */
export const findForkPoint = async (db: Executor, historyId: number) => {
  const [row] = await db
    .select({
      sessionId: history.sessionId,
      /** The last message before it that is shown, or itself. */
      shownUpTo: sql<number>`(CASE WHEN ${history.shown} THEN ${history.id} ELSE ${history.prevId} END)::float8`,
      // Of two answers beside each other one is shown, and either can be taken.
      visible: sql<boolean>`${history.shown} OR (${history.besideGroup} <> 0 AND EXISTS (
        SELECT FROM history b WHERE b.session_id = ${history.sessionId}
          AND b.beside_group = ${history.besideGroup} AND b.shown))`,
    })
    .from(history)
    .where(eq(history.id, historyId));
  return row ?? null;
};

const copyPath = statement<{ replies: number; ai: string | null }>(
  'session_fork',
  // The numbers are drawn in the order of the old ones, so that along the path they grow again.
  `WITH path AS MATERIALIZED (
     SELECT nextval(pg_get_serial_sequence('history', 'id')) AS new_id, ordered.*
     FROM (SELECT * FROM history WHERE session_id = $1 AND state <> 'streaming'
             AND ((shown AND id <= $3) OR id = $2) ORDER BY id) ordered
   ), copied AS (
     INSERT INTO history (id, session_id, user_id, human, ai, reasoning, parts, type, model, state,
       error_code, error_message, created_at, answered_at, request, with_template, title, prev_id)
     OVERRIDING SYSTEM VALUE
     SELECT new_id, $4, $5, human, ai, reasoning, parts, type, model, state, error_code,
       error_message, created_at, answered_at,
       CASE WHEN user_id <> $5 AND jsonb_array_length(request->'files') > 0
         THEN jsonb_set(request, '{files}', (
           SELECT jsonb_agg(f || '{"uuid": "00000000-0000-0000-0000-000000000000"}'::jsonb)
           FROM jsonb_array_elements(request->'files') f))
         ELSE request END, with_template, title,
       lag(new_id, 1, 0::bigint) OVER (ORDER BY new_id)
     FROM path
   )
   SELECT (SELECT count(*) FROM path WHERE ai <> '')::int AS replies,
     (SELECT ai FROM path WHERE ai <> '' ORDER BY new_id DESC LIMIT 1) AS ai`,
);

/**
 * Copies what a session shows up to a message into another one. What it cost stays with those who
 * paid, and attached files with those who own them: a copy has their names alone. Gives how many replies there are and the text of the last.
 */
export const copyMessages = async (
  tx: Executor,
  {
    from,
    point,
    into,
  }: {
    from: number;
    point: { historyId: number; shownUpTo: number };
    into: { sessionId: number; userId: number };
  },
): Promise<{ replies: number; lastReply: string }> => {
  const [row] = await copyPath(tx, [
    from,
    point.historyId,
    point.shownUpTo,
    into.sessionId,
    into.userId,
  ]);
  return { replies: row?.replies ?? 0, lastReply: row?.ai ?? '' };
};

/**
 * Empties temporary sessions that are a day old. They stay as deleted ones, for they count in the
 * month in which they were made.
 */
export const removeTemporary = async (db: Executor): Promise<void> => {
  await db.execute(sql`
    WITH over AS (
      UPDATE sessions SET deleted_at = now()
      WHERE temporary AND deleted_at IS NULL AND created_at < now() - interval '1 day'
        AND NOT EXISTS (SELECT FROM history h WHERE h.session_id = sessions.id AND h.state = 'streaming')
      RETURNING id
    )
    DELETE FROM history USING over WHERE history.session_id = over.id`);
};

/** Gives a guest's sessions, marks and links to the account that takes the guest over. */
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
  const ids = moved.map((session) => session.id);
  if (ids.length > 0) {
    await db.update(history).set({ userId: toUserId }).where(inArray(history.sessionId, ids));
    await db.update(shares).set({ userId: toUserId }).where(inArray(shares.sessionId, ids));
  }
  await db.execute(sql`
    WITH gone AS (DELETE FROM favorites WHERE user_id = ${fromUserId} RETURNING *),
      pinned AS (DELETE FROM pins WHERE user_id = ${fromUserId} RETURNING *),
      kept_pins AS (INSERT INTO pins (user_id, session_id, created_at)
        SELECT ${toUserId}, session_id, created_at FROM pinned ON CONFLICT DO NOTHING)
    INSERT INTO favorites (user_id, session_id, history_id, created_at)
      SELECT ${toUserId}, session_id, history_id, created_at FROM gone ON CONFLICT DO NOTHING`);
  // What the guest liked counts from now on, once where the account liked it, too.
  await db.execute(sql`
    WITH gone AS (DELETE FROM likes WHERE user_id = ${fromUserId} RETURNING history_id, created_at),
    kept AS (
      INSERT INTO likes (user_id, history_id, created_at)
        SELECT ${toUserId}, history_id, created_at FROM gone ON CONFLICT DO NOTHING
        RETURNING history_id
    ), liked AS (
      UPDATE history SET like_count = like_count + 1 WHERE id IN (SELECT history_id FROM kept)
      RETURNING session_id
    )
    UPDATE sessions SET like_count = like_count + liked.likes
    FROM (SELECT session_id, count(*) AS likes FROM liked GROUP BY session_id) liked
    WHERE sessions.id = liked.session_id`);
};

/** Whose sessions a list shows: what is public, a person's own, or those they marked. */
export type ListScope =
  | { channel: 'public' }
  | { channel: 'private' | 'favorites'; userId: number };

export interface SessionFilter {
  /** Sessions of this person. */
  userId?: number;
  model?: string;
  scenarioId?: number;
  /** All in the title, in lower case as far as ASCII goes. */
  titleWords?: readonly string[];
}

/** What everybody may see; written as the partial index has it. */
const isPublic = sql`s.deleted_at IS NULL AND NOT s.private AND s.prompt <> ''`;

/** The sessions of a scope as `id`, `at`, newest first; `at` is what they are ordered by. */
const scopeOf = (scope: ListScope, filter: SessionFilter, window: number): SQL => {
  const ofScenario =
    filter.scenarioId === undefined ? sql`` : sql`AND s.scenario_id = ${filter.scenarioId}`;
  // In one's own list everything is one's own.
  const byOne = filter.userId !== undefined && scope.channel !== 'private';
  const ofUser = byOne ? sql`AND s.user_id = ${filter.userId}` : sql``;
  const end = sql`${ofScenario} ${ofUser} ORDER BY at DESC, id DESC LIMIT ${window}`;
  if (scope.channel === 'public')
    return sql`SELECT s.id, s.updated_at AS at, false AS on_top FROM sessions s
      WHERE ${isPublic} ${end}`;
  const me = scope.userId;
  if (scope.channel === 'private')
    return sql`
      SELECT mine.*, mine.id IN (SELECT session_id FROM pins WHERE user_id = ${me}) AS on_top
      FROM (
        (SELECT s.id, s.updated_at AS at FROM sessions s
          WHERE s.deleted_at IS NULL AND s.user_id = ${me} AND NOT s.temporary ${end})
        UNION ALL
        (SELECT s.id, s.updated_at AS at FROM friends f JOIN sessions s ON s.id = f.session_id
          WHERE (f.low_user_id = ${me} OR f.high_user_id = ${me})
            AND s.deleted_at IS NULL AND s.user_id <> ${me} AND s.prompt <> '' ${end})
      ) mine ORDER BY at DESC, id DESC LIMIT ${window}`;
  return sql`
    SELECT s.id, m.at, false AS on_top FROM (
        SELECT session_id, max(created_at) AS at FROM favorites
        WHERE user_id = ${me} GROUP BY session_id
      ) m JOIN sessions s ON s.id = m.session_id LEFT JOIN friends f ON f.session_id = s.id
      WHERE s.deleted_at IS NULL AND NOT s.temporary AND (NOT s.private OR s.user_id = ${me}
        OR f.low_user_id = ${me} OR f.high_user_id = ${me}) ${end}`;
};

/**
 * The numbers of a page of sessions, pinned ones and then newest first (`at` in ms is what that goes by), among the newest `window` of their scope, and
 * how many of those fit. Both cost the same whether the database holds a thousand sessions or
 * millions.
 */
export const listSessions = async (
  db: Executor,
  scope: ListScope,
  filter: SessionFilter,
  { window, offset, limit }: { window: number; offset: number; limit: number },
): Promise<{ found: { id: number; at: number }[]; total: number }> => {
  const newest = scopeOf(scope, filter, window);
  const words = filter.titleWords ?? [];
  const conditions = [
    ...(filter.model === undefined ? [] : [sql`s.model = ${filter.model}`]),
    // Only ASCII is made small, on both sides.
    ...words.map((word) => sql`strpos(lower(s.prompt COLLATE "C"), ${word}) > 0`),
  ];
  const fitting =
    conditions.length === 0
      ? newest
      : sql`SELECT newest.* FROM (${newest}) newest JOIN sessions s ON s.id = newest.id
          WHERE ${sql.join(conditions, sql` AND `)}`;
  const { rows } = await db.execute<{ total: number; id: number | null; at: number | null }>(sql`
    WITH fit AS MATERIALIZED (${fitting})
    SELECT counted.total, chosen.id::float8,
      extract(epoch FROM chosen.at)::float8 * 1000 AS at
    FROM (SELECT count(*)::int AS total FROM fit) counted
    LEFT JOIN (SELECT * FROM fit ORDER BY on_top DESC, at DESC, id DESC OFFSET ${offset} LIMIT ${limit}) chosen
      ON true
    ORDER BY chosen.on_top DESC, chosen.at DESC, chosen.id DESC`);
  return {
    found: rows.flatMap(({ id, at }) => (id === null || at === null ? [] : [{ id, at }])),
    total: rows[0]?.total ?? 0,
  };
};

/** The message that somebody marked last in each of these sessions; those marked only as a whole are left out. */
export const lastMarks = async (
  db: Executor,
  userId: number,
  sessionIds: readonly number[],
): Promise<{ sessionId: number; historyId: number }[]> => {
  if (sessionIds.length === 0) return [];
  return db
    .selectDistinctOn([favorites.sessionId], {
      sessionId: favorites.sessionId,
      historyId: favorites.historyId,
    })
    .from(favorites)
    .where(
      and(
        eq(favorites.userId, userId),
        inArray(favorites.sessionId, [...sessionIds]),
        gt(favorites.historyId, 0),
      ),
    )
    .orderBy(favorites.sessionId, desc(favorites.createdAt), desc(favorites.historyId));
};
