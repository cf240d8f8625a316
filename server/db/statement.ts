import pg from 'pg';
import type { Executor } from './database.ts';

/** Numbers are joined by far quicker than pg quotes each of them. */
const asText = (value: unknown): unknown =>
  Array.isArray(value) && typeof value[0] === 'number' ? `{${value.join(',')}}` : value;

/**
 * A statement that every message needs: each connection plans it once under its name, and nothing
 * is built per call. It is sent before the call returns, so that several leave in their order. Rows
 * are as pg gives them: cast what is bigint to float8, which holds our numbers exactly.
 */
export const statement =
  <Row extends pg.QueryResultRow>(name: string, text: string) =>
  (db: Executor, params: readonly unknown[]): Promise<Row[]> => {
    const { client } = db._.session as unknown as { client: pg.Pool | pg.PoolClient };
    // A made query is taken as it is; pg copies a mere description, which takes as long as sending.
    const query = Object.assign(new pg.Query<Row>(text, params.map(asText)), { name, text });
    return new Promise((resolve, reject) => {
      client.query<Row>(query, (error: Error | null, result) => {
        if (error) reject(error);
        else resolve(result.rows);
      });
    });
  };
