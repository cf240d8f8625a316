import { expect, test, vi } from 'vitest';
import { ApiError } from './api-error.ts';
import { allDrafts } from './draft.ts';
import { underKey } from './unheard.ts';

const keysOf = async (answers: readonly (Error | null)[], says: unknown = {}) => {
  const keys: string[] = [];
  for (const answer of answers)
    await underKey('saveScenario', says, undefined, (key) => {
      keys.push(key);
      return answer ? Promise.reject(answer) : Promise.resolve();
    }).catch(() => undefined);
  return keys;
};
const silence = new ApiError(0, '网络不通', 0);

test('a write that was not answered goes again under its key, until it is', async () => {
  const [first, second, third, fourth] = await keysOf([silence, silence, null, null]);
  expect(second).toBe(first);
  expect(third).toBe(first);
  expect(fourth).not.toBe(first);
});

test('a refusal is an answer, and what says something else is another write', async () => {
  const [first, second] = await keysOf([new ApiError(1412, '太短', 200), null], { name: '甲' });
  expect(second).not.toBe(first);
  const [left] = await keysOf([silence], { name: '乙' });
  const [other] = await keysOf([null], { name: '丙' });
  expect(other).not.toBe(left);
});

test('a page that begins after a kill asks under the key of what was under way; of secrets nothing is written', async () => {
  vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => {}, removeItem: () => {} });
  const left = () =>
    [...allDrafts()].filter(([key, { text }]) => key.startsWith('unheard:') && text);
  const before = left().length;
  const [killed] = await keysOf([silence], { name: '丁' });
  await keysOf([silence], { password: '不写下' });
  await keysOf([null, new ApiError(1412, '太短', 200)], { name: '戊' });
  expect(left()).toHaveLength(before + 1);
  // The same drafts, and nothing that the page before had in its memory.
  const drafts = await import('./draft.ts');
  vi.resetModules();
  vi.doMock('./draft.ts', () => drafts);
  vi.setSystemTime(Date.now() + 1_000);
  const fresh = await import('./unheard.ts');
  const again = await fresh.underKey('saveScenario', { name: '丁' }, undefined, (key) =>
    Promise.resolve(key),
  );
  expect(again).toBe(killed);
  expect(left()).toHaveLength(before);
  vi.useRealTimers();
  vi.unstubAllGlobals();
});
