import type { FastifyBaseLogger } from 'fastify';
import { dearest, deduction, estimateTokens } from '#contract/price.ts';
import type { RelayEvent } from '#server/engines/chat-relay.ts';
import { besideBy, producedBy } from '#server/engines/produced.ts';
import { Refusal } from '#server/http/handlers.ts';
import { ApiRefusal } from '#server/http/open-failure.ts';
import type { Events, OpenAnswer } from '#server/http/open-handlers.ts';
import type { Asking, ChatWorks } from './chat-asking.ts';
import { saidNothing, settle, settleFailure } from './chat-bill.ts';
import { ahead, leastAnswer, longestAnswer } from './chat-hold.ts';
import { askServices } from './chat-services.ts';
import { type Counted, usageIn } from './chat-text.ts';
import { LongText } from './long-text.ts';
import { priceComment } from './price-told.ts';
import { isLocked, lingering } from './work-signal.ts';

/** How long more is set aside for what a slow caller left untaken, after it has gone, ms. */
const lingerMs = 250;

/** How the events of a stream are written for whoever asked. */
export interface Style {
  /** Frames for one event. */
  write: (event: RelayEvent) => string;
  /** What is written at the whole end. */
  end: (counted: Counted) => string | Promise<string>;
  /** Its readers know no comments: none are written. */
  bare?: true;
  /** What ends a stream that failed; undefined: as every stream's failure is written. */
  fail?: (refusal: Refusal) => string;
}

/**
 * Has more set aside while an answer comes, before it is all used; where there is no more, the answer
 * is stopped.
 */
const createCostWatch = (asking: Asking, log: Pick<FastifyBaseLogger, 'warn'>) => {
  const { context, model, charge } = asking;
  let rough = 0;
  let extending = false;
  let refused: Refusal | null = null;
  const stop = new AbortController();
  /** Who has gone is still read for what was set aside: its end alone may tell what it took. */
  const left = lingering(context.signal, lingerMs);

  const extend = async (more: number, least: number): Promise<void> => {
    try {
      try {
        await charge.extend(more);
        asking.held += more;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        await charge.extend(least);
        asking.held += least;
      }
    } catch (error) {
      if (error instanceof Refusal) {
        refused ??= error;
        stop.abort(error);
      } else log.warn({ err: error }, 'a hold could not be extended');
    } finally {
      extending = false;
    }
  };

  /** Letters that came and whose tokens are not counted yet, and how many more may before they are. */
  let uncounted = '';
  let uncountedMost = 0;
  const add = (text: string): void => {
    if (asking.held === 0) return;
    uncounted += text;
    // No letter is more than a token: nothing needs to be counted while all of them would fit.
    if (extending || uncounted.length <= uncountedMost) return;
    rough += estimateTokens(uncounted);
    uncounted = '';
    const cost = deduction(dearest(model), asking.rough, rough);
    uncountedMost = Math.min((asking.held - cost) / Math.max(model.factor, 1e-9), ahead.more);
    if (cost <= asking.held) return;
    if (left.aborted) {
      stop.abort(left.reason);
      return;
    }
    extending = true;
    const more = cost - asking.held + Math.ceil(Math.max(ahead.more, rough) * model.factor);
    const least = cost - asking.held + Math.ceil(leastAnswer * model.factor);
    void extend(more, least);
  };

  // Who reads slowly must not read on when nothing is set aside any more.
  const late = setTimeout(() => {
    refused ??= new ApiRefusal('upstream', '回答用的时间太长，已停止，写出来的照常计费');
    stop.abort(refused);
  }, longestAnswer).unref();

  return {
    add,
    stop: stop.signal,
    refused: () => refused,
    /** Nothing more comes. */
    end: () => clearTimeout(late),
  };
};

/** What is known of an answer that comes. */
interface Coming {
  style: Style;
  words: LongText;
  /** What else was handed on: it counts where the service tells no count. */
  beside: LongText;
  /** The service's own count; null: it has told none yet. */
  told: Counted | null;
  cost: ReturnType<typeof createCostWatch>;
}

