import type { Plugin } from 'vite';
import type { CallName } from '#contract/calls.ts';
import { manageOrderCalls } from '#contract/manage-order.ts';
import { manageTrainCalls } from '#contract/manage-train.ts';
import { manageUserCalls } from '#contract/manage-user.ts';
import { signInCalls } from '#contract/sign-in.ts';
import { callTable } from '#common/call-table.ts';

/** The module whose place the worked out table takes. */
export const callTableFile = /\/common\/call-table\.ts$/;

const signs = { GET: '=', POST: '+', PUT: '!', DELETE: '-' } as const;

/** A path as a line has it: nothing where the name tells it, else from `/api/` on, or whole. */
const shortPath = (name: string, path: string): string => {
  const usual = `/api/${name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;
  return path === usual ? '' : path.replace(/^\/api\//, '');
};

/**
 * The table, or these lines of it, as source: schemas and their validator stay behind. A line is the
 * call's name, a sign for its method, a digit for its flags, its path, and its fields in the query.
 */
export const callTableSource = (wanted: (name: CallName) => boolean = () => true): string => {
  const lines = Object.entries(callTable)
    .filter(([name]) => wanted(name as CallName))
    .map(([name, { method, path, idempotent, refreshes, offline, inQuery }]) =>
      [
        `${name}${signs[method]}${(idempotent ? 1 : 0) + (refreshes ? 2 : 0) + (offline ? 4 : 0)}`,
        shortPath(name, path),
        ...inQuery,
      ]
        .join(' ')
        .trimEnd(),
    );
  return `const methods = ${JSON.stringify(Object.fromEntries(Object.entries(signs).map(([method, sign]) => [sign, method])))};
export const callTable = Object.fromEntries(${JSON.stringify(lines.join(','))}.split(',').map((line) => {
  const [head, short = '', ...inQuery] = line.split(' ');
  const [, name, sign, flags] = /^(\\w+)(\\W)(\\d)$/.exec(head);
  const path = short[0] === '/' ? short : '/api/' + (short || name.replace(/[A-Z]/g, (letter) => '_' + letter.toLowerCase()));
  return [name, { method: methods[sign], path, inQuery, idempotent: (flags & 1) > 0, refreshes: (flags & 2) > 0, offline: flags > 3 }];
}));`;
};

/** Calls that come with the screens which make them (src/platform/late-calls.ts), not with the page. */
export const isLate = (name: string): boolean =>
  [signInCalls, manageOrderCalls, manageTrainCalls, manageUserCalls].some((some) => name in some);

/** The lines of those, in the place of the empty table that needs no build. */
export const lateTableAtBuild = (): Plugin => ({
  name: 'late-call-table',
  apply: 'build',
  load: {
    filter: { id: /\/common\/late-call-table\.ts$/ },
    handler: () =>
      callTableSource(isLate).replace('export const callTable', 'export const lateCallTable'),
  },
});

export const callTableAtBuild = (wanted?: (name: CallName) => boolean): Plugin => ({
  name: 'call-table',
  apply: 'build',
  load: { filter: { id: callTableFile }, handler: () => callTableSource(wanted) },
});
