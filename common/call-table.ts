import { calls, type CallName } from '#contract/calls.ts';

export interface CallLine {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  /** Fields of a POST that travel in the query. */
  inQuery: readonly string[];
  idempotent: boolean;
  /** It may wait in the outbox. */
  offline: boolean;
  /** What is on screen is read anew after it. */
  refreshes: boolean;
}

/** Where each call goes. At build scripts/call-table.ts puts the result in this module's place. */
export const callTable = Object.fromEntries(
  Object.entries(calls)
    // The page has no API key.
    .filter(([, { kind }]) => kind !== 'open')
    .map(([name, { method, path, inQuery, idempotent, offline, effect }]) => [
      name,
      { method, path, inQuery, idempotent, offline, refreshes: effect === 'screen' },
    ]),
) as Record<CallName, CallLine>;