/** Waits for the end of a stream, bills it, and tells its reader how it ended. */
const endStream = async (
  works: ChatWorks,
  asking: Asking,
  coming: Coming,
  run: Promise<unknown>,
  events: Events,
): Promise<void> => {
  const { context } = asking;
  const { style, cost } = coming;
  const said = (): string => coming.words.whole();
  const all = (): string => said() + coming.beside.whole();
  let ended = false;
  const write = (frame: string): void => {
    if (!ended) events.sink.write(frame);
  };
  const fail = (refusal: Refusal): void => write((style.fail ?? events.failure)(refusal));
  // Who asks with a deleted key is told at once.
  const onAbort = (): void => {
    if (!isLocked(context.signal.reason)) return;
    fail(context.signal.reason as Refusal);
    ended = true;
    events.sink.end();
  };
  if (context.signal.aborted) onAbort();
  else context.signal.addEventListener('abort', onAbort, { once: true });
  let counted: Counted | null = null;
  let settled = false;
  try {
    await run;
    if (all() === '') throw await saidNothing(asking, coming.told);
    counted = await works.count(asking, coming.told, coming.told ? said() : all());
    // What has come is paid before its reader is told the price, and that it is whole.
    const deducted = await settle(works, asking, counted);
    settled = true;
    const price = style.bare ? '' : priceComment(deducted);
    write(price + (await style.end(counted)));
  } catch (error) {
    const refusal =
      cost.refused() ??
      (error instanceof Refusal ? error : new ApiRefusal('upstream', '模型服务出错，请重试'));
    if (!(error instanceof Refusal) && !cost.refused())
      works.log.error({ err: error }, 'a stream of the API failed');
    fail(refusal);
  }
  if (counted && !settled) await settle(works, asking, counted);
  if (!counted) await settleFailure(works, asking, all());
};

/**
 * An answer in events. What fails before the first of them is thrown; what fails later ends the
 * stream. @throws Refusal
 */
export const streamAnswer = async (
  works: ChatWorks,
  asking: Asking,
  style: Style,
): Promise<OpenAnswer> => {
  const { context } = asking;
  const cost = createCostWatch(asking, works.log);
  const coming: Coming = { style, words: new LongText(), beside: new LongText(), told: null, cost };
  let out: Events | null = null;
  let opened: () => void = () => {};
  const ready = new Promise<void>((resolve) => (opened = resolve));
  let onFirst: () => void = () => {};
  const first = new Promise<void>((resolve) => (onFirst = resolve));
  let begun = false;

  const emit = (events: RelayEvent[]): Promise<void> | void => {
    let frames = '';
    for (const event of events) {
      const { chunk } = event;
      const text = producedBy(chunk);
      const beside = besideBy(chunk);
      coming.words.add(text);
      coming.beside.add(beside);
      if (text !== '' || beside !== '') cost.add(text + beside);
      if (chunk['usage']) coming.told = usageIn(chunk) ?? coming.told;
      frames += style.write(event);
    }
    const sink = out?.sink;
    if (!sink || frames === '' || context.signal.aborted || sink.write(frames)) return undefined;
    // What is still to be read counts, though nobody takes it.
    const over = [context.signal, cost.stop];
    return new Promise((resolve) => {
      const goOn = (): void => {
        for (const signal of over) signal.removeEventListener('abort', goOn);
        resolve();
      };
      sink.once('drain', goOn);
      for (const signal of over) signal.addEventListener('abort', goOn, { once: true });
    });
  };

  const run = askServices(
    works,
    asking,
    (relay, body, signal, beat) =>
      relay.stream(body, AbortSignal.any([signal, cost.stop]), (events) => {
        beat();
        if (out) return emit(events);
        begun = true;
        onFirst();
        return ready.then(() => emit(events));
      }),
    { firstMs: works.silenceMs, begun: () => begun },
  );
  run.then(cost.end, cost.end);
  try {
    await Promise.race([first, run]);
    if (!begun) throw await saidNothing(asking, coming.told);
  } catch (error) {
    await settleFailure(works, asking, '');
    throw error;
  }
  return {
    events: (events) => {
      out = events;
      opened();
      return endStream(works, asking, coming, run, events);
    },
  };
};
