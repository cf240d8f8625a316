import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import {
  type AskedField,
  type GivenAnswer,
  toolLimits,
  type ToolQuestion,
} from '#contract/tool.ts';
import type { Answered } from '#server/engines/mcp/mcp-questions.ts';
import { Refusal } from '#server/http/handlers.ts';
import { storable } from '#server/storable.ts';
import { plainLine } from '#server/waits/plain-line.ts';
import { AnswerWanted, type ToolAnswer } from './tool.ts';

/** Characters of what a server says in a question, and of what it takes; choices of a field. */
const most = {
  message: 2000,
  lines: 40,
  name: 100,
  label: 100,
  hint: 300,
  text: 4000,
  choices: 50,
};

const word = z.string().check(z.minLength(1), z.maxLength(200));
const words = z.array(word).check(z.minLength(1), z.maxLength(most.choices));
const titled = z
  .array(z.object({ const: word, title: z.string() }))
  .check(z.minLength(1), z.maxLength(most.choices));
const about = { title: z.optional(z.string()), description: z.optional(z.string()) };
const none = z.optional(z.undefined());
const count = z.optional(z.int().check(z.nonnegative()));

const choicesOf = (values: readonly string[], names: readonly string[] = []) =>
  values.map((value, at) => ({ value, label: plainLine(names[at] ?? value, most.label) || value }));
const titledChoices = (list: z.output<typeof titled>) =>
  choicesOf(
    list.map((each) => each.const),
    list.map(({ title }) => title),
  );

/** What servers may ask for by the protocol, as fields; anything else is none. */
const asked = z.union([
  z.pipe(
    z.object({ ...about, type: z.literal('boolean'), default: z.optional(z.unknown()) }),
    z.transform((raw) => ({ ...raw, kind: 'boolean' as const })),
  ),
  z.pipe(
    z.object({
      ...about,
      type: z.enum(['number', 'integer']),
      minimum: z.optional(z.number()),
      maximum: z.optional(z.number()),
      enum: none,
      default: z.optional(z.unknown()),
    }),
    z.transform(({ type, minimum: min, maximum: max, ...raw }) => ({
      ...raw,
      kind: type,
      min,
      max,
    })),
  ),
  z.pipe(
    z.object({
      ...about,
      type: z.literal('string'),
      enum: words,
      enumNames: z.optional(z.array(z.string())),
      default: z.optional(z.unknown()),
    }),
    z.transform(({ enum: values, enumNames, ...raw }) => ({
      ...raw,
      kind: 'one' as const,
      options: choicesOf(values, enumNames),
    })),
  ),
  z.pipe(
    z.object({
      ...about,
      type: z.literal('string'),
      oneOf: titled,
      default: z.optional(z.unknown()),
    }),
    z.transform(({ oneOf, ...raw }) => ({
      ...raw,
      kind: 'one' as const,
      options: titledChoices(oneOf),
    })),
  ),
  z.pipe(
    z.object({
      ...about,
      type: z.literal('array'),
      minItems: count,
      maxItems: count,
      items: z.union([z.object({ anyOf: titled }), z.object({ enum: words, anyOf: none })]),
      default: z.optional(z.unknown()),
    }),
    z.transform(({ items, minItems: min, maxItems: max, ...raw }) => ({
      ...raw,
      kind: 'many' as const,
      min,
      max,
      options: 'enum' in items ? choicesOf(items.enum) : titledChoices(items.anyOf),
    })),
  ),
  z.pipe(
    z.object({
      ...about,
      type: z.literal('string'),
      minLength: count,
      maxLength: count,
      format: z.optional(z.enum(['email', 'uri', 'date', 'date-time'])),
      // What cannot be looked after is not asked for.
      pattern: none,
      enum: none,
      oneOf: none,
      anyOf: none,
      default: z.optional(z.unknown()),
    }),
    z.transform(({ minLength: min, maxLength: max, ...raw }) => ({
      ...raw,
      kind: 'text' as const,
      min,
      max,
    })),
  ),
]);

const form = z.object({
  message: z.string(),
  requestedSchema: z.object({
    type: z.literal('object'),
    properties: z.record(z.string(), asked),
    required: z.optional(z.array(z.string())),
  }),
});

const formats = {
  email: z.email(),
  uri: z.url(),
  date: z.iso.date(),
  'date-time': z.iso.datetime({ offset: true }),
};
const formatWords = {
  email: '邮箱地址',
  uri: '网址',
  date: '日期，如 2027-01-31',
  'date-time': '时间，如 2027-01-31T08:00:00Z',
};

