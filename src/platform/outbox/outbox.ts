import { thinkingOf } from '#src/platform/thinking-choice.ts';
import { webOf } from '#src/platform/web-choice.ts';
import type { In } from '#contract/calls.ts';
import { outboxChannel, outboxLock, outboxTag } from '#sw/messages.ts';
import { ApiError } from '#src/platform/api-error.ts';
import { serverApi } from '#src/platform/server-api.ts';
import {
  clearAttachments,
  messageWith,
  readAttachments,
  setAttachments,
} from '#src/platform/attach/attach-store.ts';
import { partsOf } from '#src/platform/attach/parts.ts';
import { heardIsKept } from '#src/platform/cache.ts';
import { accountOf } from '#src/platform/account-of.ts';
import { authStore } from '#src/platform/auth-store.ts';
import type { Note } from '#src/platform/note.ts';
import {
  holdNote,
  note,
  notePrefix,
  keepNotesBy,
  noteLock,
  outboxState,
  tellActDone,
} from '#src/platform/outbox-state.ts';
import { holdBox, writeDraft } from '#src/platform/draft.ts';
import { readUnsent, showUnsent, unsentOf, writeUnsent } from '#src/platform/unsent.ts';
import { refreshScreens } from '#src/platform/query-client.ts';
import { onLineWell } from '#src/platform/line.ts';
import { noteStamp } from '#src/platform/stamp.ts';
import { toast } from '#src/platform/toast.ts';
import { upload } from '#src/platform/upload.ts';
import { uuid } from '#src/platform/uuid.ts';
import type { Act, ActName, Failure, NewAct, News } from '#common/outbox/act.ts';
import { createEngine } from '#common/outbox/engine.ts';
import { followDrafts, forgetOwner, startKeeping, withEmptied } from './draft-keeper.ts';
import { actStore, db } from '#src/platform/outbox-db.ts';
import { endHeld, put, writeHeld } from './put-acts.ts';
import { unsentHooks } from './unsent-view.ts';

/** The outbox of this browser, as this tab works on it. Loaded when it is needed (`@/platform/outbox.ts`). */

const tabs = {
  channel: typeof BroadcastChannel === 'function' ? new BroadcastChannel(outboxChannel) : null,
};
/** Notes of a tab that is gone are looked for so often, ms. */
const lookEvery = 30_000;
/** As long as an answer may take, and for each 10 KB of the question a second more, ms. */
const patience = (act: NewAct): number => 60_000 + JSON.stringify(act.input).length / 10;

const me = () => accountOf(authStore.get().token);

const failureOf = (error: unknown): Failure => {
  if (!(error instanceof ApiError)) throw error;
  const { retry_after } = (error.data ?? {}) as { retry_after?: number };
  return {
    status: error.status,
    code: error.code,
    message: error.message,
    wait: (retry_after ?? 0) * 1_000,
  };
};
const orFailure = <T>(answer: Promise<T>): Promise<T> =>
  answer.catch((error: unknown) => {
    throw failureOf(error);
  });

const sending = new Set<string>();
const show = (acts: readonly Act[]) =>
  outboxState.set({
    acts,
    sending: new Set(sending),
    held: new Set(actStore.held().map(({ key }) => key)),
  });

/** What waited when the page began: all that is known of it while it can not be read. */
const unread = readUnsent();

const hooks = unsentHooks(() => outboxState.get().acts);

/** Looks at all that waits, for the screens and for the next start of the page. */
const look = async (): Promise<void> => {
  const acts = await actStore.all();
  const account = me();
  const own = acts.filter((act) => act.account === account);
  writeUnsent({ ...(actStore.readable() ? {} : unread), ...unsentOf(acts) });
  endHeld();
  showUnsent(own.length > 0 ? hooks : null);
  show(own);
};

type Message = News | { type: 'look' };

