import { and, asc, count, desc, eq, inArray, isNull, not, or, sql } from 'drizzle-orm';
import type { Executor, Transaction } from '#server/db/database.ts';
import { suspended } from '#server/db/suspended.ts';
import { sqlState, uniqueViolation } from '#server/db/failure.ts';
import { lockOwner } from '#server/db/person.ts';
import { users } from '#server/db/schema.ts';
import { namedIn, showsWhere } from '#server/db/shown.ts';
import { scenarioRatings, scenarioCategories, scenarios } from './scenario.tables.ts';

/** A template that comes with the program. */
export interface ScenarioSeed {
  name: string;
  color: string;
  description: string;
  /** `{{input}}` stands for what the person writes. */
  prompt: string;
  /** What it gives, Markdown; shown before one begins. */
  sample?: string;
}

const columns = {
  id: scenarios.id,
  name: scenarios.name,
  color: scenarios.color,
  description: scenarios.description,
  prompt: scenarios.prompt,
  sample: scenarios.sample,
  categoryId: scenarios.categoryId,
  sessionCount: scenarios.sessionCount,
  display: scenarios.display,
  userId: scenarios.userId,
  userName: sql<string>`coalesce(${users.userName}, '')`,
  state: scenarios.state,
  rejection: scenarios.rejection,
  rating: sql<number | null>`(SELECT round(avg(r.stars), 1)::float8 FROM scenario_ratings r
    WHERE r.scenario_id = ${scenarios.id})`,
  ratingCount: sql<number>`(SELECT count(*)::int FROM scenario_ratings r
    WHERE r.scenario_id = ${scenarios.id})`,
};
const starsOf = (viewer: number) =>
  sql<number>`coalesce((SELECT r.stars FROM scenario_ratings r
    WHERE r.scenario_id = ${scenarios.id} AND r.user_id = ${viewer}), 0)::int`;

// ---- what came with the program ----------------------------------------------------

/** The templates that came with the program, as they are stored, deleted ones included. */
export const storedSeeds = (db: Executor) =>
  db
    .select({
      name: scenarios.name,
      color: scenarios.color,
      description: scenarios.description,
      prompt: scenarios.prompt,
      sample: scenarios.sample,
      kept: sql<boolean>`${scenarios.edited} OR ${scenarios.deletedAt} IS NOT NULL`,
    })
    .from(scenarios)
    .where(isNull(scenarios.userId));

/** Adds templates to a category, or brings those of the same names up to date where they are. */
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
        color: sql`excluded.color`,
        description: sql`excluded.description`,
        prompt: sql`excluded.prompt`,
        sample: sql`excluded.sample`,
      },
    });
};

// ---- categories ----------------------------------------------------------------------

export const listCategories = (db: Executor) =>
  db
    .select({
      id: scenarioCategories.id,
      name: scenarioCategories.name,
      sort: scenarioCategories.sort,
    })
    .from(scenarioCategories)
    .orderBy(asc(scenarioCategories.sort), asc(scenarioCategories.id));

export const hasCategory = async (db: Executor, id: number): Promise<boolean> => {
  const rows = await db
    .select({ id: scenarioCategories.id })
    .from(scenarioCategories)
    .where(eq(scenarioCategories.id, id))
    .for('key share');
  return rows.length > 0;
};

export const saveCategory = async (
  db: Executor,
  id: number | undefined,
  values: { name: string; sort: number },
): Promise<number | 'missing' | 'taken'> => {
  try {
    const rows =
      id === undefined
        ? await db
            .insert(scenarioCategories)
            .values(values)
            .returning({ id: scenarioCategories.id })
        : await db
            .update(scenarioCategories)
            .set(values)
            .where(eq(scenarioCategories.id, id))
            .returning({ id: scenarioCategories.id });
    return rows[0]?.id ?? 'missing';
  } catch (error) {
    if (sqlState(error) === uniqueViolation) return 'taken';
    throw error;
  }
};

/** How many scenarios of a category are there still. */
export const countOfCategory = async (db: Executor, id: number): Promise<number> => {
  const [row] = await db
    .select({ count: count() })
    .from(scenarios)
    .where(and(eq(scenarios.categoryId, id), isNull(scenarios.deletedAt)));
  return row?.count ?? 0;
};

/** Takes a category away; deleted scenarios that still name it go to another one. */
export const deleteCategory = async (tx: Transaction, id: number): Promise<boolean> => {
  const [other] = await tx
    .select({ id: scenarioCategories.id })
    .from(scenarioCategories)
    .where(sql`${scenarioCategories.id} <> ${id}`)
    .limit(1);
  if (other)
    await tx.update(scenarios).set({ categoryId: other.id }).where(eq(scenarios.categoryId, id));
  const rows = await tx
    .delete(scenarioCategories)
    .where(eq(scenarioCategories.id, id))
    .returning({ id: scenarioCategories.id });
  return rows.length > 0;
};

// ---- scenarios -------------------------------------------------------------------------

export interface ScenarioFilter {
  /** Whose are shown; `mine` those of this person. */
  scope: { in: 'public' | 'pending' | 'all' } | { in: 'mine'; userId: number };
  categoryId?: number | undefined;
  query?: string | undefined;
  /** hot: the most used first; new: the newest. */
  sort: 'hot' | 'new';
  /** Whose stars are given along; 0: a visitor's. */
  viewer: number;
}

const offered = and(
  eq(scenarios.display, true),
  eq(scenarios.state, 'public'),
  not(suspended(scenarios.userId)),
);

