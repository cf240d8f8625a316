import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Area, Host } from '#server/area.ts';
import { removeOldUses } from '../ledger/ledger.service.ts';
import { rollUp } from './roll-up.store.ts';
import { oldestWait, openHolds, queued, running, unindexed } from './service-state.store.ts';
import { createStatsHandlers } from './stats.handlers.ts';

const same = (a: string, b: string): boolean => {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
};

/** `/metrics` for Prometheus, for whoever has the token of the settings; to others it is no address. */
const serveMetrics = (http: FastifyInstance, { settings, figures, db }: Host): void => {
  const { metricsToken } = settings;
  if (metricsToken === '') return;
  figures.gauge('queqiao_jobs_queued', 'Jobs that wait', () => queued(db));
  figures.gauge('queqiao_jobs_running', 'Jobs that are worked on', () => running(db));
  figures.gauge('queqiao_job_queue_age_seconds', 'How long the oldest job waits', () =>
    oldestWait(db),
  );
  figures.gauge('queqiao_search_queue', 'Messages that wait to be indexed', () => unindexed(db));
  figures.gauge('queqiao_holds_open', 'Holds of tokens that are not settled', () => openHolds(db));
  const { streamRoom } = http;
  figures.gauge('queqiao_event_streams', 'Streams of events that are open', () => streamRoom.open);
  const { $client: pool } = db;
  figures.gauge('queqiao_pool_connections', 'Connections of the pool', () => pool.totalCount);
  figures.gauge('queqiao_pool_waiting', 'Who waits for a connection', () => pool.waitingCount);
  http.get('/metrics', async (request, reply) => {
    if (!same(request.headers.authorization ?? '', `Bearer ${metricsToken}`))
      return reply.code(404).type('text/plain').send('');
    return reply.type(figures.contentType).send(await figures.text());
  });
};

export const statsArea = () =>
  ({
    holds: [
      {
        table: 'manager_acts',
        of: ['user_id'],
        end: { keep: 'what managers did stays on record; a manager’s account is not ended' },
      },
      {
        table: 'model_uses',
        of: ['user_id'],
        end: { keep: 'numbers of uses without a word, kept 90 days' },
      },
      { table: 'stat_spent', of: ['user_id'], end: { keep: 'sums of the books, without a word' } },
    ],
    chores: [(tx) => rollUp(tx), removeOldUses],
    serve: (host) => createStatsHandlers(host),
    routes: serveMetrics,
  }) satisfies Area;
