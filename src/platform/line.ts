import { createStore, useStore } from './store.ts';

/**
 * The line to the server, as this page sees it: a browser that has a network tells nothing of one
 * that answers nothing (a lift, a train). Whoever waits for bytes says so here.
 */
export type LineState =
  | 'well'
  /** Something waits and nothing has come for some time. */
  | 'silent'
  /** The network is gone, or the server out of reach. */
  | 'gone';

/** After so long without a byte the server is asked for a sign of life, and after so long it is said, ms. */
const askAfter = 2_000;
const sayAfter = 3_000;
/** As long as that sign may take, and the pauses between two of them while there is none, ms. */
const signPatience = 4_000;
/** A sign may be asked for on a connection that is dead: after so long another is, beside it, ms. */
const signEvery = 1_300;
const firstPause = 1_000;
/** No longer, or a line that comes and goes is hardly ever met, ms. */
const longestPause = 5_000;
/** What has waited so long while others were answered was asked on a connection that is dead, ms. */
const deadAfter = 4_000;

const offline = () => globalThis.navigator !== undefined && !navigator.onLine;
const state = createStore<LineState>(offline() ? 'gone' : 'well');
export const useLine = (): LineState => useStore(state);
export const lineIsWell = (): boolean => state.get() === 'well';

/** @param afterSilence nothing at all came for some time; else others were answered all the time */
type Reopen = (afterSilence: boolean) => void;

interface Waiting {
  since: number;
  /** Asks again on another connection; left out: it looks after itself. */
  reopen: Reopen | undefined;
  /** Something came for others since it began to wait. */
  doubted: boolean;
}
const waiting = new Set<Waiting>();
const listeners = new Set<() => void>();
/** Hears that the line is well again. */
export const onLineWell = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Resolves once the line is well; rejects with an AbortError where the signal ends that first. */
export const untilWell = (signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (lineIsWell()) {
      resolve();
      return;
    }
    const leave = onLineWell(() => {
      leave();
      resolve();
    });
    const stop = () => {
      leave();
      reject(new DOMException('', 'AbortError'));
    };
    signal?.addEventListener('abort', stop, { once: true });
  });

let lastHeard = -Infinity;
let timer: ReturnType<typeof setTimeout> | undefined;
let asking: Promise<void> | null = null;
let pause = firstPause;

/** How long there has been something to hear and nothing came, ms. */
const silence = (): number => {
  const [oldest] = waiting;
  return oldest ? performance.now() - Math.max(lastHeard, oldest.since) : 0;
};

/** Something came from the server. */
export const heard = (): void => {
  const now = performance.now();
  lastHeard = now;
  pause = firstPause;
  const afterSilence = !lineIsWell();
  for (const each of waiting) {
    // This is called for every event of a reply.
    if (each.doubted && !afterSilence) continue;
    each.doubted = true;
    const again = () => {
      if (waiting.has(each)) each.reopen?.(afterSilence);
    };
    setTimeout(again, Math.max(0, each.since + deadAfter - now));
  }
  if (!afterSilence) return;
  state.set('well');
  look();
  for (const listener of listeners) listener();
};

/** Whether anything came from the server since then, by the clock of `performance.now()`. */
export const heardSince = (then: number): boolean => lastHeard > then;

/** Bytes leave: whether they arrive anywhere is not known, but the line has something to do. */
export const moved = (): void => {
  if (lineIsWell()) lastHeard = performance.now();
};

/** Nothing is reached. */
export const lost = (): void => {
  // Known already, and being looked at: each of many failures would put the next look off.
  if (state.get() === 'gone') return;
  state.set('gone');
  look();
};

/** Any sign of life. Rejects with a TimeoutError where nothing comes. */
const sign = async (): Promise<void> => {
  const signal = AbortSignal.timeout(signPatience);
  let more: ReturnType<typeof setInterval> | undefined;
  await new Promise((resolve, reject) => {
    const ask = () => {
      fetch('/api/health', { cache: 'no-store', signal }).then(resolve, reject);
    };
    ask();
    more = setInterval(ask, signEvery);
  }).finally(() => clearInterval(more));
};

const askOnce = async (): Promise<void> => {
  const begun = performance.now();
  try {
    await sign();
    heard();
  } catch (error) {
    const late = error instanceof DOMException && error.name === 'TimeoutError';
    if (!late) state.set('gone');
    else if (!heardSince(begun)) state.set('silent');
  } finally {
    asking = null;
    if (!lineIsWell()) pause = Math.min(pause * 2, longestPause);
    look();
  }
};

/**
 * Asks the server for a sign of life, which any answer at all is; what comes of it is the line's
 * state. Gives whether that is well.
 */
export const askLine = async (): Promise<boolean> => {
  if (offline() || document.hidden) return false;
  asking ??= askOnce();
  await asking;
  return lineIsWell();
};

/** Looks again when there may be something to say. */
function look(): void {
  clearTimeout(timer);
  timer = undefined;
  if (!lineIsWell()) {
    timer = setTimeout(() => void askLine(), pause);
    return;
  }
  if (waiting.size === 0) return;
  const quiet = silence();
  if (quiet >= sayAfter) {
    state.set('silent');
    look();
    return;
  }
  if (quiet >= askAfter) void askLine();
  timer = setTimeout(look, (quiet >= askAfter ? sayAfter : askAfter) - quiet + 10);
}

/**
 * Something waits for bytes from the server; gives what ends that.
 * @param reopen asks again on another connection, where others are answered and it is not
 */
export const awaitBytes = (reopen?: Reopen): (() => void) => {
  const own: Waiting = { since: performance.now(), reopen, doubted: false };
  waiting.add(own);
  if (timer === undefined) look();
  return () => waiting.delete(own);
};

/** A signal that ends with the line: nothing is heard any more, or nothing reached. */
export const lineLost = (): { signal: AbortSignal; leave: () => void } => {
  const abort = new AbortController();
  const leave = state.subscribe(() => {
    if (!lineIsWell()) abort.abort(new DOMException('the line is lost', 'NetworkError'));
  });
  return { signal: abort.signal, leave };
};

const askSoon = () => {
  if (lineIsWell()) return;
  pause = firstPause;
  void askLine();
};
globalThis.addEventListener?.('online', askSoon);
globalThis.addEventListener?.('offline', lost);
globalThis.document?.addEventListener?.('visibilitychange', askSoon);
