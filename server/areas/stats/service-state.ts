import { desc, sql } from 'drizzle-orm';
import { calls } from '#contract/calls.ts';
import type { Out } from '#contract/calls.ts';
import { missingCount } from '../compliance/compliance.service.ts';
import type { Host } from '#server/area.ts';
import type { Executor } from '#server/db/database.ts';
import { livingLock } from '#server/db/instance.ts';
import { backups } from '#server/db/schema.ts';
import type { Figures } from '#server/http/figures.ts';

/** How many of the slowest calls are told. */
const mostCalls = 30;

const rounded = (ms: number): number => Math.round(ms * 10) / 10;

const callFigures = (figures: Figures) =>
  [...figures.calls()]
    .map(([name, { count, errors, total, slowest }]) => ({
      name,
      path: (calls as Record<string, { path: string } | undefined>)[name]?.path ?? '',
      count,
      errors,
      mean: rounded(total / count),
      slowest: rounded(slowest),
    }))
    .sort((a, b) => b.mean - a.mean);

/** Whichever process made it. */
const lastBackup = async (db: Executor): Promise<Out<'adminService'>['last_backup']> => {
  const [made] = await db.select().from(backups).orderBy(desc(backups.createdAt)).limit(1);
  return made
    ? { name: made.name, bytes: made.bytes, created_at: made.createdAt.toISOString() }
    : null;
};

/** The fullest of the disks that the living processes have; null: none of them has one. */
const fullestDisk = async (db: Executor): Promise<{ free: number; total: number } | null> => {
  const { rows } = await db.execute<{ free: number; total: number }>(
    sql`SELECT disk_free::float8 AS free, disk_total::float8 AS total
      FROM instances JOIN pg_locks ON objid = instances.id::oid
      WHERE ${sql.raw(livingLock)} AND disk_free IS NOT NULL ORDER BY disk_free LIMIT 1`,
  );
  return rows[0] ?? null;
};

/** Every process, those that live first. @param own the one that asks */
const allInstances = async (
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
  count(db, sql`SELECT count(*)::int AS count FROM search_queue`);
export const openHolds = (db: Executor): Promise<number> =>
  count(db, sql`SELECT count(*)::int AS count FROM holds WHERE state = 'open'`);

export const serviceState = async (
  db: Executor,
  {
    settings,
    figures,
    backups: plan,
    instance,
  }: Pick<Host, 'settings' | 'figures' | 'backups' | 'instance'>,
): Promise<Out<'adminService'>> => {
  const disk = await fullestDisk(db);
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
  const told = callFigures(figures);
  return {
    version: settings.version,
    node: process.version,
    database: facts[0]?.version ?? '',
    uptime: Math.floor(process.uptime()),
    memory: process.memoryUsage().rss,
    disk_free: disk?.free ?? null,
    disk_total: disk?.total ?? null,
    database_size: facts[0]?.size ?? 0,
    connections: facts[0]?.connections ?? 0,
    processes: facts[0]?.processes ?? 0,
    instances: await allInstances(db, instance.id),
    tables,
    jobs,
    queue: await queued(db),
    search_queue: await unindexed(db),
    calls: told.slice(0, mostCalls),
    requests: told.reduce((sum, each) => sum + each.count, 0),
    errors: told.reduce((sum, each) => sum + each.errors, 0),
    metrics: settings.metricsToken !== '',
    compliance_missing: await missingCount(db),
    backup: await plan.state(),
    last_backup: await lastBackup(db),
  };
};
