import type { UnsentHooks } from './unsent-hooks.ts';
import type { PlainCallName } from '#contract/calls.ts';
import { accountOf } from './account-of.ts';
import { authStore } from './auth-store.ts';
import type { KeptAct } from './draft-early.ts';
import { createStore, type Store, useStore } from './store.ts';

/**
 * What the first path must know of the outbox (`src/platform/outbox/`), which comes later: whether
 * something waits in it, and that what is read shows it. Small, and read without waiting.
 */

/** What one account has in the outbox of this browser. */
export interface Unsent {
  count: number;
  /** Sessions and settings that something waits for. */
  lanes: readonly string[];
  /** Sessions that the server does not have yet. */
  fresh: readonly string[];
  /** Whose it is, in words. */
  name: string;
}

const key = 'queqiao.outbox';

type ByAccount = Readonly<Record<string, Unsent>>;
/** What the quick storage had no room for. */
let here: ByAccount | null = null;

/** By account. */
export const readUnsent = (): ByAccount => {
  if (here) return here;
  try {
    return JSON.parse(localStorage.getItem(key) ?? '{}') as ByAccount;
  } catch {
    return {};
  }
};

/** Counts what was written, for what is on the screen. */
const writes = createStore(0);

export const writeUnsent = (waiting: ByAccount): void => {
  here = null;
  try {
    if (Object.keys(waiting).length === 0) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(waiting));
  } catch {
    // It is made anew when the outbox is opened; until then this page knows it.
    here = waiting;
  }
  writes.set(writes.get() + 1);
};

/** What these acts are, by account; the names of the others than who is here as they are known. */
export const unsentOf = (acts: readonly KeptAct[]): Record<string, Unsent> => {
  const known = readUnsent();
  const { token, user } = authStore.get();
  const waiting: Record<string, Unsent> = {};
  for (const { account, lane, name } of acts) {
    const whose = account === accountOf(token) ? user?.user_name : known[account]?.name;
    const entry = waiting[account] ?? { count: 0, lanes: [], fresh: [] };
    waiting[account] = {
      name: whose ?? '',
      count: entry.count + 1,
      lanes: [...new Set([...entry.lanes, lane])],
      fresh: name === 'newSession' ? [...entry.fresh, lane] : entry.fresh,
    };
  }
  return waiting;
};

/** As long as the first screen waits for what was kept, ms: a storage may hang. */
const longestRead = 500;

const restore = async (): Promise<void> => {
  const acts = (await globalThis.window?.queqiaoActs) ?? [];
  const known = readUnsent();
  if (acts.some(({ account, lane }) => known[account]?.lanes.includes(lane) !== true))
    writeUnsent(unsentOf(acts));
};

/**
 * What waited when the page began is known, as far as that can be read: a browser that was killed
 * had perhaps not written it to the quick storage.
 */
export const unsentRead = (): Promise<void> =>
  Promise.race([
    restore(),
    new Promise<void>((resolve) => {
      setTimeout(resolve, longestRead);
    }),
  ]);

const own = (): Unsent | undefined => readUnsent()[accountOf(authStore.get().token)];

const unsentHere: Pick<Store<boolean>, 'get' | 'subscribe'> = {
  get: () => Object.keys(readUnsent()).some((account) => account !== ''),
  subscribe: writes.subscribe,
};
/** Whether something of an account waits, whoever is here now; the outbox may be opened after the screen. */
export const useHasUnsent = (): boolean => useStore(unsentHere);

/** Something waits in this lane: what comes after it must wait, too. */
export const hasUnsentIn = (lane: string): boolean => own()?.lanes.includes(lane) ?? false;

/** The session was begun here, and the server does not have it yet. */
export const isFresh = (ref: unknown): boolean => own()?.fresh.includes(String(ref)) ?? false;

let hooks: UnsentHooks | null = null;
/** How answers are looked at; null: as they are. */
export const unsentHooks = (): UnsentHooks | null => hooks;
/** Tells how to look at answers, while something waits; null: as they are. */
export const showUnsent = (next: UnsentHooks | null): void => {
  hooks = next;
};

/** The session that a call asks about. */
export const refOf = (input: unknown): unknown => {
  const { uuid, session_id, sessionId } = input as Record<string, unknown>;
  return uuid ?? session_id ?? sessionId;
};

/** The call asks about a session that the server does not have yet. */
export const isAboutFresh = (name: PlainCallName, input: unknown): boolean =>
  name !== 'newSession' && isFresh(refOf(input));
