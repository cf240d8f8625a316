import type { FastifyBaseLogger } from 'fastify';
import { deduction, estimateTokens, isFree } from '../../../contract/price.ts';
import { sessionTypes } from '../../../contract/session.ts';
import type { Database } from '../../db/database.ts';
import {
  type ChatBody,
  type ChatRelay,
  RelayError,
  type RelayEvent,
} from '../../engines/chat-relay.ts';
import { countInThread } from '../../engines/token-thread.ts';
import { Refusal } from '../../http/handlers.ts';
import { ApiRefusal } from '../../http/open-failure.ts';
import type { ApiCaller, Events, OpenAnswer, OpenContext } from '../../http/open-routes.ts';
import type { FileService } from '../file/file.service.ts';
import { holdLifetime } from '../ledger/ledger.service.ts';
import type { ModelService } from '../model/model.service.ts';
import type { ResolvedModel } from '../model/resolved-model.ts';
import { affordable, type Charge, openCharge } from './charge.ts';
import { askedOf, type Counted, producedIn, roughPrompt, usageIn } from './chat-text.ts';
import type { Gate } from './key-limits.ts';

/** Tokens of an answer that are set aside at first, and for how many more each time: as much again as came. */
const ahead = { first: 512, more: 2048 };
/** Looked at so often within the time that a service may say nothing: a timer set anew for each chunk costs more. */
const looks = 4;
/** An answer for which fewer tokens can be set aside is not begun. */
const leastAnswer = 16;

export interface ChatDeps {
  db: Database;
  models: Pick<ModelService, 'find' | 'relays' | 'reportOutcome'>;
  /** An image of the web as a data URL; null where it cannot be had. */
  fetchImage: FileService['imageForModel'];
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
  end: (counted: Counted) => string;
  /** What ends a stream that failed; undefined: as every stream's failure is written. */
  fail?: (refusal: Refusal) => string;
}

interface Asking {
  context: OpenContext;
  model: ResolvedModel;
  body: ChatBody;
  texts: string[];
  beside: number;
  rough: number;
  charge: Charge;
  /** Tokens of money that are set aside. */
  held: number;
}

/** What a request is refused with that names no model which its key may use. */
export const noSuchModel = (name: string): ApiRefusal =>
  new ApiRefusal(
    'model_unavailable',
    `没有模型 ${name.slice(0, 100)}，或这个 API-KEY 不能使用它；可用的见 GET /v1/models`,
  );

export const mayUseModel = (caller: ApiCaller, name: string): boolean =>
  caller.models.length === 0 || caller.models.includes(name);

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

const tooLate = () =>
  new RelayError('模型长时间没有回应，请重试', { status: 504, code: 'timeout', retriable: true });

interface Part {
  type?: unknown;
  image_url?: { url?: unknown; detail?: unknown };
}

/** Addresses of the web that one request may name. */
const imagesAtMost = 16;

const numberIn = (value: unknown): number | null => (typeof value === 'number' ? value : null);

/** Which field tells how long an answer may be. */
const lengthField = (body: ChatBody): 'max_tokens' | 'max_completion_tokens' =>
  typeof body['max_completion_tokens'] === 'number' ? 'max_completion_tokens' : 'max_tokens';

