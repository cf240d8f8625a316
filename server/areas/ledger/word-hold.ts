import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { deduction, estimateTokens, type Price } from '#contract/price.ts';

/** Tokens of the reply that are held before anything is written. */
export const heldAhead = 256;
/** What an extension holds ahead: as much as was written, and no more than that. */
const mostAhead = 8192;
/** Of a piece that costs more than is held so many letters are looked at together, at the end so few. */
const slice = /[^]{1,512}/gu;
const lastSlice = /[^]{1,32}/gu;
const lastLetters = 64;
/** For how long a piece waits for more to be held, ms: a database that is slow holds no words up. */
const patience = 1_000;

interface Hooks<Piece> {
  price: Price;
  /** Tokens that an extension holds ahead at least. */
  ahead: number;
  /** Holds so many more tokens, or all there are; gives how many. Null: none. */
  extend: (more: number) => Promise<number | null>;
  /** Tokens as they will be paid, were a text written next. */
  count: (ahead: string) => Promise<{ promptTokens: number; completionTokens: number }>;
  /** A piece in smaller ones, their texts as the pattern has them; itself where it cannot be. */
  split: (piece: Piece, size: RegExp) => Piece[];
  /** What is held is enough for this piece. */
  put: (piece: Piece) => void;
  /** There is no more to be held: nothing else is put. */
  refused: () => void;
  log: Pick<FastifyBaseLogger, 'warn'>;
}

/**
 * What is set aside for words that come in pieces, by rough counts, which are too high: exact counting
 * takes time. Words that cost more than that wait until more is held, so that no burst is given for
 * nothing; where no more can be, they are counted exactly, and what is left decides.
 */
export class WordHold<Piece extends { text: string }> {
  /** Tokens held. */
  held: number;
  readonly #hooks: Hooks<Piece>;
  #prompt = 0;
  #reply = 0;
  #waiting: Piece[] = [];
  /** More is being asked for, and for how long that is waited for. */
  #extending = false;
  #awaited: Promise<void> | null = null;
  /** The database does not answer: the next piece is put, and that behind it asks again. */
  #passes = false;
  /** All there is is held. */
  #short = false;
  #over = false;

  constructor(held: number, hooks: Hooks<Piece>) {
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

  take(piece: Piece): void {
    const fits = this.#waiting.length === 0 && this.#missingFor(piece.text) <= 0;
    this.#waiting.push(...(fits ? [piece] : this.#hooks.split(piece, slice)));
    this.#putMore();
  }

  /** Counts what is shown at once, such as the calls of tools. */
  count(text: string): void {
    const missing = this.#missingFor(text);
    this.#reply += estimateTokens(text);
    if (missing > 0) this.#provide(missing);
  }

  /** Something that was taken is neither put nor refused. */
  get waits(): boolean {
    return this.#waiting.length > 0;
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
    if (next) this.#hooks.put(next);
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
    const pieces = next && next.text.length > lastLetters ? this.#hooks.split(next, lastSlice) : [];
    if (pieces.length > 1) {
      this.#waiting.splice(0, 1, ...pieces);
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
    const { extend, price, ahead, log } = this.#hooks;
    try {
      const more = Math.max(Math.min(this.#reply, mostAhead), ahead);
      const wanted = missing + Math.ceil(more * price.factor);
      const given = (await extend(wanted)) ?? 0;
      this.held += given;
      this.#short = given < wanted;
      return given >= missing;
    } catch (error) {
      this.#passes = true;
      log.warn({ err: error }, 'a hold could not be extended');
      return true;
    }
  }
}
