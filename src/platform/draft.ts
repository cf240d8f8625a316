import { useCallback, useSyncExternalStore } from 'react';
import { accountOf } from './account-of.ts';
import { authStore } from './auth-store.ts';
import { putEarlyDrafts } from './draft-early.ts';
import { type Draft, echoedKeys, readEcho, removeEcho, writeEcho } from './draft-echo.ts';
import { formerDrafts } from './draft-former.ts';
import { noteStamp, stamp } from './stamp.ts';

/**
 * What was typed and not sent, of every box and form, kept in this browser until it is sent or
 * emptied. It lives in the outbox's database; what stands there is read before the first screen is
 * drawn. An echo of it stands where it can be read and written at once, but that is on the disk late:
 * a browser that is killed loses a minute of it.
 */

/** What this page has read and written: the text survives here when storage is full or forbidden. */
const drafts = new Map<string, Draft>();
/**
 * Keys that were written or emptied since the page began, here or in another tab: what is read of
 * the time before never takes their place, under whatever clock it was written.
 */
const touched = new Set<string>();
const listeners = new Set<() => void>();
const clearing = new Set<() => void>();
const tellListeners = () => {
  for (const listener of listeners) listener();
};

/** Tells those who keep more of a draft than its text that nothing of it may stay. */
export const onDraftsCleared = (listener: () => void): void => {
  clearing.add(listener);
};

/** The text of a box; empty: nothing. */
export const readDraft = (key: string): string => {
  let draft = drafts.get(key);
  if (draft === undefined) {
    draft = readEcho(key) ?? { text: '', at: -1 };
    drafts.set(key, draft);
  }
  return draft.text;
};

/** Longer ones are echoed when the keys rest for a moment, ms; each echo writes all of the text. */
const longText = 8_000;
const echoAfter = 150;
/** How long after a change it is written into the database, ms: no more is lost by a kill. */
const keepAfter = 100;

type Batch = ReadonlyMap<string, Draft>;
type Save = (changed: Batch) => Promise<void>;
/** Changed since they were kept. */
const changed = new Map<string, Draft>();
const echoes = new Map<string, ReturnType<typeof setTimeout>>();
/** The outbox's own code comes later than the first keys. */
let save: Save = putEarlyDrafts;
let timer: ReturnType<typeof setTimeout> | undefined;

/** The last keys are in the storage that needs no waiting: nothing is lost when the page is killed. */
const echo = (key: string) => {
  clearTimeout(echoes.get(key));
  echoes.delete(key);
  // One that was emptied says so until the database has heard of it.
  writeEcho(key, drafts.get(key) ?? { text: '', at: stamp() });
};

/** The database has them: what is empty there needs no echo. */
const forgetEchoes = (batch: Batch): void => {
  for (const [key, { text }] of batch) if (text === '' && readDraft(key) === '') removeEcho(key);
};

/** On its way to the database. */
let saving: Promise<void> | undefined;
/** Resolves once the database has what was written so far, where there is one; fails as its write does. */
export const keepDrafts = async (): Promise<void> => {
  clearTimeout(timer);
  timer = undefined;
  for (const key of echoes.keys()) echo(key);
  const before = saving;
  if (changed.size === 0) return before;
  const batch = new Map(changed);
  changed.clear();
  try {
    await (saving = save(batch));
  } catch (error) {
    saving = undefined;
    // What is kept of it is older now: it is written with the next keys.
    for (const [key, draft] of batch) if (!changed.has(key)) changed.set(key, draft);
    // The outbox's own code tries again, and says what went wrong.
    if (save === putEarlyDrafts) return before;
    throw error;
  }
  forgetEchoes(batch);
  return before;
};
const keepQuietly = () => void keepDrafts().catch(() => undefined);
const later = () => {
  timer ??= setTimeout(keepQuietly, keepAfter);
};
globalThis.addEventListener?.('pagehide', keepQuietly);
globalThis.document?.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') keepQuietly();
});