/** Chat for programs: what is asked goes to the model's services as it is, and is billed by what comes. */
export const createApiChat = (deps: ChatDeps) => {
  const { db, models, gate, fetchImage, silenceMs, log } = deps;

  const modelFor = async (caller: ApiCaller, name: string): Promise<ResolvedModel> => {
    const model = await models.find(db, name);
    if (!model?.api || !mayUseModel(caller, name)) throw noSuchModel(name);
    return model;
  };

  /**
   * The request with images of the web as data: a service beside this server would fetch what its
   * asker cannot.
   */
  const withImages = async (body: ChatBody, signal: AbortSignal): Promise<ChatBody> => {
    let fetched = 0;
    const ready = async (part: Part): Promise<unknown> => {
      const url = part?.image_url?.url;
      if (part?.type !== 'image_url' || typeof url !== 'string' || /^data:/i.test(url)) return part;
      fetched += 1;
      if (fetched > imagesAtMost)
        throw new Refusal('bad_input', `messages：最多 ${imagesAtMost} 张网上的图片`);
      const detail = part.image_url?.detail === 'low' ? 'low' : 'high';
      const data = await fetchImage(url, detail, signal);
      if (data === null)
        throw new Refusal(
          'bad_input',
          'messages：image_url 无法公开访问，或不是 jpg、png 图片（也可以用 data: 带上图片）',
        );
      return { ...part, image_url: { ...part.image_url, url: data } };
    };
    const messages = [];
    for (const message of body.messages) {
      const { content } = message;
      if (!Array.isArray(content)) {
        messages.push(message);
        continue;
      }
      const parts = [];
      for (const part of content as Part[]) parts.push(await ready(part));
      messages.push({ ...message, content: parts });
    }
    return { ...body, messages };
  };

  /** Checks a request, and sets aside what it may cost. */
  const begin = async (context: OpenContext, asker: ChatBody, stream: boolean): Promise<Asking> => {
    const { caller } = context;
    const model = await modelFor(caller, asker.model);
    const given = await withImages(asker, context.signal);
    const n = numberIn(given['n']) ?? 1;
    if (stream && n > 1) throw new Refusal('bad_input', 'n：流式回答一次只能要一个，请把 n 设为 1');
    const asked = askedOf(given);
    const rough = roughPrompt(asked);
    const room = model.apiMaxTokens - rough;
    if (room < leastAnswer)
      throw new ApiRefusal(
        'prompt_too_long',
        `对话约 ${rough} 个 token，超出了模型 ${model.name} 的上限：提问和回答合计最多 ${model.apiMaxTokens} 个`,
        { code: 'context_length_exceeded', param: 'messages' },
      );
    const left = await gate.takeTokens(caller, rough);
    for (const [name, value] of Object.entries(left)) context.header(name, value);
    const field = lengthField(given);
    let most = Math.min(numberIn(given[field]) ?? room, room, model.maxTokens ?? room);
    let held = 0;
    const open = (amount: number) =>
      openCharge(deps, caller, { model: model.name, type: sessionTypes.chat, amount });
    let charge: Charge;
    if (isFree(model)) charge = await open(held);
    else {
      const cost = (answer: number) => deduction(model, rough, answer);
      const wanted = stream ? Math.min(ahead.first, most) : most * n;
      held = cost(wanted);
      try {
        charge = await open(held);
      } catch (error) {
        if (!(error instanceof Refusal && error.codeName === 'balance')) throw error;
        // As much of an answer as can be paid for, but no stump.
        const left = await affordable(db, caller);
        const fits = Math.floor((left - cost(0)) / Math.max(model.factor * (stream ? 1 : n), 1e-9));
        if (fits < (stream ? leastAnswer : Math.min(most, 256))) throw error;
        most = stream ? most : Math.min(most, fits);
        held = cost(stream ? Math.min(wanted, fits) : most * n);
        charge = await open(held);
      }
    }
    const body: ChatBody = { ...given, [field]: most };
    return { context, model, body, ...asked, rough, charge, held };
  };

  /** The same request to one service after another, until one begins to answer. */
  const ask = async <T>(
    { context, model, body }: Asking,
    attempt: (
      relay: ChatRelay,
      body: ChatBody,
      signal: AbortSignal,
      beat: () => void,
    ) => Promise<T>,
    begun: () => boolean,
  ): Promise<T> => {
    let failure: RelayError | null = null;
    const outcome = { model: model.name, userId: context.caller.user.id };
    for (const { channelId, relay, upstreamName, label } of await models.relays(db, model.name)) {
      const late = new AbortController();
      let silent = 0;
      const timer = setInterval(() => {
        silent += 1;
        if (silent > looks) late.abort(tooLate());
      }, silenceMs / looks);
      const signal = AbortSignal.any([context.signal, late.signal]);
      if (!begun()) context.header('x-channel', encodeURIComponent(label));
      try {
        const answer = await attempt(
          relay,
          { ...body, model: upstreamName },
          signal,
          () => (silent = 0),
        );
        models.reportOutcome({ ...outcome, channelId, ok: true });
        return answer;
      } catch (error) {
        if (context.signal.aborted) throw context.signal.reason;
        if (!(error instanceof RelayError)) throw error;
        models.reportOutcome({
          ...outcome,
          channelId,
          ok: error.askerAtFault,
          told: error.message,
          against: error.status === 429 ? 'full' : 'failed',
        });
        failure = error;
        if (begun() || !error.retriable) break;
        log.warn(
          { channel: channelId, status: error.status },
          'a channel failed a call of the API',
        );
      } finally {
        clearInterval(timer);
      }
    }
    throw failure
      ? refusalOf(failure)
      : new ApiRefusal('upstream', '这个模型暂时没有可用的服务，请稍后再试', { status: 503 });
  };

  const count = async (
    { model, texts, beside }: Asking,
    told: Counted | null,
    produced: string,
  ): Promise<Counted> => {
    if (told) return told;
    if (isFree(model))
      return {
        promptTokens: texts.reduce((sum, text) => sum + estimateTokens(text), beside),
        completionTokens: estimateTokens(produced),
      };
    const [said = 0, ...asked] = await countInThread([produced, ...texts]);
    return {
      promptTokens: asked.reduce((sum, each) => sum + each, beside),
      completionTokens: said,
    };
  };

  /** Bills a call that has ended; gives what was taken. */
  const settle = async (asking: Asking, counted: Counted): Promise<number> => {
    const { model, charge, context } = asking;
    gate.addTokens(context.caller, counted.completionTokens);
    const prompt = deduction(model, counted.promptTokens, 0);
    return charge.settle({
      ...counted,
      prompt,
      completion: deduction(model, counted.promptTokens, counted.completionTokens) - prompt,
    });
  };

  /** Whoever leaves a service at work pays for the question at least. */
  const settleFailure = async (asking: Asking, produced: string): Promise<void> => {
    const { aborted, reason } = asking.context.signal;
    const left = aborted && !(reason instanceof Refusal && reason.codeName === 'unavailable');
    if (produced !== '' || left) await settle(asking, await count(asking, null, produced));
    else await asking.charge.release();
  };

  return {
    /** A whole answer, with what it took. @throws Refusal */
    async whole(context: OpenContext, given: ChatBody) {
      const asking = await begin(context, given, false);
      try {
        const answer = await ask(
          asking,
          (relay, body, signal, beat) => {
            // An answer that is whole comes when it is: what is known of it is that it may take long.
            const waiting = setInterval(beat, 1000);
            const end = setTimeout(() => clearInterval(waiting), holdLifetime - 60_000);
            return relay.complete(body, signal).finally(() => {
              clearInterval(waiting);
              clearTimeout(end);
            });
          },
          () => false,
        );
        const choices = answer['choices'] as { message?: unknown }[];
        const produced = choices.map(({ message }) => producedIn(message)).join('');
        const counted = await count(asking, usageIn(answer), produced);
        const deducted = await settle(asking, counted);
        return { answer: { ...answer, model: asking.model.name }, counted, deducted };
      } catch (error) {
        await settleFailure(asking, '');
        throw error;
      }
    },

    /**
     * An answer in events. What fails before the first of them is thrown; what fails later ends the
     * stream. @throws Refusal
     */
    async stream(context: OpenContext, given: ChatBody, style: Style): Promise<OpenAnswer> {
      const asking = await begin(context, given, true);
      const { model, charge } = asking;
      const produced: string[] = [];
      let rough = 0;
      let { held } = asking;
      let extending = false;
      let told: Counted | null = null;
      let stopped: Refusal | null = null;
      const stop = new AbortController();
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
            held += more;
          } catch (error) {
            if (!(error instanceof Refusal)) throw error;
            await charge.extend(least);
            held += least;
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
        if (held === 0) return;
        uncounted += text;
        // No letter is more than a token: nothing needs to be counted while all of them would fit.
        if (extending || uncounted.length <= uncountedMost) return;
        rough += estimateTokens(uncounted);
        uncounted = '';
        const cost = deduction(model, asking.rough, rough);
        uncountedMost = Math.min((held - cost) / Math.max(model.factor, 1e-9), ahead.more);
        if (cost <= held) return;
        extending = true;
        const more = cost - held + Math.ceil(Math.max(ahead.more, rough) * model.factor);
        const least = cost - held + Math.ceil(leastAnswer * model.factor);
        void extend(more, least);
      };

      const emit = (events: RelayEvent[]): Promise<void> | void => {
        let frames = '';
        for (const event of events) {
          const { chunk } = event;
          const choices = chunk['choices'] as { delta?: unknown }[] | undefined;
          const text = producedIn(choices?.[0]?.delta);
          if (text !== '') watchCost(text);
          if (chunk['usage']) told = usageIn(chunk) ?? told;
          frames += style.write(event);
        }
        const sink = out?.sink;
        if (!sink || frames === '' || sink.write(frames)) return undefined;
        return new Promise((resolve, reject) => {
          sink.once('drain', () => resolve());
          context.signal.addEventListener('abort', () => reject(context.signal.reason), {
            once: true,
          });
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
        () => begun,
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
          let counted: Counted | null = null;
          try {
            await run;
            counted = await count(asking, told, produced.join(''));
            events.sink.write(style.end(counted));
          } catch (error) {
            const refusal =
              stopped ??
              (error instanceof Refusal
                ? error
                : new ApiRefusal('upstream', '模型服务出错，请重试'));
            if (!(error instanceof Refusal) && !stopped)
              log.error({ err: error }, 'a stream of the API failed');
            events.sink.write((style.fail ?? events.failure)(refusal));
          }
          if (counted) await settle(asking, counted);
          else await settleFailure(asking, produced.join(''));
        },
      };
    },
  };
};
export type ApiChat = ReturnType<typeof createApiChat>;
