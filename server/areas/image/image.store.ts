import { and, count, eq, inArray, isNotNull, isNull, ne, sql, sum, type SQL } from 'drizzle-orm';
import type { MadeBy } from '#contract/file.ts';
import type { ImageOrigin } from '#contract/image.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { ownedBy, type Owners } from '#server/db/person.ts';
import { images, sessions, users } from '#server/db/schema.ts';
import { statement } from '#server/db/statement.ts';
import { showsWhere } from '#server/db/shown.ts';
import type { ClaimedJob } from '#server/jobs/job-kind.ts';
import type { ImagePlan } from './image-plan.ts';

export type ImageRow = typeof images.$inferSelect;

/** Keeps images; gives their numbers in their order. */
export const insertImages = async (
  db: Executor,
  rows: (typeof images.$inferInsert)[],
): Promise<{ id: number; uuid: string; key: string }[]> =>
  rows.length === 0
    ? []
    : db
        .insert(images)
        .values(rows)
        .returning({ id: images.id, uuid: images.uuid, key: images.key });

/** An image, deleted ones included. */
export const anyImage = async (db: Executor, id: number): Promise<ImageRow | null> => {
  const [row] = await db.select().from(images).where(eq(images.id, id));
  return row ?? null;
};

/** What is known of the making of the images of these keys that are there. */
export const makingOfKeys = (db: Executor, keys: readonly string[]) =>
  db
    .select({ key: images.key, type: images.type, origin: images.origin, made: images.made })
    .from(images)
    .where(and(inArray(images.key, [...keys]), isNull(images.deletedAt)));

export const setMade = async (db: Executor, id: number, made: MadeBy): Promise<void> => {
  await db.update(images).set({ made }).where(eq(images.id, id));
};

const earlier = statement<{ english: string }>(
  'image_earlier_english',
  `SELECT remote ->> 'english' AS english FROM jobs
   WHERE user_id = $1 AND kind = 'image' AND subject_kind = $2 AND subject_id = $3
     AND remote ->> 'english' IS NOT NULL AND input -> 'words' ->> 'prompt' = $4
     AND input -> 'translate' ->> 'model' = $5
   ORDER BY id DESC LIMIT 1`,
);

/** The same words in English by an earlier job for the same; undefined: there is none. */
export const earlierEnglish = async (
  db: Executor,
  job: Pick<ClaimedJob, 'user_id' | 'subject_kind' | 'subject_id'>,
  { words, translate }: Pick<ImagePlan, 'words' | 'translate'>,
): Promise<string | undefined> => {
  const asked = [job.user_id, job.subject_kind, job.subject_id, words.prompt, translate?.model];
  const [row] = await earlier(db, asked);
  return row?.english;
};

/** A person's own image of this key that is there. */
export const ownOfKey = async (
  db: Executor,
  key: string,
  userId: number,
): Promise<ImageRow | null> => {
  const [row] = await db
    .select()
    .from(images)
    .where(
      and(
        eq(images.key, key),
        ne(images.key, ''),
        eq(images.userId, userId),
        isNull(images.deletedAt),
      ),
    );
  return row ?? null;
};

/** An image's session while it is there, which it then is until the transaction ends. */
export const livingSession = async (db: Executor, id: number): Promise<number | null> => {
  const [row] = await db
    .select({ id: sessions.id })
    .from(sessions)
    .where(and(eq(sessions.id, id), isNull(sessions.deletedAt)))
    .for('key share');
  return row?.id ?? null;
};

/** Of these keys those of images that are there. */
export const knownKeys = async (db: Executor, keys: readonly string[]): Promise<string[]> => {
  const rows = await db
    .select({ key: images.key })
    .from(images)
    .where(and(inArray(images.key, [...keys]), ne(images.key, ''), isNull(images.deletedAt)));
  return rows.map(({ key }) => key);
};

/** Marks an image as deleted; false: it was already. */
export const markDeleted = async (db: Executor, id: number): Promise<boolean> => {
  const rows = await db
    .update(images)
    .set({ deletedAt: sql`now()` })
    .where(and(eq(images.id, id), isNull(images.deletedAt)))
    .returning({ id: images.id });
  return rows.length > 0;
};

