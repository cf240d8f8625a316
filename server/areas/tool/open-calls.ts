import type { ToolQuestion } from '#contract/tool.ts';
import type { Answered, Answering } from '#server/engines/mcp/mcp-questions.ts';
import { createAnswering } from './tool-questions.ts';
import type { AnswerWanted, ToolAnswer } from './tool.ts';

/** How long a call in which its server asks is kept open here, ms, and how many are: of all, of one. */
const openMs = 120_000;
const mostOpen = 100;
const mostOfOne = 8;

/** How a call may be made: until when, and what answers its server. */
interface Way {
  signal: AbortSignal;
  answering: Answering;
}

/** One call of a server's tool, in the midst of which its server may ask. */
class OpenCall<T> {
  readonly #asking;
  readonly #ends = new AbortController();
  readonly #going: Promise<T>;
  #questions: { question: ToolQuestion; give: (answered: Answered) => void }[] = [];
  /** Ends the session without an answer. */
  #leave: ((why: AnswerWanted) => void)[] = [];
  #tell: (wanted: AnswerWanted) => void = () => undefined;

  constructor(from: string, answers: readonly ToolAnswer[], make: (way: Way) => Promise<T>) {
    this.#asking = createAnswering(from, answers);
    const answering = (given: Record<string, unknown>): Answered | Promise<Answered> => {
      const question = this.#asking.read(given);
      if (!question) return { action: 'decline' };
      return new Promise<Answered>((give, leave) => {
        this.#leave.push(leave);
        this.#questions.push({ question, give });
        this.#answer();
      });
    };
    this.#going = make({ signal: this.#ends.signal, answering });
    this.#going.catch(() => undefined);
  }

  /** Gives what is answered by now. */
  #answer(): void {
    this.#questions = this.#questions.filter(({ question, give }) => {
      try {
        give(this.#asking.answer(question));
        return false;
      } catch (wanted) {
        this.#tell(wanted as AnswerWanted);
        return true;
      }
    });
  }

  /** Goes on until it has a result, or asks. @throws AnswerWanted */
  async goOn(answers: readonly ToolAnswer[], signal: AbortSignal): Promise<T> {
    const stop = (): void => this.#ends.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    try {
      return await new Promise<T>((resolve, reject) => {
        this.#tell = reject;
        this.#going.then(resolve, reject);
        this.#asking.more(answers);
        this.#answer();
      });
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  leave(why: AnswerWanted): void {
    for (const leave of this.#leave) leave(why);
  }

  /** Calls back if it comes to nothing. */
  onFailure(then: () => void): void {
    this.#going.catch(then);
  }

  declined(): string {
    return this.#asking.declined();
  }
}

/**
 * Calls that ask. Whoever answers soon answers in the same call; where it is open no more, or another
 * process goes on, the call is made again.
 */
export const createOpenCalls = <T>() => {
  const open = new Map<string, { call: OpenCall<T>; userId: number; timer: NodeJS.Timeout }>();
  const isFull = (userId: number): boolean =>
    open.size >= mostOpen ||
    [...open.values()].filter((kept) => kept.userId === userId).length >= mostOfOne;
  return {
    /** The call of this name that is open, else a new one. */
    take(
      key: string,
      from: string,
      answers: readonly ToolAnswer[],
      make: (way: Way) => Promise<T>,
    ): OpenCall<T> {
      const kept = open.get(key);
      open.delete(key);
      if (kept) clearTimeout(kept.timer);
      return kept?.call ?? new OpenCall(from, answers, make);
    },

    /** Keeps one of somebody's open that asks. */
    keep(key: string, userId: number, call: OpenCall<T>, why: AnswerWanted): void {
      const forget = (): void => {
        const kept = open.get(key);
        if (kept?.call !== call) return;
        clearTimeout(kept.timer);
        open.delete(key);
      };
      const leave = (): void => {
        forget();
        call.leave(why);
      };
      if (isFull(userId)) return leave();
      open.set(key, { call, userId, timer: setTimeout(leave, openMs).unref() });
      // Its server waited no longer: it is made again.
      call.onFailure(forget);
    },
    openMs,
  };
};
