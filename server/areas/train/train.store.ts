import {
  and,
  asc,
  desc,
  eq,
  gt,
  inArray,
  isNotNull,
  isNull,
  lt,
  ne,
  not,
  or,
  sql,
  type SQL,
} from 'drizzle-orm';
import { projectStates, projectTypes } from '../../../contract/train-limits.ts';
import type { Executor, Transaction } from '../../db/database.ts';
import { suspended } from '../../db/suspended.ts';
import { countUpTo } from '../../db/count-up-to.ts';
import { users } from '../../db/schema.ts';
import { namedIn, showsWhere } from '../file/shown.ts';
import {
  trainingFiles,
  trainingLogs,
  trainingProjects,
  trainingSegments,
  trainingUploads,
} from './train.tables.ts';

export type ProjectRow = typeof trainingProjects.$inferSelect;
export type FileRow = typeof trainingFiles.$inferSelect;

// ---- projects ---------------------------------------------------------------

const containing = (query: string): SQL | undefined =>
  query === ''
    ? undefined
    : sql`strpos(lower(${trainingProjects.name} || ' ' || ${trainingProjects.key} || ' ' || ${trainingProjects.description}), lower(${query})) > 0`;

export const isSuspended = async (db: Executor, userId: number): Promise<boolean> => {
  const { rows } = await db.execute<{ yes: boolean }>(
    sql`SELECT ${suspended(sql`${userId}::bigint`)} AS yes`,
  );
  return rows[0]?.yes === true;
};

/** Everybody may ask it, as long as its owner is served. */
const open = and(eq(trainingProjects.private, false), not(suspended(trainingProjects.userId)));

/** Knowledge bases that a person may ask: their own, newest first, and the open ones. */
export const basesFor = (db: Executor, userId: number | null, query = ''): Promise<ProjectRow[]> =>
  db
    .select()
    .from(trainingProjects)
    .where(
      and(
        eq(trainingProjects.type, projectTypes.knowledge),
        userId === null ? open : or(eq(trainingProjects.userId, userId), open),
        containing(query),
      ),
    )
    .orderBy(desc(sql`${trainingProjects.userId} = ${userId ?? 0}`), desc(trainingProjects.id))
    .limit(100);

const ofKey = (key: string) => eq(sql`lower(${trainingProjects.key})`, key.toLowerCase());

export const findBase = async (db: Executor, key: string): Promise<ProjectRow | null> => {
  const [row] = await db
    .select()
    .from(trainingProjects)
    .where(
      and(
        ofKey(key),
        eq(trainingProjects.type, projectTypes.knowledge),
        not(suspended(trainingProjects.userId)),
      ),
    );
  return row ?? null;
};

export const insertProject = async (
  db: Executor,
  project: typeof trainingProjects.$inferInsert,
): Promise<ProjectRow | null> => {
  const [row] = await db.insert(trainingProjects).values(project).onConflictDoNothing().returning();
  return row ?? null;
};

export const countProjects = async (db: Executor, userId: number): Promise<number> => {
  const [row] = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(trainingProjects)
    .where(eq(trainingProjects.userId, userId));
  return row?.count ?? 0;
};

export const findProject = async (db: Executor, id: number): Promise<ProjectRow | null> => {
  const [row] = await db.select().from(trainingProjects).where(eq(trainingProjects.id, id));
  return row ?? null;
};

/** The same, and nobody else changes it until the transaction ends. */
export const lockProject = async (tx: Transaction, id: number): Promise<ProjectRow | null> => {
  const [row] = await tx
    .select()
    .from(trainingProjects)
    .where(eq(trainingProjects.id, id))
    .for('update');
  return row ?? null;
};

export const newestProject = async (
  db: Executor,
  userId: number,
  types: readonly number[],
): Promise<ProjectRow | null> => {
  const [row] = await db
    .select()
    .from(trainingProjects)
    .where(and(eq(trainingProjects.userId, userId), inArray(trainingProjects.type, [...types])))
    .orderBy(desc(trainingProjects.id))
    .limit(1);
  return row ?? null;
};

export interface ProjectFilter {
  types: readonly number[];
  /** Null: open ones of everybody. */
  userId: number | null;
  query: string;
}

export const projectPage = async (
  db: Executor,
  { types, userId, query }: ProjectFilter,
  { offset, limit }: { offset: number; limit: number },
) => {
  const fits = and(
    inArray(trainingProjects.type, [...types]),
    userId === null ? open : eq(trainingProjects.userId, userId),
    containing(query),
  );
  const rows = await db
    .select()
    .from(trainingProjects)
    .where(fits)
    .orderBy(desc(trainingProjects.id))
    .offset(offset)
    .limit(limit);
  const [counted] = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(trainingProjects)
    .where(fits);
  return { rows, total: counted?.count ?? 0 };
};

