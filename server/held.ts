import { sql, type SQL } from 'drizzle-orm';
import type { Executor, Transaction } from './db/database.ts';

/**
 * A place in the database that holds what is a person's, and what becomes of it when the account is
 * ended. Every column with a person's number stands in exactly one; a test compares with the schema.
 */
export interface Held {
  table: string;
  /** Its columns with a person's number. */
  of: readonly string[];
  /** Which rows, in SQL with `$person`, where the columns alone do not say it. */
  where?: string;
  /**
   * delete: the rows go. set: they stay, for what others and the books need of them, with these
   * columns emptied (name to SQL, with `$person`). keep: they stay as they are, for the reason given.
   */
  end:
    | 'delete'
    | { set: Readonly<Record<string, string | undefined>>; keep?: undefined }
    | { keep: string; set?: undefined };
  /** Columns that go along with the export of all of one's data; none: it is in another file. */
  take?: readonly string[];
}

/** SQL with `$person` in it. */
const about = (userId: number, said: string): SQL =>
  sql.join(
    said.split('$person').map((piece) => sql.raw(piece)),
    sql`${userId}::bigint`,
  );

const rowsOf = ({ of, where }: Held, userId: number): SQL =>
  about(userId, where ?? of.map((column) => `${column} = $person`).join(' OR '));

/** Empties what the list says of a person, in its order. */
export const eraseHeld = async (
  tx: Transaction,
  held: readonly Held[],
  userId: number,
): Promise<void> => {
  for (const place of held) {
    const table = sql.identifier(place.table);
    if (place.end === 'delete')
      await tx.execute(sql`DELETE FROM ${table} WHERE ${rowsOf(place, userId)}`);
    else if (place.end.set) {
      const changes = Object.entries(place.end.set).map(
        ([column, value = 'DEFAULT']) => sql`${sql.identifier(column)} = ${about(userId, value)}`,
      );
      await tx.execute(sql`UPDATE ${table} SET ${sql.join(changes, sql`, `)}
        WHERE ${rowsOf(place, userId)}`);
    }
  }
};

/** Most rows of a place that go along with an export. */
const mostTaken = 100_000;

/** What a person takes along of such a place. */
export const rowsTaken = async (db: Executor, place: Held, userId: number): Promise<unknown[]> => {
  const columns = (place.take ?? []).map((column) => sql.identifier(column));
  const { rows } = await db.execute(sql`
    SELECT ${sql.join(columns, sql`, `)} FROM ${sql.identifier(place.table)}
    WHERE ${rowsOf(place, userId)} LIMIT ${mostTaken}`);
  return rows;
};
