import type pg from 'pg';

/** Sends a query that is not used twice. */
export const rowsOf = <Row extends pg.QueryResultRow>(
  client: pg.Pool | pg.PoolClient,
  query: pg.QueryConfig,
): Promise<Row[]> =>
  new Promise((resolve, reject) => {
    client.query<Row>(query, (error: Error | null, result) => {
      if (error) reject(error);
      else resolve(result.rows);
    });
  });

/** So many are sent behind each other before others get a connection of their own. */
const deepest = 32;
/** A shared connection on which one has waited for this long holds nobody else up, ms. */
const slow = 100;

/**
 * A connection that short reads share: each is sent at once, behind those that wait for their rows,
 * and none waits for a free connection. Where many ask, the database works through them in one go
 * instead of being woken for each. It is the pool's, and goes back while nobody asks.
 */
class SharedConnection {
  readonly #pool: pg.Pool;
  #client: Promise<pg.PoolClient> | null = null;
  /** When those were sent that are not answered yet, ms. */
  readonly #waiting = new Set<{ since: number }>();

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  get #free(): boolean {
    if (this.#waiting.size >= deepest) return false;
    const [oldest] = this.#waiting;
    return !oldest || performance.now() - oldest.since < slow;
  }

  /** Sends a read that waits for no lock. */
  read<Row extends pg.QueryResultRow>(query: pg.QueryConfig): Promise<Row[]> {
    return this.#free ? this.#share(query) : rowsOf(this.#pool, query);
  }

  async #share<Row extends pg.QueryResultRow>(query: pg.QueryConfig): Promise<Row[]> {
    const turn = { since: performance.now() };
    this.#waiting.add(turn);
    this.#client ??= this.#pool.connect();
    const borrowed = this.#client;
    try {
      return await rowsOf(await borrowed, query);
    } finally {
      this.#waiting.delete(turn);
      if (this.#waiting.size === 0) {
        this.#client = null;
        // A broken one is not taken back. One that never came has told those who waited.
        borrowed.then((client) => client.release()).catch(() => undefined);
      }
    }
  }
}

const connections = new WeakMap<pg.Pool, SharedConnection>();

/** The shared connection of a pool. */
export const sharedConnectionOf = (pool: pg.Pool): SharedConnection => {
  const known = connections.get(pool);
  if (known) return known;
  const connection = new SharedConnection(pool);
  connections.set(pool, connection);
  return connection;
};
