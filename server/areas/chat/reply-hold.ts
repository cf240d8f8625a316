import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { deduction, estimateTokens, type Price } from '#contract/price.ts';
import type { PartKind } from './reply-log.ts';

/** Tokens of the reply that are held before anything is written. */
export const heldAhead = 256;
/** What an extension holds ahead: as much as was written, within these. */
const extension = { least: 4096, most: 8192 };
/** Of a piece that costs more than is held so many letters are looked at together. */
const slice = /[^]{1,512}/gu;
/** For how long a piece waits for more to be held, ms: a database that is slow holds no words up. */
const patience = 1_000;

interface Hooks {
  price: Price;
  /** Holds more tokens; false when there are not enough. */
  extend: (more: number) => Promise<boolean>;
  /** What is held is enough for this piece. */
  put: (kind: PartKind, text: string) => void;
  /** There is no more to be held: nothing else is put. */
  refused: () => void;
  log: Pick<FastifyBaseLogger, 'warn'>;
}

/**
 * What is set aside for a reply, by rough counts: exact counting would stop all streams for some time.
 * Words that cost more than that wait until more is held, so that no burst is given for nothing.
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
  }

  take(kind: PartKind, text: string): void {
    const fits = this.#waiting.length === 0 && this.#costWith(text) <= this.held;
    const pieces = fits ? [text] : (text.match(slice) ?? []);
    for (const piece of pieces) this.#waiting.push({ kind, text: piece });
    this.#putMore();
  }

  /** Counts what is shown at once, such as the calls of tools. */
  count(text: string): void {
    const cost = this.#costWith(text);
    this.#reply += estimateTokens(text);
    if (cost > this.held) this.#ask(cost - this.held);
  }

  /** All that was taken is put, or refused. */
  async settled(): Promise<void> {
    while (this.#awaited && this.#waiting.length > 0) await this.#awaited;
  }

  #costWith(text: string): number {
    return deduction(this.#hooks.price, this.#prompt, this.#reply + estimateTokens(text));
  }

  #putMore(): void {
    while (!this.#awaited && !this.#over) {
      const [next] = this.#waiting;
      if (!next) return;
      const missing = this.#costWith(next.text) - this.held;
      if (missing > 0 && !this.#extending && !this.#passes) {
        this.#ask(missing);
        return;
      }
      this.#passes = false;
      this.#waiting.shift();
      this.#reply += estimateTokens(next.text);
      this.#hooks.put(next.kind, next.text);
    }
  }

  #ask(missing: number): void {
    if (this.#extending || this.#over) return;
    this.#extending = true;
    const work = this.#extend(missing).finally(() => {
      this.#extending = false;
    });
    const late = sleep(patience, undefined, { ref: false });
    this.#awaited = this.#after(Promise.race([work, late]));
  }

  async #after(outcome: Promise<unknown>): Promise<void> {
    await outcome;
    this.#awaited = null;
    this.#putMore();
  }

  async #extend(missing: number): Promise<void> {
    const { extend, price, log, refused } = this.#hooks;
    try {
      const most = Math.min(Math.max(this.#reply, extension.least), extension.most);
      for (const ahead of [most, heldAhead, heldAhead / 8, 0]) {
        const more = missing + Math.ceil(ahead * price.factor);
        if (await extend(more)) {
          this.held += more;
          return;
        }
      }
      this.#over = true;
      this.#waiting = [];
      refused();
    } catch (error) {
      this.#passes = true;
      log.warn({ err: error }, 'a hold could not be extended');
    }
  }
}
