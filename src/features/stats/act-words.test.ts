import { expect, test } from 'vitest';
import { changeWords, subjectWords } from './act-words.ts';

test('what changed is told in words, what stayed is left out', () => {
  expect(
    changeWords('{"chatgpt_balance":20000,"owner":false}', '{"chatgpt_balance":70000}'),
  ).toEqual(['余额：20000 → 70000']);
  expect(changeWords('', '{"totp":true,"unknown_name":[1]}')).toEqual([
    '动态验证码：是',
    'unknown_name：[1]',
  ]);
  expect(changeWords('{"name":""}', '')).toEqual(['名称：—']);
  expect(changeWords('', 'no json')).toEqual([]);
  expect(subjectWords('user:17')).toBe('用户 17');
  expect(subjectWords('model:gpt-4o:mini')).toBe('模型 gpt-4o:mini');
  expect(subjectWords('something:1')).toBe('something:1');
});
