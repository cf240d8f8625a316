import type { CodeName } from '#contract/errors.ts';
import type { JobKind } from '#contract/job.ts';
import type { Executor, Transaction } from '../db/database.ts';
import type { SentOut } from '../engines/sent-out.ts';
import type { ClaimedJob } from './job-work.store.ts';

export type { ClaimedJob } from './job-work.store.ts';

/** How a job is worked on. */
export interface JobIo {
  /** Aborted when it is cancelled, its time is over, or it is no longer this worker's. */
  signal: AbortSignal;
  /**
   * Aborted when its person stops it while something is out at a service that takes nothing back:
   * no more is sent, and what comes is delivered and paid.
   */
  stopped: AbortSignal;
  sent: SentOut;
  /** 0 to 1, and a data URL of the image so far. May be called often: it is thinned out. */
  progress: (fraction: number, preview?: () => Promise<string>) => void;
  /** Keeps what a service calls the work; whoever takes the job over is given it. */
  remember: (remote: unknown) => Promise<void>;
  /** Whether somebody else's job waits for a worker. */
  othersWait: () => Promise<boolean>;
  /**
   * Takes one of the places that a service has, over all processes; false: none is free.
   * @param label the service in words for people
   */
  place: (channel: { channelId: number; label: string; places: number }) => Promise<boolean>;
}

/** What became of a job. */
export type JobEnd<Result> =
  | { state: 'done'; result: Result }
  | { state: 'error'; codeName: CodeName; message: string }
  /** `message`: what it took all the same. */
  | { state: 'cancelled'; message?: string };

/** What works on a job found: it, or that the services are busy and which to wait for. */
export type JobOutcome<Result> = { result: Result } | { waitFor: number };

/** What people are told of a job's end, in a notification. */
export interface JobWords {
  /** What it is called where it has no title. */
  name: string;
  /** What is said of one that failed without a reason. */
  failed: string;
  /** What is said of those that are done, by their numbers. */
  done: (db: Executor, ids: readonly number[]) => Promise<ReadonlyMap<number, string>>;
  /** Where a job that is about no message leads: a path of the page. */
  url?: (subjectId: number) => string;
}

/** A kind of long work. */
export interface JobWork<Result> {
  kind: JobKind;
  /** How long one may take from its call to its end, ms; its hold lives as long. */
  livesMs: number;
  words: JobWords;
  /** Locks what `finish` changes, before the job's own row: the order that everybody keeps. */
  lock?: (tx: Transaction, job: Pick<ClaimedJob, 'id' | 'subject_id'>) => Promise<void>;
  /** Does it. @throws JobError, or the signal's reason once it is aborted */
  work: (job: ClaimedJob, io: JobIo) => Promise<JobOutcome<Result>>;
  /**
   * Writes what became of it, with its charge, in the transaction that ends it: once for every job.
   * Its session's row, or what `lock` locks, is locked. Gives how it ended after all, which may be that nobody wants its
   * result any more, and the tokens that it took.
   */
  finish: (
    tx: Transaction,
    job: ClaimedJob,
    end: JobEnd<Result>,
  ) => Promise<{ state: JobEnd<Result>['state']; deductTokens: number }>;
  /**
   * What it took beside its hold though nothing is delivered, in place of the words 没有扣费; null:
   * nothing.
   */
  tookAllTheSame?: (job: ClaimedJob) => string | null;
  /** Takes away what `work` left outside the database, when its result is not wanted any more. */
  discard: (result: Result) => Promise<void>;
  /** The same by what a worker remembered that died before it had a result to give. */
  clear: (job: ClaimedJob) => Promise<void>;
}

/** Finds the kind of a job among those that there are. @throws Error: there is none of that name */
export const kindAmong = (
  all: readonly JobWork<unknown>[],
): ((job: Pick<ClaimedJob, 'kind'>) => JobWork<unknown>) => {
  const kinds = new Map(all.map((kind) => [kind.kind as string, kind]));
  return (job) => {
    const kind = kinds.get(job.kind);
    if (!kind) throw new Error(`nobody works on jobs of the kind ${job.kind}`);
    return kind;
  };
};

/** Ends a job, or this try of it. */
export class JobError extends Error {
  readonly codeName: CodeName;
  /** A later try may do it. */
  readonly retriable: boolean;
  /** It waits so long for its turn, ms, which uses up no try; null: a try like others. */
  readonly turnInMs: number | null;
  constructor(
    codeName: CodeName,
    message: string,
    options: { retriable: boolean; turnInMs?: number },
  ) {
    super(message);
    this.codeName = codeName;
    this.retriable = options.retriable;
    this.turnInMs = options.turnInMs ?? null;
  }
}

/** The message that a job makes something for. */
export const messageOf = (job: Pick<ClaimedJob, 'id' | 'session_id' | 'history_id'>) => {
  const { session_id: sessionId, history_id: historyId } = job;
  if (sessionId === null || historyId === null) throw new Error(`job ${job.id} has no message`);
  return { sessionId, historyId };
};
