import type { FastifyBaseLogger } from 'fastify';
import { deepTokens } from '#common/thinking-models.ts';
import { streamCodes, type StreamCode } from '#contract/page-errors.ts';
import { estimateTokens, isFree, type CacheUse, type Price } from '#contract/price.ts';
import {
  type AskedCall,
  imagesOf,
  type ChatMessage,
  type ContentPart,
} from '#common/chat-message.ts';
import {
  EngineError,
  type ChatEngine,
  type ChatPart,
  type ChatRequest,
  type ToolSpec,
} from '#server/engines/chat-engine.ts';
import { ReplyLog, type PartKind } from './reply-log.ts';
import { Citations } from './citations.ts';
import { promptTokens } from './prompt.ts';
import { AskedCalls } from './asked-calls.ts';
import type { LoopState } from './loop-state.ts';
import { cacheUseWithin, sensibleCount } from '#server/engines/cache-use.ts';
import { believable } from '../ledger/believable.ts';
import { WordHold } from '../ledger/word-hold.ts';

/** Tokens that are held ahead at least where more is held. */
const extendedBy = 4096;

/** Whoever asks the services gives a silent one up first, and asks the next: so much earlier, ms. */
const engineFirstMs = 1_000;

/** What is to be written, and what is held for it. */
export interface ReplyOrder {
  model: { name: string; maxTokens: number | null } & Price;
  messages: ChatMessage[];
  sampling: Pick<ChatRequest, 'temperature' | 'presencePenalty' | 'frequencyPenalty' | 'thinking'>;
  holdId: string | null;
  /** Tokens held. */
  held: number;
  /** Sources that it may cite by number; null: brackets are words. */
  cites?: number | null;
}

/** The reply to a message. */
export interface ReplyRequest extends ReplyOrder {
  historyId: number;
  sessionId: number;
  sessionUuid: string;
  userId: number;
  human: string;
  model: ReplyOrder['model'] & {
    builtIn?: boolean;
    vipExcluded?: boolean;
    maxPrompt?: number | null;
  };
  /** Nothing of it is stored. */
  temporary: boolean;
  /** What it may call, and where the loop of its calls stands; left out: it calls nothing. */
  loop?: LoopState;
}

export interface ReplyLimits {
  /** From the request to the first piece, ms. */
  firstByteMs: number;
  /** Between two pieces, ms. */
  idleMs: number;
  /** Of the whole reply, ms; below the life of a hold. */
  totalMs: number;
  /** UTF-16 units of a reply. */
  size: number;
}

/** What may be thought in a round, which some services tell only when it is over. */
export const thoughtAhead = ({ thinking }: ReplyOrder['sampling']): number =>
  thinking?.choice === 'deep' ? deepTokens : 0;

/** Said where a page that was opened does not hold what it was named for. */
const unheldText = (count: number): string =>
  `\n\n> 有 ${count} 处引用在打开的网页里找不到相应的内容，已去掉编号。`;

/** A timer that is later than this was held up with the whole process, ms. */
const heldUp = 1000;

/** Why an answer ended before its engine did. */
type Cut = 'stopped' | 'lost' | StreamCode;

/** What a model wrote in one round before it called tools. */
export interface Round {
  calls: AskedCall[];
  text: string;
  thought: string;
  /** The same as its service signed it; empty: it does not. */
  signed: Record<string, unknown>[];
  counted: Counts;
}

/** What the next round is asked, or how the reply ends instead. */
export type NextRound = { messages: ChatMessage[]; held: number } | { ended: Ended };

/** How many sources there are, and whether one says what a sentence does. */
export interface Cited {
  sources: number;
  holds: (n: number, sentence: string) => boolean;
}

/** Runs the calls of a reply, round by round. */
export interface RoundHooks {
  /** What may be called in this round; none: the model has to answer. */
  specs: () => readonly ToolSpec[];
  /** Sources that this round may cite; null: brackets are words. */
  cites: () => Cited | null;
  /** The calls as far as they are written. */
  show: (calls: readonly AskedCall[]) => void;
  run: (round: Round, signal: AbortSignal) => Promise<NextRound>;
  /** Of a loop that is taken up again: what has to be done before the next round. Null: nothing. */
  resume: ((signal: AbortSignal) => Promise<NextRound>) | null;
}

