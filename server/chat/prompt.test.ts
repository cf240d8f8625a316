import { expect, test } from 'vitest';
import { buildMessages, historyLength, sampling } from './prompt.ts';

test('earlier pairs go along in their order, as many as fit', () => {
  const pairs = [
    { human: 'q3', ai: 'a3' },
    { human: 'q2', ai: 'a2' },
    { human: 'q1', ai: 'a1' },
  ];
  expect(buildMessages(pairs, 'now', 11).map((message) => message.content)).toEqual([
    'q2',
    'a2',
    'q3',
    'a3',
    'now',
  ]);
  expect(buildMessages(pairs, 'now', 3)).toEqual([{ role: 'user', content: 'now' }]);
});

test('the call counts before the settings, and those before the defaults', () => {
  expect(historyLength({}, {})).toBe(3);
  expect(historyLength({}, { max_history: 5 })).toBe(5);
  expect(historyLength({ max_history: 0 }, { max_history: 5 })).toBe(0);
  expect(sampling({ temperature: 20 }, { presence_penalty: 10 })).toEqual({
    temperature: 2,
    presencePenalty: 2,
    frequencyPenalty: 0,
  });
});
