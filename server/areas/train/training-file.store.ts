import { and, asc, desc, eq, gt, inArray, isNotNull, isNull, ne, sql } from 'drizzle-orm';
import { fileStates, projectTypes } from '#contract/train-limits.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { trainingFiles, trainingLogs, trainingProjects } from './train.tables.ts';

export type FileRow = typeof trainingFiles.$inferSelect;

interface Counts {
  total: number;
  over: number;
  failed: number;
  waiting: number;
  /** Bytes of all that are begun, and of those that are done or failed. */
  bytes: number;
  bytesOver: number;
}

/** The counts of a project that has no files. */
export const noFiles: Counts = {
  total: 0,
  over: 0,
  failed: 0,
  waiting: 0,
  bytes: 0,
  bytesOver: 0,
};

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
        WHERE ${trainingFiles.status} <> ${fileStates.unpacked} AND NOT ${trainingFiles.waiting})::int`,
      waiting: sql<number>`count(*) FILTER (WHERE ${trainingFiles.waiting})::int`,
      over: sql<number>`count(*) FILTER (WHERE ${trainingFiles.status} = ${fileStates.done})::int`,
      failed: sql<number>`count(*) FILTER (WHERE ${trainingFiles.status} = ${fileStates.failed})::int`,
      bytes: sql<number>`coalesce(sum(${trainingFiles.size}) FILTER (
        WHERE ${trainingFiles.status} <> ${fileStates.unpacked} AND NOT ${trainingFiles.waiting}), 0)::float8`,
      bytesOver: sql<number>`coalesce(sum(${trainingFiles.size}) FILTER (
        WHERE ${trainingFiles.status} IN (${fileStates.done}, ${fileStates.failed})), 0)::float8`,
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

export const countFiles = (db: Executor, projectId: number): Promise<number> =>
  db.$count(trainingFiles, eq(trainingFiles.projectId, projectId));

/** Files that count: an archive is what came out of it. */
export const countKept = (db: Executor, projectId: number): Promise<number> =>
  db.$count(
    trainingFiles,
    and(eq(trainingFiles.projectId, projectId), ne(trainingFiles.status, fileStates.unpacked)),
  );

/** Bytes that all of a person's training takes, what came in and what was made of it. */
export const bytesOf = async (db: Executor, userId: number): Promise<number> => {
  const { rows } = await db.execute<{ sum: number }>(sql`
    SELECT (coalesce((SELECT sum(f.size) FROM training_files f
        JOIN training_projects p ON p.id = f.project_id WHERE p.user_id = ${userId}), 0)
      + coalesce((SELECT sum(artifact_size) FROM training_projects
        WHERE user_id = ${userId}), 0))::float8 AS sum`);
  return rows[0]?.sum ?? 0;
};

export const insertFile = async (
  db: Executor,
  file: typeof trainingFiles.$inferInsert,
): Promise<FileRow> => {
  const [row] = await db.insert(trainingFiles).values(file).returning();
  if (!row) throw new Error('the file was not stored');
  return row;
};

/** As many as an archive holds, with a line in the log of each. */
export const insertFiles = async (
  db: Executor,
  rows: readonly (typeof trainingFiles.$inferInsert)[],
  content: string,
): Promise<void> => {
  const made = await db
    .insert(trainingFiles)
    .values([...rows])
    .returning({ fileId: trainingFiles.id });
  await db.insert(trainingLogs).values(made.map((row) => ({ ...row, content })));
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

/** The file of a project that the program keeps under a kind of its own; null: none yet. */
export const fileOfKind = async (
  db: Executor,
  projectId: number,
  kind: string,
): Promise<FileRow | null> => {
  const [row] = await db
    .select()
    .from(trainingFiles)
    .where(and(eq(trainingFiles.projectId, projectId), eq(trainingFiles.kind, kind)))
    .limit(1);
  return row ?? null;
};

/** Of these files those that are the project's. */
export const filesAmong = (db: Executor, projectId: number, ids: readonly number[]) =>
  db
    .select()
    .from(trainingFiles)
    .where(and(eq(trainingFiles.projectId, projectId), inArray(trainingFiles.id, [...ids])));

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
        ne(trainingFiles.status, fileStates.failed),
      ),
    )
    .limit(1);
  return row ?? null;
};

/** Of a project: begun by its owner, and not ended. */
const isOpen = (projectId: number) =>
  and(
    eq(trainingFiles.projectId, projectId),
    eq(trainingFiles.status, fileStates.working),
    eq(trainingFiles.waiting, false),
  );

/** Of a project: its owner has not begun it yet. */
const isWaiting = (projectId: number) =>
  and(eq(trainingFiles.projectId, projectId), eq(trainingFiles.waiting, true));

/** What is worked on beside each other: archives that are opened, and all other files. */
export type Lane = 'archives' | 'others';

/** The next file of a project that waits for work, of one lane or any; null: none. */
export const nextFile = async (
  db: Executor,
  projectId: number,
  lane?: Lane,
): Promise<FileRow | null> => {
  // Written out, so that the index of open archives serves.
  const ofLane = lane && (lane === 'archives' ? sql`kind = 'archive'` : sql`kind <> 'archive'`);
  const [row] = await db
    .select()
    .from(trainingFiles)
    .where(and(isOpen(projectId), ofLane))
    .orderBy(asc(trainingFiles.id))
    .limit(1);
  return row ?? null;
};

type FileChange = Partial<
  Pick<
    FileRow,
    | 'status'
    | 'token'
    | 'totalNum'
    | 'overNum'
    | 'error'
    | 'holdId'
    | 'channelId'
    | 'waiting'
    | 'content'
    | 'hopeless'
    | 'storageKey'
    | 'size'
    | 'hash'
    | 'kind'
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

/** How many passages the files of a person's knowledge bases have. */
export const passagesOfPerson = async (db: Executor, userId: number): Promise<number> => {
  const [row] = await db
    .select({ all: sql<number>`coalesce(sum(${trainingFiles.totalNum}), 0)::float8` })
    .from(trainingFiles)
    .innerJoin(trainingProjects, eq(trainingProjects.id, trainingFiles.projectId))
    .where(
      and(
        eq(trainingProjects.userId, userId),
        eq(trainingProjects.type, projectTypes.knowledge),
        eq(trainingFiles.status, fileStates.done),
      ),
    );
  return row?.all ?? 0;
};

/** Ends a file's work where nobody else has; false: it is gone or has ended. */
export const endFile = async (db: Executor, id: number, change: FileChange): Promise<boolean> => {
  const rows = await db
    .update(trainingFiles)
    .set({ ...change, holdId: null, updatedAt: sql`now()` })
    .where(and(eq(trainingFiles.id, id), eq(trainingFiles.status, fileStates.working)))
    .returning({ id: trainingFiles.id });
  return rows.length > 0;
};

/** Fails what of a project still waits; gives those files. */
export const failOpenFiles = (db: Executor, projectId: number, error: string) =>
  db
    .update(trainingFiles)
    .set({ status: fileStates.failed, error, updatedAt: sql`now()` })
    .where(isOpen(projectId))
    .returning();

/** The files of a project that its owner has not begun yet. */
export const waitingFiles = (db: Executor, projectId: number): Promise<FileRow[]> =>
  db.select().from(trainingFiles).where(isWaiting(projectId)).orderBy(asc(trainingFiles.id));

/** They wait no more. */
export const beginFiles = async (db: Executor, projectId: number): Promise<number[]> => {
  const rows = await db
    .update(trainingFiles)
    .set({ waiting: false, updatedAt: sql`now()` })
    .where(isWaiting(projectId))
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
