import type pg from 'pg';
import { RateLimiterPostgres } from 'rate-limiter-flexible';

/** Counts by keys within so many seconds, in the database, so that all processes count together. */
export const databaseLimiter = (
  pool: pg.Pool,
  keyPrefix: string,
  duration: number,
): RateLimiterPostgres =>
  new RateLimiterPostgres({
    storeClient: pool,
    storeType: 'pool',
    tableName: 'rate_limits',
    tableCreated: true,
    clearExpiredByTimeout: false,
    keyPrefix,
    points: 1,
    duration,
  });