export interface ManagedFilter {
  userId?: number | undefined;
  key?: string | undefined;
  name?: string | undefined;
  type?: number | undefined;
  status?: number | undefined;
}

/** Of everybody, the newest first. */
export const managedProjects = async (
  db: Executor,
  { userId, key, name, type, status }: ManagedFilter,
  { offset, limit }: { offset: number; limit: number },
) => {
  const fits = and(
    userId === undefined ? undefined : eq(trainingProjects.userId, userId),
    key ? sql`strpos(lower(${trainingProjects.key}), ${key.toLowerCase()}) > 0` : undefined,
    containing(name ?? ''),
    type === undefined ? undefined : eq(trainingProjects.type, type),
    status === undefined ? undefined : eq(trainingProjects.status, status),
  );
  const rows = await db
    .select()
    .from(trainingProjects)
    .where(fits)
    .orderBy(desc(trainingProjects.id))
    .offset(offset)
    .limit(limit);
  return { rows, total: await countUpTo(db, trainingProjects, fits) };
};

export const namesOf = async (
  db: Executor,
  userIds: readonly number[],
): Promise<Map<number, string>> => {
  if (userIds.length === 0) return new Map();
  const rows = await db
    .select({ id: users.id, name: users.userName })
    .from(users)
    .where(inArray(users.id, [...userIds]));
  return new Map(rows.map(({ id, name }) => [id, name]));
};

export const changeProject = async (
  db: Executor,
  id: number,
  change: Partial<
    Pick<
      ProjectRow,
      | 'private'
      | 'name'
      | 'description'
      | 'settings'
      | 'status'
      | 'type'
      | 'engine'
      | 'profile'
      | 'artifactKey'
      | 'artifactName'
    >
  >,
): Promise<void> => {
  await db
    .update(trainingProjects)
    .set({
      ...change,
      // Whoever knows the addresses of its files from when it was public knows them no more.
      ...(change.private === true && {
        addressSalt: sql`CASE WHEN ${trainingProjects.private} THEN ${trainingProjects.addressSalt}
          ELSE left(encode(uuid_send(gen_random_uuid()), 'hex'), 16) END`,
      }),
      updatedAt: sql`now()`,
    })
    .where(eq(trainingProjects.id, id));
};

/** Counts what was taken for a project, and says that its passages changed. */
export const noteChange = async (
  db: Executor,
  id: number,
  { tokens = 0, engine }: { tokens?: number; engine?: string } = {},
): Promise<void> => {
  await db
    .update(trainingProjects)
    .set({
      revision: sql`${trainingProjects.revision} + 1`,
      token: sql`${trainingProjects.token} + ${tokens}`,
      updatedAt: sql`now()`,
      ...(engine === undefined ? {} : { engine }),
    })
    .where(eq(trainingProjects.id, id));
};

export const deleteProject = async (db: Executor, id: number): Promise<void> => {
  await db.delete(trainingProjects).where(eq(trainingProjects.id, id));
};

/** All files of all projects of a person. */
export const filesOfPerson = (db: Executor, userId: number) =>
  db
    .select({
      project: trainingProjects.key,
      name: trainingFiles.name,
      storageKey: trainingFiles.storageKey,
      holdId: trainingFiles.holdId,
    })
    .from(trainingFiles)
    .innerJoin(trainingProjects, eq(trainingProjects.id, trainingFiles.projectId))
    .where(eq(trainingProjects.userId, userId))
    .orderBy(trainingFiles.id);

export const artifactsOfPerson = async (db: Executor, userId: number): Promise<string[]> => {
  const rows = await db
    .select({ key: trainingProjects.artifactKey })
    .from(trainingProjects)
    .where(eq(trainingProjects.userId, userId));
  return rows.flatMap(({ key }) => key ?? []);
};

/** The project that a stored file belongs to; what it is made of, or packed into. */
export const projectOfStored = async (
  db: Executor,
  storageKey: string,
): Promise<ProjectRow | null> => {
  const [row] = await db
    .select()
    .from(trainingProjects)
    .where(
      or(
        eq(trainingProjects.artifactKey, storageKey),
        sql`${trainingProjects.id} IN (
          SELECT project_id FROM training_files WHERE storage_key = ${storageKey})`,
      ),
    );
  return row ?? null;
};

