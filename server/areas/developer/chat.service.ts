import type { FastifyBaseLogger } from 'fastify';
import { type ChannelKind, chatFields } from '#contract/open-fields.ts';
import type { OpenMessage } from '#contract/open-messages.ts';
import { dearest, deduction, estimateTokens, priceAt } from '#contract/price.ts';
import type { Database } from '#server/db/database.ts';
import {
  asideOf,
  type ChatBody,
  type ChatRelay,
  RelayError,
  type RelayEvent,
  withAside,
} from '#server/engines/chat-relay.ts';
import { producedBy } from '#server/engines/produced.ts';
import { countInThread } from '#server/engines/token-thread.ts';
import { Refusal } from '#server/http/handlers.ts';
import { ApiRefusal } from '#server/http/open-failure.ts';
import type { ApiCaller, Events, OpenAnswer, OpenContext } from '#server/http/open-handlers.ts';
import { holdLifetime } from '../ledger/ledger.service.ts';
import type { ModelService } from '../model/model.service.ts';
import type { ResolvedModel } from '../model/resolved-model.ts';
import { isUsable } from '../model/usable.ts';
import type { Charge } from './charge.ts';
import { ahead, leastAnswer, setAside } from './chat-hold.ts';
import {
  type Asked,
  createMessageReader,
  lengthIn,
  type MessageReaderDeps,
  Tally,
  toolsOf,
  withThinkingOf,
  wordsBeside,
} from './chat-request.ts';
import { createCounter } from './chat-count.ts';
import { type Counted, usageIn, usageOf } from './chat-text.ts';
import { takeFields, unableBy } from './fields.ts';
import { callTokens } from './key-bounds.ts';
import type { Gate } from './key-limits.ts';
import { priceComment, tellPrice } from './price-told.ts';
import { createThinkers } from './unseen-thinking.ts';
import { isRestart, lingering, workSignal } from './work-signal.ts';

/** Looked at so often within the time that a service may say nothing: a timer set anew for each chunk costs more. */
const looks = 4;
/** How long a whole answer may take, ms: within the life of a hold. */
const longestWhole = holdLifetime - 60_000;
/** How long more is set aside for what a slow caller left untaken, after it has gone, ms. */
const lingerMs = 250;

export interface ChatDeps extends MessageReaderDeps {
  db: Database;
  models: Pick<ModelService, 'find' | 'relay'>;
  gate: Pick<Gate, 'takeTokens' | 'addTokens'>;
  /** How long a service may say nothing, ms. */
  silenceMs: number;
  log: FastifyBaseLogger;
}

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

/** A chat completion as it is asked for, in OpenAI's words. */
export type ChatAsked = Record<string, unknown> & {
  model: string;
  messages: readonly OpenMessage[];
};

/** Says a request otherwise for a kind of service; the name is the model's there. */
export type InWords = (body: ChatBody, kind: ChannelKind) => ChatBody;

interface Asking extends Asked {
  context: OpenContext;
  /** Ends the work of the service. */
  signal: AbortSignal;
  model: ResolvedModel;
  body: ChatBody;
  charge: Charge;
  /** The request in the words of a kind of service. */
  inWords: InWords;
  /** Tokens of money that are set aside. */
  held: number;
  /** The request has gone out to a service. */
  sent: boolean;
  /** The channel that answers, or was asked last. */
  channelId: number | null;
}

/** What a request is refused with that names no model which its key may use. */
export const noSuchModel = (name: string): ApiRefusal =>
  new ApiRefusal(
    'model_unavailable',
    `没有模型 ${name.slice(0, 100)}，或这个 API-KEY 不能使用它；可用的见 GET /v1/models`,
  );

export const mayUseModel = (caller: ApiCaller, name: string): boolean =>
  caller.models.length === 0 || caller.models.includes(name);

