/**
 * Failures in a row after which a channel is left alone for a model, and of how many people they
 * must be: what one person asks says nothing about what others will meet.
 */
const opensAfter = { failures: 5, people: 3 };
/** How long it is left alone at first; doubled each time that its trial fails too, ms. */
const firstRest = 15_000;
const longestRest = 240_000;
/** A trial that nobody reported on counts as not made after this, ms. */
const trialMs = 30_000;
/** Between two requests to what fails and has nothing beside it, and how long one waits at most, ms. */
const slow = { gap: 200, longest: 3_000 };

/** What a channel does for one model. */
interface Line {
  failures: number;
  /** Whose requests failed; no more of them are kept than matter. */
  people: Set<number>;
  rest: number;
  /** 0: closed. */
  openUntil: number;
  trialUntil: number;
  /** When the next request to a failing line without another may go. */
  nextTurn: number;
}

export interface Outcome {
  channelId: number;
  model: string;
  /** Who asked. */
  userId: number;
  /** False: the service itself failed, not the question. */
  ok: boolean;
  /** Of a failure: what the asker was told. */
  told?: string;
}

export interface CircuitBreaker {
  /**
   * Which of a model's channels to try now, in their order. One that keeps failing is left out while
   * another is there; in the half-open state it gets one request at a time. Where all of them fail
   * none is left out, but whoever asks waits `waitMs` before, so that they are not stormed.
   */
  choose<C extends { channelId: number }>(
    model: string,
    channels: readonly C[],
  ): { channels: C[]; waitMs: number };
  report(outcome: Outcome): void;
}

/** Keeps requests from services that fail again and again. Each process learns by itself. */
export const createCircuitBreaker = (now: () => number = Date.now): CircuitBreaker => {
  const lines = new Map<string, Line>();
  const keyOf = (channelId: number, model: string) => `${channelId} ${model}`;

  const allows = (line: Line | undefined): boolean => {
    if (!line || line.openUntil === 0) return true;
    const time = now();
    if (time < line.openUntil || time < line.trialUntil) return false;
    line.trialUntil = time + trialMs;
    return true;
  };

  return {
    choose(model, channels) {
      const lineOf = (channelId: number) => lines.get(keyOf(channelId, model));
      const ready = channels.filter(({ channelId }) => allows(lineOf(channelId)));
      if (ready.length > 0 || channels.length === 0) return { channels: ready, waitMs: 0 };
      const time = now();
      const first = lineOf(channels[0]!.channelId)!;
      const turn = Math.min(Math.max(time, first.nextTurn + slow.gap), time + slow.longest);
      first.nextTurn = turn;
      return { channels: [...channels], waitMs: turn - time };
    },
    report({ channelId, model, userId, ok }) {
      const key = keyOf(channelId, model);
      if (ok) {
        lines.delete(key);
        return;
      }
      const line = lines.get(key) ?? {
        failures: 0,
        people: new Set<number>(),
        rest: firstRest,
        openUntil: 0,
        trialUntil: 0,
        nextTurn: 0,
      };
      lines.set(key, line);
      line.failures += 1;
      if (line.people.size < opensAfter.people) line.people.add(userId);
      if (line.failures < opensAfter.failures || line.people.size < opensAfter.people) return;
      const time = now();
      // Requests that were under way when it opened say nothing new.
      if (time < line.openUntil) return;
      if (line.openUntil > 0) line.rest = Math.min(line.rest * 2, longestRest);
      line.openUntil = time + line.rest;
      line.trialUntil = 0;
    },
  };
};
