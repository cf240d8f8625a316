import type { Executor } from '#server/db/database.ts';
import { statement } from '#server/db/statement.ts';

const groupOfUser = statement<{ id: number; factor: number }>(
  'group_of_user',
  `SELECT g.id::float8, g.factor FROM users u JOIN people_groups g ON g.id = u.people_group
   WHERE u.id = $1`,
  { shared: true },
);

/** The group of a person, and what it pays of each price; null: none. */
export const groupOf = async (
  db: Executor,
  userId: number | null,
): Promise<{ id: number; factor: number } | null> =>
  userId === null ? null : ((await groupOfUser(db, [userId]))[0] ?? null);