export interface Ended {
  state: 'done' | 'stopped' | 'error' | 'interrupted' | 'waiting';
  error: { code: StreamCode; message: string } | null;
}

export interface ReplyHooks {
  /**
   * What writes it, and tells which channel is asked; null: nothing does. It gives up what says
   * nothing for too long before the first word.
   */
  engine: (onLine: (line: { channelId: number }) => void) => Promise<ChatEngine | null>;
  /** A piece can be read: `text` lies between the two positions of the log. */
  onText: (kind: PartKind, text: string, start: number, end: number) => void;
  /** Tokens of each text, as the model of this name counts them. */
  countTokens: (texts: readonly string[], model: string) => Promise<number[]>;
  /** An image of the web as a data URL; null where it cannot be had. */
  fetchImage: (url: string, detail: 'low' | 'high', signal: AbortSignal) => Promise<string | null>;
  /** Holds so many more tokens, or all there are; gives how many. Null: none. */
  extendHold: (more: number) => Promise<number | null>;
  /** Left out: it calls no tools. */
  rounds?: RoundHooks;
  log: Pick<FastifyBaseLogger, 'warn' | 'error'>;
}

const isAddress = ({ image_url }: ContentPart & { type: 'image_url' }): boolean =>
  !image_url.url.startsWith('data:');

/** Tokens of a reply, and what of its prompt its service had in a cache. */
export interface Counts extends CacheUse {
  promptTokens: number;
  completionTokens: number;
}

/** One reply while it is written: asks the engines, keeps the text, watches limits and cost. */
export class Reply<Order extends ReplyOrder = ReplyRequest> {
  readonly request: Order;
  readonly log: ReplyLog;
  readonly #hooks: ReplyHooks;
  readonly #limits: ReplyLimits;
  #abort = new AbortController();
  #cut: Cut | null = null;
  #timer: NodeJS.Timeout | undefined;
  /** When the reply last grew or was last asked for, by performance.now(). */
  #grownAt = 0;
  /** The channel that writes it, or was asked last. */
  channelId: number | null = null;
  #usage: Counts | null = null;
  /** Tokens of the prompt, roughly: for the hold, and for whoever ends this reply should the process die. */
  roughPrompt: number;
  readonly #hold: WordHold<{ kind: PartKind; text: string }>;
  /** Of a reply that has sources. */
  #citations: Citations | null = null;
  /** A service has the request and has not said no to it. */
  #sent = false;
  /** What is asked in this round, and where the log stood when it began. */
  #messages: ChatMessage[];
  #countedPrompt: Promise<number> | null = null;
  #start = { text: 0, reasoning: 0, length: 0 };
  #calls = new AskedCalls();
  /** What was thought in this round, as its service signed it. */
  #signed: Record<string, unknown>[] = [];
  /** Whatever is done for it is to stop. */
  readonly #over = new AbortController();