/** Styles by their keys, whoever they belong to. */
export const stylesOfKeys = (db: Executor, keys: readonly string[]): Promise<ProjectRow[]> =>
  keys.length === 0
    ? Promise.resolve([])
    : db
        .select()
        .from(trainingProjects)
        .where(
          and(
            eq(trainingProjects.type, projectTypes.lora),
            inArray(
              sql`lower(${trainingProjects.key})`,
              keys.map((key) => key.toLowerCase()),
            ),
          ),
        );

/** Trained styles of a person, newest first. */
export const trainedStyles = (db: Executor, userId: number) =>
  db
    .select({ key: trainingProjects.key, label: trainingProjects.name })
    .from(trainingProjects)
    .where(
      and(
        eq(trainingProjects.userId, userId),
        eq(trainingProjects.type, projectTypes.lora),
        eq(trainingProjects.status, projectStates.trained),
      ),
    )
    .orderBy(desc(trainingProjects.id))
    .limit(50);

/** Images that a style is trained from, and those of a project's description. */
export const shownByProjects =
  showsWhere(sql`${namedIn(sql`settings::text`, sql`training_projects`)}
  OR ${namedIn(sql`description`, sql`training_projects`)}`);

// ---- files ------------------------------------------------------------------

export interface Counts {
  total: number;
  over: number;
  failed: number;
  waiting: number;
}

/** How many files of each project there are, are done and failed. Archives that were opened do not count. */
export const countsOf = async (
  db: Executor,
  projectIds: readonly number[],
): Promise<Map<number, Counts>> => {
  if (projectIds.length === 0) return new Map();
  const rows = await db
    .select({
      id: trainingFiles.projectId,
      total: sql<number>`count(*) FILTER (
        WHERE ${trainingFiles.status} <> 3 AND NOT ${trainingFiles.waiting})::int`,
      waiting: sql<number>`count(*) FILTER (WHERE ${trainingFiles.waiting})::int`,
      over: sql<number>`count(*) FILTER (WHERE ${trainingFiles.status} = 1)::int`,
      failed: sql<number>`count(*) FILTER (WHERE ${trainingFiles.status} = 2)::int`,
    })
    .from(trainingFiles)
    .where(inArray(trainingFiles.projectId, [...projectIds]))
    .groupBy(trainingFiles.projectId);
  return new Map(rows.map(({ id, ...counts }) => [id, counts]));
};

/** The newest file of each project that was given by a person and is there still. */
export const newestFiles = async (
  db: Executor,
  projectIds: readonly number[],
): Promise<Map<number, { name: string; storageKey: string }>> => {
  if (projectIds.length === 0) return new Map();
  const rows = await db
    .selectDistinctOn([trainingFiles.projectId], {
      id: trainingFiles.projectId,
      name: trainingFiles.name,
      storageKey: trainingFiles.storageKey,
    })
    .from(trainingFiles)
    .where(
      and(
        inArray(trainingFiles.projectId, [...projectIds]),
        isNull(trainingFiles.parentId),
        isNotNull(trainingFiles.storageKey),
      ),
    )
    .orderBy(trainingFiles.projectId, desc(trainingFiles.id));
  return new Map(
    rows.map(({ id, name, storageKey }) => [id, { name, storageKey: storageKey ?? '' }]),
  );
};

export const countFiles = async (db: Executor, projectId: number): Promise<number> => {
  const [row] = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(trainingFiles)
    .where(eq(trainingFiles.projectId, projectId));
  return row?.count ?? 0;
};

/** Bytes that all of a person's training takes. */
export const bytesOf = async (db: Executor, userId: number): Promise<number> => {
  const [row] = await db
    .select({ sum: sql<number>`coalesce(sum(${trainingFiles.size}), 0)::float8` })
    .from(trainingFiles)
    .innerJoin(trainingProjects, eq(trainingProjects.id, trainingFiles.projectId))
    .where(eq(trainingProjects.userId, userId));
  return row?.sum ?? 0;
};

export const insertFile = async (
  db: Executor,
  file: typeof trainingFiles.$inferInsert,
): Promise<FileRow> => {
  const [row] = await db.insert(trainingFiles).values(file).returning();
  if (!row) throw new Error('the file was not stored');
  return row;
};

export const filePage = async (
  db: Executor,
  projectId: number,
  { offset, limit }: { offset: number; limit: number },
): Promise<FileRow[]> =>
  db
    .select()
    .from(trainingFiles)
    .where(eq(trainingFiles.projectId, projectId))
    .orderBy(desc(trainingFiles.id))
    .offset(offset)
    .limit(limit);

