import type { FastifyBaseLogger } from 'fastify';
import { streamCodes } from '../../../contract/errors.ts';
import type { ReplyState } from '../../../contract/chat.ts';
import type { Database } from '../../db/database.ts';
import { accountEnded, sqlState } from '../../db/failure.ts';
import type { Instance } from '../../db/instance.ts';
import { countInThread } from '../../engines/token-thread.ts';
import { extendHold, holdLifetime, releaseExpired } from '../ledger/ledger.service.ts';
import { heartbeat } from '../../http/event-stream.ts';
import type { Sink } from '../../http/sink.ts';
import type { KeyBox } from '../model/channel-key.ts';
import type { ModelService } from '../model/model.service.ts';
import { ReplyLog } from './reply-log.ts';
import {
  Reply,
  type ReplyHooks,
  type ReplyLimits,
  type ReplyRequest,
  type Ended,
} from './reply.ts';
import * as store from './reply.store.ts';
import { textFrame } from './frames.ts';
import { createReplyRelay, type Piece } from './reply-relay.ts';
import { Reader, type Ending } from './reader.ts';
import { finishReply, LostReply, type Finished } from './settlement.ts';

export interface RepliesOptions extends ReplyLimits {
  /** How often a reply is stored while it is written, ms. */
  flushMs: number;
  /** How often other processes' replies are looked at when no notice comes, ms. */
  pollMs: number;
  /** How often replies of dead processes are looked for, ms. */
  sweepMs: number;
  heartbeatMs: number;
  /** A connection that takes nothing for this long is closed, ms. */
  stuckMs: number;
}

const defaults: Omit<RepliesOptions, 'firstByteMs' | 'idleMs'> = {
  totalMs: holdLifetime - 60_000,
  size: 1_000_000,
  flushMs: 1000,
  pollMs: 2000,
  sweepMs: 5000,
  heartbeatMs: heartbeat.everyMs,
  stuckMs: 60_000,
};

/** Replies looked after by one tick: what falls due within it is stored in one statement. */
const tickMs = 125;
const flushBatch = 200;
/** How long the reply to a question that is not stored can still be read, ms. */
const keptMs = 120_000;
const noText = new ReplyLog();
/** How long the process that has such a reply may be silent before it is given up, ms. */
const silentMs = 3000;

/** The end of a reply that stands in no row. */
interface Kept {
  log: ReplyLog;
  ending: Ending;
  until: number;
}

/** A reply of this process, or one of another process that somebody reads here. */
interface Live {
  log: ReplyLog;
  readers: Set<Reader>;
  /** Null while another process writes it. */
  own: Own | null;
  /** When the process that has a reply without a row was last heard of, ms. */
  heardAt: number;
}

interface Own {
  answer: Reply;
  /** Length at the last flush. */
  stored: number;
  nextFlush: number;
  flushing: boolean;
  finishing: boolean;
  finished: Promise<void>;
}

export interface RepliesDeps {
  db: Database;
  instance: Instance;
  models: Pick<ModelService, 'find' | 'engines' | 'reportOutcome'>;
  fetchImage: ReplyHooks['fetchImage'];
  /** Seals what is handed to other processes and may not be stored. */
  box: KeyBox;
  log: FastifyBaseLogger;
  options: Pick<RepliesOptions, 'firstByteMs' | 'idleMs'> & Partial<RepliesOptions>;
}

export type Replies = Awaited<ReturnType<typeof createReplies>>;

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const endingOf = ({
  state,
  errorCode: code,
  errorMessage: message,
  temporary,
}: Pick<store.ReplyRow, 'state' | 'errorCode' | 'errorMessage' | 'temporary'>): Ending => {
  if (temporary) return { error: { code: 'temporary', message: streamCodes.temporary } };
  return { error: state === 'error' || state === 'interrupted' ? { code, message } : null };
};

/**
 * The replies that are being written. Each belongs to the process that began it and lives in its
 * memory; the row gets it at most once a second, and a NOTIFY tells the other processes, whose
 * readers follow the row. Readers come and go without the writing noticing.
 */
