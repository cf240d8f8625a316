import * as z from 'zod/mini';
import type { CodeName } from './errors.ts';
import { limits } from './limits.ts';
import { maskName } from './mask-name.ts';

/**
 * Who may use a call.
 * - public: anybody; a valid token is honoured when there is one.
 * - guest: every account, those made without registering included.
 * - user: registered accounts; a guest is answered 1001.
 * - manager: administrators alone; to others the call is 404.
 * - owner: those administrators alone who own the service; to others the call is 404.
 * - key: whoever holds an API key of an account that may use the API.
 */
export type Access = 'public' | 'guest' | 'user' | 'manager' | 'owner' | 'key';

/**
 * How a call answers.
 * - envelope: `{ code, message, data }`.
 * - openai: bare, failures as OpenAI writes them: `{ error: { message, type, param, code } }`.
 * - anthropic: bare, failures as Anthropic writes them: `{ type: 'error', error: { type, message } }`.
 * - plain: bare, failures as `{ result: false, code, message }`.
 */
export type Wire = 'envelope' | 'openai' | 'anthropic' | 'plain';

export type Written = 'few' | 'many' | 'most';

type Schema = z.ZodMiniType;

export interface CallSpec<I extends Schema = Schema, O extends Schema = Schema> {
  kind: 'call' | 'stream' | 'upload' | 'download' | 'open';
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path on the wire, `/api/` or `/v1/` included. */
  path: `/api/${string}` | `/v1/${string}`;
  wire: Wire;
  access: Access;
  summary: string;
  input: I;
  /** What stands in `data` of the envelope. A stream's output is one event's JSON. */
  output: O;
  /** Fields of a POST that travel in the query instead of the body. */
  inQuery: readonly string[];
  /** Honours the header `idempotency-key`; its handler runs in one transaction, with the key's row. */
  idempotent: boolean;
  /**
   * Of one that is idempotent: it asks a service, so it runs in no transaction. Its key is taken
   * before; a repeat waits for the answer of the first.
   */
  claimsKey: boolean;
  /** Fields of its answer that are not kept with its key: a repeat gets them from its handler. */
  secrets: readonly string[];
  /** The business codes (HTTP 200, `code` above 0) that it may answer, those of its access included. */
  codes: readonly CodeName[];
  /** A disabled account may make it, as nobody: it must be able to sign in as another. */
  forDisabled: boolean;
  /** Requests a minute and address above the general limit's strictness. */
  limit: 'general' | 'credentials';
  /**
   * Asks the person to prove by their password that it is they (field `password`, see
   * `confirmation`).
   * - recent: not where they signed in or proved it a short while ago (`limits.confirmedFor`), so a
   *   client that knows of no such field can sign in anew and go on.
   * - always: each time.
   */
  confirm: 'no' | 'recent' | 'always';
  /** Whether an input makes a service work: of that guests have so much in a day. */
  countsForGuests: (input: Record<string, unknown>) => boolean;
  /**
   * How many rows a change may write: what writes thousands holds no more of the connections to the
   * database than leaves others some (`many`), and what takes many seconds few of them (`most`).
   */
  writes: (input: Record<string, unknown>) => Written;
  /** A page of another address may call it: its right is the token, which no browser adds itself. */
  crossOrigin: boolean;
  /** Most bytes of the body; null: the general limit. Of an upload: of its file. */
  maxBytes: number | null;
  /** What is said of a file beyond that; null: the general words. */
  tooLarge: string | null;
  /** The same where a guest or a visitor calls; null: as for everybody. */
  guestMaxBytes: number | null;
  /** Most keys, texts, lists, objects and commas of a body of JSON; null: the general limit. */
  maxParts: number | null;
  /** The body's text is handed on as this field, unread: it may be too large to be read in passing. */
  textBody: string | null;
  /**
   * Takes long before there is anything to store: its handler first works without a transaction, so
   * that none of the few connections to the database waits with it, and gives what is then done in it.
   */
  slow: boolean;
  /** It may wait for a network, and be repeated: made twice it is the same as made once. */
  offline: boolean;
  /** What a page has to read anew after it: all that is on screen, or nothing. */
  effect: 'screen' | 'none';
  /** A manager's call that changes something: each leaves a line in the log of acts. */
  logged: boolean;
  /** Of an upload: its fields stand in the multipart body beside the file, which may be missing. */
  fieldsInBody: boolean;
  /**
   * Of a call of the public API: the fields of its multipart/form-data that hold files. Of an upload
   * with its fields in the body: those beside `file`.
   */
  files: readonly string[];
}

