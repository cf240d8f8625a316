import { and, desc, eq, inArray, not, or, sql, type SQL } from 'drizzle-orm';
import { fileStates, projectStates, projectTypes } from '#contract/train-limits.ts';
import { countUpTo } from '#server/db/count-up-to.ts';
import { ordered } from '#server/db/ordered.ts';
import { requireSortable, type Sorting } from '#server/sorting.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { lockOwner } from '#server/db/person.ts';
import { users } from '#server/db/schema.ts';
import { suspended } from '#server/db/suspended.ts';
import { namedIn, showsWhere } from '#server/db/shown.ts';
import { trainingFiles, trainingProjects } from './train.tables.ts';

export type ProjectRow = typeof trainingProjects.$inferSelect;

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

/** A person's own project of this key. */
export const ownOfKey = async (
  db: Executor,
  key: string,
  userId: number,
): Promise<ProjectRow | null> => {
  const [row] = await db
    .select()
    .from(trainingProjects)
    .where(and(ofKey(key), eq(trainingProjects.userId, userId)));
  return row ?? null;
};

export const insertProject = async (
  db: Executor,
  project: typeof trainingProjects.$inferInsert,
): Promise<ProjectRow | null> => {
  const [row] = await db.insert(trainingProjects).values(project).onConflictDoNothing().returning();
  return row ?? null;
};

/** How many somebody has; until the transaction ends no other is made for them. */
export const countProjects = async (db: Executor, userId: number): Promise<number> => {
  await lockOwner(db, userId);
  return db.$count(trainingProjects, eq(trainingProjects.userId, userId));
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

interface Place {
  offset: number;
  limit: number;
}
const managedSorts = {
  created_at: trainingProjects.createdAt,
  token: trainingProjects.token,
  /** Files that are done. */
  progress: sql`(SELECT count(*) FROM training_files f
    WHERE f.project_id = training_projects.id AND f.status = ${fileStates.done})`,
};
/** The newest first where no other order is asked for. */
const newest = (
  db: Executor,
  fits: SQL | undefined,
  { offset, limit }: Place,
  sorting: Sorting<'adminTrainList'> = {},
) =>
  db
    .select()
    .from(trainingProjects)
    .where(fits)
    .orderBy(...ordered(managedSorts, sorting, desc(trainingProjects.id)))
    .offset(offset)
    .limit(limit);

/** A page of projects, newest first, and how many there are; `userId` null: open ones of everybody. */
export const projectPage = async (
  db: Executor,
  { types, userId, query }: { types: readonly number[]; userId: number | null; query: string },
  place: Place,
) => {
  const fits = and(
    inArray(trainingProjects.type, [...types]),
    userId === null ? open : eq(trainingProjects.userId, userId),
    containing(query),
  );
  const rows = await newest(db, fits, place);
  return { rows, total: await db.$count(trainingProjects, fits) };
};

export interface ManagedFilter extends Sorting<'adminTrainList'> {
  userId?: number | undefined;
  key?: string | undefined;
  name?: string | undefined;
  type?: number | undefined;
  status?: number | undefined;
}

/** Of everybody, the newest first. */
export const managedProjects = async (
  db: Executor,
  { userId, key, name, type, status, ...sorting }: ManagedFilter,
  place: Place,
) => {
  const fits = and(
    userId === undefined ? undefined : eq(trainingProjects.userId, userId),
    key ? sql`strpos(lower(${trainingProjects.key}), ${key.toLowerCase()}) > 0` : undefined,
    containing(name ?? ''),
    type === undefined ? undefined : eq(trainingProjects.type, type),
    status === undefined ? undefined : eq(trainingProjects.status, status),
  );
  const total = await countUpTo(db, trainingProjects, fits);
  requireSortable('adminTrainList', sorting, total);
  return { rows: await newest(db, fits, place, sorting), total };
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

/** Whoever knows the addresses of its files from when it was public knows them no more. */
const closedSalt = sql`CASE WHEN ${trainingProjects.private} THEN ${trainingProjects.addressSalt}
  ELSE left(encode(uuid_send(gen_random_uuid()), 'hex'), 16) END`;

/** Nothing of a person's is public any more. */
export const makeProjectsPrivate = async (db: Executor, userId: number): Promise<void> => {
  await db
    .update(trainingProjects)
    .set({ private: true, addressSalt: closedSalt })
    .where(and(eq(trainingProjects.userId, userId), eq(trainingProjects.private, false)));
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
      | 'artifactSize'
    >
  >,
): Promise<void> => {
  await db
    .update(trainingProjects)
    .set({
      ...change,
      ...(change.private === true && { addressSalt: closedSalt }),
      updatedAt: sql`now()`,
    })
    .where(eq(trainingProjects.id, id));
};

/**
 * Counts what was taken for a project, and says that its passages changed.
 * @param change `written`: what embedded the passages that were written just now, where some were
 */
export const noteChange = async (
  db: Executor,
  id: number,
  {
    tokens = 0,
    engine,
    written = engine,
  }: { tokens?: number; engine?: string; written?: string | undefined } = {},
): Promise<void> => {
  await db
    .update(trainingProjects)
    .set({
      revision: sql`${trainingProjects.revision} + 1`,
      token: sql`${trainingProjects.token} + ${tokens}`,
      updatedAt: sql`now()`,
      ...(engine === undefined ? {} : { engine }),
      ...(written === undefined
        ? {}
        : {
            vectors: sql`CASE WHEN ${trainingProjects.vectors} = ${written} THEN ${written} ELSE '' END`,
          }),
    })
    .where(eq(trainingProjects.id, id));
};

/**
 * Trained bases whose passages are to be read again by a model of this machine, one of each person,
 * locked. What is embedded with is what a base's settings name, else the first of `names`.
 */
export const takeToReadAgain = async (
  tx: Transaction,
  { names, free }: { names: readonly string[]; free: readonly string[] },
  most: number,
): Promise<ProjectRow[]> => {
  const chosen = sql`${trainingProjects.settings}->>'model'`;
  const wanted = sql`CASE WHEN ${inArray(chosen, [...names])} THEN ${chosen} ELSE ${names[0] ?? ''} END`;
  const rows = await tx
    .select()
    .from(trainingProjects)
    .where(
      and(
        eq(trainingProjects.type, projectTypes.knowledge),
        eq(trainingProjects.status, projectStates.trained),
        sql`coalesce(${trainingProjects.readAgainAfter} < now(), true)`,
        sql`${chosen} IS DISTINCT FROM 'built-in'`,
        inArray(wanted, [...free]),
        sql`${trainingProjects.vectors} <> ${wanted}`,
        sql`NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.user_id = ${trainingProjects.userId}
          AND jobs.kind = 'embedding' AND jobs.finished_at IS NULL)`,
      ),
    )
    .orderBy(desc(trainingProjects.updatedAt))
    .limit(most)
    .for('update', { skipLocked: true });
  return rows.filter((row, at) => rows.findIndex(({ userId }) => userId === row.userId) === at);
};

/** @param seconds from now; null: at once */
export const readAgainAfter = async (
  db: Executor,
  id: number,
  seconds: number | null,
): Promise<void> => {
  await db
    .update(trainingProjects)
    .set({
      readAgainAfter: seconds === null ? null : sql`now() + ${seconds} * interval '1 second'`,
    })
    .where(eq(trainingProjects.id, id));
};

/** All passages have their vectors by this model now. */
export const noteVectors = async (db: Executor, id: number, model: string): Promise<void> => {
  await db
    .update(trainingProjects)
    .set({ vectors: model, engine: model, readAgainAfter: null })
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
