import { expect, it } from 'vitest';
import { callTable } from '#common/call-table.ts';
import { callTableSource } from './call-table.ts';

it('what the build writes is the table', async () => {
  const source = `data:text/javascript,${encodeURIComponent(callTableSource())}`;
  const made = (await import(/* @vite-ignore */ source)) as { callTable: unknown };
  expect(made.callTable).toEqual(callTable);
});
