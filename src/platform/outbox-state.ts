import type { Act, NewAct } from '#common/outbox/act.ts';
import { accountOf } from './account-of.ts';
import { authStore } from './auth-store.ts';
import { echoHeld } from './draft.ts';
import type { Note } from './note.ts';
import { stamp } from './stamp.ts';
import { createStore } from './store.ts';

export interface OutboxState {
  /** What waits, of the account that is signed in, in order. */
  acts: readonly Act[];
  /** Keys of those that are being sent now. */
  sending: ReadonlySet<string>;
  /** Keys of those that found no room on this device: they last as long as the page. */
  held: ReadonlySet<string>;
}
/** Filled by the outbox once it is loaded. */
export const outboxState = createStore<OutboxState>({
  acts: [],
  sending: new Set(),
  held: new Set(),
});

type Done = (act: Act, data: unknown) => void;
const listeners = new Set<Done>();
/** Hears of acts that the server has done, in this tab or another. */
export const onActDone = (listener: Done): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};
export const tellActDone: Done = (act, data) => {
  for (const listener of listeners) listener(act, data);
};

export const notePrefix = 'queqiao.sending.';
/** A lock of this name is held while a noted act is on its way. */
export const noteLock = (key: string): string => notePrefix + key;

/** Holds that lock; gives what ends it, as the end of this page does. */
export const holdNote = (key: string): (() => void) => {
  let end = () => {};
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  void navigator.locks?.request(noteLock(key), () => over);
  return end;
};

export interface NoteKeeper {
  /** Settles when it is written down, with what was emptied of its box, or can not be. */
  keep: (note: Note) => Promise<void>;
  drop: (key: string) => void;
}
let keeper: NoteKeeper | null = null;
/** The outbox keeps notes, too, once it is there: the quick storage may not outlive the browser. */
export const keepNotesBy = (next: NoteKeeper): void => {
  keeper = next;
};

/** As long as an act may wait for its note, ms: a storage that hangs must not hold it. */
const notePatience = 200;

export interface Noted {
  /** Puts it where it outlives the browser, too; settles once it is there, or can not be. */
  keep: () => Promise<unknown>;
  forget: () => void;
}

/**
 * Writes down that an act is on its way, in case the page ends. `keep` does so in the outbox's
 * database, too, once that is there; `forget` ends both.
 * @param box it comes from, and leaves with that
 */
export const note = (act: NewAct, box: string = act.lane): Noted => {
  const key = notePrefix + act.key;
  const written: Note = { act, account: accountOf(authStore.get().token), at: stamp(), box };
  try {
    localStorage.setItem(key, JSON.stringify(written));
    echoHeld(box);
  } catch {
    // Full or forbidden: the outbox has it, or the page as long as it lives.
  }
  return {
    keep: () =>
      Promise.race([
        keeper?.keep(written),
        new Promise((resolve) => {
          setTimeout(resolve, notePatience);
        }),
      ]),
    forget: () => {
      localStorage.removeItem(key);
      keeper?.drop(act.key);
    },
  };
};

/** Something was on its way when a former life of the page ended. */
export const leftNotes = (): boolean => {
  try {
    return Object.keys(localStorage).some((key) => key.startsWith(notePrefix));
  } catch {
    return false;
  }
};
