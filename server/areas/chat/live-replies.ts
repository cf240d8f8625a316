import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '#server/db/database.ts';
import type { Instance } from '#server/db/instance.ts';
import { heartbeat } from '#server/http/event-stream.ts';
import { holdLifetime } from '../ledger/ledger.service.ts';
import type { ReplyFigures } from './reply-figures.ts';
import type { ReplyLog } from './reply-log.ts';
import type { Reply, ReplyLimits, ReplyRequest } from './reply.ts';
import type { Ending, Reader } from './reader.ts';
import type { Line } from './reply-line.ts';
import type { ReplyWords } from './reply-words.ts';

export interface RepliesOptions extends ReplyLimits {
  /**
   * How often a reply is stored while it is written, ms: at first, and at most where many are
   * written at once or one is long.
   */
  flushMs: number;
  longestFlushMs: number;
  /** How often other processes' replies are looked at when no notice comes, ms. */
  pollMs: number;
  /** How often replies of dead processes are looked for, ms. */
  sweepMs: number;
  heartbeatMs: number;
  /** A connection that takes nothing for this long is closed, ms. */
  stuckMs: number;
}

export const defaults: Omit<RepliesOptions, 'firstByteMs' | 'idleMs'> = {
  totalMs: holdLifetime - 60_000,
  size: 1_000_000,
  flushMs: 250,
  longestFlushMs: 1000,
  pollMs: 2000,
  sweepMs: 5000,
  heartbeatMs: heartbeat.everyMs,
  stuckMs: 60_000,
};

/** The end of a reply that stands in no row. */
export interface Kept {
  log: ReplyLog;
  ending: Ending;
  until: number;
}

/** A reply of this process, or one of another process that somebody reads here. */
export interface Live {
  log: ReplyLog;
  readers: Set<Reader>;
  /** Null while another process writes it. */
  own: Own | null;
  /** When the process that has a reply without a row was last heard of, ms. */
  heardAt: number;
  /** The connection to the process that writes it; null: there is none, the row says what there is. */
  line: Line | null;
  /** Which writing of it the line read; empty: none did. */
  writing: string;
  /** When the last line ended, ms; 0: there was none. */
  lostAt: number;
}

/** A reply that no line has been read of. */
export const newLive = <O extends Own | null>(
  log: ReplyLog,
  own: O,
  readers = new Set<Reader>(),
): Live & { own: O } => ({
  log,
  readers,
  own,
  heardAt: Date.now(),
  line: null,
  writing: '',
  lostAt: 0,
});

export interface Own {
  answer: Reply;
  /** Tells this writing of the reply from the ones before. */
  writing: string;
  /** Length at the last flush. */
  stored: number;
  nextFlush: number;
  flushing: boolean;
  finishing: boolean;
  finished: Promise<void>;
}

/** What the parts of the replies share. */
export interface RepliesContext {
  db: Database;
  instance: Instance;
  log: FastifyBaseLogger;
  settings: RepliesOptions;
  figures: ReplyFigures;
  /** Null: there is no Valkey. */
  words: ReplyWords | null;
  live: Map<number, Live>;
  /** Called when a reply that is kept is done, with the UTF-16 units of what was said until then. */
  done: ((request: ReplyRequest, said: number) => void)[];
  kept: Map<number, Kept>;
  /** `draining`: what begins now is cut at once; `closed`: nothing is tried again. */
  stage: 'open' | 'draining' | 'closed';
}
