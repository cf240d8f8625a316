import * as z from 'zod/mini';
import type { CallSpec } from '#contract/call.ts';
import { fieldName } from './field-words.ts';
import {
  fieldsOf,
  fromJsonText,
  imageParameters,
  withoutBlanks,
  withOwnSize,
} from './documented.ts';
import { Refusal } from './handlers.ts';
import { unknownField } from './unknown-fields.ts';
import { storable } from '#server/storable.ts';

const kinds: Readonly<Record<string, string>> = {
  string: '文字',
  number: '数字',
  int: '整数',
  boolean: '是或否',
  array: '列表',
  object: '一组字段',
};

/** What is wrong with a value, in Chinese; the field's name stands before it. */
const explain = (issue: z.core.$ZodRawIssue): string => {
  if (issue.input === undefined) return '不能缺少';
  switch (issue.code) {
    case 'invalid_type':
      return `应为${kinds[issue.expected] ?? '别的类型'}`;
    case 'too_big':
      if (issue.origin === 'array') return `太多，最多 ${issue.maximum} 项`;
      return issue.origin === 'string'
        ? `太长，最多 ${issue.maximum} 个字符`
        : `不能大于 ${issue.maximum}`;
    case 'too_small':
      if (issue.origin === 'array') return `太少，至少 ${issue.minimum} 项`;
      return issue.origin === 'string'
        ? `太短，至少 ${issue.minimum} 个字符`
        : `不能小于 ${issue.minimum}`;
    case 'invalid_format':
      return '格式不对';
    case 'unrecognized_keys':
      return '不认识这个字段，也不会转给模型的服务；可用的见 /api?tab=interface';
    case 'invalid_union':
      return '不支持这种写法';
    case 'invalid_value':
      return `应为以下之一：${issue.values
        .filter((value) => value !== '')
        .map(String)
        .join('、')}`;
    default:
      return '的值不对';
  }
};

z.config({ localeError: explain });

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Input travels in the body; that of other methods in the query. */
export const hasBody = (spec: Pick<CallSpec, 'method'>): boolean =>
  spec.method === 'POST' || spec.method === 'PUT';

/** What a request says, by the call's rule of what travels in the query and what in the body. */
const given = (spec: CallSpec, query: unknown, body: unknown): Record<string, unknown> => {
  const inQuery = isRecord(query) ? query : {};
  if (spec.textBody !== null) return { [spec.textBody]: body };
  if (spec.kind === 'upload' || spec.method === 'GET') return inQuery;
  // A DELETE may say it in either.
  if (!hasBody(spec)) return isRecord(body) ? { ...inQuery, ...body } : inQuery;
  if (body !== undefined && body !== null && !isRecord(body))
    throw new Refusal('bad_input', '请求内容应为一个 JSON 对象');
  const picked: Record<string, unknown> = { ...body };
  for (const field of spec.inQuery)
    if (Object.hasOwn(inQuery, field)) picked[field] = inQuery[field];
  // The specification does not always say where a field travels: what the body lacks may be there.
  const fields = spec.kind === 'call' ? fieldsOf(spec.input) : null;
  for (const field of Object.keys(fields ?? {}))
    if (!Object.hasOwn(picked, field) && Object.hasOwn(inQuery, field))
      picked[field] = inQuery[field];
  return picked;
};

/** Names under which the specification's screens send the same field. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  session_id: ['uuid', 'sessionId'],
  sessionId: ['session_id', 'uuid'],
  uuid: ['session_id'],
  embedding: ['embedding_key'],
};

const shapedFields: Readonly<Record<string, (given: unknown) => unknown>> = {
  parameters: imageParameters,
  attrs: fromJsonText,
  prompt_json: fromJsonText,
};

/** The same of one call alone, by its path. */
const shapedOf: Readonly<Record<string, typeof shapedFields>> = {
  // A switch names no model: on, it stands for one that the message names.
  '/api/send_message': {
    ai: (given) => {
      const said = String(given);
      if (said === '0' || said === 'false') return undefined;
      return said === 'true' ? '1' : given === 1 ? '1' : given;
    },
  },
};

