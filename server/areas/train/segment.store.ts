import { and, asc, desc, eq, inArray, lt, sql } from 'drizzle-orm';
import type { Executor } from '#server/db/database.ts';
import { trainingFiles, trainingProjects, trainingSegments } from './train.tables.ts';

type SegmentRow = typeof trainingSegments.$inferSelect;

/** What became of a sentence, `training_segments.state`. */
export const segmentStates = { open: 0, translated: 1, corrected: 2, kept: 3 } as const;

const { open, translated, corrected, kept } = segmentStates;

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
      open: sql<number>`count(*) FILTER (WHERE ${trainingSegments.state} = ${open})::int`,
    })
    .from(trainingSegments)
    .where(eq(trainingSegments.fileId, fileId));
  return { total: row?.total ?? 0, open: row?.open ?? 0 };
};

/** Sentences of all files of a person. */
export const countSegmentsOf = async (db: Executor, userId: number): Promise<number> => {
  const [row] = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(trainingSegments)
    .innerJoin(trainingFiles, eq(trainingFiles.id, trainingSegments.fileId))
    .innerJoin(trainingProjects, eq(trainingProjects.id, trainingFiles.projectId))
    .where(eq(trainingProjects.userId, userId));
  return row?.count ?? 0;
};

export const openSegments = (db: Executor, fileId: number, limit: number): Promise<SegmentRow[]> =>
  db
    .select()
    .from(trainingSegments)
    .where(and(eq(trainingSegments.fileId, fileId), eq(trainingSegments.state, open)))
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
        inArray(trainingSegments.state, [translated, corrected]),
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
        inArray(trainingSegments.state, [translated, corrected]),
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
      .where(and(eq(trainingSegments.id, id), eq(trainingSegments.state, open)));
};

/** What is open of a file stays as it is. */
export const keepSources = async (db: Executor, fileId: number): Promise<void> => {
  await db
    .update(trainingSegments)
    .set({ target: trainingSegments.source, state: kept })
    .where(and(eq(trainingSegments.fileId, fileId), eq(trainingSegments.state, open)));
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
    .set({ target, state: corrected })
    .where(where)
    .returning({ id: trainingSegments.id });
  return rows.length;
};
