import type { CodeName } from '../../contract/errors.ts';
import type { JobKind } from '../../contract/job.ts';
import type { Transaction } from '../db/database.ts';
import type { ClaimedJob } from './job.store.ts';

export type { ClaimedJob } from './job.store.ts';

/** How a job is worked on. */
export interface JobIo {
  /** Aborted when it is cancelled, its time is over, or it is no longer this worker's. */
  signal: AbortSignal;
  /** 0 to 1, and a data URL of the picture so far. May be called often: it is thinned out. */
  progress: (fraction: number, preview?: () => Promise<string>) => void;
  /** Keeps what a service calls the work; whoever takes the job over is given it. */
  remember: (remote: unknown) => Promise<void>;
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
  | { state: 'cancelled' };

/** What works on a job found: it, or that the services are busy and which to wait for. */
export type JobOutcome<Result> = { result: Result } | { waitFor: number };

/** A kind of long work. */
export interface JobWork<Result> {
  kind: JobKind;
  /** Does it. @throws JobError, or the signal's reason once it is aborted */
  work: (job: ClaimedJob, io: JobIo) => Promise<JobOutcome<Result>>;
  /**
   * Writes what became of it, with its charge, in the transaction that ends it: once for every job.
   * Its session's row is locked. Gives how it ended after all, which may be that nobody wants its
   * result any more, and the tokens that it took.
   */
  finish: (
    tx: Transaction,
    job: ClaimedJob,
    end: JobEnd<Result>,
  ) => Promise<{ state: JobEnd<Result>['state']; deductTokens: number }>;
  /** Takes away what `work` left outside the database, when its result is not wanted any more. */
  discard: (result: Result) => Promise<void>;
  /** The same by what a worker remembered that died before it had a result to give. */
  clear: (job: ClaimedJob) => Promise<void>;
}

/** Ends a job, or this try of it. */
export class JobError extends Error {
  readonly codeName: CodeName;
  /** A later try may do it. */
  readonly retriable: boolean;
  constructor(codeName: CodeName, message: string, options: { retriable: boolean }) {
    super(message);
    this.codeName = codeName;
    this.retriable = options.retriable;
  }
}