/** What is given under another of its names is put under the one that the call knows. */
const underOwnNames = (spec: CallSpec, query: unknown, body: unknown): Record<string, unknown> => {
  const picked = given(spec, query, body);
  const fields = fieldsOf(spec.input);
  if (!fields || spec.textBody !== null) return picked;
  // A session's number may travel in the query of any call.
  const all = isRecord(query) ? { ...query, ...picked } : picked;
  for (const [name, others] of Object.entries(otherNames)) {
    if (!Object.hasOwn(fields, name) || Object.hasOwn(picked, name)) continue;
    // What the call itself knows by that name is another thing.
    const other = others.find((each) => !Object.hasOwn(fields, each) && Object.hasOwn(all, each));
    if (other !== undefined) picked[name] = all[other];
  }
  const sized = Object.hasOwn(fields, 'size') ? withOwnSize(picked) : picked;
  for (const [name, shaped] of Object.entries({ ...shapedFields, ...shapedOf[spec.path] }))
    if (Object.hasOwn(fields, name) && Object.hasOwn(sized, name))
      sized[name] = shaped(sized[name]);
  return sized;
};

/** Not where leaving a field out reaches further: what is deleted or ended is named exactly. */
export const mayBeBlank = ({ kind, method, path }: CallSpec): boolean =>
  kind !== 'open' && method !== 'DELETE' && path !== '/api/sign_out_device';

/** What is wrong, and in which field: of several shapes that one which the value came nearest to. */
const nearest = (
  issues: readonly z.core.$ZodIssue[],
  above: readonly PropertyKey[] = [],
): { path: PropertyKey[]; message: string } => {
  const [issue] = issues;
  if (!issue) return { path: [...above], message: '有误' };
  const path = [...above, ...issue.path];
  if (issue.code === 'unrecognized_keys')
    return { path: [...path, ...issue.keys.slice(0, 1)], message: issue.message };
  if (issue.code === 'invalid_union') {
    const deeper = issue.errors
      .map((each) => nearest(each, path))
      .filter((each) => each.path.length > path.length)
      .sort((one, other) => other.path.length - one.path.length)[0];
    if (deeper) return deeper;
  }
  return { path, message: issue.message };
};

/** Calls of managers that the specification has: they ignore what they do not know. */
const documented =
  /^\/api\/(?:product\/|(?:admin\/(?:summary_data|rank_list|chart_list|session_list|history_list|delete_session|delete_history|update_history|set_session|upload|user_list|update_user|update_tokens|activated_ability|update_user_session|order_list|model_list|set_model|prompt_list|save_prompt|del_prompt|model_stats|notice_list|save_notice)|train\/.*)$)/;

/** Whoever misspells a bound of a key has one without it. */
const bounding: readonly string[] = ['/api/api/gen_key', '/api/api/update_key'];

/** Whether a call refuses, at any depth, the fields that it does not know. */
export const refusesUnknown = ({ access, kind, path }: CallSpec): boolean =>
  kind === 'call' &&
  (((access === 'manager' || access === 'owner') && !documented.test(path)) ||
    bounding.includes(path));

/** Our own administration is written by hand or by program: a field that does nothing is told. */
const refuseUnknown = (spec: CallSpec, query: unknown, body: unknown): void => {
  if (!refusesUnknown(spec)) return;
  const given = { ...(isRecord(query) && query), ...(isRecord(body) && body) };
  const unknown = unknownField(spec.input, given);
  if (unknown !== null) throw new Refusal('bad_input', `${unknown}：没有这个字段`);
};

/** The call's input without fields that the contract does not know; own calls of managers refuse those. @throws Refusal bad_input */
export const readInput = (spec: CallSpec, query: unknown, body: unknown): unknown => {
  refuseUnknown(spec, query, body);
  const named = underOwnNames(spec, query, body);
  const result = z.safeParse(
    spec.input,
    mayBeBlank(spec) ? withoutBlanks(spec.input, named) : named,
  );
  // Whoever reads a text body looks after what is in it.
  if (result.success) return spec.textBody === null ? storable(result.data) : result.data;
  const { path, message } = nearest(result.error.issues);
  const field = path.map(String).join('.');
  // Programs of the public API know its fields by their names alone.
  const said = spec.kind === 'open' ? field : fieldName(field);
  throw new Refusal('bad_input', `${said} ${message}`.trim());
};
