import pg from 'pg';

export interface PipelinedConfig extends pg.ClientConfig {
  /** The connection leads to a pooler, where the next transaction may be on another one. */
  pooled?: boolean;
}

const nothing: Pick<pg.QueryResult, 'rows' | 'fields'> = { rows: [], fields: [] };

type Send = (...args: unknown[]) => unknown;

/**
 * A connection that asks the database less often: `begin` goes out together with the statement
 * after it, and whatever is sent in one turn (such as a last statement and its `commit`, see
 * `committing`) leaves in one piece. A transaction without a statement is not even begun. Behind a
 * pooler statements keep no name: a plan stays on the connection that made it.
 */
export class PipelinedClient extends pg.Client {
  constructor({ pooled = false, ...config }: PipelinedConfig = {}) {
    super({ ...config, pipeline: true });
    const send = this.query.bind(this) as Send;
    let toBegin = false;
    let gathering = false;
    const gather = (): void => {
      if (gathering) return;
      gathering = true;
      const { stream } = this.connection;
      stream.cork();
      process.nextTick(() => {
        gathering = false;
        stream.uncork();
      });
    };
    const query: Send = (...args) => {
      const asked = args[0] as { text?: string; name?: string | undefined };
      const { text } = asked;
      if (pooled && asked.name !== undefined) asked.name = undefined;
      if (text === 'begin') {
        toBegin = true;
        return Promise.resolve(nothing);
      }
      if (toBegin && (text === 'commit' || text === 'rollback')) {
        toBegin = false;
        return Promise.resolve(nothing);
      }
      gather();
      if (toBegin) {
        toBegin = false;
        // It fails with its connection alone, and then the statement behind it fails, too.
        (send('BEGIN') as Promise<unknown>).catch(() => undefined);
      }
      return send(...args);
    };
    this.query = query as pg.Client['query'];
  }
}