/** Two tabs on one box write one text: what is typed in one stands in the other at once. */
const tabs = {
  channel:
    typeof BroadcastChannel === 'function' && globalThis.document
      ? new BroadcastChannel('queqiao.drafts')
      : null,
};
interface Told extends Draft {
  account: string;
  key: string;
}
const me = (): string => accountOf(authStore.get().token);
tabs.channel?.addEventListener('message', ({ data }: MessageEvent<Told>) => {
  const { account, key, text, at } = data;
  readDraft(key);
  noteStamp(at);
  if (account !== me() || at <= (drafts.get(key)?.at ?? -1)) return;
  drafts.set(key, { text, at });
  touched.add(key);
  changed.delete(key);
  tellListeners();
});

/**
 * Boxes whose words are being sent, and what was emptied of them: it leaves the database together
 * with the arrival of the act there, so that a kill finds the words in one of the two.
 */
const leaving = new Map<string, number>();
const held = new Map<string, Draft>();
/** What belongs to a box has its name at its end: `attach:` and the session's uuid. */
const boxOf = (key: string): string => key.slice(key.lastIndexOf(':') + 1);

/** From now until what it gives is called, what empties the box waits for `takeHeld`. */
export const holdBox = (box: string): (() => void) => {
  leaving.set(box, (leaving.get(box) ?? 0) + 1);
  return () => {
    const others = (leaving.get(box) ?? 1) - 1;
    if (others > 0) {
      // Another message of this box is on its way: what was emptied goes with that.
      leaving.set(box, others);
      return;
    }
    leaving.delete(box);
    // What went another way than by an act that is written down.
    for (const [key, draft] of takeHeld(box)) changed.set(key, draft);
    keepQuietly();
  };
};

/** What was emptied of a box, to be written with the act that it became; `undo`: it was not. */
export const takeHeld = (box: string): Batch => {
  const taken = new Map([...held].filter(([key]) => boxOf(key) === box));
  for (const key of taken.keys()) held.delete(key);
  return taken;
};
/** What `takeHeld` gave was written, or came to nothing. */
export const settleHeld = (batch: Batch, written: boolean): void => {
  if (written) {
    forgetEchoes(batch);
    return;
  }
  for (const [key, draft] of batch) if (drafts.get(key)?.at === draft.at) changed.set(key, draft);
  later();
};
/** The quick storage has noted the act: its echoes end with that. */
export const echoHeld = (box: string): void => {
  for (const key of held.keys()) if (boxOf(key) === box) echo(key);
};

export const writeDraft = (key: string, text: string) => {
  if (drafts.get(key)?.text === text) return;
  const draft = { text, at: stamp() };
  drafts.set(key, draft);
  touched.add(key);
  if (text === '' && leaving.has(boxOf(key))) {
    held.set(key, draft);
    // What was typed before and has not reached the database yet must not be kept again.
    changed.delete(key);
  } else {
    held.delete(key);
    changed.set(key, draft);
    if (text.length <= longText) echo(key);
    else if (!echoes.has(key)) echoes.set(key, setTimeout(echo, echoAfter, key));
    if (text === '') keepQuietly();
    else later();
  }
  tabs.channel?.postMessage({ account: me(), key, ...draft } satisfies Told);
  tellListeners();
};

/** What this page's person wrote before its code was there: newer than all that was kept. */
export const takeDraft = (key: string, text: string): void => {
  noteStamp(readEcho(key)?.at ?? 0);
  drafts.delete(key);
  writeDraft(key, text);
};

/** From now on drafts are kept by `save`: begins with those that are not kept yet. */
export const keepDraftsBy = (saveDrafts: Save): void => {
  save = saveDrafts;
  later();
};

const echoed = (): string[] => {
  try {
    return echoedKeys();
  } catch {
    // Forbidden storage holds nothing.
    return [];
  }
};