const hear = async (news: Message): Promise<void> => {
  if (news.type === 'sending') {
    sending.add(news.key);
    show(outboxState.get().acts);
    return;
  }
  if (news.type === 'done' || news.type === 'undone') sending.delete(news.act.key);
  else sending.clear();
  // Who shows the act takes its answer before it leaves the list.
  if (news.type === 'done') tellActDone(news.act, news.data);
  await look();
  // What was written is not lost: it waits where it was written.
  if (news.type === 'undone' && news.act.name === 'updateMessage') {
    const { id, title = '', content } = news.act.input;
    writeDraft(`edit:${id}`, JSON.stringify({ title, text: content }));
  }
  if (news.type === 'undone') toast(`没有成功，已恢复原样：${news.message}`, 'error');
  if (news.type !== 'changed') await refreshScreens();
};

const tell = (news: News) => {
  tabs.channel?.postMessage(news);
  void hear(news);
};
tabs.channel?.addEventListener('message', ({ data }: MessageEvent<Message>) => void hear(data));

const changed = async (): Promise<void> => {
  tabs.channel?.postMessage({ type: 'look' } satisfies Message);
  await look();
  // What was written down is: on a line that hangs the screens are read for many seconds.
  void refreshScreens();
};

/** Between leaving the outbox and standing in the cache a message is a note, which a kill leaves. */
const outlast = async (act: Act): Promise<() => void> => {
  const { id: _, account: __, tries: ___, faults: ____, failed: _____, ...sent } = act;
  const end = holdNote(act.key);
  const { keep, forget } = note(sent);
  await keep();
  return () => void heardIsKept().then(forget).then(end);
};

const engine = createEngine(actStore, {
  account: me,
  tell,
  outlast,
  call: (act) => {
    const call = serverApi[act.name] as (input: In<ActName>, options: object) => Promise<unknown>;
    return orFailure(
      call(act.input, {
        idempotencyKey: act.key,
        quiet: true,
        signal: AbortSignal.timeout(patience(act)),
      }),
    );
  },
  draw: (input) =>
    orFailure(serverApi.generateImage(input, { quiet: true, idempotencyKey: input.request_id })),
  upload: async (part, blob) => {
    const options = {
      fileName: part.name,
      idempotencyKey: part.key,
      signal: new AbortController().signal,
      onProgress: () => undefined,
    };
    if (part.kind === 'image') {
      const { image } = await orFailure(upload('uploadImage', blob, options));
      return { url: image.url, uuid: '', name: part.name, size: image.bytes };
    }
    const { file } = await orFailure(upload('uploadFile', blob, options));
    return { url: '', uuid: file.uuid, name: file.name, size: file.size };
  },
  newer: async (session, after) => {
    const newer = await orFailure(
      serverApi.lastMessages({ sessionId: session, maxHistoryId: after }, { quiet: true }),
    );
    const mine = authStore.get().user?.id;
    return newer
      .filter(({ user_id }) => mine === undefined || user_id === mine)
      .map(({ id, human, created_at, beside }) => ({
        id,
        human,
        created_at,
        beside: beside?.id ?? null,
      }));
  },
});

let timer: ReturnType<typeof setTimeout> | undefined;
let running = false;
let again = false;

/** Sends what can be sent, and looks again when something may be tried again. */
const run = async (): Promise<void> => {
  if (running) {
    again = true;
    return;
  }
  running = true;
  clearTimeout(timer);
  try {
    do {
      again = false;
      const act = () => engine.run();
      const wait = navigator.onLine
        ? // Where there are no locks the keys alone keep things from being done twice.
          await (navigator.locks ? navigator.locks.request(outboxLock, act) : act())
        : null;
      if (wait !== null) timer = setTimeout(() => void run(), Math.max(50, wait));
    } while (again);
  } finally {
    running = false;
  }
};

const wake = () => {
  engine.wake();
  void run();
};

/** Background Sync, which the library of types does not know. */
interface Syncing {
  sync?: { register: (tag: string) => Promise<void> };
}
let worker: (ServiceWorkerRegistration & Syncing) | undefined;

