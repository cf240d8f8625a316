import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { callTable } from '#common/call-table.ts';
import { callTableSource, isLate } from './call-table.ts';

it('what the build writes is the table', async () => {
  const source = `data:text/javascript,${encodeURIComponent(callTableSource())}`;
  const made = (await import(/* @vite-ignore */ source)) as { callTable: unknown };
  expect(made.callTable).toEqual(callTable);
});

const src = fileURLToPath(new URL('../src', import.meta.url));

it('whatever makes a call that comes late brings it along', () => {
  const late = Object.keys(callTable).filter(isLate);
  expect(late.length).toBeGreaterThan(10);
  const makes = new RegExp(`\\bapi\\.(?:${late.join('|')})\\b|useCall\\('(?:${late.join('|')})'`);
  const without = readdirSync(src, { recursive: true, encoding: 'utf8' })
    // The shell of the administration brings them to its screens.
    .filter((file) => /\.tsx?$/.test(file) && !/\/manage-[\w-]+\.tsx?$/.test(file))
    .filter((file) => {
      const text = readFileSync(path.join(src, file), 'utf8');
      return makes.test(text) && !text.includes(`'#src/platform/late-calls.ts'`);
    });
  expect(without).toEqual([]);
});
