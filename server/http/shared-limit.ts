import { createHash } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import { RateLimiterMemory, RateLimiterRes, RateLimiterRedis } from 'rate-limiter-flexible';
import type { Database } from '../db/database.ts';
import type { Valkey } from '../valkey/valkey.ts';
import { addCounts, type Count } from './shared-limit.store.ts';

/** How often the processes tell each other what they counted, ms. */
const tellMs = 1_000;
/** Keys in one statement. */
const most = 500;
/** Only what has used this part of its points is told: most keys never come near their limit. */
const notable = 0.1;
/** A count that lasts this long outlives a restart: it is asked for before it is first used, s. */
const lasting = 3_600;

/** What was counted here of a key and not told yet. */
interface Untold {
  points: number;
  /** All that this process knows of. */
  consumed: number;
  /** When the count here ends, ms. */
  ends: number;
}

/** Every limiter of this process. */
const limiters = new Set<SharedLimiter>();
let database: Database | null = null;
let quick: Valkey | null = null;

/**
 * Counts in memory, and with the other processes on the same database about once a second, or at
 * once where there is Valkey. While neither answers, each process counts for itself. Keys of one
 * name are counted together, whichever process and whichever object counts them.
 */
export class SharedLimiter extends RateLimiterMemory {
  readonly #name: string;
  readonly #untold = new Map<string, Untold>();
  readonly #asked = new Map<string, Promise<void>>();
  #exact: RateLimiterRedis | null = null;

  /** @param duration in seconds */
  constructor({ name, points, duration }: { name: string; points: number; duration: number }) {
    super({ points, duration });
    this.#name = name;
    limiters.add(this);
  }

  override async consume(key: string, points = 1): Promise<RateLimiterRes> {
    await this.#learn(key);
    const now = this.#note(key, points, await super.consume(key, points));
    return this.#together(key, now, (exact, shared) => exact.consume(shared, points));
  }

  override async penalty(key: string, points = 1): Promise<RateLimiterRes> {
    await this.#learn(key);
    const now = this.#note(key, points, await super.penalty(key, points));
    return this.#together(key, now, (exact, shared) => exact.penalty(shared, points));
  }

  override async reward(key: string, points = 1): Promise<RateLimiterRes> {
    const now = this.#note(key, -points, await super.reward(key, points));
    return this.#together(key, now, (exact, shared) => exact.reward(shared, points));
  }

  /**
   * Counts in Valkey, too, if it answers; the database goes on being told, so that nothing begins
   * anew when Valkey is lost. @throws RateLimiterRes where all processes together used it up
   */
  async #together(
    key: string,
    here: RateLimiterRes,
    count: (exact: RateLimiterRedis, shared: string) => Promise<RateLimiterRes>,
  ): Promise<RateLimiterRes> {
    if (!quick?.isReady()) return here;
    // Its script runs in both; that of RateLimiterValkey fails in Redis.
    this.#exact ??= new RateLimiterRedis({
      storeClient: quick.client,
      keyPrefix: quick.key('limit'),
      points: this.points,
      duration: this.duration,
    });
    try {
      const all = await count(this.#exact, this.sharedKey(key));
      if (all.consumedPoints <= here.consumedPoints) return here;
      await this.set(key, all.consumedPoints, all.msBeforeNext / 1000);
      return all;
    } catch (refused) {
      if (refused instanceof RateLimiterRes) throw refused;
      return here;
    }
  }

  #note(key: string, points: number, now: RateLimiterRes): RateLimiterRes {
    const { consumedPoints: consumed, msBeforeNext } = now;
    const before = this.#untold.get(key)?.points ?? 0;
    this.#untold.set(key, { points: before + points, consumed, ends: Date.now() + msBeforeNext });
    return now;
  }

  /** Asks for a lasting count once, before this process adds to it. */
  async #learn(key: string): Promise<void> {
    if (this.duration < lasting || database === null) return;
    const known = this.#asked.get(key);
    if (known) return known;
    if (this.#asked.size >= 10_000) this.#asked.clear();
    const asking = tell(database, [[this, key, 0]]).catch(() => {
      // It counts for itself, and asks again.
      this.#asked.delete(key);
    });
    this.#asked.set(key, asking);
    return asking;
  }

  /** Takes what is to be told; of what others may have used up, too, where nothing is new here. */
  takeDue(now: number): [SharedLimiter, string, number][] {
    const due: [SharedLimiter, string, number][] = [];
    for (const [key, untold] of this.#untold) {
      if (untold.ends <= now) this.#untold.delete(key);
      else if (untold.consumed >= this.points * notable) {
        due.push([this, key, untold.points]);
        untold.points = 0;
      }
    }
    return due;
  }

  /** What could not be told waits for the next time. */
  putBack(key: string, points: number): void {
    const now = Date.now();
    const { points: more, ...rest } = this.#untold.get(key) ?? {
      points: 0,
      consumed: this.points,
      ends: now + this.duration * 1000,
    };
    this.#untold.set(key, { ...rest, points: points + more });
  }

  /** Begins anew: what was counted belongs to the database of a server that ends. */
  async forget(): Promise<void> {
    for (const key of this.#untold.keys()) await this.delete(key);
    this.#untold.clear();
    this.#asked.clear();
    this.#exact = null;
  }

  /** A digest: whose address it is need not stand in the database. */
  sharedKey(key: string): string {
    return createHash('sha256').update(`${this.#name} ${key}`).digest('base64url').slice(0, 22);
  }

  /** All processes together have used so many points, for so many seconds more. */
  async learned(key: string, points: number, left: number): Promise<void> {
    const all = points + (this.#untold.get(key)?.points ?? 0);
    const here = await this.get(key);
    if (left > 0 && all > (here?.consumedPoints ?? 0)) await this.set(key, all, left);
  }
}

const tell = async (db: Database, due: [SharedLimiter, string, number][]): Promise<void> => {
  const counts = due.map(([limiter, key, points]): Count => ({
    key: limiter.sharedKey(key),
    points,
    duration: limiter.duration,
  }));
  const known = new Map((await addCounts(db, counts)).map((each) => [each.key, each]));
  for (const [at, [limiter, key]] of due.entries()) {
    const told = known.get(counts[at]?.key ?? '');
    if (told) await limiter.learned(key, told.points, told.left);
  }
};

/** From now on the limits of this process are those of all processes on the database. */
export const shareLimits = (
  db: Database,
  valkey: Valkey | null,
  log: Pick<FastifyBaseLogger, 'warn'>,
): { close: () => Promise<void> } => {
  database = db;
  quick = valkey;
  const tellAll = async (): Promise<void> => {
    const now = Date.now();
    const due = [...limiters].flatMap((limiter) => limiter.takeDue(now));
    for (let from = 0; from < due.length; from += most) {
      const batch = due.slice(from, from + most);
      try {
        await tell(db, batch);
      } catch (error) {
        for (const [limiter, key, points] of batch) limiter.putBack(key, points);
        log.warn({ err: error }, 'what is limited is counted by this process alone for now');
      }
    }
  };
  let telling = Promise.resolve();
  const timer = setInterval(() => {
    telling = telling.then(tellAll);
  }, tellMs).unref();
  return {
    close: async () => {
      clearInterval(timer);
      await telling;
      await tellAll();
      for (const limiter of limiters) await limiter.forget();
      database = null;
      quick = null;
    },
  };
};