/** All that is in this browser now, without waiting for the keys to rest. */
export const allDrafts = (): Batch => {
  for (const key of echoes.keys()) echo(key);
  for (const key of echoed()) readDraft(key);
  return new Map([...drafts].filter(([, { at }]) => at >= 0));
};

/** How something was chosen is no text that anybody wrote, nor is a sign-in or what was asked and not answered. */
const notWritten =
  /^(choices|compose|start|edit-group|edit:question:\w+|film|form:login|form:register|image|unheard)(:|$)/;
/** How many boxes and forms have something in them that was not sent. */
export const draftCount = (): number =>
  [...allDrafts()].filter(([key, { text }]) => text.trim() !== '' && !notWritten.test(key)).length;

/** Writes again, later than `at`, what is in sight of a key. */
const writeLater = (key: string, at: number): void => {
  noteStamp(at);
  const draft = { text: readDraft(key), at: stamp() };
  drafts.set(key, draft);
  // What waits for its act goes with that.
  if (held.has(key)) held.set(key, draft);
  else changed.set(key, draft);
  echo(key);
};

/**
 * The newest of what this page, the quick storage and the database (`kept`) know of each draft. The
 * quick storage may be older: it was not written to the disk, or had no room. What only it has is
 * kept in the database again.
 * @param atStart `kept` is of the time before the page: nothing of its own life is older
 */
export const restoreDrafts = (
  kept: Iterable<readonly [key: string, draft: Draft]>,
  atStart = false,
): void => {
  const known = new Map(kept);
  for (const { at } of known.values()) noteStamp(at);
  for (const key of new Set([...known.keys(), ...echoed()])) {
    const quick = readEcho(key);
    const lasting = known.get(key);
    const stored = (lasting?.at ?? -1) > (quick?.at ?? -1) ? lasting : quick;
    if (!stored) continue;
    const mine = drafts.get(key);
    if (mine && mine.at > stored.at) continue;
    if (changed.has(key) || (atStart && touched.has(key))) {
      if (mine && mine.at < stored.at) writeLater(key, stored.at);
      continue;
    }
    drafts.set(key, stored);
    // An older echo would come back once the database has forgotten that the text was sent.
    if (stored === lasting && quick) echo(key);
    if (stored === quick && quick.at > (lasting?.at ?? -1)) changed.set(key, quick);
  }
  if (changed.size > 0) later();
  forgetEchoes(new Map([...known].filter(([key, { at }]) => (drafts.get(key)?.at ?? -1) <= at)));
  tellListeners();
};

/** As long as the first screen waits for what was kept, ms: a storage may hang. */
const longestRead = 500;

/** What was kept when the page began is in sight, as far as that can be read. */
export const draftsRead = async (): Promise<void> => {
  for (const [key, text] of formerDrafts()) if (readDraft(key) === '') writeDraft(key, text);
  const reading = (globalThis.window?.queqiaoDrafts ?? Promise.resolve([])).then((kept) =>
    restoreDrafts(
      kept.map(({ key, text, at }) => [key, { text, at }]),
      true,
    ),
  );
  await Promise.race([
    reading,
    new Promise((resolve) => {
      setTimeout(resolve, longestRead);
    }),
  ]).catch(() => undefined);
};

/** Nothing that a person wrote stays in sight after a logout, or for another account. */
export const clearDrafts = () => {
  drafts.clear();
  touched.clear();
  changed.clear();
  held.clear();
  for (const each of echoes.values()) clearTimeout(each);
  echoes.clear();
  try {
    for (const key of echoedKeys()) removeEcho(key);
  } catch {
    // Forbidden storage holds nothing.
  }
  for (const listener of clearing) listener();
  tellListeners();
};

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
};

/** The text of a box, surviving the page. `key`: 'home' or a session's uuid. */
export const useDraft = (key: string): [string, (text: string) => void] => {
  const text = useSyncExternalStore(subscribe, () => readDraft(key));
  const set = useCallback((next: string) => writeDraft(key, next), [key]);
  return [text, set];
};
