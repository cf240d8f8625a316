import type { FastifyBaseLogger } from 'fastify';
import type { ReplyState } from '#contract/chat.ts';
import type { Database } from '#server/db/database.ts';
import type { Instance } from '#server/db/instance.ts';
import type { Sink } from '#server/http/sink.ts';
import type { KeyBox } from '../model/channel-key.ts';
import type { ModelService } from '../model/model.service.ts';
import type { Toolbox } from '../tool/toolbox.ts';
import type { SummaryWriter } from './loop-summary.ts';
import { createDeadReplies } from './dead-replies.ts';
import { defaults, type RepliesContext, type RepliesOptions } from './live-replies.ts';
import { Reader } from './reader.ts';
import type { ReplyFigures } from './reply-figures.ts';
import { createFollowing, endingOf } from './reply-following.ts';
import { ReplyLog } from './reply-log.ts';
import * as store from './reply.store.ts';
import type { ToolViewer } from './stored-tool.ts';
import { createReplyWords } from './reply-words.ts';
import { createWriting, type FetchImage } from './reply-writing.ts';
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

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * The replies that are being written. Each belongs to the process that began it and lives in its
 * memory; the row gets it at most once a second, and a NOTIFY tells the other processes, whose
 * readers follow the row. Readers come and go without the writing noticing.
 */
export const createReplies = async ({
  db,
  instance,
  valkey,
  models,
  fetchImage,
  toolbox,
  writer,
  box,
  log,
  figures,
  options,
}: RepliesDeps) => {
  const settings: RepliesOptions = { ...defaults, ...options };
  const context: RepliesContext = {
    db,
    instance,
    log,
    settings,
    figures,
    words: valkey && createReplyWords({ valkey, instance, log }),
    live: new Map(),
    done: [],
    kept: new Map(),
    stage: 'open',
  };
  const { live, kept } = context;
  const { begin, flushDue } = createWriting(context, { models, fetchImage, toolbox, writer });
  const { sweep, lineBroke } = createDeadReplies(context, models, begin);
  const following = await createFollowing(context, box, lineBroke);
  const { follow, readChanged, noticeChange, pollFollowed, tellNews, lines } = following;

  /**
   * Lets a connection read a reply from a position on; gives what to call when it is gone.
   * @param state as the row had it a moment ago
   */
  const read = async (
    id: number,
    state: ReplyState,
    sink: Sink,
    position: number,
    viewer: ToolViewer | null = null,
  ): Promise<() => void> => {
    const over = kept.get(id);
    if (over) {
      const reader = new Reader(sink, over.log, position, viewer);
      reader.end(over.ending);
      replays.add(reader);
      return () => replays.delete(reader);
    }
    let entry = live.get(id);
    if (!entry && state === 'streaming') entry = follow(id);
    if (!entry) {
      const [row] = await store.readReplies(db, [id]);
      if (!row?.temporary) {
        const reader = new Reader(sink, row ? ReplyLog.of(row) : new ReplyLog(), position, viewer);
        reader.end(row ? endingOf(row) : { error: null });
        replays.add(reader);
        return () => replays.delete(reader);
      }
      // The process that wrote it may still have it.
      entry = live.get(id) ?? follow(id);
    }
    const { readers } = entry;
    const reader = new Reader(sink, entry.log, position, viewer);
    readers.add(reader);
    if (!entry.own) void readChanged();
    return () => {
      readers.delete(reader);
      const now = live.get(id);
      if (!now || now.own || now.readers.size > 0) return;
      live.delete(id);
      now.line?.close();
    };
  };
  const replays = new Set<Reader>();

  /** Whether the reply is being written here, in that session (uuid or number), to that person. */
  const isOwn = (id: number, sessionRef: string, user: { id: number } | null): boolean => {
    const request = live.get(id)?.own?.answer.request;
    return (
      request !== undefined &&
      request.userId === user?.id &&
      (request.sessionUuid === sessionRef || String(request.sessionId) === sessionRef)
    );
  };

  /** Stops a reply, whichever process writes it, and waits until it has ended or 5 s are over. */
  const stop = async (id: number): Promise<void> => {
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
      await wait(50);
    }
  };

  const stopSession = async (sessionId: number): Promise<void> => {
    const ids = await store.runningIn(db, sessionId);
    await Promise.all(ids.map((id) => stop(id)));
  };

  const timers: NodeJS.Timeout[] = [];
  const every = (ms: number, act: () => Promise<void> | void): void => {
    let busy = false;
    const run = async (): Promise<void> => {
      if (busy) return;
      busy = true;
      try {
        await act();
      } catch (error) {
        if (context.stage !== 'closed')
          log.warn({ err: error }, 'a regular task of the replies failed');
      } finally {
        busy = false;
      }
    };
    timers.push(setInterval(() => void run(), ms));
  };

  await instance.listen(store.changedChannel, noticeChange);
  await instance.listen(store.stopChannel, (payload) =>
    live.get(Number(payload))?.own?.answer.cut('stopped'),
  );
  await sweep();
  every(tickMs, flushDue);
  every(tickMs, tellNews);
  every(settings.pollMs, pollFollowed);
  every(settings.sweepMs, sweep);
  every(Math.min(1000, settings.heartbeatMs), () => {
    const now = Date.now();
    for (const [id, { until }] of kept) if (until <= now) kept.delete(id);
    for (const { readers } of live.values())
      for (const reader of readers) reader.tend(now, settings);
    for (const reader of replays) reader.tend(now, settings);
  });

  return {
    instanceId: instance.id,
    begin,
    /** Has somebody told of each reply that is done here and kept. */
    whenDone: (tell: RepliesContext['done'][number]) => {
      context.done.push(tell);
    },
    toolbox,
    read,
    isOwn,
    /** Whether a request comes from another process, for that reply of this one. */
    admits: lines.admits,
    /** Which writing of a reply this process has; null: it has none. */
    writingOf: (id: number): string | null =>
      live.get(id)?.own?.writing ?? (kept.has(id) ? 'over' : null),
    stop,
    stopSession,
    /**
     * For the end of the process: lets running replies end for some time, interrupts and bills the
     * rest, and lets all readers go.
     */
    drain: async (ms: number): Promise<void> => {
      if (context.stage === 'closed') return;
      context.stage = 'draining';
      const running = () => [...live.values()].flatMap(({ own }) => own ?? []);
      // What is read here of other processes' replies may end, too.
      for (const until = Date.now() + ms; live.size > 0 && Date.now() < until;) await wait(100);
      for (const own of running()) own.answer.cut('interrupted');
      await Promise.race([Promise.all(running().map((own) => own.finished)), wait(5000)]);
      context.stage = 'closed';
      for (const timer of timers) clearInterval(timer);
      for (const { readers } of live.values()) for (const reader of readers) reader.close();
      for (const reader of replays) reader.close();
      live.clear();
      kept.clear();
      await context.words?.close();
      await lines.close();
    },
  };
};
