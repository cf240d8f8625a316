import pg from 'pg';

/**
 * Why the database could not serve, when it was the database's own state and not the statement:
 * unavailable (it is down, restarting or out of connections) or full (no room on its disk).
 */
export type DatabaseFailure = 'unavailable' | 'disk_full';

/** SQLSTATE read_only_sql_transaction. */
const readOnly = '25006';
/** What it means: an embedded database refuses to write while its disk is nearly full. */
let readOnlyMeans: DatabaseFailure = 'disk_full';
/** Of another database it means a standby that is not promoted yet. */
export const expectStandby = (): void => {
  readOnlyMeans = 'unavailable';
};

/** SQLSTATE of a statement that took too long. */
export const tookTooLong = '57014';

// SQLSTATE, PostgreSQL 18 appendix A, and the codes of Node's sockets.
const diskFull = new Set(['53100', 'ENOSPC']);
const unavailable = new Set([
  '53000',
  '53200',
  '53300',
  tookTooLong,
  '57P01',
  '57P02',
  '57P03',
  '57P05',
  '08000',
  '08001',
  '08003',
  '08004',
  '08006',
  // A transaction whose connection waited too long for its next statement.
  '25P03',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
// pg gives these errors no code.
const withoutCode = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'Query read timeout',
  'Client has encountered a connection error and is not queryable',
  'Cannot use a pool after calling end on the pool',
];

/** Reads an error that a query or a connection threw, through the causes that drizzle wraps it in. */
export const databaseFailure = (error: unknown): DatabaseFailure | null => {
  for (
    let at: unknown = error, depth = 0;
    at instanceof Error && depth < 8;
    at = at.cause, depth++
  ) {
    const code = 'code' in at && typeof at.code === 'string' ? at.code : '';
    if (diskFull.has(code)) return 'disk_full';
    if (code === readOnly) return readOnlyMeans;
    const { message } = at;
    if (unavailable.has(code) || withoutCode.some((start) => message.startsWith(start))) {
      return 'unavailable';
    }
  }
  return null;
};

/** SQLSTATE of our own triggers: the account that a row would belong to has been ended. */
export const accountEnded = 'QG001';

/** SQLSTATE of a row that a unique index has already. */
export const uniqueViolation = '23505';

/** The SQLSTATE of an error that a statement threw; empty for anything else. */
export const sqlState = (error: unknown): string => {
  // Statements that drizzle builds wrap what pg says.
  const cause =
    error instanceof Error && !(error instanceof pg.DatabaseError) ? error.cause : error;
  return cause instanceof pg.DatabaseError ? (cause.code ?? '') : '';
};

/** SQLSTATE of a lock that was not had in time, of a deadlock, and of a transaction that must be run again. */
const inTheWay = new Set(['55P03', '40P01', '40001']);

/** Others were in the way of a transaction, which may succeed when it is run again. */
export const metOthers = (error: unknown): boolean => inTheWay.has(sqlState(error));
