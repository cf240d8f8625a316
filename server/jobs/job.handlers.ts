import type { Handlers } from '../http/handlers.ts';
import type { JobEvents } from './job-events.ts';
import { listJobs, ownJob } from './job.service.ts';
import type { Jobs } from './jobs.ts';

export const createJobHandlers = (deps: {
  jobs: Pick<Jobs, 'cancel'>;
  events: JobEvents;
}): Pick<Handlers, 'jobList' | 'cancelJob' | 'jobEvents'> => ({
  jobList: (input, { db, user }) => listJobs(db, input, user.id),

  cancelJob: async ({ request_id }, { db, user }) => {
    const { id, finished_at: ended } = await ownJob(db, request_id, user.id);
    return { cancelled: ended === null && (await deps.jobs.cancel(id)) };
  },

  jobEvents: async (_input, { user, log, reply }) => {
    reply.hijack();
    const response = reply.raw;
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (value !== undefined) response.setHeader(name, value);
    }
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    // The page learns that it is connected before anything happens.
    response.write(':\n\n');
    let gone = false;
    let leave = (): void => {
      gone = true;
    };
    response.on('close', () => leave());
    response.on('error', () => response.destroy());
    try {
      const left = await deps.events.follow(response, user.id);
      if (gone) left();
      else leave = left;
    } catch (error) {
      log.error({ err: error }, 'jobs could not be followed');
      response.destroy();
    }
  },
});
