import { randomUUID } from 'node:crypto';
import { textOf } from '#common/chat-message.ts';
import { accountEnded, sqlState } from '#server/db/failure.ts';
import { countInThread } from '#server/engines/token-thread.ts';
import { extendHold } from '../ledger/ledger.service.ts';
import type { ModelService } from '../model/model.service.ts';
import type { Toolbox } from '../tool/toolbox.ts';
import type { SummaryWriter } from './loop-summary.ts';
import { textFrame } from './frames.ts';
import type { Live, Own, RepliesContext } from './live-replies.ts';
import type { Ending, Reader } from './reader.ts';
import { Reply, type Ended, type ReplyRequest } from './reply.ts';
import { ReplyLog } from './reply-log.ts';
import * as store from './reply.store.ts';
import { ReplyLoop } from './reply-loop.ts';
import { finishReply, LostReply, type Finished } from './settlement.ts';

const flushBatch = 200;
/** Rows that are stored in a second where nothing is gained by more. */
const mostFlushes = 400;
/** How long the reply to a question that is not stored can still be read, ms. */
const keptMs = 120_000;
const noText = new ReplyLog();

const holdOf = (request: ReplyRequest, loop: ReplyLoop | undefined): string | null =>
  loop ? loop.holdId : request.holdId;

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** An image of the web as a data URL, for somebody's reply; null where it cannot be had. */
export type FetchImage = (
  url: string,
  detail: 'low' | 'high',
  asked: { signal: AbortSignal; userId: number },
) => Promise<string | null>;

/** Writes the replies of this process, stores what they have so far, and ends them. */
export const createWriting = (
  context: RepliesContext,
  {
    models,
    fetchImage,
    toolbox,
    writer,
  }: {
    models: Pick<ModelService, 'engine'>;
    fetchImage: FetchImage;
    toolbox: Toolbox;
    writer: SummaryWriter;
  },
) => {
  const { db, instance, log, settings, live, kept, figures, words } = context;

  /** The row is written anew each time: the longer it is and the more there are, the less often. */
  const flushPause = (length: number): number =>
    Math.min(
      settings.longestFlushMs,
      Math.max(settings.flushMs, (live.size / mostFlushes) * 1000, length / 50),
    );

  /** @param before what a loop had that is taken up again */
  const begin = (request: ReplyRequest, before?: ReplyLog): void => {
    const id = request.historyId;
    live.get(id)?.own?.answer.cut('lost');
    // Somebody may have opened the stream between the commit and this call.
    const readers = live.get(id)?.readers ?? new Set<Reader>();
    const begun = performance.now();
    const seconds = () => (performance.now() - begun) / 1000;
    let isSilent = true;
    const text = before ?? new ReplyLog();
    const loop =
      request.loop &&
      new ReplyLoop(
        {
          db,
          toolbox,
          writer,
          owner: instance.id,
          log,
          onChange: () => {
            words?.note(id);
            for (const reader of readers) reader.pushTools();
          },
          channelId: () => answer.channelId,
        },
        request,
        request.loop,
        text,
      );
    const answer: Reply = new Reply(
      request,
      settings,
      {
        engine: (onLine) =>
          models.engine(db, {
            model: request.model.name,
            userId: request.userId,
            keep: !request.temporary,
            firstMs: settings.firstByteMs,
            onLine,
          }),
        onText: (kind, text, start, end) => {
          if (isSilent) figures.firstWord(request.model.name, answer.channelId, seconds());
          isSilent = false;
          words?.note(id);
          if (readers.size === 0) return;
          const frame = textFrame(kind, text, end);
          for (const reader of readers) reader.push(frame, start, end);
        },
        countTokens: countInThread,
        fetchImage: (url, detail, signal) =>
          fetchImage(url, detail, { signal, userId: request.userId }),
        extendHold: (more) =>
          holdOf(request, loop)
            ? extendHold(db, holdOf(request, loop)!, more)
            : Promise.resolve(true),
        ...(loop && {
          rounds: {
            specs: () => loop.specs(),
            cites: () => loop.cites(),
            show: (calls) => loop.show(calls),
            run: (round, signal) => loop.run(round, signal),
            resume: before ? (signal) => loop.resume(signal) : null,
          },
        }),
        log,
      },
      text,
    );
    for (const reader of readers) reader.follow(answer.log);
    const own: Own = {
      answer,
      writing: randomUUID(),
      stored: 0,
      // Spread, so that replies begun together are not stored together.
      nextFlush: Date.now() + flushPause(0) * (0.5 + ((id * 7919) % 1000) / 2000),
      flushing: false,
      finishing: false,
      finished: Promise.resolve(),
    };
    const entry: Live = {
      log: answer.log,
      readers,
      own,
      heardAt: 0,
      line: null,
      writing: '',
      lostAt: 0,
    };
    live.set(id, entry);
    if (!request.temporary) words?.begin(id, answer.log, own.writing, () => own.stored);
    own.finished = answer
      .write()
      .then((ended) => {
        figures.ended(request.model.name, ended.state, seconds());
        return finish(id, entry, own, ended, loop);
      })
      .catch((error: unknown) => log.error({ err: error, id }, 'a reply could not be ended'));
    if (context.stage !== 'open') answer.cut('interrupted');
  };

  const finish = async (
    id: number,
    entry: Live,
    own: Own,
    ended: Ended,
    loop: ReplyLoop | undefined,
  ): Promise<void> => {
    own.finishing = true;
    const { answer } = own;
    const whole = ended.state === 'done';
    let ending: Ending | null = { error: ended.error };
    if (answer.wasLost) {
      ending = null;
    } else {
      const { request } = answer;
      loop?.close(ended.state !== 'waiting');
      for (const reader of entry.readers) if (loop) reader.pushTools();
      const used = answer.hasWritten || answer.stoppedAtWork;
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
        holdId: holdOf(request, loop),
        before:
          loop && (loop.state.round > 0 || answer.log.tools.length > 0)
            ? loop.state.spent
            : undefined,
        sources: ended.state === 'waiting' ? null : (loop?.state.pages ?? null),
        channelId: answer.channelId,
        log: answer.log,
        used,
        ...ended,
        ...counted,
      });
      if (!stored) ending = null;
      else if (whole && !request.temporary && context.stage === 'open') {
        const said = [...request.messages.map(({ content }) => textOf(content)), answer.log.text];
        const length = said.reduce((sum, { length }) => sum + length, 0);
        for (const tell of context.done) tell(request, length);
      }
    }
    if (live.get(id) === entry) live.delete(id);
    words?.end(id, own.writing, ending);
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
        if (context.stage === 'closed' || attempt >= 100) return false;
        await wait(Math.min(5000, 100 * 2 ** attempt));
      }
    }
  };

  const flushDue = async (): Promise<void> => {
    const now = Date.now();
    const due: { id: number; own: Own; length: number }[] = [];
    for (const [id, { own, log: text }] of live) {
      if (!own || own.flushing || own.finishing || own.nextFlush > now) continue;
      own.nextFlush = now + flushPause(text.length);
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

  return { begin, flushDue };
};