const tooLong = ({ name }: ResolvedModel, most: number): ApiRefusal =>
  new ApiRefusal(
    'prompt_too_long',
    `对话超出了模型 ${name} 的上限：提问和回答合计最多 ${most} 个 token`,
    { code: 'context_length_exceeded', param: 'messages' },
  );

const refusalOf = (error: RelayError): ApiRefusal =>
  new ApiRefusal(
    error.status === 429 ? 'too_many' : error.status >= 500 ? 'upstream' : 'bad_input',
    error.message,
    {
      status: error.status,
      type: error.type,
      code: error.code,
      ...(error.param === null ? {} : { param: error.param }),
    },
  );

const asItIs: InWords = (body) => body;

const tooLate = () =>
  new RelayError('模型长时间没有回应，请重试', { status: 504, code: 'timeout', retriable: true });

/** Whether a call ends because its key opens nothing any more. */
const isLocked = (reason: unknown): boolean =>
  reason instanceof Refusal && reason.codeName === 'unauthorized';

/** Chat for programs: what is known of a request goes to the model's services, and is billed by what comes. */
export const createApiChat = (deps: ChatDeps) => {
  const { db, models, gate, silenceMs, log } = deps;

  const modelFor = async (caller: ApiCaller, name: string): Promise<ResolvedModel> => {
    const model = await models.find(db, name, caller.user);
    if (!model?.api || !mayUseModel(caller, name)) throw noSuchModel(name);
    if (!(await isUsable(db, model, caller.user))) throw noSuchModel(name);
    return model;
  };

  const read = createMessageReader(deps);
  const thinkers = createThinkers();
  const count = createCounter(thinkers, log);

  /** What is known of a request, read and counted. @throws Refusal */
  const readAsked = async (context: OpenContext, model: ResolvedModel, given: ChatAsked) => {
    const passed = takeFields(context, chatFields, given, model.builtIn ? 'builtIn' : 'service');
    const { tools } = passed as { tools?: Record<string, unknown>[] };
    if (tools) passed['tools'] = toolsOf(tools);
    const most = callTokens(context.caller, model);
    const tally = new Tally(most - leastAnswer, () => tooLong(model, most));
    for (const words of wordsBeside(passed)) tally.text(words);
    const messages = await read(given.messages, tally, context, model);
    return { passed, messages, tally };
  };

  /** Checks a request, and sets aside what it may cost. */
  const begin = async (
    context: OpenContext,
    given: ChatAsked,
    stream: boolean,
    inWords: InWords,
  ): Promise<Asking> => {
    const { caller } = context;
    const model = await modelFor(caller, given.model);
    const { passed, messages, tally } = await readAsked(context, model, given);
    const n = typeof passed['n'] === 'number' ? passed['n'] : 1;
    if (stream && n > 1) throw new Refusal('bad_input', 'n：流式回答一次只能要一个，请把 n 设为 1');
    const { rough, texts, beside } = tally;
    const room = callTokens(caller, model) - rough;
    const left = await gate.takeTokens(caller, rough);
    for (const [name, value] of Object.entries(left)) context.header(name, value);
    const wanted = Math.min(lengthIn(given) ?? room, room, model.maxTokens ?? room);
    const { budget } = withThinkingOf(passed, wanted);
    const { charge, held, most } = await setAside(deps, caller, model, {
      rough,
      most: wanted,
      budget,
      n,
      inParts: stream && !thinkers.has(model.name, passed),
    });
    const body: ChatBody = withAside(
      {
        ...withThinkingOf(passed, most).fields,
        model: model.name,
        messages,
        max_tokens: most,
      },
      asideOf(given),
    );
    const signal = workSignal(context.signal, held > 0);
    const asking = { context, signal, model, body, inWords, texts, beside, rough, charge, held };
    return { ...asking, sent: false, channelId: null };
  };

  /** Asks the model's services, as one. */
  const ask = async <T>(
    asking: Asking,
    attempt: (
      relay: ChatRelay,
      body: ChatBody,
      signal: AbortSignal,
      beat: () => void,
    ) => Promise<T>,
    { whole, begun }: { whole: boolean; begun: () => boolean },
  ): Promise<T> => {
    const { context, model, body } = asking;
    const late = new AbortController();
    let silent = 0;
    const beat = () => (silent = 0);
    const relay = await models.relay(db, {
      model: model.name,
      userId: context.caller.user.id,
      firstMs: whole ? longestWhole : silenceMs,
      gone: context.signal,
      onLine: ({ channelId, label }) => {
        beat();
        asking.charge.servedBy(channelId);
        asking.channelId = channelId;
        if (!begun()) context.header('x-channel', encodeURIComponent(label));
      },
      words: {
        unable: (kind) => (kind ? unableBy(context, chatFields, body, kind) : null),
        of: (asked, kind) => asking.inWords(asked, model.builtIn ? 'builtIn' : (kind ?? 'service')),
      },
    });
    if (!relay)
      throw new ApiRefusal('upstream', '这个模型暂时没有可用的服务，请稍后再试', { status: 503 });
    context.signal.throwIfAborted();
    const timer = setInterval(() => {
      silent += 1;
      if (silent > looks) late.abort(tooLate());
    }, silenceMs / looks);
    asking.sent = true;
    try {
      return await attempt(relay, body, AbortSignal.any([asking.signal, late.signal]), beat);
    } catch (error) {
      if (asking.signal.aborted) throw asking.signal.reason;
      throw error instanceof RelayError ? refusalOf(error) : error;
    } finally {
      clearInterval(timer);
    }
  };

  /** Bills a call that has ended; gives what was taken. */
  const settle = async (asking: Asking, counted: Counted, answer?: unknown): Promise<number> => {
    const { model, charge, context } = asking;
    const { priceFactor = 1 } = context.caller;
    gate.addTokens(context.caller, counted.completionTokens);
    const { promptTokens, completionTokens } = counted;
    const price = priceAt(model, asking.channelId);
    const all = deduction(price, promptTokens, completionTokens, counted);
    const total = Math.ceil(all * priceFactor);
    const prompt = Math.min(
      total,
      Math.ceil(deduction(price, promptTokens, 0, counted) * priceFactor),
    );
    return charge.settle({ ...counted, prompt, completion: total - prompt }, answer);
  };

  /** Whoever leaves a service at work pays for the question at least. */
  const settleFailure = async (asking: Asking, produced: string): Promise<void> => {
    const { aborted, reason } = asking.signal;
    const left = aborted && asking.sent && !isRestart(reason);
    if (produced !== '' || left) await settle(asking, await count(asking, null, produced));
    else await asking.charge.release(asking.sent || !aborted);
  };

  return {
    /** How many tokens a request has, by this server's own count; nothing is paid. @throws Refusal */
    async length(context: OpenContext, given: ChatAsked): Promise<number> {
      const model = await modelFor(context.caller, given.model);
      const { tally } = await readAsked(context, model, given);
      const counted = await countInThread([...tally.texts]);
      return counted.reduce((sum, each) => sum + each, 0) + tally.beside;
    },

    /**
     * A whole answer, with what it took. Who goes away pays for it all the same: a service cannot be
     * stopped in it. @throws Refusal
     */
    async whole(context: OpenContext, given: ChatAsked, inWords: InWords = asItIs) {
      const asking = await begin(context, given, false, inWords);
      try {
        const answer = await ask(
          asking,
          (relay, body, signal, beat) => {
            // An answer that is whole comes when it is: what is known of it is that it may take long.
            const waiting = setInterval(beat, 1000);
            const end = setTimeout(() => clearInterval(waiting), longestWhole);
            return relay.complete(body, signal).finally(() => {
              clearInterval(waiting);
              clearTimeout(end);
            });
          },
          { whole: true, begun: () => false },
        );
        const told = usageIn(answer);
        const counted = await count(asking, told, producedBy(answer));
        const usage = usageOf(counted, answer['usage']);
        const whole = { ...answer, model: asking.model.name, usage };
        const deducted = await settle(asking, counted, whole);
        tellPrice(context, deducted);
        // A deleted key is told nothing any more.
        if (isLocked(context.signal.reason)) throw context.signal.reason;
        return { answer: whole, counted, deducted };
      } catch (error) {
        await settleFailure(asking, '');
        throw error;
      }
    },

    /**
     * An answer in events. What fails before the first of them is thrown; what fails later ends the
     * stream. @throws Refusal
     */
    async stream(
      context: OpenContext,
      given: ChatAsked,
      style: Style,
      inWords: InWords = asItIs,
    ): Promise<OpenAnswer> {
      const asking = await begin(context, given, true, inWords);
      const { model, charge } = asking;
      const produced: string[] = [];
      let rough = 0;
      let extending = false;
      let told: Counted | null = null;
      let stopped: Refusal | null = null;
      const stop = new AbortController();
      /** Who has gone is still read for what was set aside: its end alone may tell what it took. */
      const left = lingering(context.signal, lingerMs);
      let out: Events | null = null;
      let opened: () => void = () => {};
      const ready = new Promise<void>((resolve) => (opened = resolve));
      let onFirst: () => void = () => {};
      const first = new Promise<void>((resolve) => (onFirst = resolve));
      let begun = false;

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
            stopped ??= error;
            stop.abort(error);
          } else log.warn({ err: error }, 'a hold could not be extended');
        } finally {
          extending = false;
        }
      };

      /** Letters that came and whose tokens are not counted yet, and how many more may before they are. */
      let uncounted = '';
      let uncountedMost = 0;
      const watchCost = (text: string): void => {
        produced.push(text);
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

      const emit = (events: RelayEvent[]): Promise<void> | void => {
        let frames = '';
        for (const event of events) {
          const { chunk } = event;
          const text = producedBy(chunk);
          if (text !== '') watchCost(text);
          if (chunk['usage']) told = usageIn(chunk) ?? told;
          frames += style.write(event);
        }
        const sink = out?.sink;
        if (!sink || frames === '' || context.signal.aborted || sink.write(frames))
          return undefined;
        return new Promise((resolve) => {
          sink.once('drain', () => resolve());
          // What is still to be read counts, though nobody takes it.
          context.signal.addEventListener('abort', () => resolve(), { once: true });
        });
      };

      const run = ask(
        asking,
        (relay, body, signal, beat) =>
          relay.stream(body, AbortSignal.any([signal, stop.signal]), (events) => {
            beat();
            if (out) return emit(events);
            begun = true;
            onFirst();
            return ready.then(() => emit(events));
          }),
        { whole: false, begun: () => begun },
      );
      run.catch(() => undefined);
      try {
        await Promise.race([first, run]);
        if (!begun) throw new ApiRefusal('upstream', '模型没有返回内容，请重试', { code: 'empty' });
      } catch (error) {
        await settleFailure(asking, '');
        throw error;
      }
      return {
        events: async (events) => {
          out = events;
          opened();
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
            counted = await count(asking, told, produced.join(''));
            // What has come is paid before its reader is told the price, and that it is whole.
            const deducted = await settle(asking, counted);
            settled = true;
            const price = style.bare ? '' : priceComment(deducted);
            write(price + (await style.end(counted)));
          } catch (error) {
            const refusal =
              stopped ??
              (error instanceof Refusal
                ? error
                : new ApiRefusal('upstream', '模型服务出错，请重试'));
            if (!(error instanceof Refusal) && !stopped)
              log.error({ err: error }, 'a stream of the API failed');
            fail(refusal);
          }
          if (counted && !settled) await settle(asking, counted);
          if (!counted) await settleFailure(asking, produced.join(''));
        },
      };
    },
  };
};
export type ApiChat = ReturnType<typeof createApiChat>;