export const allFiles = (db: Executor, projectId: number): Promise<FileRow[]> =>
  db
    .select()
    .from(trainingFiles)
    .where(eq(trainingFiles.projectId, projectId))
    .orderBy(asc(trainingFiles.id));

/** The same, and nobody changes them until the transaction ends. */
export const lockFiles = (tx: Transaction, projectId: number): Promise<FileRow[]> =>
  tx
    .select()
    .from(trainingFiles)
    .where(eq(trainingFiles.projectId, projectId))
    .orderBy(asc(trainingFiles.id))
    .for('update');

export const findFile = async (db: Executor, id: number) => {
  const [row] = await db
    .select({ file: trainingFiles, project: trainingProjects })
    .from(trainingFiles)
    .innerJoin(trainingProjects, eq(trainingProjects.id, trainingFiles.projectId))
    .where(eq(trainingFiles.id, id));
  return row ? { ...row.file, project: row.project } : null;
};

export const filesByIds = (db: Executor, ids: readonly number[]) =>
  ids.length === 0
    ? Promise.resolve([])
    : db
        .select({ id: trainingFiles.id, name: trainingFiles.name })
        .from(trainingFiles)
        .where(inArray(trainingFiles.id, [...ids]));

/** Whether a file with these very bytes is in the project and has not failed. */
export const sameFile = async (
  db: Executor,
  projectId: number,
  { hash, name }: { hash: string; name: string },
): Promise<FileRow | null> => {
  const [row] = await db
    .select()
    .from(trainingFiles)
    .where(
      and(
        eq(trainingFiles.projectId, projectId),
        eq(trainingFiles.hash, hash),
        eq(trainingFiles.name, name),
        ne(trainingFiles.status, 2),
      ),
    )
    .limit(1);
  return row ?? null;
};

/** The next file of a project that waits for work; null: none. */
export const nextFile = async (
  db: Executor,
  projectId: number,
  after = 0,
): Promise<FileRow | null> => {
  const [row] = await db
    .select()
    .from(trainingFiles)
    .where(
      and(
        eq(trainingFiles.projectId, projectId),
        eq(trainingFiles.status, 0),
        eq(trainingFiles.waiting, false),
        gt(trainingFiles.id, after),
      ),
    )
    .orderBy(asc(trainingFiles.id))
    .limit(1);
  return row ?? null;
};

export type FileChange = Partial<
  Pick<
    FileRow,
    | 'status'
    | 'token'
    | 'totalNum'
    | 'overNum'
    | 'error'
    | 'holdId'
    | 'size'
    | 'storageKey'
    | 'waiting'
    | 'content'
    | 'hopeless'
  >
>;

/** False: it is gone. */
export const changeFile = async (
  db: Executor,
  id: number,
  change: FileChange,
): Promise<boolean> => {
  const rows = await db
    .update(trainingFiles)
    .set({ ...change, updatedAt: sql`now()` })
    .where(eq(trainingFiles.id, id))
    .returning({ id: trainingFiles.id });
  return rows.length > 0;
};

/** Ends a file's work where nobody else has; false: it is gone or has ended. */
export const endFile = async (db: Executor, id: number, change: FileChange): Promise<boolean> => {
  const rows = await db
    .update(trainingFiles)
    .set({ ...change, holdId: null, updatedAt: sql`now()` })
    .where(and(eq(trainingFiles.id, id), eq(trainingFiles.status, 0)))
    .returning({ id: trainingFiles.id });
  return rows.length > 0;
};

/** Fails what of a project still waits; gives those files. */
export const failOpenFiles = (db: Executor, projectId: number, error: string) =>
  db
    .update(trainingFiles)
    .set({ status: 2, error, updatedAt: sql`now()` })
    .where(
      and(
        eq(trainingFiles.projectId, projectId),
        eq(trainingFiles.status, 0),
        eq(trainingFiles.waiting, false),
      ),
    )
    .returning();

/** The files of a project that its owner has not begun yet. */
export const waitingFiles = (db: Executor, projectId: number): Promise<FileRow[]> =>
  db
    .select()
    .from(trainingFiles)
    .where(and(eq(trainingFiles.projectId, projectId), eq(trainingFiles.waiting, true)))
    .orderBy(asc(trainingFiles.id));