const inScope = (scope: ScenarioFilter['scope']) => {
  if (scope.in === 'mine') return eq(scenarios.userId, scope.userId);
  if (scope.in === 'pending') return eq(scenarios.state, 'pending');
  // What is private is nobody else's to see, a manager's neither.
  return scope.in === 'all' ? sql`${scenarios.state} <> 'private'` : offered;
};

/** A page of what is offered, the most used first, and how many there are. */
export const listScenarios = async (
  db: Executor,
  { scope, categoryId, query, sort, viewer }: ScenarioFilter,
  { offset, limit }: { offset: number; limit: number },
) => {
  const fits = and(
    isNull(scenarios.deletedAt),
    inScope(scope),
    categoryId === undefined ? undefined : eq(scenarios.categoryId, categoryId),
    query === undefined
      ? undefined
      : sql`strpos(lower(${scenarios.name} || ' ' || ${scenarios.description} || ' ' || ${scenarios.prompt}),
          lower(${query})) > 0`,
  );
  const list = await db
    .select({ ...columns, myStars: starsOf(viewer) })
    .from(scenarios)
    .innerJoin(scenarioCategories, eq(scenarioCategories.id, scenarios.categoryId))
    .leftJoin(users, eq(users.id, scenarios.userId))
    .where(fits)
    .orderBy(
      ...(scope.in === 'mine' || sort === 'new'
        ? [desc(scenarios.id)]
        : [desc(scenarios.sessionCount), asc(scenarioCategories.sort), asc(scenarios.id)]),
    )
    .offset(offset)
    .limit(limit);
  const [counted] = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(scenarios)
    .where(fits);
  return { list, total: counted?.count ?? 0 };
};

/** The templates of these numbers in any order, those that are no longer offered included. */
export const findScenarios = async (db: Executor, ids: readonly number[]) =>
  ids.length === 0
    ? []
    : db
        .select({
          id: scenarios.id,
          name: scenarios.name,
          prompt: scenarios.prompt,
          userId: scenarios.userId,
          state: scenarios.state,
          deleted: sql<boolean>`${scenarios.deletedAt} IS NOT NULL`,
        })
        .from(scenarios)
        .where(inArray(scenarios.id, [...ids]));

export const findScenario = async (db: Executor, id: number) =>
  (await findScenarios(db, [id]))[0] ?? null;

/** Counts a session that was begun from a template. False where this person has none of that number. */
export const addSession = async (db: Executor, id: number, userId: number): Promise<boolean> => {
  const rows = await db
    .update(scenarios)
    .set({ sessionCount: sql`${scenarios.sessionCount} + 1` })
    .where(
      and(
        eq(scenarios.id, id),
        isNull(scenarios.deletedAt),
        or(offered, eq(scenarios.userId, userId)),
      ),
    )
    .returning({ id: scenarios.id });
  return rows.length > 0;
};

/** Whether somebody has begun a session from a template that they may use and did not write. */
export const hasUsed = async (db: Executor, id: number, userId: number): Promise<boolean> => {
  const rows = await db
    .select({ id: scenarios.id })
    .from(scenarios)
    .where(
      and(
        eq(scenarios.id, id),
        isNull(scenarios.deletedAt),
        offered,
        // Who only opened one has seen nothing of what it gives.
        sql`EXISTS (SELECT FROM sessions s JOIN history h ON h.session_id = s.id
          WHERE s.scenario_id = ${scenarios.id} AND s.user_id = ${userId})`,
      ),
    );
  return rows.length > 0;
};

/** @param stars 1 to 5; 0 takes them back */
export const rate = async (
  db: Executor,
  scenarioId: number,
  userId: number,
  stars: number,
): Promise<void> => {
  const own = and(eq(scenarioRatings.scenarioId, scenarioId), eq(scenarioRatings.userId, userId));
  if (stars === 0) await db.delete(scenarioRatings).where(own);
  else
    await db
      .insert(scenarioRatings)
      .values({ scenarioId, userId, stars })
      .onConflictDoUpdate({
        target: [scenarioRatings.scenarioId, scenarioRatings.userId],
        set: { stars },
      });
};

/** How many somebody has, and how many of them wait for a manager; until the transaction ends no other is made for them. */
export const countOwn = async (
  db: Executor,
  userId: number,
): Promise<{ all: number; pending: number }> => {
  await lockOwner(db, userId);
  const [row] = await db
    .select({
      all: sql<number>`count(*)::int`,
      pending: sql<number>`(count(*) FILTER (WHERE ${scenarios.state} = 'pending'))::int`,
    })
    .from(scenarios)
    .where(and(eq(scenarios.userId, userId), isNull(scenarios.deletedAt)));
  return row ?? { all: 0, pending: 0 };
};

type Values = Partial<Omit<typeof scenarios.$inferInsert, 'id'>>;

/** @throws an error of the database where another that came with the program has its name */
export const insertScenario = async (
  db: Executor,
  values: typeof scenarios.$inferInsert,
): Promise<number | 'taken'> => {
  try {
    const [row] = await db.insert(scenarios).values(values).returning({ id: scenarios.id });
    if (!row) throw new Error('the scenario was not stored');
    return row.id;
  } catch (error) {
    if (sqlState(error) === uniqueViolation) return 'taken';
    throw error;
  }
};

export const updateScenario = async (
  db: Executor,
  id: number,
  values: Values,
): Promise<number | 'taken'> => {
  try {
    await db.update(scenarios).set(values).where(eq(scenarios.id, id));
    return id;
  } catch (error) {
    if (sqlState(error) === uniqueViolation) return 'taken';
    throw error;
  }
};

export const shownByScenarios = showsWhere(
  namedIn(sql`concat_ws(' ', description, prompt)`, sql`scenarios`),
);
