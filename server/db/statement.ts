import pg from 'pg';
import type { Executor } from './database.ts';

const timestamptz: number = pg.types.builtins.TIMESTAMPTZ;
const asText = (text: string) => text;
const types: pg.CustomTypesConfig = {
  getTypeParser: (id: number, format?: 'text' | 'binary') =>
    id === timestamptz ? asText : pg.types.getTypeParser(id, format),
};

/**
 * A statement that every message needs: each connection plans it once under its name, and nothing
 * is built per call. It is sent before the call returns, so that several leave in their order. Rows
 * are as pg gives them, except that times are text: cast what is bigint to float8, which holds our
 * numbers exactly.
 */
export const statement =
  <Row extends pg.QueryResultRow>(name: string, text: string) =>
  async (db: Executor, params: readonly unknown[]): Promise<Row[]> => {
    const { client } = db._.session as unknown as { client: pg.Pool | pg.PoolClient };
    const result = await client.query<Row>({ name, text, values: [...params], types });
    return result.rows;
  };
