import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { GuardedFetch } from '#server/net/guarded-fetch.ts';
import { createReadPage } from './read-page.ts';
import type { ToolContext } from './tool.ts';

test('of slow pages that one person names few are held at once, and another’s passes them', async () => {
  const held: (() => void)[] = [];
  const fetch: GuardedFetch = () =>
    new Promise((resolve) => {
      held.push(() => resolve(null));
    });
  const tool = createReadPage(fetch);
  const read = (person: string, at: number) => {
    const user = { id: Number(person), guest: false, person };
    const context = { user, signal: new AbortController().signal } as unknown as ToolContext;
    return Promise.resolve(tool.run({ url: `https://slow.example/${at}` }, context)).catch(
      (error: unknown) => String(error),
    );
  };
  const own = [1, 2, 3, 4, 5].map((at) => read('1', at));
  await turn();
  expect(held).toHaveLength(3);
  const other = read('2', 6);
  await turn();
  expect(held).toHaveLength(4);
  for (let at = 0; at < 6; at += 1) {
    held[at]?.();
    await turn();
  }
  for (const said of await Promise.all([...own, other])) expect(said).toContain('打不开这个网址');
});