/** They wait no more. */
export const beginFiles = async (db: Executor, projectId: number): Promise<number[]> => {
  const rows = await db
    .update(trainingFiles)
    .set({ waiting: false, updatedAt: sql`now()` })
    .where(and(eq(trainingFiles.projectId, projectId), eq(trainingFiles.waiting, true)))
    .returning({ id: trainingFiles.id });
  return rows.map(({ id }) => id);
};

export const deleteFile = async (db: Executor, id: number): Promise<void> => {
  await db.delete(trainingFiles).where(eq(trainingFiles.id, id));
};

/** The file and what came out of it, with all that came out of that. */
export const fileFamily = async (db: Executor, id: number): Promise<FileRow[]> => {
  const rows = await db.select().from(trainingFiles).where(eq(trainingFiles.id, id)).for('update');
  for (let parents = rows.map((row) => row.id); parents.length > 0;) {
    const children = await db
      .select()
      .from(trainingFiles)
      .where(inArray(trainingFiles.parentId, parents))
      .for('update');
    rows.push(...children);
    parents = children.map((row) => row.id);
  }
  return rows;
};

/** Takes away what an earlier try got out of an archive. */
export const deleteChildren = async (db: Executor, id: number): Promise<void> => {
  await db.delete(trainingFiles).where(eq(trainingFiles.parentId, id));
};

// ---- logs -------------------------------------------------------------------

export const addLog = async (db: Executor, fileId: number, content: string): Promise<void> => {
  await db.execute(
    sql`INSERT INTO training_logs (file_id, content)
        SELECT id, ${content.slice(0, 500)} FROM training_files WHERE id = ${fileId}`,
  );
};

export const logsAfter = (db: Executor, fileId: number, endId: number) =>
  db
    .select()
    .from(trainingLogs)
    .where(and(eq(trainingLogs.fileId, fileId), gt(trainingLogs.id, endId)))
    .orderBy(asc(trainingLogs.id))
    .limit(500);

// ---- sentences --------------------------------------------------------------

export type SegmentRow = typeof trainingSegments.$inferSelect;

export const insertSegments = async (
  db: Executor,
  fileId: number,
  segments: readonly { source: string; target: string; state: number }[],
): Promise<void> => {
  for (let at = 0; at < segments.length; at += 500)
    await db
      .insert(trainingSegments)
      .values(
        segments
          .slice(at, at + 500)
          .map((segment, each) => ({ fileId, seq: at + each, ...segment })),
      );
};

export const deleteSegments = async (db: Executor, fileId: number): Promise<void> => {
  await db.delete(trainingSegments).where(eq(trainingSegments.fileId, fileId));
};

export const countSegments = async (db: Executor, fileId: number) => {
  const [row] = await db
    .select({
      total: sql<number>`count(*)::int`,
      open: sql<number>`count(*) FILTER (WHERE ${trainingSegments.state} = 0)::int`,
    })
    .from(trainingSegments)
    .where(eq(trainingSegments.fileId, fileId));
  return { total: row?.total ?? 0, open: row?.open ?? 0 };
};

export const openSegments = (db: Executor, fileId: number, limit: number): Promise<SegmentRow[]> =>
  db
    .select()
    .from(trainingSegments)
    .where(and(eq(trainingSegments.fileId, fileId), eq(trainingSegments.state, 0)))
    .orderBy(asc(trainingSegments.seq))
    .limit(limit);

export const segmentsBefore = (
  db: Executor,
  fileId: number,
  seq: number,
  limit: number,
): Promise<SegmentRow[]> =>
  db
    .select()
    .from(trainingSegments)
    .where(
      and(
        eq(trainingSegments.fileId, fileId),
        lt(trainingSegments.seq, seq),
        inArray(trainingSegments.state, [1, 2]),
      ),
    )
    .orderBy(desc(trainingSegments.seq))
    .limit(limit);

export const segmentPage = (
  db: Executor,
  fileId: number,
  { offset, limit }: { offset: number; limit: number },
): Promise<SegmentRow[]> =>
  db
    .select()
    .from(trainingSegments)
    .where(eq(trainingSegments.fileId, fileId))
    .orderBy(asc(trainingSegments.seq))
    .offset(offset)
    .limit(limit);

export const targetsOf = async (db: Executor, fileId: number): Promise<SegmentRow[]> =>
  db
    .select()
    .from(trainingSegments)
    .where(eq(trainingSegments.fileId, fileId))
    .orderBy(asc(trainingSegments.seq));

