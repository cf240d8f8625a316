import { expect, test } from 'vitest';
import { calls } from '#contract/calls.ts';
import { fieldWords } from '#contract/field-words.ts';
import { changeWords, sentWords, subjectWords } from './act-words.ts';

test('what changed is told in words, what stayed is left out', () => {
  expect(
    changeWords('{"chatgpt_balance":20000,"owner":false}', '{"chatgpt_balance":70000}'),
  ).toEqual(['余额：20000 → 70000']);
  expect(changeWords('', '{"totp":true,"unknown_name":[1]}')).toEqual([
    '动态验证码：是',
    'unknown_name：1',
  ]);
  expect(changeWords('{"name":""}', '')).toEqual(['名称：—']);
  expect(changeWords('', 'no json')).toEqual([]);
  expect(subjectWords('user:17')).toBe('用户 17');
  expect(subjectWords('model:gpt-4o:mini')).toBe('模型 gpt-4o:mini');
  expect(subjectWords('something:1')).toBe('something:1');
});

test('values are in words: switches, ranks, money, lists and objects; long texts are cut', () => {
  expect(changeWords('{"rank":"none","private":0}', '{"rank":"owner","private":1}')).toEqual([
    '身份：不是管理员 → 所有者',
    '私有：否 → 是',
  ]);
  expect(
    changeWords(
      '{"refunded_amount":0,"state":"paid"}',
      '{"refunded_amount":1250,"state":"refunded"}',
    ),
  ).toEqual(['已退：0.00 元 → 12.50 元', '状态：已付款 → 已退款']);
  expect(
    sentWords('{"models":[{"name":"a","factor":2}],"api_key":"（未记录）","note":""}'),
  ).toEqual(['模型：（名称 a，价格 2）', '密钥：（未记录）']);
  const [text = ''] = sentWords(JSON.stringify({ content: '长'.repeat(900) }));
  expect(text).toBe(`内容：${'长'.repeat(80)}…（共 900 字）`);
  expect(JSON.stringify(sentWords('{"a":{"b":[1]}}'))).not.toMatch(/[{}\\]/);
});

test('codes are in words, too', () => {
  expect(changeWords('{"type":0,"subscribe":0}', '{"type":1,"subscribe":2}')).toEqual([
    '类型：聊天 → 图片',
    '源码订阅：没有 → 高级版',
  ]);
  expect(sentWords('{"type":9}')).toEqual(['类型：9']);
});

test('whatever a manager may send has a word', () => {
  const fields = Object.values(calls)
    .filter(
      ({ access, method }) => (access === 'manager' || access === 'owner') && method !== 'GET',
    )
    .flatMap(({ input }) => ('shape' in input ? Object.keys(input.shape) : []));
  expect(fields.length).toBeGreaterThan(50);
  expect(fields.filter((name) => !(name in fieldWords))).toEqual([]);
});