  /** @param log what was written before of one that goes on */
  constructor(request: Order, limits: ReplyLimits, hooks: ReplyHooks, log = new ReplyLog()) {
    this.log = log;
    this.#start = { text: log.text.length, reasoning: log.reasoning.length, length: log.length };
    this.request = request;
    this.#limits = limits;
    this.#hooks = hooks;
    this.#messages = request.messages;
    this.roughPrompt = this.#paid ? this.#roughly(request.messages) : 0;
    this.#hold = new WordHold(request.held, {
      price: request.model,
      ahead: extendedBy,
      extend: (more) => hooks.extendHold(more),
      count: (ahead) => this.#counted(ahead),
      split: ({ kind, text }, size) =>
        (text.match(size) ?? []).map((piece) => ({ kind, text: piece })),
      put: ({ kind, text }) => this.#put(kind, text),
      refused: () => this.cut('balance'),
      log: hooks.log,
    });
    this.#hold.begin(this.roughPrompt);
  }

  get #paid(): boolean {
    // One that goes on has its hold settled, and gets the next one.
    return this.request.holdId !== null || (!!this.#hooks.rounds && !isFree(this.request.model));
  }

  #roughly(messages: ChatMessage[]): number {
    return promptTokens(messages, estimateTokens) + estimateTokens(this.#toolText());
  }

  /** What a model is told of its tools costs as its prompt does. */
  #toolText(): string {
    const specs = this.#hooks.rounds?.specs() ?? [];
    return specs.length === 0 ? '' : JSON.stringify(specs);
  }

  /** Something was written in this round, be it a call: its service bills it, and its person reads it. */
  get hasWritten(): boolean {
    return this.log.length > this.#start.length || this.#calls.any;
  }

  /** Ends the writing; what was written stays. The first reason counts. */
  cut(reason: Cut): void {
    this.#cut ??= reason;
    this.#abort.abort();
    this.#over.abort(this.#cut);
  }

  /** It was stopped while a service was at it, which bills what it was sent. */
  get stoppedAtWork(): boolean {
    return this.#cut === 'stopped' && this.#sent;
  }

  get wasLost(): boolean {
    return this.#cut === 'lost';
  }

  /** Writes the reply. Never throws. */
  async write(): Promise<Ended> {
    try {
      const { rounds } = this.#hooks;
      for (let next = (await rounds?.resume?.(this.#over.signal)) ?? null; ;) {
        if (this.#cut) return this.#ended(this.#cut);
        if (next && 'ended' in next) return next.ended;
        if (next) this.#beginRound(next);
        const ended = await this.#writeRound();
        const calls = this.#calls.list();
        if (ended.state !== 'done' || calls.length === 0 || !rounds) return ended;
        const round = {
          calls,
          text: this.log.text.slice(this.#start.text),
          thought: this.log.reasoning.slice(this.#start.reasoning),
          signed: this.#signed,
          counted: await this.count(true),
        };
        // From here on nothing of it is at a service, and nothing of it is to be paid.
        this.#startHere();
        next = await rounds.run(round, this.#over.signal);
      }
    } catch (error) {
      this.#hooks.log.error({ err: error }, 'a reply failed');
      return this.#ended('upstream');
    }
  }

  #startHere(): void {
    const { text, reasoning, length } = this.log;
    this.#start = { text: text.length, reasoning: reasoning.length, length };
    this.#calls = new AskedCalls();
    this.#signed = [];
    this.#usage = null;
    this.#sent = false;
    this.#countedPrompt = null;
  }

  #beginRound({ messages, held }: { messages: ChatMessage[]; held: number }): void {
    this.#startHere();
    this.#messages = messages;
    this.roughPrompt = this.#paid ? this.#roughly(messages) : 0;
    this.#hold.begin(this.roughPrompt, held);
  }

  async #writeRound(): Promise<Ended> {
    const total = setTimeout(() => this.cut('timeout'), this.#limits.totalMs);
    try {
      return await this.#ask();
    } finally {
      clearTimeout(total);
      clearTimeout(this.#timer);
    }
  }

  async #ask(): Promise<Ended> {
    const messages = await this.#withImages();
    const engine = await this.#hooks.engine(({ channelId }) => {
      this.channelId = channelId;
      // Each that is asked has the time of a first word.
      this.#grownAt = performance.now();
    });
    const failure = engine && !this.#cut ? await this.#write(engine, messages) : null;
    if (this.#cut) return this.#ended(this.#cut);
    if (failure) return this.#ended(failure.code, failure.message);
    return this.hasWritten ? { state: 'done', error: null } : this.#ended('upstream');
  }

  /**
   * What is asked, with the images themselves: no service is sent an address, which it would then
   * fetch from where it stands.
   */
  async #withImages(): Promise<ChatMessage[]> {
    const messages = this.#messages;
    if (!messages.some(({ content }) => imagesOf(content).some(isAddress))) return messages;
    const resolved = async (part: ContentPart): Promise<ContentPart> => {
      if (part.type !== 'image_url' || !isAddress(part)) return part;
      const { url, detail } = part.image_url;
      const data = await this.#hooks.fetchImage(url, detail, this.#abort.signal);
      return data === null
        ? { type: 'text', text: '（这里有一张读不到的图片）' }
        : { type: 'image_url', image_url: { url: data, detail } };
    };
    return Promise.all(
      messages.map(async (message) =>
        typeof message.content === 'string'
          ? message
          : { ...message, content: await Promise.all(message.content.map(resolved)) },
      ),
    );
  }

  /** Null when the reply is whole or was cut by this side. */
  async #write(engine: ChatEngine, messages: ChatMessage[]): Promise<EngineError | null> {
    const { sampling, model } = this.request;
    const cited = this.#hooks.rounds?.cites();
    const cites = cited?.sources ?? this.request.cites ?? null;
    this.#citations = cites === null ? null : new Citations(cites, cited?.holds);
    const attempt = new AbortController();
    this.#abort = attempt;
    let late = false;
    this.#watchTime(() => {
      late = true;
      attempt.abort(new EngineError('timeout', streamCodes.timeout, { retriable: true }));
    });
    try {
      await engine.write(
        {
          ...sampling,
          model: model.name,
          messages,
          tools: this.#hooks.rounds?.specs(),
          maxTokens: model.maxTokens ?? undefined,
          signal: attempt.signal,
          onSent: () => {
            if (!this.#cut) this.#sent = true;
          },
          onRefused: () => {
            if (!this.#cut) this.#sent = false;
          },
        },
        (parts) => {
          if (!late && !this.#cut) this.#take(parts);
        },
      );
      if (this.#cut) return null;
      this.#append('text', this.#citations?.end() ?? '');
      const removed = this.#citations?.removed ?? 0;
      if (removed > 0) this.#append('text', unheldText(removed));
      await this.#hold.settled();
      if (this.#cut) return null;
      if (!this.hasWritten) {
        throw new EngineError('empty', streamCodes.empty, { retriable: true });
      }
      return null;
    } catch (error) {
      if (this.#cut) return null;
      this.#sent = false;
      const failure = late
        ? new EngineError('timeout', streamCodes.timeout, { retriable: true })
        : error instanceof EngineError
          ? error
          : new EngineError('upstream', streamCodes.upstream, { retriable: true, cause: error });
      if (!(error instanceof EngineError) && !late) {
        this.#hooks.log.error({ err: error, channel: this.channelId }, 'an engine broke');
      }
      return failure;
    } finally {
      clearTimeout(this.#timer);
    }
  }

  /**
   * Tells when the reply has not grown for too long. One timer that looks again serves a whole
   * reply, not one for each piece.
   */
  #watchTime(onLate: () => void): void {
    const { firstByteMs, idleMs } = this.#limits;
    const lookAfter = (ms: number): void => {
      const due = performance.now() + ms;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => {
        const now = performance.now();
        const left = this.#grownAt + (this.hasWritten ? idleMs : firstByteMs + engineFirstMs) - now;
        // What came while this process was held up is read before anything is called late.
        if (left > 0 || now - due > heldUp) lookAfter(Math.max(left, 0));
        else onLate();
      }, ms);
    };
    this.#grownAt = performance.now();
    lookAfter(firstByteMs);
  }

  #ended(code: Cut, message?: string): Ended {
    if (code === 'stopped' || code === 'lost') return { state: 'stopped', error: null };
    return {
      state: code === 'interrupted' ? 'interrupted' : 'error',
      error: { code, message: message || streamCodes[code] },
    };
  }

  /** Takes one read of the wire; neighbours of one kind become one event. */
  #take(parts: readonly ChatPart[]): void {
    let kind: PartKind = 'text';
    let text = '';
    for (const part of parts) {
      if (part.kind === 'usage') {
        if (sensibleCount(part.promptTokens) && sensibleCount(part.completionTokens))
          this.#usage = part;
        continue;
      }
      if (part.kind === 'call') {
        this.#takeCall(part);
        continue;
      }
      if (part.kind === 'signed') {
        if (this.#hooks.rounds) this.#signed.push(...part.blocks);
        continue;
      }
      if (part.kind !== kind && text !== '') {
        this.#append(kind, this.#cited(kind, text));
        text = '';
      }
      kind = part.kind;
      text += part.text;
    }
    this.#append(kind, this.#cited(kind, text));
  }

  #takeCall(part: ChatPart & { kind: 'call' }): void {
    if (this.#cut || !this.#hooks.rounds) return;
    this.#grownAt = performance.now();
    if (!this.#calls.take(part)) return this.cut('too_large');
    this.#hooks.rounds.show(this.#calls.list());
    if (this.#paid) this.#hold.count(part.arguments);
  }

  #cited(kind: PartKind, text: string): string {
    return kind === 'text' && this.#citations ? this.#citations.take(text) : text;
  }

  #append(kind: PartKind, piece: string): void {
    if (this.#cut || piece === '') return;
    if (this.#paid) this.#hold.take({ kind, text: piece });
    else this.#put(kind, piece);
  }

  #put(kind: PartKind, piece: string): void {
    if (this.#cut) return;
    const room = this.#limits.size - this.log.length;
    const start = this.log.length;
    const text = this.log.append(kind, piece.length > room ? piece.slice(0, room) : piece);
    if (text !== '') {
      this.#grownAt = performance.now();
      this.#hooks.onText(kind, text, start, this.log.length);
    }
    if (piece.length > room) this.cut('too_large');
  }

  /**
   * Tokens of the prompt, and of the reply with its thinking: the service's count as far as it can be
   * believed, or ours; of the reply the service's only of a whole one. Free replies are estimated.
   */
  async count(whole: boolean): Promise<Counts> {
    const taken = await this.#taken(whole);
    return { ...taken, ...cacheUseWithin(this.#usage, taken.promptTokens) };
  }

  async #taken(whole: boolean): Promise<Counts> {
    const usage = this.#usage;
    const { model } = this.request;
    if (usage && whole && isFree(model)) return usage;
    // No question is of no tokens: such a service does not count.
    const told =
      usage &&
      usage.promptTokens > 0 &&
      (whole ? usage : { ...usage, completionTokens: (await this.#counted()).completionTokens });
    const taken = told
      ? await believable(model, told, { held: this.#hold.held, own: () => this.#counted() })
      : await this.#counted();
    if (told && taken !== told)
      this.#hooks.log.warn(
        { channel: this.channelId, model: model.name, told, taken },
        'a service counts more tokens than is likely, and is not believed',
      );
    if (this.hasWritten) return taken;
    // Of a question without an answer no more is taken than was set aside for it.
    return { ...taken, promptTokens: Math.min(taken.promptTokens, this.roughPrompt) };
  }

  /** The same by our own count. @param ahead what would be written next */
  async #counted(ahead = ''): Promise<{ promptTokens: number; completionTokens: number }> {
    const text = this.log.text.slice(this.#start.text) + this.#calls.text() + ahead;
    const reasoning = this.log.reasoning.slice(this.#start.reasoning);
    this.#countedPrompt ??= this.#countPrompt();
    const [promptTokens, [thought = 0, said = 0]] = await Promise.all([
      this.#countedPrompt,
      this.#tokensOf([reasoning, text]),
    ]);
    return { promptTokens, completionTokens: thought + said };
  }

  async #countPrompt(): Promise<number> {
    const texts = [this.#toolText()];
    // What a prompt costs beside its texts.
    const around = promptTokens(this.#messages, (asked) => {
      texts.push(asked);
      return 0;
    });
    const counts = await this.#tokensOf(texts);
    return counts.reduce((sum, each) => sum + each, around);
  }

  #tokensOf(texts: readonly string[]): Promise<number[]> {
    const { model } = this.request;
    return isFree(model)
      ? Promise.resolve(texts.map(estimateTokens))
      : this.#hooks.countTokens(texts, model.name);
  }
}
