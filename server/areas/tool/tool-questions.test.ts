import { expect, test } from 'vitest';
import { toolLimits, type ToolQuestion } from '#contract/tool.ts';
import { contentOf, createAnswering, questionOf } from './tool-questions.ts';
import { AnswerWanted } from './tool.ts';

const asked = (properties: Record<string, unknown>, message = '请填', more: object = {}) => ({
  message,
  requestedSchema: { type: 'object', properties, ...more },
});
const read = (properties: Record<string, unknown>): ToolQuestion => {
  const question = questionOf('甲', asked(properties));
  if (!question) throw new Error('it cannot be shown');
  return question;
};

test('a question of a server is plain, bounded fields; any other is not asked', () => {
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, { type: 'boolean' }]));
  expect(read(many(20)).fields).toHaveLength(20);
  for (const properties of [
    many(21),
    { a: { type: 'object', properties: {} } },
    { a: { type: 'string', pattern: '^(a+)+$' } },
    { a: { type: 'string', format: 'password' } },
    { a: { type: 'string', enum: Array.from({ length: 51 }, (_, at) => `${at}`) } },
    { a: { type: 'string', anyOf: [{ const: 'x', title: 'X' }] } },
    Object.fromEntries(
      Array.from({ length: 20 }, (_, at) => [
        `f${at}`,
        { type: 'string', enum: Array.from({ length: 50 }, (_each, n) => `${n}`.padEnd(50)) },
      ]),
    ),
    { a: { type: 'array', items: { type: 'string' } } },
    { ['长'.repeat(101)]: { type: 'string' } },
  ])
    expect(questionOf('甲', asked(properties)), JSON.stringify(properties)).toBeNull();
  const { message, fields } = questionOf(
    '甲',
    asked(
      {
        a: { type: 'string', title: '付\u202E款\0\n名', description: '注'.repeat(999) },
        b: { type: 'integer', minimum: 1, default: 0.5 },
        c: { type: 'array', items: { anyOf: [{ const: 'x', title: '甲' }] }, default: ['y'] },
        d: { type: 'string', enum: ['p', 'q'], enumNames: ['狗'], default: 'q' },
      },
      `第一行\r\n第二行${'长'.repeat(9000)}`,
    ),
  )!;
  expect(message.split('\n')).toHaveLength(2);
  expect(message.length).toBeLessThanOrEqual(2000);
  expect(fields[0]?.label).toBe('付款 名');
  expect(fields[0]?.hint.length).toBe(300);
  // What stands there at first has to be what it takes.
  expect(fields.map(({ value }) => value)).toEqual([undefined, undefined, undefined, 'q']);
  expect(fields[3]?.options).toEqual([
    { value: 'p', label: '狗' },
    { value: 'q', label: 'q' },
  ]);
});

test('answers are what the fields take', () => {
  const items = { enum: ['x', 'y', 'z'] };
  const question = read({
    mail: { type: 'string', format: 'email' },
    day: { type: 'string', format: 'date' },
    at: { type: 'string', format: 'date-time' },
    site: { type: 'string', format: 'uri' },
    some: { type: 'array', items, minItems: 1, maxItems: 2, default: ['x'] },
    score: { type: 'number', maximum: 1 },
  });
  const given = { mail: 'a@b.cn', day: '2027-01-31', at: '2027-01-31T08:00:00.000Z' };
  expect(contentOf(question, given)).toEqual({ ...given, some: ['x'] });
  expect(contentOf(question, { some: null, score: 0.25 })).toEqual({ score: 0.25 });
  const wrongs: Parameters<typeof contentOf>[1][] = [
    { mail: 'a@' },
    { day: '2027-02-30' },
    { at: 'soon' },
    { site: '不是' },
    { some: [] },
    { some: ['x', 'y', 'z'] },
    { some: ['x', 'x'] },
    { some: ['w'] },
    { score: 2 },
    { mail: '长'.repeat(4001) },
    JSON.parse('{"toString":"x"}') as Record<string, string>,
  ];
  for (const wrong of wrongs)
    expect(() => contentOf(question, wrong), JSON.stringify(wrong)).toThrow('“');
});

test('an answer is given once, to its own question, and what cannot be asked is declined', () => {
  const given = asked({ a: { type: 'boolean' } });
  const question = questionOf('甲', given)!;
  const kept = JSON.parse(JSON.stringify(question)) as ToolQuestion;
  const asking = createAnswering('甲', [{ question: kept, content: { a: true } }]);
  const { declined } = asking;
  const answer = (told: Record<string, unknown>) => {
    const read = asking.read(told);
    return read ? asking.answer(read) : { action: 'decline' };
  };
  expect(() => answer(asked({ a: { type: 'boolean' } }, '别的'))).toThrow(AnswerWanted);
  expect(answer(given)).toEqual({ action: 'accept', content: { a: true } });
  expect(() => answer(given)).toThrow(AnswerWanted);
  expect(declined()).toBe('');
  expect(answer(asked({ a: { type: 'null' } }))).toEqual({ action: 'decline' });
  expect(declined()).toContain('显示不了');
});

test('beyond so many questions none is looked at', () => {
  const asking = createAnswering('甲', []);
  let looks = 0;
  const given = {
    get message() {
      looks += 1;
      return '请填';
    },
    requestedSchema: { type: 'object', properties: { a: { type: 'boolean' } } },
  };
  const read = Array.from({ length: 200 }, () => asking.read(given));
  expect(read.filter((question) => question !== null)).toHaveLength(toolLimits.questions + 1);
  expect(looks).toBeLessThan(20);
  expect(asking.declined()).toContain('不止');
});