/** What the same texts were translated to elsewhere in the project; what people wrote comes first. */
export const knownTargets = async (
  db: Executor,
  projectId: number,
  sources: readonly string[],
): Promise<Map<string, string>> => {
  if (sources.length === 0) return new Map();
  const rows = await db
    .select({ source: trainingSegments.source, target: trainingSegments.target })
    .from(trainingSegments)
    .innerJoin(trainingFiles, eq(trainingFiles.id, trainingSegments.fileId))
    .where(
      and(
        eq(trainingFiles.projectId, projectId),
        inArray(trainingSegments.source, [...sources]),
        inArray(trainingSegments.state, [1, 2]),
      ),
    )
    .orderBy(asc(trainingSegments.state), asc(trainingSegments.id));
  return new Map(rows.map(({ source, target }) => [source, target]));
};

/** Writes translations of sentences that nobody has corrected meanwhile. */
export const saveTargets = async (
  db: Executor,
  targets: readonly { id: number; target: string; state: number }[],
): Promise<void> => {
  for (const { id, target, state } of targets)
    await db
      .update(trainingSegments)
      .set({ target, state })
      .where(and(eq(trainingSegments.id, id), eq(trainingSegments.state, 0)));
};

export const findSegment = async (db: Executor, id: number) => {
  const [row] = await db
    .select({ segment: trainingSegments, project: trainingProjects })
    .from(trainingSegments)
    .innerJoin(trainingFiles, eq(trainingFiles.id, trainingSegments.fileId))
    .innerJoin(trainingProjects, eq(trainingProjects.id, trainingFiles.projectId))
    .where(eq(trainingSegments.id, id));
  return row ?? null;
};

/** Writes what a person makes of a sentence; with `projectId`, wherever in it the same stands. */
export const correct = async (
  db: Executor,
  { id, source, projectId }: { id: number; source: string; projectId: number | null },
  target: string,
): Promise<number> => {
  const where =
    projectId === null
      ? eq(trainingSegments.id, id)
      : and(
          eq(trainingSegments.source, source),
          inArray(
            trainingSegments.fileId,
            db
              .select({ id: trainingFiles.id })
              .from(trainingFiles)
              .where(eq(trainingFiles.projectId, projectId)),
          ),
        );
  const rows = await db
    .update(trainingSegments)
    .set({ target, state: 2 })
    .where(where)
    .returning({ id: trainingSegments.id });
  return rows.length;
};

// ---- files on their way in ----------------------------------------------------

export const findUpload = async (db: Executor, id: string, userId: number) => {
  const [row] = await db
    .select({
      name: trainingUploads.name,
      size: trainingUploads.size,
      received: sql<number>`octet_length(${trainingUploads.data})::int`,
    })
    .from(trainingUploads)
    .where(and(eq(trainingUploads.id, id), eq(trainingUploads.userId, userId)));
  return row ?? null;
};

export const countUploads = async (db: Executor, userId: number): Promise<number> => {
  const [row] = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(trainingUploads)
    .where(eq(trainingUploads.userId, userId));
  return row?.count ?? 0;
};

export const beginUpload = async (
  db: Executor,
  upload: { id: string; userId: number; name: string; size: number },
): Promise<void> => {
  await db.insert(trainingUploads).values(upload).onConflictDoNothing();
};

/** Adds a piece where the file ends so far; gives its length then. A piece that is here already changes nothing. */
export const addPiece = async (
  db: Executor,
  { id, userId, offset, data }: { id: string; userId: number; offset: number; data: Buffer },
): Promise<number> => {
  await db
    .update(trainingUploads)
    .set({ data: sql`${trainingUploads.data} || ${data}` })
    .where(
      and(
        eq(trainingUploads.id, id),
        eq(trainingUploads.userId, userId),
        sql`octet_length(${trainingUploads.data}) = ${offset}`,
        sql`octet_length(${trainingUploads.data}) + ${data.length} <= ${trainingUploads.size}`,
      ),
    );
  return (await findUpload(db, id, userId))?.received ?? 0;
};

export const takeUpload = async (db: Executor, id: string, userId: number) => {
  const [row] = await db
    .delete(trainingUploads)
    .where(and(eq(trainingUploads.id, id), eq(trainingUploads.userId, userId)))
    .returning({ name: trainingUploads.name, data: trainingUploads.data });
  return row ?? null;
};

/** Forgets those that nobody went on with for a day. */
export const dropOldUploads = async (db: Executor): Promise<void> => {
  await db
    .delete(trainingUploads)
    .where(lt(trainingUploads.createdAt, sql`now() - interval '1 day'`));
};
