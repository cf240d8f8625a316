import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { WaitKind } from '#contract/wait.ts';
import type { AuthService } from './areas/auth/auth.service.ts';
import type { SecondFactor } from './areas/auth/second-factor.service.ts';
import type { Replies } from './areas/chat/replies.ts';
import type { KnowledgeService } from './areas/embedding/embedding.service.ts';
import type { FileService } from './areas/file/file.service.ts';
import type { Shows } from './db/shown.ts';
import type { SideServices } from './areas/model/side-services.ts';
import type { Signing } from './areas/compliance/signing.service.ts';
import type { SafetyService } from './areas/moderation/safety.service.ts';
import type { ModelService } from './areas/model/model.service.ts';
import type { Payable } from './areas/payment/payable.ts';
import type { PaymentService } from './areas/payment/payment.service.ts';
import type { SpeechService } from './areas/speech/speech.service.ts';
import type { PromptService } from './areas/prompt/prompt.service.ts';
import type { BackupPlan } from './backup/backup-plan.ts';
import type { Database, Executor, Transaction } from './db/database.ts';
import type { Instance } from './db/instance.ts';
import type { Held } from './db/held.ts';
import type { Figures } from './http/figures.ts';
import type { EmbeddingModels } from './engines/embedding/embedding-models.ts';
import type { Handlers } from './http/handlers.ts';
import type { JobEvents } from './jobs/job-events.ts';
import type { JobWork } from './jobs/job-kind.ts';
import type { Jobs } from './jobs/jobs.ts';
import type { GuardedFetch } from './net/guarded-fetch.ts';
import type { Settings } from './settings.ts';
import type { DiskRoom } from './storage/disk-room.ts';
import type { Storage } from './storage/storage-interface.ts';
import type { Valkey } from './valkey/valkey.ts';
import type { WaitSource } from './waits/wait-source.ts';
import type { Waits } from './waits/wait.service.ts';

/** What every process has, those that only work on jobs included. */
export interface Kit {
  db: Database;
  settings: Settings;
  log: FastifyBaseLogger;
  instance: Instance;
  /** Null: the processes do without. */
  valkey: Valkey | null;
  storage: Storage;
  models: ModelService;
  disk: DiskRoom;
  files: FileService;
  prompts: PromptService;
  speech: SpeechService;
  safety: SafetyService;
  signing: Signing;
  knowledge: KnowledgeService;
  embeddings: EmbeddingModels;
  services: SideServices;
  /** Fetches what everybody on the internet could fetch, and nothing else. */
  fetch: GuardedFetch;
}

/** What a process that serves people has besides. */
export interface Host extends Kit {
  auth: AuthService;
  secondFactor: SecondFactor;
  replies: Replies;
  /** What this process noted of its requests. */
  figures: Figures;
  jobs: Jobs;
  jobEvents: JobEvents;
  waits: Waits;
  payments: PaymentService;
  backups: BackupPlan;
  /** Cancels what is being made for a message or for all of a session. */
  cancelJobs: (of: { subject: 'message'; id: number } | { sessionId: number }) => Promise<void>;
}

/** Done once a minute, in one of all processes, in a transaction of its own. */
export type Chore = (tx: Transaction) => Promise<unknown>;

/** What an area brings to the server; areas/list.ts names them all. */
export interface Area {
  /** The long works that it does. */
  jobKinds?: readonly JobWork<unknown>[];
  chores?: readonly Chore[];
  /** Which uploaded files it shows somewhere: those are never cleared away. */
  shows?: Shows;
  /** What it sells. */
  payables?: readonly Payable[];
  /** Somebody registered, by the link that they may have followed; `network` and `provider` are empty where they cannot be told. */
  registered?: (
    tx: Transaction,
    userId: number,
    invite: { code: string | undefined; network: string; provider: string },
  ) => Promise<void>;
  /** Where it holds what is a person's. */
  holds?: readonly Held[];
  /**
   * An account is ended: takes away what is not told by `holds` alone, before the rows go. Gives
   * what takes the files away once that is committed.
   */
  leave?: (tx: Transaction, userId: number) => Promise<() => Promise<unknown>>;
  /** Gives what is a guest's to the account that the guest became. */
  takeOver?: (db: Executor, fromUserId: number, toUserId: number) => Promise<void>;
  /** How what it makes people wait for stands. */
  waits?: Partial<Record<WaitKind, WaitSource>>;
  /** Writes what a new database begins with. */
  seed?: (db: Database) => Promise<void>;
  /** The handlers of its calls, in processes that serve people. */
  serve?: (host: Host) => Partial<Handlers>;
  /** The process is asked to stop: lets what runs end within so many ms, then ends it. */
  drain?: (ms: number) => Promise<void>;
  /** Its addresses beside the calls. */
  routes?: (http: FastifyInstance, host: Host) => void;
}

type ServedBy<A> = A extends { serve: (host: Host) => infer H } ? H : never;
type AllOf<U> = (U extends unknown ? (each: U) => void : never) extends (all: infer I) => void
  ? I
  : never;

/** The handlers of all areas; a call that none of them serves does not compile where this is used. */
export const handlersOf = <const A extends readonly Area[]>(
  areas: A,
  host: Host,
): AllOf<ServedBy<A[number]>> =>
  Object.assign({}, ...areas.map((area) => area.serve?.(host))) as AllOf<ServedBy<A[number]>>;
