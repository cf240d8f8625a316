import type pg from 'pg';

/** So many rows go to a table at once. */
export const batchSize = 2000;

/** Rows on their way to one table: columns of equal length, sent as arrays. */
export class Batch<Column extends string> {
  readonly #pool: pg.Pool;
  readonly #names: Column[];
  readonly #sql: string;
  readonly #columns: unknown[][];
  readonly #sending = new Set<Promise<unknown>>();

  constructor(pool: pg.Pool, table: string, columns: Record<Column, string>, always = false) {
    const names = Object.keys(columns) as Column[];
    this.#pool = pool;
    this.#names = names;
    this.#columns = names.map(() => []);
    this.#sql = `INSERT INTO ${table} (${names.join(', ')}) ${always ? 'OVERRIDING SYSTEM VALUE' : ''}
      SELECT * FROM unnest(${names
        .map((name, index) => `$${index + 1}::${columns[name]}[]`)
        .join(', ')})`;
  }

  async add(row: Record<Column, unknown>): Promise<void> {
    this.#names.forEach((name, index) => this.#columns[index]?.push(row[name]));
    if ((this.#columns[0]?.length ?? 0) >= batchSize) await this.#send();
  }

  async #send(): Promise<void> {
    const values = this.#columns.map((column) => column.splice(0));
    const sent = this.#pool.query(this.#sql, values).finally(() => this.#sending.delete(sent));
    this.#sending.add(sent);
    // A little ahead of the database, not far: what waits is in memory.
    if (this.#sending.size >= 2) await Promise.race(this.#sending);
  }

  async finish(): Promise<void> {
    if ((this.#columns[0]?.length ?? 0) > 0) await this.#send();
    await Promise.all(this.#sending);
  }
}

/** Numbers of rows to be, in their order. */
export const reserveIds = async (
  pool: pg.Pool,
  table: string,
  count: number,
): Promise<number[]> => {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT nextval(pg_get_serial_sequence($1, 'id')) AS id FROM generate_series(1, $2)`,
    [table, count],
  );
  return rows.map((row) => Number(row.id));
};