interface CallOptions<I extends Schema, O extends Schema> {
  method: CallSpec['method'];
  path: CallSpec['path'];
  access: Access;
  summary: string;
  input: I;
  output: O;
  inQuery?: readonly string[];
  idempotent?: boolean;
  claimsKey?: boolean;
  secrets?: readonly string[];
  /** Those that its access does not imply. */
  codes?: readonly CodeName[];
  forDisabled?: boolean;
  limit?: CallSpec['limit'];
  confirm?: CallSpec['confirm'];
  countsForGuests?: (input: z.output<I>) => boolean;
  writes?: (input: z.output<I>) => Written;
  crossOrigin?: boolean;
  maxBytes?: number;
  tooLarge?: string;
  guestMaxBytes?: number;
  maxParts?: number;
  textBody?: string;
  effect?: CallSpec['effect'];
  fieldsInBody?: boolean;
  logged?: boolean;
  wire?: Wire;
  files?: readonly string[];
}

/** What every call of this access may answer. */
const impliedCodes = (
  access: Access,
  forDisabled: boolean,
  method: CallSpec['method'],
): readonly CodeName[] => {
  const ruled: readonly CodeName[] =
    method === 'GET' ? ['minor_limited'] : ['minor_limited', 'agreement_needed'];
  if (access === 'user') return ['account_disabled', 'login_required', ...ruled];
  return access === 'guest' || (access === 'public' && !forDisabled)
    ? ['account_disabled', ...ruled]
    : [];
};

const never = (): boolean => false;
const few = (): Written => 'few';

const spec = <I extends Schema, O extends Schema>(
  kind: CallSpec['kind'],
  {
    countsForGuests = never,
    writes = few,
    codes = [],
    forDisabled = false,
    ...options
  }: CallOptions<I, O>,
): CallSpec<I, O> => ({
  inQuery: [],
  idempotent: false,
  claimsKey: false,
  secrets: [],
  codes: [...new Set([...impliedCodes(options.access, forDisabled, options.method), ...codes])],
  forDisabled,
  limit: 'general',
  confirm: 'no',
  crossOrigin: false,
  maxBytes: null,
  tooLarge: null,
  guestMaxBytes: null,
  maxParts: null,
  textBody: null,
  slow: kind === 'upload',
  offline: false,
  effect: options.method === 'GET' ? 'none' : 'screen',
  fieldsInBody: false,
  logged: true,
  wire: 'envelope',
  files: [],
  ...options,
  // Asked only with what the input's schema gave.
  countsForGuests: countsForGuests as CallSpec['countsForGuests'],
  writes: writes as CallSpec['writes'],
  kind,
});

/** Of calls that always do. */
export const always = (): boolean => true;
export const many = (): Written => 'many';
export const most = (): Written => 'most';

/** A call that answers once, in the envelope `{ code, message, data }`. */
export const call = <I extends Schema, O extends Schema>(
  options: CallOptions<I, O>,
): CallSpec<I, O> & { kind: 'call'; slow: false } => ({
  ...spec('call', options),
  kind: 'call',
  slow: false,
});

/** A call that may be made without a network: it waits in the outbox. */
export const offlineCall = <I extends Schema, O extends Schema>(
  options: CallOptions<I, O>,
): CallSpec<I, O> & { kind: 'call'; slow: false; offline: true } => ({
  ...call(options),
  offline: true,
});

