import { anySignal } from './any-signal.ts';
import { heardIsKept } from './cache.ts';
import type { OfName } from './note.ts';
import type { In, Out } from '#contract/calls.ts';
import { codeNumbers } from '#contract/page-errors.ts';
import { ApiError } from './api-error.ts';
import { authStore } from './auth-store.ts';
import { serverApi } from './server-api.ts';
import type { ActName, NewAct } from '#common/outbox/act.ts';
import { lineIsWell, lineLost } from './line.ts';
import { loadOutbox } from './load-outbox.ts';
import { leftNotes, note, noteLock } from './outbox-state.ts';
import { hasUnsentIn, readUnsent } from './unsent.ts';
import { toast } from '#src/platform/toast.ts';
import { uuid } from './uuid.ts';

/**
 * The way of everything that is written to the server and may wait for a network. What can be done
 * is done at once; it is noted in this browser before, so that it goes on after a crash. What can
 * not be done now goes into the outbox, which loads when it is needed.
 */

/** Something of a former life of the page waits: the outbox is needed soon. */
export const hasLeft = (): boolean => leftNotes() || Object.keys(readUnsent()).length > 0;

/** No answer came, or none that says whether it was done: it is tried again, under the same key. */
export const isUnheard = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.status === 0 ||
    error.status === codeNumbers.too_many ||
    error.status >= 500 ||
    // The answer broke off on its way.
    error.code === codeNumbers.internal ||
    error.code === codeNumbers.session_busy);

/** As long as an answer may take before the outbox goes on with it: some time, and for its length, ms. */
const patience = (act: NewAct): number => 20_000 + Math.ceil(JSON.stringify(act.input).length / 10);

/**
 * Writes acts down to be done when they can be; where there is no room, the page alone has them.
 * Rejects with the chunk's error where that can not be had.
 */
export const enqueue = async (
  acts: readonly NewAct[],
  tried = false,
  box?: string,
): Promise<void> => {
  const notes = acts.map((each) => note(each, box));
  let kept = true;
  try {
    kept = await (await loadOutbox()).add(acts, tried, box);
  } finally {
    if (kept) for (const { forget } of notes) forget();
  }
};

/** As long as the first act waits for what a former life of the page left, ms. */
const formerPatience = 2_000;
let former: Promise<unknown> | null = null;
/**
 * What a former life of the page left is in the outbox. The quick storage may not know of it: a
 * browser that was killed had not written that to the disk.
 */
const formerTaken = (): Promise<unknown> =>
  (former ??= Promise.race([
    loadOutbox().then((outbox) => outbox.ready()),
    new Promise((resolve) => {
      setTimeout(resolve, formerPatience);
    }),
  ]).catch(() => undefined));

/** Gives the answer, null where it was written down, and what settles once its note has ended. */
const sendNow = async (
  act: NewAct,
  box?: string,
): Promise<{ data: unknown; ended?: Promise<void> }> => {
  const call = serverApi[act.name] as (input: In<ActName>, options: object) => Promise<unknown>;
  const wasSignedIn = authStore.get().token !== '';
  const { keep, forget } = note(act, box);
  await formerTaken();
  // Whatever happens from here on, what was said is on the device, and out of its box: a kill never
  // sends it twice.
  await keep();
  if (hasUnsentIn(act.lane)) {
    await enqueue([act], false, box);
    return { data: null };
  }
  const line = lineLost();
  try {
    const data = await call(act.input, {
      idempotencyKey: act.key,
      quiet: true,
      // On a line that answers nothing the outbox goes on with it, and the box is free again.
      signal: anySignal([line.signal, AbortSignal.timeout(patience(act))]),
    });
    // A kill meets what came of it in the cache, or the note, which is sent again under its key.
    return { data, ended: heardIsKept().then(forget) };
  } catch (error) {
    const ended = wasSignedIn && error instanceof ApiError && error.status === 401;
    // The page is loaded anew, and the note goes on in the outbox alone. What a new session was for
    // still stands in its box.
    if (ended && act.name !== 'newSession') return { data: null };
    if (!isUnheard(error)) {
      forget();
      throw error;
    }
    await enqueue([act], true, box);
    return { data: null };
  } finally {
    line.leave();
  }
};

/**
 * Does an act now, or writes it down to be done later: then the answer is null. Rejects with
 * ApiError when the server refuses it, and as `enqueue` does.
 */
export const perform = async <K extends ActName>(
  act: OfName<NewAct, K>,
  /** The caller knows that it can not be done now. */
  later = false,
  /** Of what leaves with it; left out: its lane's. */
  box?: string,
): Promise<Out<K> | null> => {
  if (
    later ||
    !navigator.onLine ||
    !lineIsWell() ||
    hasUnsentIn(act.lane) ||
    (act.parts ?? []).length > 0
  ) {
    await enqueue([act], false, box);
    return null;
  }
  const sending = sendNow(act, box);
  // Others that come upon the note leave it alone as long as this page lives.
  void navigator.locks?.request(noteLock(act.key), () =>
    sending.then(
      ({ ended }) => ended,
      () => undefined,
    ),
  );
  return (await sending).data as Out<K> | null;
};

/**
 * Does something now, or when there is a network again: then the answer is null. A refusal is shown
 * here and rejects with ApiError.
 */
export const act = async <K extends Exclude<ActName, 'sendMessage' | 'newSession'>>(
  name: K,
  lane: string,
  input: In<K>,
): Promise<Out<K> | null> => {
  const made = new Date().toISOString();
  try {
    return await perform<K>({ name, key: uuid(), lane, input, made } as OfName<NewAct, K>);
  } catch (error) {
    // Code 1001 has led to the login already.
    if (error instanceof ApiError && error.code !== codeNumbers.login_required)
      toast(error.message, 'error');
    throw error;
  }
};

/** Settings are one lane for all of them. */
export const settingsLane = 'settings';
/** Said instead of that something is done. */
export const laterText = '联网后自动同步';
