import { and, asc, desc, eq, isNull, sql } from 'drizzle-orm';
import type { Executor, Transaction } from '../db/database.ts';
import { scenarioCategories, scenarios } from '../db/schema.ts';
import type { ScenarioSeed } from './scenario-seeds.ts';

const columns = {
  id: scenarios.id,
  name: scenarios.name,
  color: scenarios.color,
  description: scenarios.description,
  prompt: scenarios.prompt,
  categoryId: scenarios.categoryId,
  sessionCount: scenarios.sessionCount,
};

/** The templates that came with the program, as they are stored. */
export const storedSeeds = (db: Executor) =>
  db
    .select({
      category: scenarioCategories.name,
      name: scenarios.name,
      color: scenarios.color,
      description: scenarios.description,
      prompt: scenarios.prompt,
    })
    .from(scenarios)
    .innerJoin(scenarioCategories, eq(scenarioCategories.id, scenarios.categoryId))
    .where(isNull(scenarios.userId));

/** Adds a category with its templates, or brings those of the same names up to date. */
export const putSeeds = async (
  tx: Transaction,
  category: string,
  sort: number,
  seeds: readonly ScenarioSeed[],
): Promise<void> => {
  const [row] = await tx
    .insert(scenarioCategories)
    .values({ name: category, sort })
    .onConflictDoUpdate({ target: scenarioCategories.name, set: { sort } })
    .returning({ id: scenarioCategories.id });
  if (!row) throw new Error(`the category ${category} was not stored`);
  await tx
    .insert(scenarios)
    .values(seeds.map((seed) => ({ ...seed, categoryId: row.id })))
    .onConflictDoUpdate({
      target: scenarios.name,
      targetWhere: sql`user_id IS NULL`,
      set: {
        categoryId: sql`excluded.category_id`,
        color: sql`excluded.color`,
        description: sql`excluded.description`,
        prompt: sql`excluded.prompt`,
      },
    });
};

export const listCategories = (db: Executor) =>
  db
    .select({ id: scenarioCategories.id, name: scenarioCategories.name })
    .from(scenarioCategories)
    .orderBy(asc(scenarioCategories.sort), asc(scenarioCategories.id));

export interface ScenarioFilter {
  categoryId?: number;
  query?: string;
}

/** A page of what is offered, the most used first, and how many there are. */
export const listScenarios = async (
  db: Executor,
  { categoryId, query }: ScenarioFilter,
  { offset, limit }: { offset: number; limit: number },
) => {
  const fits = and(
    eq(scenarios.display, true),
    categoryId === undefined ? undefined : eq(scenarios.categoryId, categoryId),
    query === undefined
      ? undefined
      : sql`strpos(lower(${scenarios.name} || ' ' || ${scenarios.description} || ' ' || ${scenarios.prompt}),
          lower(${query})) > 0`,
  );
  const list = await db
    .select(columns)
    .from(scenarios)
    .innerJoin(scenarioCategories, eq(scenarioCategories.id, scenarios.categoryId))
    .where(fits)
    .orderBy(desc(scenarios.sessionCount), asc(scenarioCategories.sort), asc(scenarios.id))
    .offset(offset)
    .limit(limit);
  const [counted] = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(scenarios)
    .where(fits);
  return { list, total: counted?.count ?? 0 };
};

export const findScenario = async (db: Executor, id: number) => {
  const [row] = await db
    .select({ id: scenarios.id, name: scenarios.name, prompt: scenarios.prompt })
    .from(scenarios)
    .where(eq(scenarios.id, id));
  return row ?? null;
};

/** Counts a session that was begun from a template. False where none of that number is offered. */
export const addSession = async (db: Executor, id: number): Promise<boolean> => {
  const rows = await db
    .update(scenarios)
    .set({ sessionCount: sql`${scenarios.sessionCount} + 1` })
    .where(and(eq(scenarios.id, id), eq(scenarios.display, true)))
    .returning({ id: scenarios.id });
  return rows.length > 0;
};