const fileState = statement<{ deleted: boolean }>(
  'image_file_state',
  `SELECT deleted_at IS NOT NULL AS deleted FROM images WHERE key = $1 AND key <> ''`,
  { shared: true },
);

/** Whether a file is one of an image that is there, of one that was deleted, or of none known here. */
export const stateOfFile = async (
  db: Executor,
  key: string,
): Promise<'there' | 'deleted' | 'unknown'> => {
  const [row] = await fileState(db, [key]);
  if (!row) return 'unknown';
  return row.deleted ? 'deleted' : 'there';
};

/** Bytes of images that were drawn; what was uploaded is counted among files. */
export const drawnBytes = async (db: Executor, owners: Owners): Promise<number> => {
  const [row] = await db
    .select({ bytes: sum(images.size).mapWith(Number) })
    .from(images)
    .where(and(ownedBy(images.userId, owners), isNull(images.deletedAt), isNotNull(images.jobId)));
  return row?.bytes ?? 0;
};

export const setHidden = async (db: Executor, id: number, hidden: boolean): Promise<void> => {
  await db.update(images).set({ hidden }).where(eq(images.id, id));
};

/** Images deleted a day ago whose files are still there, locked until the transaction ends. */
export const filesToRemove = (
  tx: Transaction,
  most: number,
): Promise<Pick<ImageRow, 'id' | 'key' | 'type' | 'origin'>[]> =>
  tx
    .select({ id: images.id, key: images.key, type: images.type, origin: images.origin })
    .from(images)
    .where(
      and(
        isNotNull(images.deletedAt),
        ne(images.key, ''),
        sql`${images.deletedAt} < now() - interval '1 day'`,
      ),
    )
    .orderBy(images.deletedAt)
    .limit(most)
    .for('update', { skipLocked: true });

export const forgetKeys = async (db: Executor, ids: readonly number[]): Promise<void> => {
  await db
    .update(images)
    .set({ key: '' })
    .where(inArray(images.id, [...ids]));
};

/** How many images each of these jobs made. */
export const countOfJobs = async (
  db: Executor,
  jobIds: readonly number[],
): Promise<Map<number, number>> => {
  const rows = await db
    .select({ jobId: images.jobId, count: count() })
    .from(images)
    .where(inArray(images.jobId, [...jobIds]))
    .groupBy(images.jobId);
  return new Map(rows.flatMap((row) => (row.jobId === null ? [] : [[row.jobId, row.count]])));
};

/** Gives a guest's images to the account that the guest became. */
export const moveImages = async (
  db: Executor,
  fromUserId: number,
  toUserId: number,
): Promise<void> => {
  await db.update(images).set({ userId: toUserId }).where(eq(images.userId, fromUserId));
};

/** Who looks at images. */
export const viewerOf = async (db: Executor, userId: number) => {
  const [row] = await db
    .select({
      id: users.id,
      user_name: users.userName,
      avatar: users.avatar,
      vip: sql<number>`coalesce(${users.vipExpiredAt} > now(), false)::int`,
    })
    .from(users)
    .where(eq(users.id, userId));
  return row ?? null;
};

// ---- lists --------------------------------------------------------------------

/** An image as one person sees it in a list. */
export interface Listed {
  id: number;
  uuid: string;
  key: string;
  type: 'jpg' | 'png';
  width: number;
  height: number;
  user_id: number;
  user_name: string;
  session_id: number | null;
  liked_count: number;
  disliked_count: number;
  vote: number;
  model: string;
  prompt: string;
  origin: ImageOrigin;
  made: MadeBy | '';
  hidden: boolean;
  deleted: boolean;
  /** ISO 8601, UTC. */
  created_at: string;
}

const columns = sql.raw(`i.id::float8, i.uuid, i.key, i.type, i.width, i.height,
  i.user_id::float8, (SELECT u.user_name FROM users u WHERE u.id = i.user_id) AS user_name,
  i.session_id::float8, i.liked_count, i.disliked_count, i.model, i.prompt,
  i.origin, i.made, i.hidden, i.deleted_at IS NOT NULL AS deleted,
  to_char(i.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS created_at`);

