import { and, asc, eq, gt, inArray, sql } from 'drizzle-orm';
import type { Executor } from '../../db/database.ts';
import { knowledgeChunks } from './embedding.tables.ts';

export type ChunkRow = typeof knowledgeChunks.$inferSelect;
export type NewChunk = Omit<typeof knowledgeChunks.$inferInsert, 'id'>;

/** Rows of one statement: its making is not to hold up who asks something else. */
const atOnce = 100;

export const insertChunks = async (db: Executor, chunks: readonly NewChunk[]): Promise<void> => {
  for (let at = 0; at < chunks.length; at += atOnce)
    await db.insert(knowledgeChunks).values(chunks.slice(at, at + atOnce));
};

export const deleteChunks = async (db: Executor, fileId: number): Promise<void> => {
  await db.delete(knowledgeChunks).where(eq(knowledgeChunks.fileId, fileId));
};

/** Files of a base that have passages, each with a mark that changes when they are made anew. */
export const filesWithChunks = (db: Executor, projectId: number) =>
  db
    .select({
      id: knowledgeChunks.fileId,
      mark: sql<number>`min(${knowledgeChunks.id})::float8`,
    })
    .from(knowledgeChunks)
    .where(eq(knowledgeChunks.projectId, projectId))
    .groupBy(knowledgeChunks.fileId)
    .orderBy(asc(knowledgeChunks.fileId));

export const chunksOfFile = (
  db: Executor,
  fileId: number,
  { after, most }: { after: number; most: number },
) =>
  db
    .select()
    .from(knowledgeChunks)
    .where(and(eq(knowledgeChunks.fileId, fileId), gt(knowledgeChunks.seq, after)))
    .orderBy(asc(knowledgeChunks.seq))
    .limit(most);

const words = {
  id: knowledgeChunks.id,
  projectId: knowledgeChunks.projectId,
  fileId: knowledgeChunks.fileId,
  seq: knowledgeChunks.seq,
  page: knowledgeChunks.page,
  heading: knowledgeChunks.heading,
  place: knowledgeChunks.place,
  content: knowledgeChunks.content,
};

export const chunksById = (db: Executor, ids: readonly number[]) =>
  ids.length === 0
    ? Promise.resolve([])
    : db
        .select(words)
        .from(knowledgeChunks)
        .where(inArray(knowledgeChunks.id, [...ids]));

/** A passage and those just before and behind it. */
export const chunksAround = (db: Executor, fileId: number, seq: number) =>
  db
    .select(words)
    .from(knowledgeChunks)
    .where(
      and(
        eq(knowledgeChunks.fileId, fileId),
        inArray(knowledgeChunks.seq, [seq - 1, seq, seq + 1]),
      ),
    )
    .orderBy(asc(knowledgeChunks.seq));
