import { and, eq, isNull, sql } from 'drizzle-orm';
import type { Settings } from '#contract/auth.ts';
import type { Executor } from '#server/db/database.ts';
import { knownName } from '#server/db/known-name.ts';
import { history, pins, sessions, users } from '#server/db/schema.ts';
import { statement } from '#server/db/statement.ts';

/** The model is empty in sessions of people: who answers there is mentioned in the message. */
export interface SessionRow extends Omit<
  typeof sessions.$inferSelect,
  'forkedFrom' | 'toolGrants' | 'condensingUntil'
> {
  userName: string;
  avatar: string;
  /** The two people of a session that new_friend made. */
  lowUserId: number | null;
  highUserId: number | null;
  ownerForcedPrivate: boolean;
  ownerSetting: Settings;
  ownerVip: boolean;
  ownerGuest: boolean;
}

const columns = `s.id::float8, s.uuid, s.type, s.user_id::float8 AS "userId", s.model, s.prompt,
  s.summary, s.private, s.closed_with_owner AS "closedWithOwner", s.reply_count AS "replyCount",
  s.like_count AS "likeCount", s.created_at AS "createdAt", s.updated_at AS "updatedAt",
  s.deleted_at AS "deletedAt", s.scenario_id::float8 AS "scenarioId",
  s.embedding_key AS "embeddingKey", s.more_embeddings AS "moreEmbeddings",
  s.style_key AS "styleKey", s.temporary, s.imported, s.group_id::float8 AS "groupId",
  s.accepted_id::float8 AS "acceptedId", s.essence, s.pinned, s.closed,
  s.read_from::float8 AS "readFrom",
  u.user_name AS "userName", u.avatar, f.low_user_id::float8 AS "lowUserId",
  f.high_user_id::float8 AS "highUserId", u.session_private AS "ownerForcedPrivate",
  u.setting AS "ownerSetting", coalesce(u.vip_expired_at > now(), false) AS "ownerVip",
  u.guest AS "ownerGuest"`;
const tables = `sessions s JOIN users u ON u.id = s.user_id
  LEFT JOIN friends f ON f.session_id = s.id`;

const oneSession = (name: string, column: 'id' | 'uuid', end: '' | 'FOR UPDATE OF s') =>
  statement<SessionRow>(name, `SELECT ${columns} FROM ${tables} WHERE s.${column} = $1 ${end}`, {
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
  return row ?? null;
};

/** What a card shows beside the session itself. */
interface CardExtras {
  /** Addresses of its newest images that are shown, newest first, at most 5. */
  images: string[];
  /** Of a session of images their uuids, in the same order. */
  uuids: string[];
  /** Of a session of films they, in the order of `images`, which has their posters. */
  films: { uuid: string; url: string; width: number; height: number }[];
  /** What the asker marked of it: a message, the last one, or as a whole. */
  favorite: boolean | number;
  onTop: boolean;
  /** Of a private session of two people: the one who is not the asker, as far as they are known. */
  friendName: string | null;
  /** Messages of that one that the asker has not had before them, at most 99. */
  unread: number;
}

export interface Card extends CardExtras {
  session: SessionRow;
}

const cards = statement<SessionRow & CardExtras>(
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
     CASE WHEN s.type = 1 THEN ARRAY(SELECT i.uuid::text FROM images i
       JOIN history h ON h.id = i.history_id AND h.shown
       WHERE i.session_id = s.id AND i.deleted_at IS NULL ORDER BY i.id DESC LIMIT 5)
     ELSE '{}' END AS uuids,
     CASE WHEN s.type = 4 THEN ARRAY(SELECT json_build_object('uuid', v.uuid,
         'url', '/files/video/' || v.key || CASE v.mime WHEN 'video/webm' THEN '.webm' ELSE '.mp4' END,
         'width', v.width, 'height', v.height) FROM videos v
       JOIN history h ON h.id = v.history_id AND h.shown
       WHERE v.session_id = s.id ORDER BY v.id DESC LIMIT 5) ELSE '{}' END AS films,
     coalesce((SELECT CASE m.history_id WHEN 0 THEN 'true' ELSE to_jsonb(m.history_id) END
       FROM favorites m WHERE m.user_id = $2 AND m.session_id = s.id
       ORDER BY m.history_id = 0 DESC, m.created_at DESC LIMIT 1), 'false') AS favorite,
     EXISTS (SELECT FROM pins p WHERE p.user_id = $2 AND p.session_id = s.id) AS "onTop",
     ${knownName('o', 'f.accepted_at IS NOT NULL OR f.asked_by = o.id')} AS "friendName",
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
  return rows.map(({ images, uuids, films, favorite, onTop, friendName, unread, ...session }) => ({
    session,
    images,
    uuids,
    films,
    favorite,
    onTop,
    friendName,
    unread,
  }));
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
      // Nobody in 未成年人模式 writes in public either.
      sessionPrivate: sql<boolean>`${users.sessionPrivate} OR EXISTS (
        SELECT FROM minors m, compliance c WHERE m.user_id = ${users.id} AND m.active
          AND c.settings ->> 'minors' = '1')`,
      sessionBlacklist: users.sessionBlacklist,
      vip: sql<boolean>`coalesce(${users.vipExpiredAt} > now(), false)`,
      guest: users.guest,
    })
    .from(users)
    .where(eq(users.id, userId))
    .for('no key update');
  return rows[0] ?? null;
};

export type NewSession = typeof sessions.$inferInsert;

/** Null: there is one of that address already. */
export const insertSession = async (
  db: Executor,
  values: NewSession,
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
  values: {
    private?: boolean;
    model?: string;
    prompt?: string;
    embeddingKey?: string;
    moreEmbeddings?: string[];
  },
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

export const hasMessages = async (db: Executor, sessionId: number): Promise<boolean> => {
  const rows = await db
    .select({ id: history.id })
    .from(history)
    .where(eq(history.sessionId, sessionId))
    .limit(1);
  return rows.length > 0;
};