/** An image is public when its session is, and its owner neither hides it nor is kept private. */
const openToAll = sql.raw(`NOT i.hidden AND i.deleted_at IS NULL AND EXISTS (
  SELECT FROM sessions s JOIN users u ON u.id = i.user_id
  WHERE s.id = i.session_id AND NOT s.private AND s.deleted_at IS NULL AND NOT s.temporary
    AND NOT u.disabled AND NOT u.session_private)`);

export type Choice =
  | { of: 'public' }
  /** Null: all that are the person's. */
  | { of: 'person'; userId: number; uploaded: boolean | null; sessionId?: number };

const chosen = (choice: Choice, query: string): SQL => {
  const words = `%${query.replaceAll(/[\\%_]/g, '\\$&')}%`;
  const found = query === '' ? sql`` : sql`AND i.prompt ILIKE ${words}`;
  if (choice.of === 'public') return sql`${openToAll} ${found}`;
  const kind =
    choice.uploaded === null
      ? sql``
      : choice.uploaded
        ? sql`AND i.origin = 'uploaded'`
        : sql`AND i.origin <> 'uploaded'`;
  const within =
    choice.sessionId === undefined ? sql`` : sql`AND i.session_id = ${choice.sessionId}`;
  return sql`i.user_id = ${choice.userId} AND i.deleted_at IS NULL ${within} ${kind} ${found}`;
};

/** Days that a rank by likes looks back. */
const rankDays = { day: 1, week: 7, month: 30 } as const;

/** Images of the web gallery that its usual order weighs against each other: the newest. */
const weighed = 3_000;

export type Order = 'newest' | 'liked' | 'hot' | keyof typeof rankDays;

/** A page of images as one person (0: a visitor) sees them. */
export const listImages = async (
  db: Executor,
  asked: {
    choice: Choice;
    query: string;
    order: Order;
    viewer: number;
    offset: number;
    limit: number;
  },
): Promise<Listed[]> => {
  const { choice, query, order, viewer, offset, limit } = asked;
  const where = chosen(choice, query);
  const vote = sql`coalesce((SELECT v.vote FROM image_votes v
    WHERE v.image_id = i.id AND v.user_id = ${viewer}), 0)::int AS vote`;
  const end = sql`OFFSET ${offset} LIMIT ${limit}`;
  const part = (): SQL => {
    if (order === 'newest')
      return sql`SELECT i.* FROM images i WHERE ${where} ORDER BY i.id DESC ${end}`;
    if (order === 'liked')
      return sql`SELECT i.* FROM images i WHERE ${where}
        ORDER BY i.liked_count DESC, i.id DESC ${end}`;
    if (order === 'hot')
      return sql`SELECT i.* FROM (SELECT i.* FROM images i WHERE ${where}
          ORDER BY i.id DESC LIMIT ${weighed}) i
        ORDER BY (i.liked_count + 1)
          / power(extract(epoch FROM now() - i.created_at) / 3600 + 2, 1.5) DESC, i.id DESC ${end}`;
    return sql`SELECT i.* FROM images i LEFT JOIN (SELECT image_id, count(*) AS likes
          FROM image_votes WHERE vote = 1
            AND created_at > now() - make_interval(days => ${rankDays[order]})
          GROUP BY image_id) l ON l.image_id = i.id
        WHERE ${where} ORDER BY coalesce(l.likes, 0) DESC, i.id DESC ${end}`;
  };
  const { rows } = await db.execute<Listed & Record<string, unknown>>(sql`
    WITH part AS (${part()}) SELECT ${columns}, ${vote} FROM part i`);
  return rows;
};

