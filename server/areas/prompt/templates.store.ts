import { and, asc, desc, eq, isNull, or, sql } from 'drizzle-orm';
import type { Executor } from '#server/db/database.ts';
import { lockOwner } from '#server/db/person.ts';
import { namedIn, showsWhere } from '#server/db/shown.ts';
import { promptMarks, promptTemplates, type TemplateAttrs } from './prompt.tables.ts';

const there = isNull(promptTemplates.deletedAt);

const columns = {
  id: promptTemplates.id,
  userId: promptTemplates.userId,
  type: promptTemplates.type,
  attrs: promptTemplates.attrs,
  title: promptTemplates.title,
  content: promptTemplates.content,
};

const markedAt = (userId: number, kind: 'top' | 'hide') => sql<Date | null>`(
  SELECT created_at FROM prompt_marks m WHERE m.prompt_id = ${promptTemplates.id}
    AND m.user_id = ${userId} AND m.kind = ${kind})`;

/** Templates of a type as a person (0: a visitor) has them: put first, own ones, then the rest. */
export const listTemplates = (db: Executor, type: number, userId: number) =>
  db
    .select({
      ...columns,
      top: sql<boolean>`${markedAt(userId, 'top')} IS NOT NULL`,
      hidden: sql<boolean>`${markedAt(userId, 'hide')} IS NOT NULL`,
    })
    .from(promptTemplates)
    .where(
      and(
        there,
        eq(promptTemplates.type, type),
        or(isNull(promptTemplates.userId), eq(promptTemplates.userId, userId)),
      ),
    )
    .orderBy(
      sql`${markedAt(userId, 'top')} DESC NULLS LAST`,
      sql`${promptTemplates.userId} IS NULL`,
      asc(promptTemplates.sort),
      desc(promptTemplates.userId),
      asc(promptTemplates.id),
    );

/** Those that everybody sees. */
export const listShared = async (
  db: Executor,
  { type, query }: { type?: number | undefined; query?: string | undefined },
  { offset, limit }: { offset: number; limit: number },
) => {
  const fits = and(
    there,
    isNull(promptTemplates.userId),
    type === undefined ? undefined : eq(promptTemplates.type, type),
    query === undefined
      ? undefined
      : sql`strpos(lower(${promptTemplates.title} || ' ' || ${promptTemplates.content}), lower(${query})) > 0`,
  );
  const list = await db
    .select(columns)
    .from(promptTemplates)
    .where(fits)
    .orderBy(asc(promptTemplates.type), asc(promptTemplates.sort), asc(promptTemplates.id))
    .offset(offset)
    .limit(limit);
  const [counted] = await db
    .select({ total: sql<number>`count(*)::int` })
    .from(promptTemplates)
    .where(fits);
  return { list, total: counted?.total ?? 0 };
};

/** How many somebody has; until the transaction ends no other is made for them. */
export const countOwn = async (db: Executor, userId: number): Promise<number> => {
  await lockOwner(db, userId);
  const [row] = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(promptTemplates)
    .where(and(there, eq(promptTemplates.userId, userId)));
  return row?.count ?? 0;
};

export interface TemplateValues {
  type: number;
  attrs: TemplateAttrs;
  title: string;
  content: string;
}

/**
 * @param userId whose it is; null: everybody's
 * @returns its number; null: there is none of the given number
 */
export const saveTemplate = async (
  db: Executor,
  userId: number | null,
  id: number | undefined,
  values: TemplateValues & { edited?: boolean },
): Promise<number | null> => {
  const mine =
    userId === null ? isNull(promptTemplates.userId) : eq(promptTemplates.userId, userId);
  const rows =
    id === undefined
      ? await db
          .insert(promptTemplates)
          .values({ ...values, userId })
          .returning({ id: promptTemplates.id })
      : await db
          .update(promptTemplates)
          .set(values)
          .where(and(there, mine, eq(promptTemplates.id, id)))
          .returning({ id: promptTemplates.id });
  return rows[0]?.id ?? null;
};

export const findShared = async (db: Executor, id: number) => {
  const [row] = await db
    .select()
    .from(promptTemplates)
    .where(and(there, isNull(promptTemplates.userId), eq(promptTemplates.id, id)));
  return row;
};

export const removeTemplate = async (
  db: Executor,
  userId: number | null,
  id: number,
): Promise<boolean> => {
  const mine =
    userId === null ? isNull(promptTemplates.userId) : eq(promptTemplates.userId, userId);
  const rows = await db
    .update(promptTemplates)
    .set({ deletedAt: sql`now()` })
    .where(and(there, mine, eq(promptTemplates.id, id)))
    .returning({ id: promptTemplates.id });
  return rows.length > 0;
};

/** Whether a person sees a template of this type. */
export const seesTemplate = async (
  db: Executor,
  { id, type, userId }: { id: number; type: number; userId: number },
): Promise<boolean> => {
  const rows = await db
    .select({ id: promptTemplates.id })
    .from(promptTemplates)
    .where(
      and(
        there,
        eq(promptTemplates.id, id),
        eq(promptTemplates.type, type),
        or(isNull(promptTemplates.userId), eq(promptTemplates.userId, userId)),
      ),
    );
  return rows.length > 0;
};

/** Sets the mark, or takes it back where it is set; tells whether it is set now. */
export const toggleTemplateMark = async (
  db: Executor,
  mark: { userId: number; promptId: number; kind: 'top' | 'hide' },
): Promise<boolean> => {
  const set = await db
    .insert(promptMarks)
    .values(mark)
    .onConflictDoNothing()
    .returning({ id: promptMarks.promptId });
  if (set.length > 0) return true;
  await db
    .delete(promptMarks)
    .where(
      and(
        eq(promptMarks.userId, mark.userId),
        eq(promptMarks.promptId, mark.promptId),
        eq(promptMarks.kind, mark.kind),
      ),
    );
  return false;
};

/** Adds what came with the program where it is new, and brings up to date what nobody changed. */
export const putTemplates = async (
  db: Executor,
  rows: readonly { type: number; title: string; content: string; sort: number }[],
): Promise<void> => {
  await db
    .insert(promptTemplates)
    .values(rows.map((row) => ({ ...row, seed: row.title })))
    .onConflictDoUpdate({
      target: [promptTemplates.type, promptTemplates.seed],
      targetWhere: sql`seed IS NOT NULL`,
      set: { content: sql`excluded.content`, sort: sql`excluded.sort` },
      setWhere: sql`NOT prompt_templates.edited AND prompt_templates.deleted_at IS NULL
        AND (prompt_templates.content, prompt_templates.sort)
          IS DISTINCT FROM (excluded.content, excluded.sort)`,
    });
};

/** Gives a guest's templates and marks to the account that the guest became. */
export const moveTemplates = async (
  tx: Executor,
  fromUserId: number,
  toUserId: number,
): Promise<void> => {
  await tx
    .update(promptTemplates)
    .set({ userId: toUserId })
    .where(eq(promptTemplates.userId, fromUserId));
  await tx.execute(sql`
    WITH gone AS (DELETE FROM prompt_marks WHERE user_id = ${fromUserId} RETURNING *)
    INSERT INTO prompt_marks (user_id, prompt_id, kind, created_at)
      SELECT ${toUserId}, prompt_id, kind, created_at FROM gone ON CONFLICT DO NOTHING`);
};

export const shownByTemplates = showsWhere(
  namedIn(sql`content`, sql`prompt_templates WHERE deleted_at IS NULL`),
);
