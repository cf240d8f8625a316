import type { QueryResult, QueryResultRow } from 'pg';
import type { Executor } from './database.ts';

/**
 * A statement that every message needs: each connection plans it once under its name, and nothing
 * is built per call. Rows are as pg gives them, except that times are text: cast what is bigint to
 * float8, which holds our numbers exactly.
 */
export const statement =
  <Row extends QueryResultRow>(name: string, text: string) =>
  async (db: Executor, params: readonly unknown[]): Promise<Row[]> => {
    const query = db._.session.prepareQuery(
      { sql: text, params: [...params] },
      undefined,
      name,
      false,
    );
    const result = (await query.execute()) as QueryResult<Row>;
    return result.rows;
  };