/** How many there are, counted no further than `most`. */
export const countListed = async (
  db: Executor,
  choice: Choice,
  query: string,
  most: number,
): Promise<number> => {
  const { rows } = await db.execute<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM (
      SELECT FROM images i WHERE ${chosen(choice, query)} LIMIT ${most}) found`);
  return rows[0]?.count ?? 0;
};

/** Whether everybody may see it. */
export const isPublic = async (db: Executor, id: number): Promise<boolean> => {
  const { rows } = await db.execute(sql`
    SELECT FROM images i WHERE i.id = ${id} AND ${openToAll}`);
  return rows.length > 0;
};

/** One of an image's kin that a person may see. */
export interface Kin extends Listed {
  how: string;
}

const seenBy = (viewer: number) => sql`(i.user_id = ${viewer} OR (${openToAll}))`;

/** What an image was made from, the nearest first; it ends before what the viewer may not see. */
export const parentsOf = async (
  db: Executor,
  id: number,
  viewer: number,
  most: number,
): Promise<Kin[]> => {
  const { rows } = await db.execute<Kin & Record<string, unknown>>(sql`
    WITH RECURSIVE line AS (
      SELECT i.parent_id AS id, 1 AS far FROM images i WHERE i.id = ${id}
      UNION ALL
      SELECT i.parent_id, line.far + 1 FROM line JOIN images i ON i.id = line.id
      WHERE line.far < ${most} AND ${seenBy(viewer)}
    )
    SELECT ${columns}, i.how, 0 AS vote FROM line JOIN images i ON i.id = line.id
    WHERE ${seenBy(viewer)} ORDER BY line.far`);
  return rows;
};

export const childrenOf = async (
  db: Executor,
  id: number,
  viewer: number,
  most: number,
): Promise<Kin[]> => {
  const { rows } = await db.execute<Kin & Record<string, unknown>>(sql`
    SELECT ${columns}, i.how, 0 AS vote FROM images i
    WHERE i.parent_id = ${id} AND i.deleted_at IS NULL AND ${seenBy(viewer)}
    ORDER BY i.id DESC LIMIT ${most}`);
  return rows;
};

/** An image that is there and that a person may see. */
export const seenImage = async (db: Executor, id: number, viewer: number): Promise<Kin | null> => {
  const { rows } = await db.execute<Kin & Record<string, unknown>>(sql`
    SELECT ${columns}, i.how, 0 AS vote FROM images i
    WHERE i.id = ${id} AND i.deleted_at IS NULL AND ${seenBy(viewer)}`);
  return rows[0] ?? null;
};

/** One image as one person sees it. */
export const listedImage = async (
  db: Executor,
  id: number,
  viewer: number,
): Promise<Listed | null> => {
  const { rows } = await db.execute<Listed & Record<string, unknown>>(sql`
    SELECT ${columns}, coalesce((SELECT v.vote FROM image_votes v
      WHERE v.image_id = i.id AND v.user_id = ${viewer}), 0)::int AS vote
    FROM images i WHERE i.id = ${id}`);
  return rows[0] ?? null;
};

export const imagesOfJob = async (
  db: Executor,
  jobUuid: string,
  viewer: number,
): Promise<Listed[]> => {
  const { rows } = await db.execute<Listed & Record<string, unknown>>(sql`
    SELECT ${columns}, coalesce((SELECT v.vote FROM image_votes v
      WHERE v.image_id = i.id AND v.user_id = ${viewer}), 0)::int AS vote
    FROM images i JOIN jobs j ON j.id = i.job_id
    WHERE j.uuid = ${jobUuid} AND i.deleted_at IS NULL ORDER BY i.id`);
  return rows;
};

/** What an image that is still there was made from. */
export const shownAsParents = showsWhere(sql`f.kind = 'image' AND EXISTS (
  SELECT FROM images parent JOIN images child ON child.parent_id = parent.id
  WHERE parent.key = f.key AND parent.key <> '' AND child.deleted_at IS NULL)`);

/** Keys of all images of a person that are still stored. */
export const imageKeysOf = (
  db: Executor,
  userId: number,
): Promise<Pick<ImageRow, 'key' | 'type'>[]> =>
  db
    .select({ key: images.key, type: images.type })
    .from(images)
    .where(and(eq(images.userId, userId), ne(images.key, '')));
