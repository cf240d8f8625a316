import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import type { CodeName } from '#contract/errors.ts';
import { codes } from '#contract/errors.ts';
import type {
  Answer,
  Calls,
  DownloadName,
  Parsed,
  PlainCallName,
  SlowName,
  StreamName,
  UploadName,
} from '#contract/calls.ts';
import type { Executor } from '../db/database.ts';

/** The account behind a valid token, read from the database for this very request. */
export interface Identity {
  id: number;
  userName: string;
  guest: boolean;
  /** Who they are where people are counted: an account is one, all guests of a network are, too. */
  person: string;
  manager: boolean;
  /** A manager who may also make managers, and restore and back up. */
  owner: boolean;
  /** The account is in 未成年人模式; left out: it is not known. */
  minor?: boolean;
  /** The operator asks people to agree to something; left out: it is not known. */
  askedToAgree?: boolean;
  /** A manager who may look and change nothing. */
  auditor?: boolean;
  /** An administrator forces this person's sessions to be private. */
  sessionPrivate: boolean;
  sessionBlacklist: boolean;
  /** The login that the token belongs to; revoked by logout. */
  jti: string;
  /** Of a manager: says in the log of acts that they opened what is another's alone, once an hour. */
  opens?: (db: Executor, what: ActNote) => Promise<void>;
}

export interface Context<Who = Identity | null> {
  /** The account, or null where the call is public and no token came. */
  user: Who;
  /** Where this call's SQL goes: the pool, or for an idempotent call the transaction that it runs in. */
  db: Executor;
  ip: string;
  /** Whether whoever asked has hung up: what is only for their eyes need not be made. */
  gone: () => boolean;
  /** The name or address that the request was sent to. */
  host: string;
  /** Why the request may have come from the internet, for the log; null: from this network. */
  outside: () => string | null;
  /** Where people reach this server, such as `https://example.com`. */
  origin: string;
  /** What the browser says it is. */
  agent: string;
  requestId: string;
  log: FastifyBaseLogger;
  /** Hands a token to the client in the answer's `authorization` header. */
  issueToken: (userId: number) => Promise<string>;
  /** Of a repeat of a call with secrets: what it was answered, without them; else null. */
  repeated: unknown;
  /** Runs once what the handler did is committed; never after a failure. */
  afterCommit: (act: () => void | Promise<void>) => void;
  /**
   * Says in the log of managers' acts what a call changed: whose or which thing, from what to what.
   * A line is written for each of their changing calls, also for one that says nothing.
   */
  noteAct: (act: ActNote) => void;
  /** Writes that line at once, in a transaction that ends before the call does; none follows. */
  keepAct: (tx: Executor, act: ActNote) => Promise<void>;
}

export interface ActNote {
  /** Such as `user:12`. */
  subject: string;
  from?: unknown;
  to?: unknown;
}

/** A line of the log of managers' acts. */
export interface ManagerAct extends Partial<ActNote> {
  /** The same again within an hour is no line of its own. */
  hourly?: boolean;
  userId: number;
  call: string;
  input: unknown;
  ip: string;
}

type WhoOf<K extends keyof Calls> = Calls[K]['access'] extends 'public'
  ? Identity | null
  : Identity;

/** Serves a call: gets validated input, gives what stands in `data`. Refuses by throwing a Refusal. */
type Handler<K extends PlainCallName> = (
  input: Parsed<K>,
  context: Context<WhoOf<K>>,
) => Promise<Answer<K>> | Answer<K>;

/** Serves a stream: writes to the raw reply itself, after its own checks. */
type StreamHandler<K extends StreamName | DownloadName> = (
  input: Parsed<K>,
  context: Context<WhoOf<K>> & { request: FastifyRequest; reply: FastifyReply },
) => Promise<void>;

/** The one file of an upload, whole in memory: its size was checked while it came in. */
export interface UploadedFile {
  /** As the person's device has it; not to be trusted. */
  name: string;
  /** As the client says; not to be trusted. */
  mime: string;
  data: Buffer;
  /** What stood beside it in the form; not to be trusted. */
  fields?: Record<string, string>;
}

type SlowHandler<K extends SlowName> = (
  input: Parsed<K>,
  context: Context<WhoOf<K>> &
    (K extends UploadName
      ? {
          file: UploadedFile;
          /** What came in the call's other fields of files. */
          files: Record<string, UploadedFile>;
        }
      : object),
) => Promise<(db: Executor) => Promise<Answer<K>>>;

export type Handlers = { [K in Exclude<PlainCallName, SlowName>]: Handler<K> } & {
  [K in StreamName | DownloadName]: StreamHandler<K>;
} & { [K in SlowName]: SlowHandler<K> };

/** Whose token or ticket a request carries. */
export interface Identified {
  identity: Identity;
  /** An administrator disabled the account: it is answered 3001. */
  disabled: boolean;
  /** A token to go on with, when the one that came is older than a day. */
  refreshed?: string;
}

/** What the pipeline needs of the people's area. */
export interface Authenticator {
  /** Null for a token that is forged, expired or revoked. */
  identify: (db: Executor, token: string) => Promise<Identified | null>;
  /**
   * Uses the ticket up. Null for one that is unknown, used, expired, or of another reply.
   * @param historyId the reply whose stream is asked for; null: something else is
   */
  redeemTicket: (
    db: Executor,
    ticket: string,
    historyId: number | null,
  ) => Promise<Identified | null>;
  /** Null when there is no such account any more. */
  issueToken: (
    db: Executor,
    userId: number,
    agent: string,
    from?: {
      /** It is a browser that was not used for this account before. */
      fresh?: boolean;
      /** A mark of the network that it came from. */
      network?: string;
    },
  ) => Promise<string | null>;
  /** The same for who had one by an earlier answer: null once they have signed out everywhere. */
  issueAgain: (db: Executor, userId: number, agent: string) => Promise<string | null>;
  /** What a token is told that nobody is found by. */
  whyEnded: (db: Executor, token: string) => Promise<string>;
  /**
   * Lets a call go on that asks the person to prove that it is they: by the password that came with
   * it, or for `recent` by one of a short while ago.
   * @throws Refusal confirm_needed, wrong_password, too_many
   */
  confirm: (
    how: 'recent' | 'always',
    password: string | undefined,
    context: { user: Identity; ip: string; log: FastifyBaseLogger },
  ) => Promise<void>;
  /** Those of these logins that still stand: neither revoked nor over, the account not disabled. */
  signedIn: (db: Executor, jtis: string[]) => Promise<Set<string>>;
}

/** A refusal with a code of contract/errors.ts; becomes the envelope and the code's HTTP status. */
export class Refusal extends Error {
  readonly codeName: CodeName;
  readonly data: unknown;
  constructor(name: CodeName, message: string = codes[name].text, data: unknown = null) {
    super(message);
    this.codeName = name;
    this.data = data;
  }
}
