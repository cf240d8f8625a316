import { expect, test } from 'vitest';
import { ApiError } from './api-error.ts';
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
