import { calls, type CallName } from '../../contract/calls.ts';

export interface CallLine {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  /** Fields of a POST that travel in the query. */
  inQuery: readonly string[];
  idempotent: boolean;
}

/** Where each call goes. At build vite.config.ts puts the result in this module's place. */
export const callTable = Object.fromEntries(
  Object.entries(calls).map(([name, { method, path, inQuery, idempotent }]) => [
    name,
    { method, path, inQuery, idempotent },
  ]),
) as Record<CallName, CallLine>;