/** The worker may send what waits now, as this person, once there is no page in sight. */
const entrust = async (): Promise<void> => {
  worker ??= await navigator.serviceWorker?.getRegistration();
  const { token } = authStore.get();
  if (token === '' || !worker?.sync || outboxState.get().acts.length === 0) return;
  const { setFact } = await import('#sw/kv.ts');
  await setFact('token', token);
};
/** Out of sight or without a network: the browser wakes the worker, now or when there is one. */
const leaveToWorker = () => {
  const here = navigator.onLine && document.visibilityState === 'visible';
  if (here || outboxState.get().acts.length === 0) return;
  worker?.sync?.register(outboxTag).catch(() => undefined);
};
const entrustQuietly = () => void entrust().then(leaveToWorker, () => undefined);

const notesOfQuickStorage = (): Note[] => {
  try {
    return Object.keys(localStorage)
      .filter((key) => key.startsWith(notePrefix))
      .map((key) => JSON.parse(localStorage.getItem(key) ?? '') as Note);
  } catch {
    return [];
  }
};

/** Takes over what a tab noted that is gone by now. */
const adoptNotes = async (): Promise<void> => {
  const notes = new Map<string, Note>();
  const lasting = await db.notes.toArray().catch(() => []);
  for (const each of [...notesOfQuickStorage(), ...lasting]) notes.set(each.act.key, each);
  const inOrder = [...notes.values()].sort((a, b) => (a.at ?? 0) - (b.at ?? 0));
  let adopted = false;
  for (const each of inOrder) {
    noteStamp(each.at ?? 0);
    const { key } = each.act;
    const stillThere = async () =>
      localStorage.getItem(notePrefix + key) !== null ||
      (await db.notes.get(key).catch(() => undefined)) !== undefined;
    const adopt = async (lock: Lock | null) => {
      if (!lock || !(await stillThere())) return;
      await put([each.act], each.account, true, [each.box ?? each.act.lane]);
      adopted = true;
    };
    if (navigator.locks) await navigator.locks.request(noteLock(key), { ifAvailable: true }, adopt);
    else await adopt({ name: key, mode: 'exclusive' });
  }
  if (adopted) await changed();
};

const keepNotes = () =>
  keepNotesBy({
    keep: (note) =>
      withEmptied([note.box ?? note.act.lane], async () => {
        await db.notes.put({ ...note, key: note.act.key });
      }).catch(() => undefined),
    drop: (key) => {
      db.notes.delete(key).catch(() => undefined);
    },
  });

/**
 * Writes acts down and begins to do them.
 * @param tried the server may have heard of them
 * @param box that they come from, where that is not their lane's
 * @returns false: there is no room for them, and they last as long as the page
 */
export const add = async (
  acts: readonly NewAct[],
  tried = false,
  box?: string,
): Promise<boolean> => {
  // What a former life of the page noted goes before.
  await ready();
  const kept = await put(acts, me(), tried, box === undefined ? undefined : [box]);
  await changed();
  entrustQuietly();
  void run();
  return kept;
};

/**
 * Begins a session with its first question, with what was added to it in its box.
 * @param tried the server may have the session
 * @param box of the question: home's, or by now that of the session
 */
export const beginSession = async (
  input: In<'newSession'>,
  key: string,
  { text, suggestion }: { text: string; suggestion: boolean },
  tried: boolean,
  box: string,
): Promise<void> => {
  await ready();
  const lane = input.uuid ?? '';
  const made = new Date().toISOString();
  const added = suggestion ? { items: [], detail: 'low' as const } : readAttachments(box);
  const parts = partsOf(added.items);
  if (parts.length > 0)
    (await import('#src/platform/attach/intake.ts')).leaveUploads(parts.map(({ id }) => id));
  const message: In<'sendMessage'> = {
    session_id: lane,
    ...messageWith(text, added, null, parts.length > 0),
    suggestion: suggestion ? 1 : 0,
    ...webOf(box),
    ...thinkingOf(input.model),
    ...(input.scenario_id === undefined ? {} : { with_template: 1 }),
    ...((input.embeddings?.[0] ?? input.embedding) === undefined ? {} : { strict_mode: 0 }),
  };
  await put([{ name: 'newSession', key, lane, input, made }], me(), tried);
  const release = suggestion ? () => undefined : holdBox(box);
  try {
    if (!suggestion) {
      writeDraft(box, '');
      clearAttachments(box);
    }
    const act = { name: 'sendMessage', key: uuid(), lane, input: message, made, parts } as const;
    await put([act], me(), false, [box]);
  } catch (error) {
    if (!suggestion) {
      writeDraft(box, text);
      setAttachments(box, added);
    }
    throw error;
  } finally {
    release();
  }
  await changed();
  entrustQuietly();
  void run();
};

