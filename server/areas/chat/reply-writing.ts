import { randomUUID } from 'node:crypto';
import { countInThread } from '#server/engines/token-thread.ts';
import { extendHold } from '../ledger/ledger.service.ts';
import type { ModelService } from '../model/model.service.ts';
import type { Toolbox } from '../tool/toolbox.ts';
import type { SummaryWriter } from './loop-summary.ts';
import { textFrame } from './frames.ts';
import { newLive, type Own, type RepliesContext } from './live-replies.ts';
import type { Reader } from './reader.ts';
import { Reply, type ReplyRequest } from './reply.ts';
import { endReply, holdOf } from './reply-ending.ts';
import { traced } from '#server/tracing.ts';
import { flushPause } from './reply-flushing.ts';
import { ReplyLog } from './reply-log.ts';
import { ReplyLoop } from './reply-loop.ts';

/** An image of the web as a data URL, for somebody's reply; null where it cannot be had. */
export type FetchImage = (
  url: string,
  detail: 'low' | 'high',
  asked: { signal: AbortSignal; userId: number },
) => Promise<string | null>;

interface WritingDeps {
  models: Pick<ModelService, 'engine'>;
  fetchImage: FetchImage;
  toolbox: Toolbox;
  writer: SummaryWriter;
}

/**
 * Has this process write a reply, which ends by itself.
 * @param before what a loop had that is taken up again
 */
export const beginReply = (
  context: RepliesContext,
  { models, fetchImage, toolbox, writer }: WritingDeps,
  request: ReplyRequest,
  before?: ReplyLog,
): void => {
  const { db, instance, log, settings, live, figures, words } = context;
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
          ? extendHold(db, holdOf(request, loop)!, more, 1)
          : Promise.resolve(more),
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
    nextFlush: Date.now() + flushPause(context, 0) * (0.5 + ((id * 7919) % 1000) / 2000),
    flushing: false,
    finishing: false,
    finished: Promise.resolve(),
  };
  const entry = newLive(answer.log, own, readers);
  live.set(id, entry);
  if (!request.temporary) words?.begin(id, answer.log, own.writing, () => own.stored);
  const about = { 'gen_ai.request.model': request.model.name, 'queqiao.reply': id };
  own.finished = traced('reply', about, async (span) => {
    const ended = await answer.write();
    span.setAttribute('queqiao.state', ended.state);
    figures.ended(request.model.name, ended.state, seconds());
    await endReply(context, entry, ended, loop);
  }).catch((error: unknown) => {
    log.error({ err: error, id }, 'a reply could not be ended');
  });
  if (context.stage !== 'open') answer.cut('interrupted');
};