/** A call whose handler first works without a transaction, as an upload's does. */
export const slowCall = <I extends Schema, O extends Schema>(
  options: CallOptions<I, O>,
): CallSpec<I, O> & { kind: 'call'; slow: true } => ({
  ...spec('call', options),
  kind: 'call',
  slow: true,
});

/** A call that answers with server-sent events, each a line of JSON of the output's type. */
export const stream = <I extends Schema, O extends Schema>(
  options: CallOptions<I, O>,
): CallSpec<I, O> & { kind: 'stream' } => ({ ...spec('stream', options), kind: 'stream' });

/**
 * A call that takes one file, in the field `file` of a multipart/form-data body; everything else of
 * its input travels in the query, a `ticket` among it where no header can be set.
 */
export const upload = <I extends Schema, O extends Schema>(
  options: Omit<CallOptions<I, O>, 'method' | 'inQuery'> & { maxBytes: number },
): CallSpec<I, O> & { kind: 'upload'; slow: true } => ({
  ...spec('upload', { ...options, method: 'POST' }),
  kind: 'upload',
  slow: true,
});

/** Answers with a file instead of the envelope; a `ticket` may stand for a GET's header. */
export const download = <I extends Schema, O extends Schema>(
  options: Omit<CallOptions<I, O>, 'method'> & { method?: 'GET' | 'POST' },
): CallSpec<I, O> & { kind: 'download' } => ({
  ...spec('download', { method: 'GET', ...options }),
  kind: 'download',
});

/**
 * A call of the public API under /v1: its right is an API key, and its answer is bare JSON, events
 * or bytes. Fields that its input does not name are handed on as they are.
 */
export const open = <I extends Schema, O extends Schema>(
  options: Omit<CallOptions<I, O>, 'access' | 'effect' | 'crossOrigin'> & {
    path: `/v1/${string}`;
    wire: 'openai' | 'anthropic' | 'plain';
  },
): CallSpec<I, O> & { kind: 'open' } => ({
  ...spec('open', {
    // Whatever is sent may spend or create.
    idempotent: options.method === 'POST',
    ...options,
    access: 'key',
    effect: 'none',
    crossOrigin: true,
  }),
  kind: 'open',
});

/** What a caller may write (defaults left out). */
export type InputOf<C> = C extends CallSpec<infer I, infer _> ? z.input<I> : never;
/** What a handler receives (defaults filled in). */
export type ParsedOf<C> = C extends CallSpec<infer I, infer _> ? z.output<I> : never;
export type OutputOf<C> = C extends CallSpec<infer _, infer O> ? z.output<O> : never;
/** What a handler returns. */
export type AnswerOf<C> = C extends CallSpec<infer _, infer O> ? z.input<O> : never;

export interface Envelope<T = unknown> {
  code: number;
  message: string;
  data: T;
}

// ---- shapes that several areas share --------------------------------------

/**
 * 0 or 1, as the specification writes its flags. Accepts the number, what a switch sends, and
 * either as text, which is all that a query has.
 */
export const flag = z.pipe(
  z.union([z.literal(0), z.literal(1), z.enum(['0', '1', 'true', 'false']), z.boolean()]),
  z.transform((value): 0 | 1 => (value === 'true' || Number(value) === 1 ? 1 : 0)),
);

/** A whole number that may arrive as digits in a query. */
export const wholeNumber = (min: number, max: number) =>
  z.pipe(
    z.pipe(
      z.union([z.number(), z.string().check(z.regex(/^-?\d{1,16}$/, '应为整数'))]),
      z.transform((value) => Number(value)),
    ),
    z.int().check(z.gte(min), z.lte(max)),
  );

/** A number that may arrive as digits, as a field of a form has it. */
export const decimal = (min: number, max: number) =>
  z.pipe(
    z.pipe(
      z.union([z.number(), z.string().check(z.regex(/^\d{1,9}(\.\d{1,9})?$/, '应为数字'))]),
      z.transform((value) => Number(value)),
    ),
    z.number().check(z.gte(min), z.lte(max)),
  );

