import { eq, sql } from 'drizzle-orm';
import type { Executor } from '#server/db/database.ts';
import { channels, peopleGroups, users } from '#server/db/schema.ts';

/** All of them by name, with how many people each has and which channels serve it. */
export const listGroups = async (db: Executor) => {
  const { rows } = await db.execute<{
    id: number;
    name: string;
    factor: number;
    created_at: string;
    people: number;
    channels: { id: number; label: string }[];
  }>(sql`
    SELECT g.id::float8, g.name, g.factor, g.created_at,
      (SELECT count(*)::int FROM users u WHERE u.people_group = g.id) AS people,
      coalesce((SELECT jsonb_agg(jsonb_build_object('id', c.id, 'label', c.label) ORDER BY c.id)
        FROM channels c WHERE c.options -> 'groups' @> to_jsonb(g.id)), '[]') AS channels
    FROM people_groups g ORDER BY g.name, g.id`);
  return rows;
};

/** A group's row, its changes waiting until the transaction ends. */
export const lockGroup = async (db: Executor, id: number) => {
  const [row] = await db.select().from(peopleGroups).where(eq(peopleGroups.id, id)).for('update');
  return row ?? null;
};

export const groupNamed = async (db: Executor, name: string) => {
  const [row] = await db.select().from(peopleGroups).where(eq(peopleGroups.name, name));
  return row ?? null;
};

/** Whether a manager pays what this group pays. */
export const hasManager = async (db: Executor, id: number): Promise<boolean> => {
  const rows = await db
    .select({ id: users.id })
    .from(users)
    .where(sql`${users.peopleGroup} = ${id} AND ${users.manager}`)
    .limit(1);
  return rows.length > 0;
};

/** The label of a channel that serves this group and few others; null: there is none. */
export const channelOnlyFor = async (db: Executor, id: number): Promise<string | null> => {
  const [row] = await db
    .select({ label: channels.label })
    .from(channels)
    .where(sql`${channels.options} -> 'groups' @> to_jsonb(${id}::bigint)`)
    .limit(1);
  return row?.label ?? null;
};

export const insertGroup = async (
  db: Executor,
  values: { name: string; factor: number },
): Promise<number> => {
  const [row] = await db.insert(peopleGroups).values(values).returning({ id: peopleGroups.id });
  if (!row) throw new Error('the group was not stored');
  return row.id;
};

export const changeGroup = async (
  db: Executor,
  id: number,
  values: { name: string; factor: number },
): Promise<void> => {
  await db.update(peopleGroups).set(values).where(eq(peopleGroups.id, id));
};

export const removeGroup = async (db: Executor, id: number): Promise<void> => {
  await db.delete(peopleGroups).where(eq(peopleGroups.id, id));
};
