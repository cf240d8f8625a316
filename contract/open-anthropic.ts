import * as z from 'zod/mini';
import { text } from './call.ts';
import { functionSchema } from './open-messages.ts';

/**
 * Anthropic's messages and tools, in the shapes that are known. As with OpenAI's, whatever else a
 * request carries there is refused.
 */

const maybe = <T extends z.ZodMiniType>(schema: T) => z.optional(z.nullable(schema));

/** How long a cache is kept is not passed on: five minutes is what all have. */
const cacheControl = maybe(z.strictObject({ type: z.literal('ephemeral'), ttl: maybe(text(10)) }));
const mark = { cache_control: cacheControl };
const citations = maybe(z.unknown());

const textBlock = z.strictObject({
  type: z.literal('text'),
  text: z.string(),
  citations,
  ...mark,
});

const noFiles = '本站不保存文件，请用 base64 或 url';
const imageBlock = z.strictObject({
  type: z.literal('image'),
  source: z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('base64', { error: noFiles }),
      media_type: z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
      data: z.string().check(z.regex(/^[A-Za-z0-9+/=\s]+$/, { error: '应为 base64 的图片' })),
    }),
    z.strictObject({
      type: z.literal('url'),
      url: z.string().check(z.regex(/^https?:\/\//i, { error: '应为 http(s) 网址' })),
    }),
  ]),
  ...mark,
});

const documentBlock = z.strictObject({
  type: z.literal('document'),
  source: z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('text', { error: '只支持文字的 document，PDF 请先取出文字' }),
      media_type: maybe(z.literal('text/plain')),
      data: z.string(),
    }),
    z.strictObject({
      type: z.literal('content'),
      content: z.union([z.string(), z.array(textBlock).check(z.maxLength(2000))]),
    }),
  ]),
  title: maybe(z.string()),
  context: maybe(z.string()),
  citations: maybe(
    z.strictObject({
      enabled: maybe(z.literal(false, { error: '不支持引用，请去掉 citations' })),
    }),
  ),
  ...mark,
});

const resultBlock = z.strictObject({
  type: z.literal('tool_result'),
  tool_use_id: text(500),
  content: maybe(
    z.union([
      z.string(),
      z
        .array(z.discriminatedUnion('type', [textBlock, imageBlock, documentBlock]))
        .check(z.maxLength(2000)),
    ]),
  ),
  is_error: maybe(z.boolean()),
  ...mark,
});

// What a model said comes back as it was given, with what its service wrote beside it.
const saidText = z.looseObject({ type: z.literal('text'), text: z.string(), ...mark });
const thinkingBlock = z.looseObject({
  type: z.literal('thinking'),
  thinking: z.string(),
  signature: maybe(z.string()),
});
const hiddenThinking = z.looseObject({ type: z.literal('redacted_thinking'), data: z.string() });
const useBlock = z.looseObject({
  type: z.literal('tool_use'),
  id: text(500),
  name: text(200),
  input: maybe(z.record(z.string(), z.unknown())),
  ...mark,
});

const listOf = <T extends z.ZodMiniType>(block: T) =>
  z.union([z.string(), z.array(block).check(z.maxLength(2000))]);

const message = z.discriminatedUnion('role', [
  z.strictObject({
    role: z.literal('user'),
    content: listOf(
      z.discriminatedUnion('type', [textBlock, imageBlock, documentBlock, resultBlock]),
    ),
  }),
  z.strictObject({
    role: z.literal('assistant'),
    content: listOf(
      z.discriminatedUnion('type', [saidText, thinkingBlock, hiddenThinking, useBlock]),
    ),
  }),
  z.strictObject({ role: z.literal('system'), content: listOf(textBlock) }),
]);

export const anthropicMessages = z.array(message).check(z.minLength(1), z.maxLength(2000));
export type AnthropicMessage = z.output<typeof message>;

export const anthropicSystem = z.union([z.string(), z.array(textBlock).check(z.maxLength(200))]);

const ownTools = '只支持自己定义的工具（custom）；别的会由上游执行并加收费用';

export const anthropicTools = z
  .array(
    z.strictObject({
      type: maybe(z.literal('custom', { error: ownTools })),
      name: text(200),
      description: maybe(z.string()),
      input_schema: functionSchema,
      strict: maybe(z.boolean()),
      /** Says how the service sends the call's words; they come as they come. */
      eager_input_streaming: maybe(z.boolean()),
      ...mark,
    }),
  )
  .check(z.maxLength(500));

const alone = { disable_parallel_tool_use: maybe(z.boolean()) };
export const anthropicChoice = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('auto'), ...alone }),
  z.strictObject({ type: z.literal('any'), ...alone }),
  z.strictObject({ type: z.literal('none') }),
  z.strictObject({ type: z.literal('tool'), name: text(200), ...alone }),
]);

const budget = z.int().check(z.gte(1024), z.lte(1_000_000));
export const anthropicThinking = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('enabled'),
    budget_tokens: budget,
    display: maybe(text(20)),
  }),
  z.strictObject({ type: z.literal('disabled') }),
  z.strictObject({ type: z.literal('adaptive'), display: maybe(text(20)) }),
]);

const answerFormat = z.strictObject({
  type: z.literal('json_schema'),
  schema: functionSchema,
});
export const anthropicFormat = maybe(answerFormat);
export const anthropicOutput = z.strictObject({
  effort: maybe(z.enum(['low', 'medium', 'high', 'xhigh', 'max'])),
  format: anthropicFormat,
});

export { cacheControl as anthropicCache };
