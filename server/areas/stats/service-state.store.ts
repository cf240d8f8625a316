import { desc, sql } from 'drizzle-orm';
import type { Out } from '#contract/calls.ts';
import type { Executor } from '#server/db/database.ts';
import { livingLock } from '#server/db/instance.ts';
import { backups } from '#server/db/schema.ts';

/** What waits for somebody to look at it; complaints are to be answered within a day. */
export const complaints = async (db: Executor) => {
  const { rows } = await db.execute<{
    safety_open: number;
    appeals_late: number;
    reports_late: number;
  }>(
    sql`SELECT (SELECT count(*)::int FROM safety_cases WHERE state = 'open') AS safety_open,
      (SELECT count(*)::int FROM safety_cases
        WHERE state = 'open' AND appealed_at < now() - interval '1 day') AS appeals_late,
      (SELECT count(*)::int FROM reports
        WHERE resolved_at IS NULL AND created_at < now() - interval '1 day') AS reports_late`,
  );
  return rows[0] ?? { safety_open: 0, appeals_late: 0, reports_late: 0 };
};

/** Whichever process made it. */
export const lastBackup = async (db: Executor): Promise<Out<'adminService'>['last_backup']> => {
  const [made] = await db.select().from(backups).orderBy(desc(backups.createdAt)).limit(1);
  return made
    ? { name: made.name, bytes: made.bytes, created_at: made.createdAt.toISOString() }
    : null;
};

/** The fullest of the disks that the living processes have; null: none of them has one. */
export const fullestDisk = async (
  db: Executor,
): Promise<{ free: number; total: number } | null> => {
  const { rows } = await db.execute<{ free: number; total: number }>(
    sql`SELECT disk_free::float8 AS free, disk_total::float8 AS total
      FROM instances JOIN pg_locks ON objid = instances.id::oid
      WHERE ${sql.raw(livingLock)} AND disk_free IS NOT NULL ORDER BY disk_free LIMIT 1`,
  );
  return rows[0] ?? null;
};

/** Every process, those that live first. @param own the one that asks */
export const allInstances = async (
  db: Executor,
  own: number,
): Promise<Out<'adminService'>['instances']> => {
  const { rows } = await db.execute<{
    id: number;
    alive: boolean;
    host: string;
    addresses: string;
    version: string;
    load: number | null;
    memory: number | null;
    started_at: Date | string;
    seen_at: Date | string;
  }>(sql`SELECT id, alive, coalesce(host, '') AS host, coalesce(address, '') AS addresses,
      coalesce(version, '') AS version, load::float8, memory::float8, started_at, seen_at
    FROM instances, LATERAL (SELECT EXISTS (SELECT FROM pg_locks
      WHERE ${sql.raw(livingLock)} AND objid = instances.id::oid)) AS lock (alive)
    WHERE alive OR seen_at > now() - interval '1 hour'
    ORDER BY alive DESC, id`);
  return rows.map(({ addresses, started_at: started, seen_at: seen, ...row }) => ({
    ...row,
    own: row.id === own,
    address: addresses.split(',')[0]?.split('#')[0] ?? '',
    started_at: new Date(started).toISOString(),
    seen_at: new Date(seen).toISOString(),
  }));
};

const count = async (db: Executor, query: ReturnType<typeof sql>): Promise<number> => {
  const { rows } = await db.execute<{ count: number }>(query);
  return rows[0]?.count ?? 0;
};

export const queued = (db: Executor): Promise<number> =>
  count(db, sql`SELECT count(*)::int AS count FROM jobs WHERE state = 'queued'`);
export const running = (db: Executor): Promise<number> =>
  count(db, sql`SELECT count(*)::int AS count FROM jobs WHERE state = 'running'`);

/** s. */
export const oldestWait = (db: Executor): Promise<number> =>
  count(
    db,
    sql`SELECT coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 AS count
      FROM jobs WHERE state = 'queued'`,
  );
export const unindexed = (db: Executor): Promise<number> =>
  count(
    db,
    sql`SELECT ((SELECT count(*) FROM search_queue)
      + (SELECT count(*) FROM search_sessions))::int AS count`,
  );
export const openHolds = (db: Executor): Promise<number> =>
  count(db, sql`SELECT count(*)::int AS count FROM holds WHERE state = 'open'`);

/** The database itself: its size and connections, its largest tables, and the jobs of a day. */
export const databaseFacts = async (db: Executor) => {
  const { rows: facts } = await db.execute<{
    version: string;
    size: number;
    connections: number;
    processes: number;
  }>(sql`SELECT current_setting('server_version') AS version,
    pg_database_size(current_database())::float8 AS size,
    (SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database()) AS connections,
    (SELECT count(*)::int FROM instances JOIN pg_locks ON objid = instances.id::oid
      WHERE ${sql.raw(livingLock)}) AS processes`);
  const { rows: tables } = await db.execute<{ name: string; rows: number; bytes: number }>(
    sql`SELECT relname AS name, n_live_tup::float8 AS rows,
        pg_total_relation_size(relid)::float8 AS bytes
      FROM pg_stat_user_tables WHERE schemaname = 'public' ORDER BY bytes DESC LIMIT 12`,
  );
  const { rows: jobs } = await db.execute<{ kind: string; state: string; count: number }>(
    sql`SELECT kind, state, count(*)::int AS count FROM jobs
      WHERE state IN ('queued', 'running') OR created_at > now() - interval '1 day'
      GROUP BY 1, 2 ORDER BY 1, 2`,
  );
  return { facts: facts[0], tables, jobs };
};
