import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { deduction, estimateTokens, type Price } from '#contract/price.ts';
import type { PartKind } from './reply-log.ts';

/** Tokens of the reply that are held before anything is written. */
export const heldAhead = 256;
/** What an extension holds ahead: as much as was written, within these. */
const extension = { least: 4096, most: 8192 };
/** Of a piece that costs more than is held so many letters are looked at together, at the end so few. */
const slice = /[^]{1,512}/gu;
const lastSlice = /[^]{1,32}/gu;
const lastLetters = 64;
/** For how long a piece waits for more to be held, ms: a database that is slow holds no words up. */
const patience = 1_000;

interface Hooks {
  price: Price;
  /** Holds so many more tokens, or all there are; gives how many. Null: none. */
  extend: (more: number) => Promise<number | null>;
  /** Tokens as they will be paid, were a text written next. */
  count: (ahead: string) => Promise<{ promptTokens: number; completionTokens: number }>;
  /** What is held is enough for this piece. */
  put: (kind: PartKind, text: string) => void;
  /** There is no more to be held: nothing else is put. */
  refused: () => void;
  log: Pick<FastifyBaseLogger, 'warn'>;
}

/**
 * What is set aside for a reply, by rough counts, which are too high: exact counting takes time. Words
 * that cost more than that wait until more is held, so that no burst is given for nothing; where no
 * more can be, they are counted exactly, and what is left decides.
 */
export class ReplyHold {
  /** Tokens held. */
  held: number;
  readonly #hooks: Hooks;
  #prompt = 0;
  #reply = 0;
  #waiting: { kind: PartKind; text: string }[] = [];
  /** More is being asked for, and for how long that is waited for. */
  #extending = false;
  #awaited: Promise<void> | null = null;
  /** The database does not answer: the next piece is put, and that behind it asks again. */
  #passes = false;
  /** All there is is held. */
  #short = false;
  #over = false;

  constructor(held: number, hooks: Hooks) {
    this.held = held;
    this.#hooks = hooks;
  }

  /** Begins a round. @param prompt tokens of its prompt, roughly */
  begin(prompt: number, held = this.held): void {
    this.held = held;
    this.#prompt = prompt;
    this.#reply = 0;
    this.#short = false;
  }

  take(kind: PartKind, text: string): void {
    const fits = this.#waiting.length === 0 && this.#missingFor(text) <= 0;
    const pieces = fits ? [text] : (text.match(slice) ?? []);
    for (const piece of pieces) this.#waiting.push({ kind, text: piece });
    this.#putMore();
  }

  /** Counts what is shown at once, such as the calls of tools. */
  count(text: string): void {
    const missing = this.#missingFor(text);
    this.#reply += estimateTokens(text);
    if (missing > 0) this.#provide(missing);
  }

  /** All that was taken is put, or refused. */
  async settled(): Promise<void> {
    while (this.#awaited && this.#waiting.length > 0) await this.#awaited;
  }

  /** Tokens that a text costs beyond what is held. */
  #missingFor(text: string): number {
    const reply = this.#reply + estimateTokens(text);
    return deduction(this.#hooks.price, this.#prompt, reply) - this.held;
  }

  #putMore(): void {
    while (!this.#awaited && !this.#over) {
      const [next] = this.#waiting;
      if (!next) return;
      const missing = this.#missingFor(next.text);
      if (missing > 0 && !this.#extending && !this.#passes) {
        this.#provide(missing);
        return;
      }
      this.#passes = false;
      this.#reply += estimateTokens(next.text);
      this.#putNext();
    }
  }

  #putNext(): void {
    const next = this.#waiting.shift();
    if (next) this.#hooks.put(next.kind, next.text);
  }

  /** Has what is missing held, or counted. */
  #provide(missing: number): void {
    if (this.#awaited || this.#extending || this.#over) return;
    this.#awaited = this.#after(this.#provided(missing));
  }

  async #after(work: Promise<void>): Promise<void> {
    await work;
    this.#awaited = null;
    this.#putMore();
  }

  async #provided(missing: number): Promise<void> {
    if (!this.#short && (await this.#extended(missing))) return;
    const left = await this.#missingExactly();
    if (left <= 0) return;
    const [next] = this.#waiting;
    if (next && next.text.length > lastLetters) {
      const pieces = next.text.match(lastSlice) ?? [];
      this.#waiting.splice(0, 1, ...pieces.map((text) => ({ kind: next.kind, text })));
      return;
    }
    if (await this.#extended(left)) return;
    this.#over = true;
    this.#waiting = [];
    this.#hooks.refused();
  }

  /** Puts the next piece where an exact count lets it, or gives what is missing for it. */
  async #missingExactly(): Promise<number> {
    const { price, count } = this.#hooks;
    const [next] = this.#waiting;
    const before = this.#reply;
    const { promptTokens, completionTokens } = await count(next?.text ?? '');
    const reply = completionTokens + this.#reply - before;
    const missing = deduction(price, promptTokens, reply) - this.held;
    if (missing > 0) return missing;
    this.#prompt = promptTokens;
    this.#reply = reply;
    this.#putNext();
    return missing;
  }

  /** Whether so much more is held now. A database that is too slow to tell holds no words up. */
  #extended(missing: number): Promise<boolean> {
    this.#extending = true;
    const work = this.#extend(missing).finally(() => {
      this.#extending = false;
    });
    return Promise.race([work, sleep(patience, true, { ref: false })]);
  }

  async #extend(missing: number): Promise<boolean> {
    const { extend, price, log } = this.#hooks;
    try {
      const ahead = Math.min(Math.max(this.#reply, extension.least), extension.most);
      const wanted = missing + Math.ceil(ahead * price.factor);
      const more = (await extend(wanted)) ?? 0;
      this.held += more;
      this.#short = more < wanted;
      return more >= missing;
    } catch (error) {
      this.#passes = true;
      log.warn({ err: error }, 'a hold could not be extended');
      return true;
    }
  }
}
