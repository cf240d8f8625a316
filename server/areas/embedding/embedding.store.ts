import { and, asc, desc, eq, gt, inArray, ne, sql } from 'drizzle-orm';
import type { Executor } from '#server/db/database.ts';
import type { PageLooks } from '#server/reading/see-pages.ts';
import { knowledgeChunks, knowledgeGaps, knowledgePages } from './embedding.tables.ts';

export type ChunkRow = typeof knowledgeChunks.$inferSelect;
export type NewChunk = Omit<
  typeof knowledgeChunks.$inferInsert,
  'id' | 'version' | 'vectorVersion'
>;

/** Rows of one statement: its making is not to hold up who asks something else. */
const atOnce = 100;

/** @param stop ends it between two statements */
export const insertChunks = async (
  db: Executor,
  chunks: readonly NewChunk[],
  stop?: AbortSignal,
): Promise<void> => {
  for (let at = 0; at < chunks.length; at += atOnce) {
    stop?.throwIfAborted();
    await db.insert(knowledgeChunks).values(chunks.slice(at, at + atOnce));
  }
};

export const deleteChunks = async (db: Executor, fileId: number): Promise<void> => {
  await db.delete(knowledgeChunks).where(eq(knowledgeChunks.fileId, fileId));
};

/** Keeps where the lines of a file's scanned pages stand, in the place of what was kept. */
export const replaceLooks = async (
  db: Executor,
  fileId: number,
  looks: readonly PageLooks[],
): Promise<void> => {
  await db.delete(knowledgePages).where(eq(knowledgePages.fileId, fileId));
  if (looks.length > 0)
    await db.insert(knowledgePages).values(looks.map((each) => ({ fileId, ...each })));
};

/** Where the lines of a scanned page stand; null: nothing is kept of it. */
export const looksOf = async (
  db: Executor,
  fileId: number,
  page: number,
): Promise<PageLooks | null> => {
  const [row] = await db
    .select({ page: knowledgePages.page, angle: knowledgePages.angle, lines: knowledgePages.lines })
    .from(knowledgePages)
    .where(and(eq(knowledgePages.fileId, fileId), eq(knowledgePages.page, page)));
  return row ?? null;
};

/**
 * Files of a base that have passages, each with a mark that changes with any that is made or
 * changed. Ids and versions are of one row of numbers, so no two files ever have the same mark.
 */
export const filesWithChunks = (db: Executor, projectId: number) =>
  db
    .select({
      id: knowledgeChunks.fileId,
      mark: sql<number>`max(greatest(${knowledgeChunks.id}, ${knowledgeChunks.version}, ${knowledgeChunks.vectorVersion}))::float8`,
      passages: sql<number>`count(*)::float8`,
    })
    .from(knowledgeChunks)
    .where(eq(knowledgeChunks.projectId, projectId))
    .groupBy(knowledgeChunks.fileId)
    .orderBy(asc(knowledgeChunks.fileId));

/** Passages of files in their order; `after`: of a single file, those behind this one, so many. */
export const chunksOfFiles = (
  db: Executor,
  fileIds: readonly number[],
  part?: { after: number; most: number },
) => {
  const rows = db
    .select()
    .from(knowledgeChunks)
    .where(
      and(
        inArray(knowledgeChunks.fileId, [...fileIds]),
        part && gt(knowledgeChunks.seq, part.after),
        eq(knowledgeChunks.off, false),
      ),
    )
    .orderBy(asc(knowledgeChunks.fileId), asc(knowledgeChunks.seq));
  return part ? rows.limit(part.most) : rows;
};

const words = {
  id: knowledgeChunks.id,
  projectId: knowledgeChunks.projectId,
  fileId: knowledgeChunks.fileId,
  seq: knowledgeChunks.seq,
  page: knowledgeChunks.page,
  heading: knowledgeChunks.heading,
  place: knowledgeChunks.place,
  content: knowledgeChunks.content,
  off: knowledgeChunks.off,
};

export const chunksById = (db: Executor, ids: readonly number[]) =>
  ids.length === 0
    ? Promise.resolve([])
    : db
        .select(words)
        .from(knowledgeChunks)
        .where(inArray(knowledgeChunks.id, [...ids]));

/** A passage and those just before and behind it, as far as they are switched on. */
export const chunksAround = (db: Executor, fileId: number, seq: number) =>
  db
    .select(words)
    .from(knowledgeChunks)
    .where(
      and(
        eq(knowledgeChunks.fileId, fileId),
        eq(knowledgeChunks.off, false),
        inArray(knowledgeChunks.seq, [seq - 1, seq, seq + 1]),
      ),
    )
    .orderBy(asc(knowledgeChunks.seq));

/** Passages of a file in their order, those that are switched off among them. */
export const chunkPage = (
  db: Executor,
  fileId: number,
  { offset, limit }: { offset: number; limit: number },
) =>
  db
    .select(words)
    .from(knowledgeChunks)
    .where(eq(knowledgeChunks.fileId, fileId))
    .orderBy(asc(knowledgeChunks.seq))
    .offset(offset)
    .limit(limit);

export const countChunks = (db: Executor, fileId: number): Promise<number> =>
  db.$count(knowledgeChunks, eq(knowledgeChunks.fileId, fileId));

/** The text of a file's passages, as they were made or changed. */
export const contentsOf = async (db: Executor, fileId: number): Promise<string[]> =>
  (
    await db
      .select({ content: knowledgeChunks.content })
      .from(knowledgeChunks)
      .where(eq(knowledgeChunks.fileId, fileId))
      .orderBy(asc(knowledgeChunks.seq))
  ).map(({ content }) => content);