/**
 * Takes one back; undefined: it is gone already. The bytes of its parts stay, for the draft that
 * they return to. A session of which nothing else is left is not begun either.
 */
export const cancel = async (
  key: string,
): Promise<{ act: Act; sessionGone: boolean } | undefined> => {
  const all = await actStore.all();
  const act = all.find((each) => each.key === key);
  if (!act) return undefined;
  const lane = all.filter((each) => each.lane === act.lane);
  const begun = lane.find(({ name }) => name === 'newSession');
  const sessionGone = begun?.tries === 0 && lane.length === 2;
  const ids = sessionGone ? [act.id, begun.id] : [act.id];
  await db.acts.bulkDelete(ids).catch(() => undefined);
  actStore.drop(ids);
  await changed();
  void run();
  return { act, sessionGone };
};

/** Tries one again that was refused, and what waits behind it. */
export const retry = async (key: string): Promise<void> => {
  const act = (await actStore.all()).find((each) => each.key === key);
  if (!act) return;
  await actStore.change(act.id, { failed: null });
  await changed();
  engine.wake(act.lane);
  void run();
};

/** There is reason to try a lane at once: the reply before has ended. */
export const wakeLane = (lane: string): void => {
  engine.wake(lane);
  void run();
};

/** What a guest wrote goes with the sessions to the account that the guest becomes. */
const handOver = async (from: string, to: string): Promise<void> => {
  actStore.handOver(from, to);
  for (const table of [db.acts, db.blobs])
    await table
      .where('account')
      .equals(from)
      .modify({ account: to })
      .catch(() => undefined);
  await changed();
  void run();
};

/** Nothing of this account stays here, written or drafted. */
export const forget = async (account: string): Promise<void> => {
  const theirs = actStore.held().filter((act) => [account, ''].includes(act.account));
  actStore.drop(theirs.map(({ id }) => id));
  for (const table of [db.acts, db.blobs, db.drafts, db.notes])
    await table.where('account').anyOf(account, '').delete();
  forgetOwner();
  await changed();
};

/** Notes of other tabs, and what found no room before. */
const lookAgain = async (): Promise<void> => {
  await adoptNotes();
  if (actStore.held().length === 0) return;
  await writeHeld();
  await changed();
};

let account = me();
let guest = authStore.get().user?.guest ?? false;
/** A visitor's first session makes a guest, and signing in an account of a guest: the rest is theirs. */
const follow = async () => {
  const next = me();
  if (next === account) {
    guest = authStore.get().user?.guest ?? guest;
    return;
  }
  const [before, mayFollow] = [account, account === '' || guest];
  account = next;
  guest = authStore.get().user?.guest ?? false;
  if (mayFollow && next !== '') await handOver(before, next);
  await followDrafts();
  await look();
  wake();
};

const start = async (): Promise<void> => {
  keepNotes();
  await look();
  // A full device can not take them over; what waits already goes on.
  await adoptNotes().catch(() => undefined);
  addEventListener('online', wake);
  onLineWell(wake);
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') wake();
    else leaveToWorker();
  });
  addEventListener('offline', leaveToWorker);
  authStore.subscribe(() => void follow());
  // Without a database the drafts live where they always did.
  startKeeping().catch(() => undefined);
  setInterval(() => void lookAgain().then(run, run), lookEvery);
  entrustQuietly();
  void run();
};
const started = start().catch(() => undefined);

/** What waits has been looked at, as far as it can be read. */
export const ready = (): Promise<void> => started;
