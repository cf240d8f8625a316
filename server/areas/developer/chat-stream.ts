import { dearest } from '#contract/price.ts';
import type { RelayEvent } from '#server/engines/chat-relay.ts';
import { besideBy, producedBy } from '#server/engines/produced.ts';
import { Refusal } from '#server/http/handlers.ts';
import { ApiRefusal } from '#server/http/open-failure.ts';
import type { Events, OpenAnswer } from '#server/http/open-handlers.ts';
import { WordHold } from '../ledger/word-hold.ts';
import { overBalance } from './charge.ts';
import type { Asking, ChatWorks } from './chat-asking.ts';
import { saidNothing, settle, settleFailure } from './chat-bill.ts';
import { ahead, longestAnswer } from './chat-hold.ts';
import { askServices } from './chat-services.ts';
import { type Counted, usageIn } from './chat-text.ts';
import { LongText } from './long-text.ts';
import { priceComment } from './price-told.ts';
import { isLocked, lingering } from './work-signal.ts';

/** How long what a slow caller left untaken is read after it has gone, ms. */
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

/** An event, and what of it costs. */
interface Piece {
  event: RelayEvent;
  text: string;
  /** What else stands in it. */
  said: string;
  beside: string;
}

const pieceIn = (event: RelayEvent): Piece => {
  const said = producedBy(event.chunk);
  const beside = besideBy(event.chunk);
  return { event, text: said + beside, said, beside };
};

/** An event that says one text and no more, as several events; itself where it is none. */
const splitPiece = (piece: Piece, size: RegExp): Piece[] => {
  const { chunk } = piece.event;
  const choices = (chunk['choices'] ?? []) as { delta?: Record<string, unknown> }[];
  const [choice] = choices;
  const [name] = Object.entries(choice?.delta ?? {}).find(([, said]) => said === piece.text) ?? [];
  const texts = piece.text.match(size) ?? [];
  if (choices.length !== 1 || name === undefined || texts.length < 2) return [piece];
  return texts.map((text, at) => {
    // How it ended stands in the last.
    const rest = at === texts.length - 1 ? choice : { index: 0, finish_reason: null };
    const part = { ...chunk, choices: [{ ...rest, delta: { ...choice?.delta, [name]: text } }] };
    return pieceIn({ data: JSON.stringify(part), chunk: part });
  });
};

/**
 * Has more set aside while an answer comes, before it is all used; where there is no more, the answer
 * is stopped.
 * @param said what was put so far
 */
const createCostWatch = (
  works: Pick<ChatWorks, 'count' | 'log'>,
  asking: Asking,
  { put, said }: { put: (piece: Piece) => void; said: () => string },
) => {
  const { context, model, charge } = asking;
  let refused: Refusal | null = null;
  const stop = new AbortController();
  const left = lingering(context.signal, lingerMs);
  // Of what was thought unseen what is set aside is read on: its end alone tells what it took.
  if (!asking.unseen) left.addEventListener('abort', () => stop.abort(left.reason), { once: true });
  const hold = new WordHold<Piece>(asking.held, {
    price: dearest(model),
    ahead: ahead.more,
    count: (next) => works.count(asking, null, said() + next),
    split: splitPiece,
    put,
    extend: async (more) => {
      if (left.aborted) return null;
      try {
        const given = await charge.extend(more);
        asking.held += given;
        return given;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        refused = error;
        return null;
      }
    },
    refused: () => stop.abort(left.aborted ? left.reason : (refused ??= overBalance())),
    log: works.log,
  });
  hold.begin(asking.rough);
  const isPaid = asking.held > 0;

  // Who reads slowly must not read on when nothing is set aside any more.
  const late = setTimeout(() => {
    refused ??= new ApiRefusal('upstream', '回答用的时间太长，已停止，写出来的照常计费');
    stop.abort(refused);
  }, longestAnswer).unref();

  return {
    take(piece: Piece): void {
      if (!isPaid || (piece.text === '' && !hold.waits)) put(piece);
      else hold.take(piece);
    },
    /** All that was taken is put, or refused; null: it is already. */
    settled: () => (hold.waits ? hold.settled() : null),
    stop: stop.signal,
    refused: () => (stop.signal.aborted ? refused : null),
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
    // The last of it may have been refused.
    cost.stop.throwIfAborted();
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
  const words = new LongText();
  const beside = new LongText();
  /** What is handed on next. */
  const passed: RelayEvent[] = [];
  const put = (piece: Piece): void => {
    words.add(piece.said);
    beside.add(piece.beside);
    const { chunk } = piece.event;
    if (chunk['usage']) coming.told = usageIn(chunk) ?? coming.told;
    passed.push(piece.event);
  };
  const said = (): string => words.whole() + beside.whole();
  const cost = createCostWatch(works, asking, { put, said });
  const coming: Coming = { style, words, beside, told: null, cost };
  let out: Events | null = null;
  let opened: () => void = () => {};
  const ready = new Promise<void>((resolve) => (opened = resolve));
  let onFirst: () => void = () => {};
  const first = new Promise<void>((resolve) => (onFirst = resolve));
  let begun = false;

  const flush = (): Promise<void> | void => {
    const sink = out?.sink;
    const frames = passed
      .splice(0)
      .map((event) => style.write(event))
      .join('');
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
  const emit = (events: RelayEvent[]): Promise<void> | void => {
    for (const event of events) cost.take(pieceIn(event));
    const settled = cost.settled();
    return settled ? settled.then(flush) : flush();
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
