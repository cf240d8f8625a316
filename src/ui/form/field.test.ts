import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { fieldWords } from '#contract/field-words.ts';
import { faultOf, labelOf, namedFault, valuesFor, type Field } from './field.ts';
import { fieldsOf } from './fields-of.ts';

const number: Field = {
  name: 'n',
  label: '数量',
  kind: 'number',
  required: true,
  min: 1,
  max: 100,
};

test.each([
  [undefined, '请填写数量'],
  ['', '请填写数量'],
  ['x', '数量应为数字'],
  [0, '数量不能小于 1'],
  ['101', '数量不能大于 100'],
  [1.5, '数量应为整数'],
  ['7', undefined],
])('a number %s: %s', (n, fault) => {
  expect(faultOf(number, { n })).toBe(fault);
});

test('a field is called as everywhere, unless its form has a word of its own', () => {
  const field: Field = { name: 'vip_excluded', kind: 'text', required: true };
  expect(labelOf(field)).toBe(fieldWords['vip_excluded']);
  expect(faultOf(field, {})).toBe(`请填写${fieldWords['vip_excluded']}`);
  expect(labelOf({ ...field, label: '不给会员' })).toBe('不给会员');
});

test.each([
  ['生成者编码（producer_code） 只能是字母', 'producer_code', '只能是字母'],
  ['宽（parameters.width） 不能小于 1', 'parameters', '不能小于 1'],
  ['size.width 太大', 'size', '太大'],
  ['limits：只能写一条', 'limits', '只能写一条'],
  ['用外面的服务检查，要填它的密钥编号和密钥', undefined, undefined],
])('the refusal %s is of %s', (message, name, what) => {
  expect(namedFault(message) ?? {}).toEqual(name === undefined ? {} : { name, what });
});

test('values go as the call takes them', () => {
  const fields: Field[] = [
    number,
    { name: 'on', label: '开', kind: 'switch' },
    { name: 'later', label: '后来', kind: 'text', when: ({ on }) => on === true },
  ];
  expect(valuesFor(fields, { n: '3', on: false, later: 'x' })).toEqual({ n: 3, on: false });
  expect(valuesFor(fields, { n: '', on: true, later: 'x' })).toEqual({
    n: null,
    on: true,
    later: 'x',
  });
});

test('a schema of the contract says of what kind a field is, and how much it takes', () => {
  const schema = z.object({
    name: z.string().check(z.minLength(1), z.maxLength(40)),
    count: z.optional(z.int().check(z.gte(1), z.lte(12))),
    on: z._default(z.boolean(), false),
    kind: z.enum(['a', 'b']),
    text: z.string().check(z.maxLength(5000)),
  });
  const found = fieldsOf(schema, {
    name: { label: '名称' },
    count: { label: '数量' },
    on: { label: '开' },
    kind: { label: '种类', options: [{ value: 'a', label: '甲' }] },
    text: { label: '正文' },
  });
  expect(found).toMatchObject([
    { name: 'name', kind: 'text', required: true, min: 1, max: 40 },
    { name: 'count', kind: 'number', required: false, min: 1, max: 12 },
    { name: 'on', kind: 'switch' },
    { name: 'kind', kind: 'choice', required: true },
    { name: 'text', kind: 'long', max: 5000 },
  ]);
});
