import { sql, type SQL } from 'drizzle-orm';
import type { Executor, Transaction } from './database.ts';

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
export const about = (userId: number, said: string): SQL =>
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

/** Rows that are read together, and bytes after which fewer are. */
const taking = { rows: 500, bytes: 1024 * 1024 };

/**
 * What a person takes along of such a place, as rows of JSON, some after the other: all of it may be
 * far more than fits into memory.
 */
export async function* rowsTaken(
  db: Executor,
  place: Held,
  userId: number,
): AsyncGenerator<string[]> {
  const columns = (place.take ?? []).map((column) => sql.identifier(column));
  const table = sql.identifier(place.table);
  const all = await db.execute<{ at: string }>(sql`
    SELECT ctid::text AS at FROM ${table} WHERE ${rowsOf(place, userId)} LIMIT ${mostTaken}`);
  for (let first = 0, count = 1; first < all.rows.length;) {
    const some = all.rows.slice(first, first + count).map(({ at }) => at);
    const { rows } = await db.execute<{ row: string }>(sql`
      SELECT to_json(taken)::text AS row FROM (
        SELECT ${sql.join(columns, sql`, `)} FROM ${table}
        WHERE ctid = ANY (${sql.param(some)}::text[]::tid[])) taken`);
    yield rows.map(({ row }) => row);
    first += some.length;
    const bytes = rows.reduce((sum, { row }) => sum + row.length, 0);
    count = bytes > taking.bytes ? 1 : Math.min(taking.rows, count * 2);
  }
}