export const id = wholeNumber(1, Number.MAX_SAFE_INTEGER);
export const page = z._default(wholeNumber(1, 1_000_000), 1);
export const uuid = z.uuid();
/** What a client calls a request of its own: a UUID, or any other text. */
export const requestId = z.string().check(z.minLength(1), z.maxLength(64));
/** ISO 8601, UTC. */
export const time = z.string();

/** Another person's name: one that looks like a telephone number goes out with its middle hidden. */
export const personName = z.pipe(z.pipe(z.string(), z.transform(maskName)), z.string());

export const text = (max: number) => z.string().check(z.maxLength(max));

/** Whether a day, YYYY-MM-DD, is in the calendar. */
const isDay = (day: string): boolean => {
  const at = Date.parse(day);
  return !Number.isNaN(at) && new Date(at).toISOString().slice(0, 10) === day;
};

/** A day, or a moment of it in ISO 8601; empty: none. */
export const moment = text(40).check(
  z.refine((value) => {
    if (value === '') return true;
    const [, year = '', month = '', day = ''] =
      /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?!\d)/.exec(value) ?? [];
    const date = [year, month.padStart(2, '0'), day.padStart(2, '0')].join('-');
    return isDay(date) && !Number.isNaN(Date.parse(value));
  }, '应为一个有的日期或时间'),
);

/** A calendar's month or day as clients' pickers write it, in China's time; an instant counts there. */
const written = (value: string): string => {
  if (value.includes('T')) {
    const at = Date.parse(value);
    return Number.isNaN(at) ? '' : new Date(at + 8 * 3_600_000).toISOString().slice(0, 10);
  }
  const [, year, month, day] =
    /^(\d{4})[-/.年]?(\d{1,2})月?(?:[-/.]?(\d{1,2})日?)?(?: [\d:]{1,8})?$/.exec(value) ?? [];
  return [year, month, day]
    .flatMap((part) => (part === undefined ? [] : part.padStart(2, '0')))
    .join('-');
};

/** YYYY-MM of 2026-01, 2026-1, 2026/01, 202601, 2026年1月, or any day of it. */
export const monthOf = z.pipe(
  z.pipe(
    text(40),
    z.transform((value) => written(value).slice(0, 7)),
  ),
  z.string().check(z.regex(/^[12]\d{3}-(?:0[1-9]|1[0-2])$/, '应为 2026-01 这样的月份')),
);

/** YYYY-MM-DD of 2026-01-05, 2026/1/5, 20260105, 2026年1月5日, or an instant of it. */
export const dayOf = z.pipe(
  z.pipe(text(40), z.transform(written)),
  z
    .string()
    .check(
      z.regex(
        /^[12]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/,
        '应为 2026-01-05 这样的一天',
      ),
      z.refine(isDay, '没有这一天'),
    ),
);

/** A session's uuid, or its number as digits. */
export const sessionRef = z.pipe(
  z.pipe(
    z.union([z.number(), z.string().check(z.maxLength(36))]),
    z.transform((value) => String(value).toLowerCase()),
  ),
  z
    .string()
    .check(
      z.regex(/^([1-9]\d{0,15}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/),
    ),
);

/** A name out of a list; empty is none, as a form sends what was not chosen. */
export const chosen = (max: number) =>
  z.optional(
    z.pipe(
      text(max),
      z.transform((value) => (value === '' ? undefined : value)),
    ),
  );

/** Of calls that ask the person to prove that it is they: left out, the answer may ask for it. */
export const confirmation = { password: z.optional(text(limits.password.max * 4)) };
/** What such a call may answer. */
export const confirmCodes = [
  'confirm_needed',
  'wrong_password',
] as const satisfies readonly CodeName[];

/** By what a list is sorted, one of these; left out: as it is by itself. `order`: desc where left out. */
export const sortedBy = <const T extends readonly string[]>(columns: T) => ({
  sort: z.optional(z.enum(columns)),
  order: z.optional(z.enum(['asc', 'desc'])),
});

export const listOf = <T extends Schema>(item: T) => ({
  list: z.array(item),
  page: z.int(),
  page_count: z.int(),
  page_size: z.int(),
  total: z.int(),
});
