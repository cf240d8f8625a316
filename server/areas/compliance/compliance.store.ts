import { eq, sql } from 'drizzle-orm';
import { type Compliance, usualCompliance } from '#contract/compliance.ts';
import type { Executor } from '#server/db/database.ts';
import { users } from '#server/db/schema.ts';
import { compliance, type LabelKind, labels } from './compliance.tables.ts';

export const readCompliance = async (db: Executor): Promise<Compliance> => {
  const [row] = await db.select().from(compliance);
  return { ...usualCompliance, ...row?.settings };
};

/** Changes some of the settings; gives all. */
export const writeCompliance = async (
  db: Executor,
  change: Partial<Compliance>,
): Promise<Compliance> => {
  const [row] = await db
    .update(compliance)
    .set({ settings: sql`${compliance.settings} || ${JSON.stringify(change)}::jsonb` })
    .returning();
  return { ...usualCompliance, ...row?.settings };
};

export const insertLabel = async (
  db: Executor,
  row: { id: string; userId: number | null; kind: LabelKind; model: string },
): Promise<void> => {
  await db.insert(labels).values(row).onConflictDoNothing();
};

/** A guest became an account. */
export const moveLabels = async (db: Executor, from: number, to: number): Promise<void> => {
  await db.update(labels).set({ userId: to }).where(eq(labels.userId, from));
};

/** What is known of a label, with its person's name; null: nothing. */
export const labelById = async (db: Executor, id: string) => {
  const [row] = await db
    .select({
      id: labels.id,
      kind: labels.kind,
      model: labels.model,
      userId: labels.userId,
      userName: users.userName,
      createdAt: labels.createdAt,
    })
    .from(labels)
    .leftJoin(users, eq(users.id, labels.userId))
    .where(eq(labels.id, id));
  return row ?? null;
};
