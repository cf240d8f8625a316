import { calls } from '#contract/calls.ts';
import type { Out } from '#contract/calls.ts';
import { missingCount } from '../compliance/compliance.service.ts';
import type { Host } from '#server/area.ts';
import type { Executor } from '#server/db/database.ts';
import type { Figures } from '#server/http/figures.ts';
import * as store from './service-state.store.ts';

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

export const serviceState = async (
  db: Executor,
  {
    settings,
    figures,
    backups: plan,
    instance,
  }: Pick<Host, 'settings' | 'figures' | 'backups' | 'instance'>,
): Promise<Out<'adminService'>> => {
  const disk = await store.fullestDisk(db);
  const { facts, tables, jobs } = await store.databaseFacts(db);
  const told = callFigures(figures);
  return {
    version: settings.version,
    node: process.version,
    database: facts?.version ?? '',
    uptime: Math.floor(process.uptime()),
    memory: process.memoryUsage().rss,
    disk_free: disk?.free ?? null,
    disk_total: disk?.total ?? null,
    database_size: facts?.size ?? 0,
    connections: facts?.connections ?? 0,
    processes: facts?.processes ?? 0,
    instances: await store.allInstances(db, instance.id),
    tables,
    jobs,
    queue: await store.queued(db),
    search_queue: await store.unindexed(db),
    calls: told.slice(0, mostCalls),
    requests: told.reduce((sum, each) => sum + each.count, 0),
    errors: told.reduce((sum, each) => sum + each.errors, 0),
    metrics: settings.metricsToken !== '',
    compliance_missing: await missingCount(db),
    ...(await store.complaints(db)),
    backup: await plan.state(),
    last_backup: await store.lastBackup(db),
  };
};
