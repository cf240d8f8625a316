import type { calls, CallName, In, Out } from '#contract/calls.ts';
import { codeNumbers } from '#contract/page-errors.ts';

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
  /**
   * Keeps a message that has arrived where it outlives this one, while it leaves what waits; gives
   * what ends that once what came of it is kept. Left out: the server alone has it until then.
   */
  outlast?: (act: Act) => Promise<() => void>;
}

/** Answers of a server that is not well, or not there yet. */
const passing: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504]);
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
