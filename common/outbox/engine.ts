import type { calls, CallName, In, Out } from '#contract/calls.ts';
import { codeNumbers } from '#contract/page-errors.ts';

/**
 * What is to be done on the server, in order, once, when it can be reached. This part knows neither
 * screen nor storage: page and service worker give it both.
 */

/** The calls that may wait for a network. Each is the same when it is repeated. */
export type ActName = {
  [K in CallName]: (typeof calls)[K] extends { offline: true } ? K : never;
}[CallName];

/** An image or file of a message that still has to be uploaded. */
export interface Part {
  /** Of its bytes in the store. */
  id: string;
  kind: 'image' | 'file';
  name: string;
  size: number;
  /** Idempotency key of its upload. */
  key: string;
  /** On the server; empty: not yet there. An image has an address, a file a number. */
  url: string;
  uuid: string;
}

/** What stands for an act: all of it but when it is done. */
interface ActBase<K extends ActName> {
  name: K;
  /** Its idempotency key. */
  key: string;
  /** The acts of one lane are done one after the other: a session's uuid, or 'settings'. */
  lane: string;
  input: In<K>;
  /** When the person did it, ISO 8601. */
  made: string;
  /** Of a message: the newest one of its session that was known then. */
  before?: number | undefined;
  parts?: readonly Part[] | undefined;
  /** Of a message that asks for images: how they are begun once it is with the server. */
  draw?: Omit<In<'generateImage'>, 'history_id'> | undefined;
}
export type NewAct = { [K in ActName]: ActBase<K> }[ActName];

export type Act = NewAct & {
  /** Grows in the order in which acts were written down. */
  id: number;
  /** Whose it is; empty: a visitor's, before there is an account. Nobody else sends it. */
  account: string;
  /** How often the server may have heard of it, without an answer that arrived. */
  tries: number;
  /** How often the server had a fault over it. */
  faults: number;
  /** It was refused: it waits for the person. */
  failed: { code: number; message: string } | null;
};

/** Why a call gave nothing. */
export interface Failure {
  /** HTTP status; 0: no answer came. */
  status: number;
  code: number;
  message: string;
  /** How long the server asks to wait, ms; 0: it does not say. */
  wait: number;
}

/** What the engine keeps acts in. Every change is whole or not at all. */
export interface ActStore {
  /** All acts, in their order. */
  all: () => Promise<Act[]>;
  /** Changes one; false where it is gone. */
  change: (
    id: number,
    change: Partial<Pick<Act, 'tries' | 'faults' | 'failed' | 'parts' | 'before'>>,
  ) => Promise<boolean>;
  /** Takes acts away, with the bytes of their parts. */
  remove: (ids: readonly number[]) => Promise<void>;
  blob: (id: string) => Promise<Blob | undefined>;
}

export type Sent = Out<'sendMessage'>;

/** What the engine tells of. */
export type News =
  | { type: 'sending'; key: string }
  /** Done and gone. `data`: what the server answered. */
  | { type: 'done'; act: Act; data: unknown }
  /** Refused and gone: what was shown of it is no longer true. */
  | { type: 'undone'; act: Act; message: string }
  /** It stands differently: failed, or waiting again. */
  | { type: 'changed' }
  /** The login has ended; what is left waits for it. */
  | { type: 'signed-out' };

export interface Line {
  /** The account that is signed in now; empty: none. */
  account: () => string;
  /** Makes the call. @throws Failure */
  call: (act: NewAct) => Promise<unknown>;
  /** Begins the images of a message. @throws Failure */
  draw: (input: In<'generateImage'>) => Promise<unknown>;
  /** Stores a part. @throws Failure */
  upload: (part: Part, blob: Blob) => Promise<Pick<Part, 'url' | 'uuid' | 'name' | 'size'>>;
  /** The newest messages of a session behind a number, oldest first. @throws Failure */
  newer: (
    session: string,
    after: number,
  ) => Promise<readonly { id: number; human: string; created_at: string; beside: number | null }[]>;
  tell: (news: News) => void;
}

/** Answers of a server that is not well, or not there yet. */
const passing: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504]);
/** After so many faults of the server over one act it is for the person to say. */
const mostFaults = 6;
const waits = { first: 1_000, most: 60_000, busyFirst: 700, busyMost: 5_000 } as const;
/** So many lanes at once. */
const lanesAtOnce = 4;

export const isFailure = (error: unknown): error is Failure =>
  typeof error === 'object' && error !== null && 'status' in error && 'code' in error;

type Verdict = 'done' | 'again' | 'busy' | 'signed-out' | 'fault' | 'refused';

const deletes: ReadonlySet<ActName> = new Set([
  'deleteHistory',
  'deleteSession',
  'removeFromFavorites',
]);

