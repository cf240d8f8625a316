import { createChangedIds } from '../changed-ids.ts';
import type { ServerResponse } from 'node:http';
import type { FastifyBaseLogger } from 'fastify';
import type { JobEvent } from '#contract/job.ts';
import type { Database } from '../db/database.ts';
import type { Instance } from '../db/instance.ts';
import { heartbeat } from '../http/event-stream.ts';
import { viewJobs } from './job.service.ts';
import { changedChannel } from './job-sql.ts';
import * as store from './job.store.ts';

/** How often all that somebody follows is read anew, for places in the queue and lost notices, ms. */
const refreshMs = 3_000;
/** A connection that takes nothing holds no more than this, bytes; then it is closed. */
const mostBuffered = 4 * 1024 * 1024;

/** A connection that follows a person's jobs. */
interface Watcher {
  userId: number;
  response: ServerResponse;
  /** What was sent last of each job that has not ended. */
  sent: Map<number, string>;
}

export type JobEvents = Awaited<ReturnType<typeof createJobEvents>>;

/** Tells connections what becomes of jobs, whichever process works on them. */
export const createJobEvents = async (deps: {
  db: Database;
  instance: Pick<Instance, 'listen'>;
  log: FastifyBaseLogger;
}) => {
  const { db, log } = deps;
  const watchers = new Map<number, Set<Watcher>>();

  const send = (watcher: Watcher, row: store.JobRow, event: JobEvent): void => {
    const frame = `data: ${JSON.stringify(event)}\n\n`;
    if (watcher.sent.get(row.id) === frame) return;
    if (row.finished_at === null) watcher.sent.set(row.id, frame);
    else watcher.sent.delete(row.id);
    if (watcher.response.writableLength > mostBuffered) watcher.response.destroy();
    else watcher.response.write(frame);
  };

  /** Sends how these jobs stand to these watchers, or to all who follow their owners. */
  const tell = async (rows: readonly store.JobRow[], only?: Watcher): Promise<void> => {
    if (rows.length === 0) return;
    const ids = rows.filter((row) => row.finished_at === null).map((row) => row.id);
    const previews = await store.previewsOf(db, ids);
    const views = await viewJobs(db, rows);
    rows.forEach((row, at) => {
      const job = views[at];
      if (!job) return;
      const event = { job, current_image: previews.get(row.id) ?? '' };
      for (const watcher of only ? [only] : (watchers.get(row.user_id) ?? []))
        send(watcher, row, event);
    });
  };

  const changed = createChangedIds(
    async (ids) => tell(await store.jobsById(db, ids)),
    (error) => log.warn({ err: error }, 'changes of jobs could not be told for now'),
  );

  /** All that is open, and what was open when it was last looked at. */
  const refresh = async (watcher: Watcher): Promise<void> => {
    const open = await store.openJobs(db, watcher.userId);
    const known = new Set(open.map((row) => row.id));
    const ended = [...watcher.sent.keys()].filter((id) => !known.has(id));
    await tell([...(ended.length > 0 ? await store.jobsById(db, ended) : []), ...open], watcher);
  };

  const refreshAll = async (): Promise<void> => {
    for (const set of watchers.values())
      for (const watcher of set) {
        if (watcher.sent.size > 0) await refresh(watcher);
      }
  };

  await deps.instance.listen(changedChannel, (payload) => {
    const [userId, id] = payload.split(':').map(Number);
    if (userId === undefined || id === undefined || !watchers.has(userId)) return;
    changed.add(id);
    void changed.read();
  });

  let refreshing = false;
  const refreshTimer = setInterval(() => {
    if (refreshing) return;
    refreshing = true;
    refreshAll()
      .catch((error: unknown) => log.warn({ err: error }, 'jobs could not be read for now'))
      .finally(() => {
        refreshing = false;
      });
  }, refreshMs);
  const heartbeatTimer = setInterval(() => {
    for (const set of watchers.values())
      for (const { response } of set) response.write(heartbeat.frame);
  }, heartbeat.everyMs);

  return {
    /** Follows a person's jobs on a connection whose head is sent; gives what to call at its end. */
    follow: async (response: ServerResponse, userId: number): Promise<() => void> => {
      const watcher: Watcher = { userId, response, sent: new Map() };
      const set = watchers.get(userId) ?? new Set();
      watchers.set(userId, set.add(watcher));
      const leave = (): void => {
        set.delete(watcher);
        if (set.size === 0 && watchers.get(userId) === set) watchers.delete(userId);
      };
      try {
        await refresh(watcher);
      } catch (error) {
        leave();
        throw error;
      }
      return leave;
    },
    close: (): void => {
      clearInterval(refreshTimer);
      clearInterval(heartbeatTimer);
      for (const set of watchers.values()) for (const { response } of set) response.end();
      watchers.clear();
    },
  };
};
