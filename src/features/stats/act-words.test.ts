import { expect, test } from 'vitest';
import { calls } from '#contract/calls.ts';
import { fieldWords } from '#contract/field-words.ts';
import { actSentence, sentences } from './act-sentence.ts';
import { changeWords, sentWords, subjectLink, subjectOf, subjectWords } from './act-words.ts';

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
  for (const each of ['user:17', 'order:Q1', 'model:gpt-4o:mini'])
    expect(subjectOf(subjectWords(each))).toBe(each);
  expect(subjectOf('用户12')).toBe('user:12');
  expect(subjectOf('user:12')).toBe('user:12');
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
  ).toEqual(['已退：￥0.00 → ￥12.50', '状态：已付款 → 已退款']);
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

test('an act is a sentence: what, whom, how much, why; and leads to what it is about', () => {
  const act = {
    call: 'refundOrder',
    summary: '退款（分）；forgive 为 1 时，已花掉的也退',
    subject: 'order:Q20261129000000000001',
    person: { user_id: 7, user_name: '小明' },
    input: '{"order_id":"Q20261129000000000001","reason":"买多了"}',
    from: '{"state":"paid","refunded_amount":0}',
    to: '{"refund":"R1","amount":1950}',
  };
  expect(actSentence(act)).toBe('给“小明”退款 ￥19.50（买多了）');
  expect(actSentence({ ...act, person: null, input: '' })).toBe(
    '给 订单 Q20261129000000000001 退款 ￥19.50',
  );
  const tokens = { ...act, call: 'updateTokens', from: '', to: '' };
  expect(actSentence({ ...tokens, input: '{"tokens":20000,"add":0,"remarks":""}' })).toBe(
    '扣除“小明”的余额 2\u00A0万 tokens',
  );
  const scenario = { ...act, call: 'manageScenario', subject: 'scenario:3', input: '' };
  expect(actSentence({ ...scenario, from: '', to: '{"name":"周报"}' })).toBe('添加了场景“周报”');
  expect(actSentence({ ...scenario, from: '{"name":"周报"}', to: '{"name":"周报二"}' })).toBe(
    '修改了场景“周报二”',
  );
  expect(
    actSentence({
      ...scenario,
      input: '{"name":"周报","reason":"缺例子"}',
      from: '{"state":"pending"}',
      to: '{"state":"private"}',
    }),
  ).toBe('退回了场景“周报”（缺例子）');
  const notice = { ...act, call: 'saveNotice', subject: 'notice:3', input: '', from: '' };
  expect(actSentence({ ...notice, to: '{"notice":"## 今晚维护\\n\\n两点开始"}' })).toBe(
    '发布了公告“今晚维护”',
  );
  expect(actSentence({ ...act, call: 'neverHeardOf' })).toBe(
    '退款（分）（订单 Q20261129000000000001）',
  );
  expect(subjectLink('user:17')).toEqual({ to: '/manager/user', search: { person: 17 } });
  expect(subjectLink('order:Q1')).toEqual({ to: '/manager/order', search: { order_id: 'Q1' } });
  expect(subjectLink('model:a')).toBeUndefined();
});

test('every act of managers has a sentence', () => {
  /** They change nothing. */
  const looks = new Set(['adminOrderList', 'channelBalance', 'testChannel', 'checkSite']);
  const acts = Object.entries(calls).flatMap(([name, { access, method }]) =>
    (access === 'manager' || access === 'owner') && method !== 'GET' && !looks.has(name)
      ? [name]
      : [],
  );
  expect(acts.length).toBeGreaterThan(50);
  expect(acts.filter((name) => !(name in sentences))).toEqual([]);
});