/** What a failure means for an act. */
export const judge = (name: ActName, { status, code }: Failure): Verdict => {
  if (status === 0 || passing.has(status)) return 'again';
  // The answer broke off on its way.
  if (code === codeNumbers.internal && status < codeNumbers.internal) return 'again';
  if (status === 401 || code === codeNumbers.login_expired) return 'signed-out';
  if (code === codeNumbers.session_busy) return 'busy';
  // What shall be gone is gone.
  if (
    deletes.has(name) &&
    (status === codeNumbers.not_found || code === codeNumbers.session_deleted)
  )
    return 'done';
  return status >= 500 ? 'fault' : 'refused';
};

/** Messages wait for the person when they are refused; of anything else the person is told. */
export const staysWhenRefused = ({ name }: Pick<Act, 'name'>): boolean =>
  name === 'sendMessage' || name === 'newSession';

/** The act of a lane that comes next; undefined: none, or one before it waits for the person. */
export const nextOf = (lane: readonly Act[]): Act | undefined => {
  const blocked = lane.find(({ failed }) => failed !== null);
  if (blocked === undefined) return lane[0];
  // A refused message holds up what was written after it, and nothing else.
  return blocked.name === 'newSession'
    ? undefined
    : lane.find(({ failed, name }) => failed === null && name !== 'sendMessage');
};

/** The body of a message with the images and files that were uploaded for it. */
export const withParts = (input: In<'sendMessage'>, parts: readonly Part[]): In<'sendMessage'> => {
  if (parts.length === 0) return input;
  const message = JSON.parse(input.msg) as {
    images: string[];
    files: { uuid: string; name: string; size: number }[];
  };
  const images = parts.filter(({ kind }) => kind === 'image').map(({ url }) => url);
  const files = parts
    .filter(({ kind }) => kind === 'file')
    .map(({ uuid, name, size }) => ({ uuid, name, size }));
  return {
    ...input,
    msg: JSON.stringify({
      ...message,
      type: images.length + message.images.length > 0 ? 'chat-vision' : 'chat',
      images: [...message.images, ...images],
      files: [...message.files, ...files],
    }),
  };
};

const wordsOf = (human: string): string => {
  try {
    const value = JSON.parse(human) as { prompt?: unknown } | null;
    return typeof value?.prompt === 'string' ? value.prompt : human;
  } catch {
    return human;
  }
};