export const createReplies = async ({
  db,
  instance,
  models,
  fetchImage,
  box,
  log,
  options,
}: RepliesDeps) => {
  const settings: RepliesOptions = { ...defaults, ...options };
  const live = new Map<number, Live>();
  const kept = new Map<number, Kept>();
  let draining = false;
  let closed = false;

  // ---- writing ---------------------------------------------------------------------------------

  const begin = (request: ReplyRequest): void => {
    const id = request.historyId;
    live.get(id)?.own?.answer.cut('lost');
    // Somebody may have opened the stream between the commit and this call.
    const readers = live.get(id)?.readers ?? new Set<Reader>();
    const answer = new Reply(request, settings, {
      channels: async () => {
        const model = await models.find(db, request.model.name);
        return model ? models.engines(db, model) : [];
      },
      onText: (kind, text, start, end) => {
        if (readers.size === 0) return;
        const frame = textFrame(kind, text, end);
        for (const reader of readers) reader.push(frame, start, end);
      },
      reportOutcome: (channelId, ok, failure) =>
        models.reportOutcome({
          channelId,
          model: request.model.name,
          userId: request.userId,
          ok,
          ...failure,
        }),
      countTokens: countInThread,
      fetchImage,
      extendHold: (more) =>
        request.holdId ? extendHold(db, request.holdId, more) : Promise.resolve(true),
      log,
    });
    for (const reader of readers) reader.follow(answer.log);
    const own: Own = {
      answer,
      stored: 0,
      // Spread, so that replies begun together are not stored together.
      nextFlush: Date.now() + settings.flushMs * (0.5 + ((id * 7919) % 1000) / 2000),
      flushing: false,
      finishing: false,
      finished: Promise.resolve(),
    };
    const entry: Live = { log: answer.log, readers, own, heardAt: 0 };
    live.set(id, entry);
    own.finished = answer
      .write()
      .then((ended) => finish(id, entry, own, ended))
      .catch((error: unknown) => log.error({ err: error, id }, 'a reply could not be ended'));
    if (draining) answer.cut('interrupted');
  };

  const finish = async (id: number, entry: Live, own: Own, ended: Ended): Promise<void> => {
    own.finishing = true;
    const { answer } = own;
    const whole = ended.state === 'done';
    let ending: Ending | null = { error: ended.error };
    if (answer.wasLost) {
      ending = null;
    } else {
      const { request } = answer;
      const used = answer.log.length > 0 || answer.stoppedAtWork;
      const counted = used ? await answer.count(whole) : { promptTokens: 0, completionTokens: 0 };
      const stored = await storeEnd(id, {
        id,
        owner: instance.id,
        sessionId: request.sessionId,
        userId: request.userId,
        human: request.human,
        temporary: request.temporary,
        model: request.model.name,
        price: request.model,
        holdId: request.holdId,
        channelId: answer.channelId,
        log: answer.log,
        used,
        ...ended,
        ...counted,
      });
      if (!stored) ending = null;
    }
    if (live.get(id) === entry) live.delete(id);
    if (ending && answer.request.temporary)
      kept.set(id, { log: answer.log, ending, until: Date.now() + keptMs });
    for (const reader of entry.readers) {
      if (ending) reader.end(ending);
      else reader.close();
    }
  };

  /** Ends the row, however long the database takes to come back; false when it was ended elsewhere. */
  const storeEnd = async (id: number, reply: Finished): Promise<boolean> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await finishReply(db, reply);
        return true;
      } catch (error) {
        if (error instanceof LostReply || sqlState(error) === accountEnded) return false;
        log.error({ err: error, id, attempt }, 'a reply could not be stored');
        if (closed || attempt >= 100) return false;
        await wait(Math.min(5000, 100 * 2 ** attempt));
      }
    }
  };

  const flushDue = async (): Promise<void> => {
    const now = Date.now();
    const due: { id: number; own: Own; length: number }[] = [];
    for (const [id, { own, log: text }] of live) {
      if (!own || own.flushing || own.finishing || own.nextFlush > now) continue;
      own.nextFlush = now + settings.flushMs;
      if (text.length === own.stored) continue;
      own.flushing = true;
      due.push({ id, own, length: text.length });
    }
    for (let from = 0; from < due.length; from += flushBatch) {
      const batch = due.slice(from, from + flushBatch);
      try {
        const kept = await store.flushReplies(
          db,
          instance.id,
          batch.map(({ id, own }) => ({
            id,
            log: own.answer.request.temporary ? noText : own.answer.log,
            promptTokens: own.answer.roughPrompt,
          })),
        );
        for (const { id, own, length } of batch) {
          own.stored = length;
          const row = kept.get(id);
          if (own.finishing) continue;
          if (!row) own.answer.cut('lost');
          else if (row.stopRequested) own.answer.cut('stopped');
        }
      } catch (error) {
        log.warn({ err: error, replies: batch.length }, 'replies could not be stored for now');
      } finally {
        for (const { own } of batch) own.flushing = false;
      }
    }
  };

  // ---- following other processes ---------------------------------------------------------------

  /** A piece of a reply that stands in no row. */
  const takePiece = ({ id, start, kind, text, ending }: Piece): void => {
    const entry = live.get(id);
    if (!entry || entry.own) return;
    entry.heardAt = Date.now();
    const { length } = entry.log;
    // What is missing was asked for, or will be.
    if (start > length) return;
    const more = text.slice(length - start);
    if (more !== '') {
      entry.log.append(kind, more);
      const frame = textFrame(kind, more, entry.log.length);
      for (const reader of entry.readers) reader.push(frame, length, entry.log.length);
    }
    if (!ending) return;
    live.delete(id);
    for (const reader of entry.readers) reader.end(ending);
  };

  const relay = await createReplyRelay({
    db,
    instance,
    box,
    source: (id) => {
      const answer = live.get(id)?.own?.answer;
      if (!answer) return kept.get(id) ?? null;
      return answer.request.temporary ? { log: answer.log, ending: null } : null;
    },
    onPiece: takePiece,
    log,
  });

  const follow = (id: number): Live => {
    const entry = {
      log: new ReplyLog(),
      readers: new Set<Reader>(),
      own: null,
      heardAt: Date.now(),
    };
    live.set(id, entry);
    changed.add(id);
    return entry;
  };

  const changed = new Set<number>();
  let reading = false;

  const readChanged = async (): Promise<void> => {
    if (reading) return;
    reading = true;
    try {
      while (changed.size > 0) {
        const ids = [...changed];
        changed.clear();
        const rows = new Map((await store.readReplies(db, ids)).map((row) => [row.id, row]));
        for (const id of ids) updateFollowed(id, rows.get(id));
      }
    } catch (error) {
      log.warn({ err: error }, 'replies of other processes could not be read for now');
    } finally {
      reading = false;
    }
  };

  const updateFollowed = (id: number, row: store.ReplyRow | undefined): void => {
    const entry = live.get(id);
    if (!entry || entry.own) return;
    const end = (ending: Ending): void => {
      live.delete(id);
      for (const reader of entry.readers) reader.end(ending);
    };
    if (!row) return end({ error: { code: 'connection', message: streamCodes.connection } });
    if (row.temporary) {
      // Its text is in the other process's memory alone.
      if (Date.now() - entry.heardAt > silentMs) return end(endingOf(row));
      relay
        .ask(id, entry.log.length)
        .catch((error: unknown) => log.warn({ err: error, id }, 'a reply could not be asked for'));
      return;
    }
    const next = ReplyLog.of(row);
    if (next.length < entry.log.length) {
      // It was begun again since: whoever reads the old one has to open it anew.
      return end({ error: { code: 'connection', message: streamCodes.connection } });
    }
    entry.log = next;
    for (const reader of entry.readers) reader.follow(next);
    if (row.state !== 'streaming') end(endingOf(row));
  };

  const noticeChange = (payload: string): void => {
    for (const text of payload.split(',')) {
      const entry = live.get(Number(text));
      if (entry && !entry.own) changed.add(Number(text));
    }
    if (changed.size > 0) void readChanged();
  };

  const pollFollowed = (): void => {
    for (const [id, { own }] of live) if (!own) changed.add(id);
    if (changed.size > 0) void readChanged();
  };

  // ---- reading ---------------------------------------------------------------------------------

  /**
   * Lets a connection read a reply from a position on; gives what to call when it is gone.
   * @param state as the row had it a moment ago
   */
  const read = async (
    id: number,
    state: ReplyState,
    sink: Sink,
    position: number,
  ): Promise<() => void> => {
    const over = kept.get(id);
    if (over) {
      const reader = new Reader(sink, over.log, position);
      reader.end(over.ending);
      replays.add(reader);
      return () => replays.delete(reader);
    }
    let entry = live.get(id);
    if (!entry && state === 'streaming') entry = follow(id);
    if (!entry) {
      const [row] = await store.readReplies(db, [id]);
      if (!row?.temporary) {
        const reader = new Reader(sink, row ? ReplyLog.of(row) : new ReplyLog(), position);
        reader.end(row ? endingOf(row) : { error: null });
        replays.add(reader);
        return () => replays.delete(reader);
      }
      // The process that wrote it may still have it.
      entry = live.get(id) ?? follow(id);
    }
    const { readers } = entry;
    const reader = new Reader(sink, entry.log, position);
    readers.add(reader);
    if (!entry.own) void readChanged();
    return () => {
      readers.delete(reader);
      const now = live.get(id);
      if (now && !now.own && now.readers.size === 0) live.delete(id);
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

  // ---- stopping --------------------------------------------------------------------------------

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

  // ---- replies whose process died --------------------------------------------------------------

  const endDead = async (id: number): Promise<void> => {
    const row = await store.readUnfinished(db, id);
    if (!row || row.owner === null) return;
    const model = await models.find(db, row.model);
    const text = ReplyLog.of(row);
    const counts = row.holdId ? await countInThread([text.reasoning, text.text]) : [];
    try {
      await finishReply(db, {
        id,
        owner: row.owner,
        sessionId: row.sessionId,
        userId: row.userId,
        human: row.human,
        temporary: row.temporary,
        model: row.model,
        price: model ?? { factor: 0, promptFactor: null },
        holdId: row.holdId,
        channelId: null,
        log: text,
        used: text.length > 0,
        state: 'interrupted',
        error: { code: 'interrupted', message: streamCodes.interrupted },
        promptTokens: row.promptTokens,
        completionTokens: counts.reduce((sum, count) => sum + count, 0),
      });
      log.info({ id, owner: row.owner }, 'ended a reply whose process is gone');
    } catch (error) {
      if (!(error instanceof LostReply)) throw error;
    }
  };

  /** Own rows that no reply here belongs to, as they were at the last sweep. */
  let strays = new Set<number>();

  const sweep = async (): Promise<void> => {
    const running = await store.runningReplies(db);
    const alive = new Map<number, boolean>();
    const nextStrays = new Set<number>();
    for (const { id, owner } of running) {
      if (owner === null) continue;
      if (owner === instance.id) {
        if (live.get(id)?.own) continue;
        if (strays.has(id)) await endDead(id);
        else nextStrays.add(id);
        continue;
      }
      if (!alive.has(owner)) alive.set(owner, await instance.isAlive(owner));
      if (alive.get(owner) === false) await endDead(id);
    }
    strays = nextStrays;
    await releaseExpired(db);
  };

  // ---- the clockwork ---------------------------------------------------------------------------

  const timers: NodeJS.Timeout[] = [];
  const every = (ms: number, act: () => Promise<void> | void): void => {
    let busy = false;
    const run = async (): Promise<void> => {
      if (busy) return;
      busy = true;
      try {
        await act();
      } catch (error) {
        if (!closed) log.warn({ err: error }, 'a regular task of the replies failed');
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
  every(tickMs, relay.tellNews);
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
    read,
    isOwn,
    stop,
    stopSession,
    /**
     * For the end of the process: lets running replies end for some time, interrupts and bills the
     * rest, and lets all readers go.
     */
    drain: async (ms: number): Promise<void> => {
      if (closed) return;
      draining = true;
      const running = () => [...live.values()].flatMap(({ own }) => own ?? []);
      const all = Promise.all(running().map((own) => own.finished));
      await Promise.race([all, wait(ms)]);
      for (const own of running()) own.answer.cut('interrupted');
      await Promise.race([Promise.all(running().map((own) => own.finished)), wait(5000)]);
      closed = true;
      for (const timer of timers) clearInterval(timer);
      for (const { readers } of live.values()) for (const reader of readers) reader.close();
      for (const reader of replays) reader.close();
      live.clear();
      kept.clear();
    },
  };
};
