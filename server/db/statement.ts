import pg from 'pg';
import type { Executor } from './database.ts';
import { sharedConnectionOf, rowsOf } from './shared-connection.ts';

/** Numbers are joined by far quicker than pg quotes each of them. */
const asText = (value: unknown): unknown =>
  Array.isArray(value) && typeof value[0] === 'number' ? `{${value.join(',')}}` : value;

/**
 * A statement that every message needs: each connection plans it once under its name, and nothing
 * is built per call. It is sent before the call returns, so that several leave in their order. Rows
 * are as pg gives them: cast what is bigint to float8, which holds our numbers exactly.
 * @param options.shared a short read that waits for no lock: outside of transactions it shares a
 *   connection with others (see SharedConnection)
 */
export const statement =
  <Row extends pg.QueryResultRow>(name: string, text: string, { shared = false } = {}) =>
  (db: Executor, params: readonly unknown[]): Promise<Row[]> => {
    // A made query is taken as it is; pg copies a mere description, which takes as long as sending.
    const query = Object.assign(new pg.Query<Row>(text, params.map(asText)), { name, text });
    if (shared && '$client' in db) return sharedConnectionOf(db.$client).read(query);
    const { client } = db._.session as unknown as { client: pg.Pool | pg.PoolClient };
    return rowsOf(client, query);
  };
