/**
 * Failures in a row after which a channel is left alone for a model, and of how many people they
 * must be: what one person asks says nothing about what others will meet.
 */
const opensAfter = { failures: 5, people: 3 };
/** Failures in a row after which it is left alone for the one person who met them, or for all where
 * no question can have brought them about, as no connection was made. */
const inARow = 3;
/** How many people with failures of their own are kept for a line. */
const mostPeople = 1000;
/** Who must have met a full channel within so many ms for it to be left alone, and how long, ms. */
const fullFor = { people: 3, within: 10_000, rest: 3_000 };
/** How long it is left alone at first; doubled each time that its trial fails too, ms. */
const firstRest = 15_000;
const longestRest = 240_000;
/** A trial that nobody reported on counts as not made after this, ms. */
const trialMs = 30_000;
/** Between two requests to what fails and has nothing beside it, and how long one waits at most, ms. */
const slow = { gap: 200, longest: 3_000 };

/** What a person met in a row at a line, and how long that person is kept from it. */
interface OwnFailures {
  failures: number;
  rest: number;
  until: number;
}

/** What a channel does for one model. */
interface Line {
  failures: number;
  /** Failures in a row that no question can have brought about. */
  certain: number;
  own: Map<string, OwnFailures>;
  /** Whose requests failed; no more of them are kept than matter. */
  people: Set<string>;
  /** Who met it full since when. */
  full: { people: Set<string>; since: number };
  rest: number;
  /** 0: closed. */
  openUntil: number;
  trialUntil: number;
  /** When the next request to a failing line without another may go. */
  nextTurn: number;
}

export type Outcome = { channelId: number; model: string } & (
  | { ok: true }
  | {
      /** The service itself failed, not the question. */
      ok: false;
      /** Who asked, as people are told apart. */
      person: string;
      /** It had no room for this one, which says nothing about how well it works. */
      full: boolean;
      /** No question can have brought it about: it counts for all, whoever asked. */
      certain?: boolean;
    }
);

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
  /**
   * The same without leaving any out: those that are to be left alone, for all or for this person,
   * come last.
   */
  order<C extends { channelId: number }>(
    model: string,
    channels: readonly C[],
    person: string,
  ): { channels: C[]; waitMs: number };
  /** It keeps failing and is left alone now. */
  rests(channelId: number, model: string): boolean;
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

  const keepsFailing = ({ failures, people, certain }: Line): boolean =>
    certain >= inARow || (failures >= opensAfter.failures && people.size >= opensAfter.people);

  /** What one person meets keeps that person from it, and nobody else. */
  const noteOwn = (line: Line, person: string): void => {
    if (line.own.size >= mostPeople && !line.own.has(person)) line.own.clear();
    const own = line.own.get(person) ?? { failures: 0, rest: firstRest, until: 0 };
    line.own.set(person, own);
    own.failures += 1;
    if (own.failures < inARow || now() < own.until) return;
    if (own.until > 0) own.rest = Math.min(own.rest * 2, longestRest);
    own.until = now() + own.rest;
  };

  /** The trial of one that was left alone for being full says nothing for others, unless it went well. */
  const closeAfterTrial = (line: Line): void => {
    line.trialUntil = 0;
    if (!keepsFailing(line)) line.openUntil = 0;
  };

  /** One person's burst fills it for that person alone; of several it is given a moment. */
  const noteFull = (line: Line, person: string): void => {
    const time = now();
    if (time < line.openUntil) return;
    closeAfterTrial(line);
    if (time - line.full.since > fullFor.within) line.full = { people: new Set(), since: time };
    line.full.people.add(person);
    if (line.full.people.size < fullFor.people) return;
    line.full.people.clear();
    line.openUntil = Math.max(line.openUntil, time + fullFor.rest);
  };

  const choose: CircuitBreaker['choose'] = (model, channels) => {
    const lineOf = (channelId: number) => lines.get(keyOf(channelId, model));
    const ready = channels.filter(({ channelId }) => allows(lineOf(channelId)));
    if (ready.length > 0 || channels.length === 0) return { channels: ready, waitMs: 0 };
    const time = now();
    const first = lineOf(channels[0]!.channelId)!;
    const turn = Math.min(Math.max(time, first.nextTurn + slow.gap), time + slow.longest);
    first.nextTurn = turn;
    return { channels: [...channels], waitMs: turn - time };
  };

  return {
    choose,
    order(model, channels, person) {
      const isKept = ({ channelId }: { channelId: number }): boolean =>
        (lines.get(keyOf(channelId, model))?.own.get(person)?.until ?? 0) > now();
      const free = channels.filter((each) => !isKept(each));
      // Nobody's trial is spent on who is kept from it.
      const { channels: ready, waitMs } = choose(model, free.length > 0 ? free : channels);
      return { channels: [...ready, ...channels.filter((each) => !ready.includes(each))], waitMs };
    },
    rests: (channelId, model) => (lines.get(keyOf(channelId, model))?.openUntil ?? 0) > now(),
    report(outcome) {
      const key = keyOf(outcome.channelId, outcome.model);
      if (outcome.ok) {
        lines.delete(key);
        return;
      }
      const line = lines.get(key) ?? {
        failures: 0,
        certain: 0,
        own: new Map<string, OwnFailures>(),
        people: new Set<string>(),
        full: { people: new Set<string>(), since: 0 },
        rest: firstRest,
        openUntil: 0,
        trialUntil: 0,
        nextTurn: 0,
      };
      lines.set(key, line);
      const { person, full } = outcome;
      if (full) {
        noteFull(line, person);
        return;
      }
      line.failures += 1;
      line.certain = outcome.certain ? line.certain + 1 : 0;
      noteOwn(line, person);
      if (line.people.size < opensAfter.people) line.people.add(person);
      const time = now();
      // Requests that were under way when it opened say nothing new.
      if (time < line.openUntil) return;
      if (!keepsFailing(line)) {
        closeAfterTrial(line);
        return;
      }
      if (line.openUntil > 0) line.rest = Math.min(line.rest * 2, longestRest);
      line.openUntil = time + line.rest;
      line.trialUntil = 0;
    },
  };
};
