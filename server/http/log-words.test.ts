import { expect, test } from 'vitest';
import { inWords } from './log-words.ts';

const line = (of: object) => JSON.stringify({ time: '2026-11-29T02:03:04.000Z', ...of });

test('a warning is one line for people, an error says where it came from', () => {
  const cause = {
    type: 'Error',
    message: 'connect ECONNREFUSED',
    stack: 'Error: connect\n    at x',
  };
  const err = { type: 'TypeError', message: 'fetch\nfailed', stack: 'TypeError: fetch', cause };
  const warned = inWords(line({ level: 40, err, model: 'qwen3', tries: 2, msg: 'no model came' }));
  expect(warned).toMatch(
    /^\d\d:\d\d:\d\d warn: no model came: fetch failed: connect ECONNREFUSED \(model=qwen3, tries=2\)\n$/,
  );
  expect(inWords(line({ level: 50, err, msg: 'failed' }))).toMatch(/error: failed: .*\nTypeError/);
  expect(inWords(line({ level: 30, msg: 'hello' }))).toMatch(/^\S+ info: hello\n$/);
});
