import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '#server/db/database.ts';
import type { Instance } from '#server/db/instance.ts';
import { every } from '#server/every.ts';
import type { KeyBox } from '../model/channel-key.ts';
import type { ModelService } from '../model/model.service.ts';
import type { Toolbox } from '../tool/toolbox.ts';
import type { SummaryWriter } from './loop-summary.ts';
import { createDeadReplies } from './dead-replies.ts';
import { defaults, type RepliesContext, type RepliesOptions } from './live-replies.ts';
import type { ReplyFigures } from './reply-figures.ts';
import { flushDue } from './reply-flushing.ts';
import { createFollowing } from './reply-following.ts';
import type { ReplyLog } from './reply-log.ts';
import { createReading } from './reply-reading.ts';
import type { ReplyRequest } from './reply.ts';
import * as store from './reply.store.ts';
import { createReplyWords } from './reply-words.ts';
import { beginReply, type FetchImage } from './reply-writing.ts';
import type { Valkey } from '#server/valkey/valkey.ts';

/** Replies looked after by one tick: what falls due within it is stored in one statement, ms. */
const tickMs = 125;

export interface RepliesDeps {
  db: Database;
  instance: Instance;
  /** Null: there is none. */
  valkey: Valkey | null;
  models: Pick<ModelService, 'find' | 'engine'>;
  fetchImage: FetchImage;
  toolbox: Toolbox;
  writer: SummaryWriter;
  /** Seals what is handed to other processes and may not be stored. */
  box: KeyBox;
  log: FastifyBaseLogger;
  figures: ReplyFigures;
  options: Pick<RepliesOptions, 'firstByteMs' | 'idleMs'> & Partial<RepliesOptions>;
}

export type Replies = Awaited<ReturnType<typeof createReplies>>;

type Shared = Pick<RepliesContext, 'db' | 'live'>;

/** Stops a reply, whichever process writes it, and waits until it has ended or 5 s are over. */
const stop = async ({ db, live }: Shared, id: number): Promise<void> => {
  const own = live.get(id)?.own;
  if (own) {
    own.answer.cut('stopped');
    await own.finished;
    return;
  }
  await store.requestStop(db, id);
  for (let waited = 0; waited < 5000; waited += 50) {
    const [row] = await store.readReplies(db, [id]);
    if (row?.state !== 'streaming') return;
    await sleep(50);
  }
};

const stopSession = async (shared: Shared, sessionId: number): Promise<void> => {
  const ids = await store.runningIn(shared.db, sessionId);
  await Promise.all(ids.map((id) => stop(shared, id)));
};

/** Lets running replies end for some time, then interrupts and bills the rest. */
const endRunning = async ({ live }: Pick<Shared, 'live'>, ms: number): Promise<void> => {
  const running = () => [...live.values()].flatMap(({ own }) => own ?? []);
  // What is read here of other processes' replies may end, too.
  for (const until = Date.now() + ms; live.size > 0 && Date.now() < until;) await sleep(100);
  for (const own of running()) own.answer.cut('interrupted');
  await Promise.race([Promise.all(running().map((own) => own.finished)), sleep(5000)]);
};

/**
 * The replies that are being written. Each belongs to the process that began it and lives in its
 * memory; the row gets it some times a second. Readers at other processes are told word by word, by
 * Valkey or by the process that writes, and follow the row where neither can be reached. Readers
 * come and go without the writing noticing.
 */
export const createReplies = async (deps: RepliesDeps) => {
  const { db, instance, valkey, models, toolbox, log } = deps;
  const settings: RepliesOptions = { ...defaults, ...deps.options };
  const context: RepliesContext = {
    db,
    instance,
    log,
    settings,
    figures: deps.figures,
    words: valkey && createReplyWords({ valkey, instance, log }),
    live: new Map(),
    done: [],
    kept: new Map(),
    stage: 'open',
  };
  const { live, kept } = context;
  const begin = (request: ReplyRequest, before?: ReplyLog): void =>
    beginReply(context, deps, request, before);
  const { sweep, lineBroke } = createDeadReplies(context, models, begin);
  const following = await createFollowing(context, deps.box, lineBroke);
  const reading = createReading(context, following);

  /** Whether the reply is being written here, in that session (uuid or number), to that person. */
  const isOwn = (id: number, sessionRef: string, user: { id: number } | null): boolean => {
    const request = live.get(id)?.own?.answer.request;
    return (
      request !== undefined &&
      request.userId === user?.id &&
      (request.sessionUuid === sessionRef || String(request.sessionId) === sessionRef)
    );
  };

  await instance.listen(store.changedChannel, following.noticeChange);
  await instance.listen(store.stopChannel, (payload) =>
    live.get(Number(payload))?.own?.answer.cut('stopped'),
  );
  await sweep();
  const failed = (err: unknown): void => {
    if (context.stage !== 'closed') log.warn({ err }, 'a regular task of the replies failed');
  };
  const timers = [
    every(tickMs, () => flushDue(context), failed),
    every(tickMs, following.tellNews, failed),
    every(settings.pollMs, following.pollFollowed, failed),
    every(settings.sweepMs, sweep, failed),
    every(
      Math.min(1000, settings.heartbeatMs),
      () => {
        const now = Date.now();
        for (const [id, { until }] of kept) if (until <= now) kept.delete(id);
        reading.tend(now);
      },
      failed,
    ),
  ];

  return {
    instanceId: instance.id,
    begin,
    /** Has somebody told of each reply that is done here and kept. */
    whenDone: (tell: RepliesContext['done'][number]) => {
      context.done.push(tell);
    },
    toolbox,
    read: reading.read,
    isOwn,
    /** Whether a request comes from another process, for that reply of this one. */
    admits: following.lines.admits,
    /** Which writing of a reply this process has; null: it has none. */
    writingOf: (id: number): string | null =>
      live.get(id)?.own?.writing ?? (kept.has(id) ? 'over' : null),
    stop: (id: number) => stop(context, id),
    stopSession: (sessionId: number) => stopSession(context, sessionId),
    /** For the end of the process: ends what runs (see `endRunning`), and lets all readers go. */
    drain: async (ms: number): Promise<void> => {
      if (context.stage === 'closed') return;
      context.stage = 'draining';
      await endRunning(context, ms);
      context.stage = 'closed';
      for (const timer of timers) clearInterval(timer);
      reading.close();
      live.clear();
      kept.clear();
      await context.words?.close();
      await following.lines.close();
    },
  };
};