/** The whole row of a passage, locked; null: there is none. */
export const lockChunk = async (db: Executor, id: number): Promise<ChunkRow | null> => {
  const [row] = await db
    .select()
    .from(knowledgeChunks)
    .where(eq(knowledgeChunks.id, id))
    .for('update');
  return row ?? null;
};

/** The row of numbers that ids and versions are drawn from. */
const nextVersion = sql`nextval(pg_get_serial_sequence('knowledge_chunks', 'id'))`;

/** What is left of its file shows by a version that something of it went. */
export const deleteChunk = async (db: Executor, id: number): Promise<void> => {
  const [gone] = await db
    .delete(knowledgeChunks)
    .where(eq(knowledgeChunks.id, id))
    .returning({ fileId: knowledgeChunks.fileId });
  if (gone)
    await db
      .update(knowledgeChunks)
      .set({ version: nextVersion })
      .where(
        sql`${knowledgeChunks.id} = (
        SELECT min(id) FROM knowledge_chunks WHERE file_id = ${gone.fileId})`,
      );
};

/** Whether all passages of a file stand as they were read. */
export const isUntouched = async (db: Executor, fileId: number): Promise<boolean> => {
  const [row] = await db
    .select({ untouched: sql<boolean>`bool_and(${knowledgeChunks.version} = 0)` })
    .from(knowledgeChunks)
    .where(eq(knowledgeChunks.fileId, fileId));
  return row?.untouched === true;
};

export const insertChunk = async (db: Executor, row: NewChunk): Promise<number> => {
  const [made] = await db.insert(knowledgeChunks).values(row).returning({ id: knowledgeChunks.id });
  if (!made) throw new Error('the passage was not stored');
  return made.id;
};

/** Changes a passage under a new version. */
export const changeChunk = async (
  db: Executor,
  id: number,
  change: Partial<NewChunk>,
): Promise<void> => {
  await db
    .update(knowledgeChunks)
    .set({ ...change, version: nextVersion })
    .where(eq(knowledgeChunks.id, id));
};

/** Passages of a base that another model than this embedded, or none, in the order of their numbers. */
export const chunksNotOf = (
  db: Executor,
  projectId: number,
  { model, after, most }: { model: string; after: number; most: number },
) =>
  db
    .select({
      id: knowledgeChunks.id,
      heading: knowledgeChunks.heading,
      content: knowledgeChunks.content,
    })
    .from(knowledgeChunks)
    .where(
      and(
        eq(knowledgeChunks.projectId, projectId),
        gt(knowledgeChunks.id, after),
        ne(knowledgeChunks.model, model),
      ),
    )
    .orderBy(asc(knowledgeChunks.id))
    .limit(most);

export const countNotOf = (db: Executor, projectId: number, model: string): Promise<number> =>
  db.$count(
    knowledgeChunks,
    and(eq(knowledgeChunks.projectId, projectId), ne(knowledgeChunks.model, model)),
  );

/** Gives a passage another vector, unless its text was changed meanwhile. */
export const changeVector = async (
  db: Executor,
  { id, heading, content }: Pick<ChunkRow, 'id' | 'heading' | 'content'>,
  made: Pick<ChunkRow, 'vector' | 'model'>,
): Promise<void> => {
  await db
    .update(knowledgeChunks)
    .set({ ...made, vectorVersion: nextVersion })
    .where(
      and(
        eq(knowledgeChunks.id, id),
        eq(knowledgeChunks.heading, heading),
        eq(knowledgeChunks.content, content),
      ),
    );
};

/** The place behind the last passage of a file. */
export const nextSeq = async (db: Executor, fileId: number): Promise<number> => {
  const [row] = await db
    .select({ next: sql<number>`coalesce(max(${knowledgeChunks.seq}) + 1, 0)::int` })
    .from(knowledgeChunks)
    .where(eq(knowledgeChunks.fileId, fileId));
  return row?.next ?? 0;
};

/** Questions of a base that are kept; the one that was not asked for longest goes. */
const mostGaps = 200;

/** Counts a question that a base had nothing on. */
export const noteGap = async (
  db: Executor,
  projectId: number,
  { mark, question }: { mark: string; question: string },
): Promise<void> => {
  await db
    .insert(knowledgeGaps)
    .values({ projectId, mark, question })
    .onConflictDoUpdate({
      target: [knowledgeGaps.projectId, knowledgeGaps.mark],
      set: { asked: sql`${knowledgeGaps.asked} + 1`, lastAt: sql`now()` },
    });
  await db.execute(sql`DELETE FROM knowledge_gaps WHERE id IN (
    SELECT id FROM knowledge_gaps WHERE project_id = ${projectId}
    ORDER BY last_at DESC OFFSET ${mostGaps} FOR UPDATE SKIP LOCKED)`);
};

/** The most asked first. */
export const gapsOf = (db: Executor, projectId: number) =>
  db
    .select({
      id: knowledgeGaps.id,
      question: knowledgeGaps.question,
      asked: knowledgeGaps.asked,
      lastAt: knowledgeGaps.lastAt,
    })
    .from(knowledgeGaps)
    .where(eq(knowledgeGaps.projectId, projectId))
    .orderBy(desc(knowledgeGaps.asked), desc(knowledgeGaps.lastAt));

export const deleteGaps = async (
  db: Executor,
  projectId: number,
  of: { id: number } | { mark: string },
): Promise<void> => {
  await db
    .delete(knowledgeGaps)
    .where(
      and(
        eq(knowledgeGaps.projectId, projectId),
        'id' in of ? eq(knowledgeGaps.id, of.id) : eq(knowledgeGaps.mark, of.mark),
      ),
    );
};
