import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Database } from '../db/database.ts';
import { ping } from '../db/questions.ts';

/** How long the database may take to answer, and how long its answer holds, ms. */
const patience = 2_000;
const holds = 500;
/** A load balancer asks at least this often, ms. */
const usualPause = 60_000;

/** What supervisors and load balancers ask; the second names of each are those of Kubernetes. */
const live = ['/api/health/live', '/livez', '/healthz'];
const ready = ['/api/health/ready', '/readyz'];

interface Readiness {
  ready: boolean;
  /** Why it is not; empty: it is. */
  reason: '' | 'stopping' | 'database';
}

async function* pieces() {
  for (let at = 1; at <= 4; at += 1) {
    if (at > 1) await sleep(250);
    yield `data: ${at}\n\n`;
  }
}

export interface Probes {
  /** Whether somebody asks for readiness, and would be misled by a port that closes without a word. */
  isWatched: () => boolean;
}

/**
 * Answers whether the process lives, and whether requests should be sent to it: 200, or 503 while
 * the database does not answer or the process is about to stop. However often it is asked, the
 * database is asked at most twice a second.
 */
export const registerProbes = (
  app: FastifyInstance,
  { db, isStopping }: { db: Database; isStopping: () => boolean },
): Probes => {
  let askedAt = -Infinity;
  let known: { at: number; answers: Promise<boolean> } | undefined;
  const databaseAnswers = (): Promise<boolean> => {
    const now = performance.now();
    if (!known || now - known.at > holds)
      known = {
        at: now,
        answers: Promise.race([
          ping(db).then(
            () => true,
            () => false,
          ),
          sleep(patience, false, { ref: false }),
        ]),
      };
    return known.answers;
  };
  const readiness = async (): Promise<Readiness> => {
    if (isStopping()) return { ready: false, reason: 'stopping' };
    return (await databaseAnswers())
      ? { ready: true, reason: '' }
      : { ready: false, reason: 'database' };
  };
  const send = (reply: FastifyReply, status: number, said: object) =>
    reply.code(status).header('cache-control', 'no-store').send(said);
  for (const url of live) app.get(url, (_request, reply) => send(reply, 200, { live: true }));
  for (const url of ready)
    app.get(url, async (_request, reply) => {
      askedAt = performance.now();
      const said = await readiness();
      return send(reply, said.ready ? 200 : 503, said);
    });
  // Four pieces with pauses, so that `npm run doctor` sees whether a proxy holds streams back.
  app.get('/api/health/stream', (_request, reply) =>
    reply
      .header('content-type', 'text/event-stream')
      .header('cache-control', 'no-store')
      .header('x-accel-buffering', 'no')
      .send(Readable.from(pieces())),
  );
  return { isWatched: () => performance.now() - askedAt < usualPause };
};
