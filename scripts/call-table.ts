import type { Plugin } from 'vite';
import type { CallName } from '#contract/calls.ts';
import { callTable } from '#common/call-table.ts';

/** The module whose place the worked out table takes. */
export const callTableFile = /\/common\/call-table\.ts$/;

/** The table, or these lines of it, as source: schemas and their validator stay behind. */
export const callTableSource = (wanted: (name: CallName) => boolean = () => true): string => {
  const lines = Object.entries(callTable)
    .filter(([name]) => wanted(name as CallName))
    .map(([name, { method, path, idempotent, refreshes, offline, inQuery }]) => [
      name,
      method,
      path,
      (idempotent ? 1 : 0) + (refreshes ? 2 : 0) + (offline ? 4 : 0),
      ...inQuery,
    ]);
  return `export const callTable = Object.fromEntries(${JSON.stringify(lines)}.map(
    ([name, method, path, flags, ...inQuery]) =>
      [name, { method, path, inQuery, idempotent: (flags & 1) > 0, refreshes: (flags & 2) > 0, offline: flags > 3 }]));`;
};

export const callTableAtBuild = (wanted?: (name: CallName) => boolean): Plugin => ({
  name: 'call-table',
  apply: 'build',
  load: { filter: { id: callTableFile }, handler: () => callTableSource(wanted) },
});
