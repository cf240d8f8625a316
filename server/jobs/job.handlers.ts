import { heartbeat, serveEvents } from '../http/event-stream.ts';
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

  jobEvents: async (_input, { user, reply }) => {
    await serveEvents(reply, (response) => {
      // The page learns that it is connected before anything happens.
      response.write(heartbeat.frame);
      return deps.events.follow(response, user.id);
    });
  },
});