export const createEngine = (store: ActStore, line: Line) => {
  /** Until when a lane rests, on the clock that nobody sets, and how often it has rested. */
  const rests = new Map<string, { until: number; times: number; busy: boolean }>();

  const rest = (lane: string, busy: boolean, asked: number) => {
    const before = rests.get(lane);
    const times = before?.busy === busy ? before.times + 1 : 0;
    const full = busy
      ? Math.min(waits.busyMost, waits.busyFirst * 1.5 ** times)
      : Math.min(waits.most, waits.first * 2 ** times);
    // Half of it is chance, so that a server that comes back is not met by everybody at once.
    const wait = Math.max(asked, full / 2 + (Math.random() * full) / 2);
    rests.set(lane, { until: performance.now() + wait, times, busy });
  };

  /**
   * The server may have it, and may no longer know its key: after a day, by a clock that may have
   * been set meanwhile. Its messages tell.
   */
  const found = async (act: Act): Promise<Sent | null> => {
    if (act.name !== 'sendMessage' || act.tries === 0 || act.input.replace !== undefined)
      return null;
    const words = wordsOf(act.input.msg);
    const newer = await line
      .newer(String(act.input.session_id), act.before ?? 0)
      .catch((error: unknown) => {
        // A login that has ended reads as nobody's: sending says what stands against the message.
        if (isFailure(error) && judge('sendMessage', error) === 'refused') return [];
        throw error;
      });
    const same = newer.find(({ human }) => wordsOf(human) === words);
    return same
      ? { id: same.id, msg: same.human, created_at: same.created_at, beside: same.beside }
      : null;
  };

  const uploaded = async (act: Act): Promise<readonly Part[]> => {
    const parts = [...(act.parts ?? [])];
    for (const [at, part] of parts.entries()) {
      if (part.url !== '' || part.uuid !== '') continue;
      const blob = await store.blob(part.id);
      if (!blob) {
        const failure: Failure = {
          status: 200,
          code: codeNumbers.upload_unreadable,
          message: `「${part.name}」已不在这台设备上`,
          wait: 0,
        };
        throw failure;
      }
      parts[at] = { ...part, ...(await line.upload(part, blob)) };
      await store.change(act.id, { parts: [...parts] });
    }
    return parts;
  };

  /** Begins images. What stands against it is for the person to see at the message, which is there. */
  const draw = async (input: In<'generateImage'>): Promise<void> => {
    try {
      await line.draw(input);
    } catch (error) {
      const verdict = isFailure(error) ? judge('sendMessage', error) : 'again';
      if (verdict !== 'refused' && verdict !== 'fault') throw error;
    }
  };

  const attempt = async (act: Act): Promise<unknown> => {
    if (act.name !== 'sendMessage') return line.call(act);
    const sent =
      (await found(act)) ??
      (await line.call({ ...act, input: withParts(act.input, await uploaded(act)) }));
    if (act.draw) await draw({ ...act.draw, history_id: (sent as Sent).id });
    return sent;
  };

  /** What follows a message that arrived: the next one is newer than it. */
  const finish = async (act: Act, data: unknown) => {
    await store.remove([act.id]);
    rests.delete(act.lane);
    if (act.name === 'sendMessage') {
      const { id } = data as Sent;
      const later = (await store.all()).filter(
        (each) => each.lane === act.lane && each.name === 'sendMessage' && (each.before ?? 0) < id,
      );
      for (const each of later) await store.change(each.id, { before: id });
    }
    line.tell({ type: 'done', act, data });
  };

  /** Does one act; false: its lane has to wait. */
  const step = async (act: Act): Promise<boolean> => {
    const account = line.account();
    if (account !== act.account) return false;
    // From here on the server may have it: written down before, for whoever comes after a crash.
    const begun = await store.change(act.id, { tries: act.tries + 1 });
    if (!begun || line.account() !== account) return begun;
    line.tell({ type: 'sending', key: act.key });
    try {
      await finish(act, await attempt(act));
      return true;
    } catch (error) {
      if (!isFailure(error)) throw error;
      // Whom it was refused is no longer this person.
      if (line.account() !== account) return false;
      return await settle(act, error);
    }
  };

  const settle = async (act: Act, failure: Failure): Promise<boolean> => {
    const verdict = judge(act.name, failure);
    if (verdict === 'done') {
      await finish(act, {});
      return true;
    }
    const faults = act.faults + (verdict === 'fault' ? 1 : 0);
    const over = verdict === 'refused' || faults >= mostFaults;
    if (over && !staysWhenRefused(act)) {
      await store.remove([act.id]);
      line.tell({ type: 'undone', act, message: failure.message });
      return true;
    }
    if (over) {
      const failed = { code: failure.code, message: failure.message };
      // It was answered: whoever tries again begins anew.
      await store.change(act.id, { failed, faults: 0, tries: 0 });
      line.tell({ type: 'changed' });
      return true;
    }
    // A busy session has answered: nothing of it arrived.
    const heard = verdict === 'busy' || verdict === 'signed-out' || failure.status === 429;
    await store.change(act.id, {
      faults,
      ...(heard ? { tries: act.tries } : {}),
    });
    rest(act.lane, verdict === 'busy', failure.wait);
    line.tell({ type: verdict === 'signed-out' ? 'signed-out' : 'changed' });
    return false;
  };

  const own = async (): Promise<Map<string, Act[]>> => {
    const account = line.account();
    const lanes = new Map<string, Act[]>();
    for (const act of await store.all()) {
      if (act.account !== account) continue;
      lanes.set(act.lane, [...(lanes.get(act.lane) ?? []), act]);
    }
    return lanes;
  };

  const isResting = (lane: string): boolean => (rests.get(lane)?.until ?? 0) > performance.now();

  const runLane = async (lane: string): Promise<void> => {
    for (;;) {
      if (isResting(lane)) return;
      // Read anew each time: people cancel and add while it runs.
      const act = nextOf((await own()).get(lane) ?? []);
      if (!act || !(await step(act))) return;
    }
  };

  return {
    /** Does all that can be done now. Gives when something may be tried again, ms; null: nothing is left to do. */
    run: async (): Promise<number | null> => {
      const open = [...(await own()).keys()];
      // A visitor's first session makes the account that all else is sent by.
      const atOnce = line.account() === '' ? 1 : lanesAtOnce;
      const take = async () => {
        for (let lane = open.shift(); lane !== undefined; lane = open.shift()) await runLane(lane);
      };
      await Promise.all(Array.from({ length: atOnce }, take));
      const left = [...(await own())].filter(([, acts]) => nextOf(acts) !== undefined);
      if (left.length === 0) return null;
      const now = performance.now();
      return Math.max(
        0,
        Math.min(...left.map(([lane]) => (rests.get(lane)?.until ?? now + waits.first) - now)),
      );
    },
    /** There is reason to try at once: a network, a person, an answer that has ended. */
    wake: (lane?: string): void => {
      if (lane === undefined) rests.clear();
      else rests.delete(lane);
    },
  };
};
