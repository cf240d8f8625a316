import type { Readable } from 'node:stream';
import type { FastifyBaseLogger } from 'fastify';
import type { OpenName, Parsed } from '#contract/calls.ts';
import type { Database, Executor } from '../db/database.ts';
import type { From } from './from.ts';
import type { Identity, Refusal, UploadedFile } from './handlers.ts';
import type { Sink } from './sink.ts';

/** Whose key a request of the public API carries. */
export interface ApiCaller {
  keyId: number;
  user: Identity;
  /** Models that the key may use; empty: all. */
  models: readonly string[];
  /** Tokens that the key may spend in a month; null: no limit of its own. */
  monthLimit: number | null;
  /** Whether the key has bounds of its own, and such of tokens as they are counted among them. */
  metered: boolean;
  countedBound: boolean;
  /** Tokens of one call, prompt and answer together; null: as the model has it. */
  callTokens: number | null;
  /** The number of the process that serves it. */
  instance: number;
  /** Its owner wants requests and answers kept with the log of calls. */
  logBodies: boolean;
  /** What the request used so far. */
  used: typeof nothingUsed;
  /** What its person's group pays of each price. */
  groupFactor: number;
  /** Part of the price that it pays; left out: all of it. */
  priceFactor?: number;
  /** Called in the transaction that pays for an answer, with the answer. */
  alongside?: (tx: Executor, json: unknown) => Promise<void>;
}

/** Tokens of a request as they are counted, and those that were taken for it. */
export const nothingUsed = {
  promptTokens: 0,
  cachedTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
  deductTokens: 0,
};

/** What was asked and how it ended. */
export interface CallNote {
  id: string;
  caller: ApiCaller;
  begunAt: Date;
  path: string;
  model: string;
  status: number;
  /** Empty: it was answered. */
  failure: string;
  /** Until the head of the answer and until its end. */
  firstMs: number;
  ms: number;
  /** Null: they are not kept. */
  request: string | null;
  answer: string | null;
}

/** What the pipeline needs of the area of the keys. */
export interface KeyGate {
  /** @throws Refusal unauthorized, payment_required, forbidden, account_disabled */
  enter: (key: string, ip: string) => Promise<ApiCaller>;
  /** Counts a request; gives headers that tell how many are left. @throws Refusal too_many */
  count: (caller: ApiCaller) => Promise<Record<string, string>>;
  /** What the operator asks of whoever uses this; writes down that they do. @throws Refusal agreement_needed */
  allow: (caller: ApiCaller, call: string, from: From) => Promise<void>;
  /** Writes down what was asked, for the key's owner. */
  note: (call: CallNote) => void;
  /** Calls back once the key is valid no more; gives what to call when nobody needs to know. */
  watch: (caller: ApiCaller, onGone: () => void) => () => void;
}

export interface OpenContext {
  caller: ApiCaller;
  db: Database;
  requestId: string;
  log: FastifyBaseLogger;
  /** Aborted with a Refusal once the client has gone or the key is valid no more. */
  signal: AbortSignal;
  files: (UploadedFile & { field: string })[];
  /** Counts what is held for it beside its body. @throws Refusal too_many, unavailable */
  hold: (bytes: number) => void;
  /** Where the caller reaches this server, without a slash at the end. */
  origin: string;
  /** Adds a header to the answer. */
  header: (name: string, value: string) => void;
  /** A header of the request; empty: it has none. */
  asked: (name: string) => string;
}

/** Where the events of an answer go. */
export interface Events {
  sink: Sink;
  /** The frame that ends the stream with a failure. */
  failure: (refusal: Refusal) => string;
}

export type OpenAnswer =
  | { json: unknown }
  | { text: string; type: string }
  | { bytes: Buffer; type: string }
  /** Read as fast as the caller takes it. */
  | { stream: Readable; type: string }
  /** Writes events until it resolves; the head of the answer is sent. */
  | { events: (events: Events) => Promise<void> };

export type OpenHandlers = {
  [K in OpenName]: (input: Parsed<K>, context: OpenContext) => Promise<OpenAnswer>;
};