/** What is wrong with a value, in words; null: nothing. */
const faultOf = (field: AskedField, value: GivenAnswer): string | null => {
  const { kind, min = 0, max = most.text, options = [], format } = field;
  const known = (each: unknown): boolean => options.some((option) => option.value === each);
  switch (kind) {
    case 'boolean':
      return typeof value === 'boolean' ? null : '应是“是”或“否”';
    case 'number':
    case 'integer':
      if (typeof value !== 'number') return '应是一个数字';
      if (kind === 'integer' && !Number.isSafeInteger(value)) return '应是整数';
      if (field.min !== undefined && value < field.min) return `不能小于 ${field.min}`;
      return field.max !== undefined && value > field.max ? `不能大于 ${field.max}` : null;
    case 'one':
      return known(value) ? null : '请从给出的里面选一个';
    case 'many':
      if (!Array.isArray(value) || !value.every(known) || new Set(value).size < value.length)
        return '请从给出的里面选';
      if (value.length < min) return `至少选 ${min} 个`;
      return value.length > max ? `至多选 ${max} 个` : null;
    default: {
      if (typeof value !== 'string') return '应是文字';
      const { length } = Array.from(value);
      if (length < min) return `至少 ${min} 个字`;
      if (length > Math.min(max, most.text)) return `最多 ${Math.min(max, most.text)} 个字`;
      return format && !formats[format].safeParse(value).success
        ? `应是${formatWords[format]}`
        : null;
    }
  }
};

const isGiven = (value: unknown): value is GivenAnswer =>
  ['string', 'number', 'boolean'].includes(typeof value) ||
  (Array.isArray(value) && value.every((each) => typeof each === 'string'));

const isName = (name: string): boolean => name !== '' && name.length <= most.name;

/** A question as it is shown and kept; null: it is not of the kinds that are. */
export const questionOf = (from: string, given: unknown): ToolQuestion | null => {
  const read = form.safeParse(given);
  if (!read.success) return null;
  const { message, requestedSchema } = read.data;
  const entries = Object.entries(requestedSchema.properties);
  if (entries.length > toolLimits.fields || !entries.every(([name]) => isName(name))) return null;
  const lines = message.slice(0, most.message).split('\n').slice(0, most.lines);
  const question: ToolQuestion = storable({
    from,
    message: lines
      .map((line) => plainLine(line, most.message))
      .join('\n')
      .trim(),
    fields: entries.map(([name, { title, description, kind, default: value, ...more }]) => {
      const { min, max, options, format } = more as Partial<AskedField>;
      const field: AskedField = {
        name,
        label: plainLine(title ?? '', most.label) || plainLine(name, most.label) || '（没有名字）',
        hint: plainLine(description ?? '', most.hint),
        kind,
        required: requestedSchema.required?.includes(name) === true,
        ...(options && { options }),
        ...(min !== undefined && { min }),
        ...(max !== undefined && { max }),
        ...(format && { format }),
      };
      return isGiven(value) && faultOf(field, value) === null ? { ...field, value } : field;
    }),
  });
  return JSON.stringify(question).length > toolLimits.arguments ? null : question;
};

/**
 * What a person gave in a form, as its server gets it: what they left out is what stood there, and
 * what is null they left empty. @throws Refusal bad_input
 */
export const contentOf = (
  { fields }: ToolQuestion,
  given: Readonly<Record<string, GivenAnswer | null>>,
): Record<string, GivenAnswer> => {
  const strange = Object.keys(given).find((each) => fields.every(({ name }) => name !== each));
  if (strange !== undefined) throw new Refusal('bad_input', `没有问“${strange}”`);
  return Object.fromEntries(
    fields.flatMap((field) => {
      const { name, label, required } = field;
      const value = Object.hasOwn(given, name) ? given[name] : field.value;
      if (value === undefined || value === null) {
        if (required) throw new Refusal('bad_input', `“${label}”请填写`);
        return [];
      }
      const fault = faultOf(field, value);
      if (fault !== null) throw new Refusal('bad_input', `“${label}”${fault}`);
      return [[name, value]];
    }),
  );
};

/**
 * Answers what a server asks in a call by what its person answered before. What is not answered yet
 * ends the call; what cannot be asked is declined.
 */
export const createAnswering = (from: string, answers: readonly ToolAnswer[]) => {
  const left = [...answers];
  let known = answers.length;
  let why = '';
  let read = 0;
  const tooMany = `（它问了不止 ${toolLimits.questions} 次，后面的没有回答）`;
  return {
    /** The question as it is shown; null: it is declined, unread where others were before it. */
    read(given: Record<string, unknown>): ToolQuestion | null {
      read += 1;
      const question = read > toolLimits.questions + 1 ? null : questionOf(from, given);
      if (!question)
        why =
          read > toolLimits.questions + 1 ? tooMany : '（它问了一个这里显示不了的问题，没有回答）';
      return question;
    },
    answer(question: ToolQuestion): Answered {
      const at = left.findIndex((each) => isDeepStrictEqual(each.question, question));
      const [found] = at < 0 ? [] : left.splice(at, 1);
      if (found) return { action: 'accept', content: found.content };
      if (known < toolLimits.questions) throw new AnswerWanted(question);
      why = tooMany;
      return { action: 'decline' };
    },
    /** Takes those behind the ones that it has. */
    more: (all: readonly ToolAnswer[]): void => {
      left.push(...all.slice(known));
      known = all.length;
    },
    /** What was declined, in words. */
    declined: () => why,
  };
};
