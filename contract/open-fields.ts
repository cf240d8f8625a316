import * as z from 'zod/mini';
import { text, wholeNumber } from './call.ts';
import { strictImageParameters } from './image.ts';
import * as own from './open-anthropic.ts';
import * as said from './open-messages.ts';

/**
 * Every field that the OpenAI-like calls of the public API know, and what becomes of it by the kind
 * of channel that serves the model. What is not in here is refused by name.
 */

/** Services that speak a protocol of their own. */
export const dialects = ['anthropic', 'gemini'] as const;

/** A service that speaks OpenAI's protocol, one with its own, or what is built in. */
export type ChannelKind = 'service' | (typeof dialects)[number] | 'builtIn';

/**
 * - passed: goes on to the model's service as it is.
 * - done: this server does it.
 * - idle: taken, and changes nothing; the header x-ignored-fields names it.
 * - refused: answered with 400, but for values that ask for nothing.
 */
export type Fate = 'passed' | 'done' | 'idle' | 'refused';

export interface OpenField<S extends z.ZodMiniType = z.ZodMiniType> extends Readonly<
  Record<ChannelKind, Fate>
> {
  schema: S;
  /** Why it is refused or idle, in Chinese; empty: nothing to say. */
  note: string;
  /** Values that a refused field may have all the same: they ask for nothing. */
  harmless: readonly unknown[];
}
export type OpenFields = Readonly<Record<string, OpenField>>;

const maybe = <T extends z.ZodMiniType>(schema: T) => z.optional(z.nullable(schema));
const count = (max: number) => maybe(z.int().check(z.gte(1), z.lte(max)));
const between = (min: number, max: number) => maybe(z.number().check(z.gte(min), z.lte(max)));
const words = (max: number) => maybe(text(max));
const yesNo = maybe(z.boolean());

/** What goes on to OpenAI's services as it is has other words, or none, elsewhere: `inDialects` says so. */
const field = <S extends z.ZodMiniType>(
  schema: S,
  service: Fate,
  builtIn: Fate,
  note = '',
  harmless: readonly unknown[] = [],
): OpenField<S> => {
  const elsewhere = service === 'passed' ? 'refused' : service;
  return { schema, service, anthropic: elsewhere, gemini: elsewhere, builtIn, note, harmless };
};

/** What becomes of it where a service has words of its own; values that ask for nothing there. */
const inDialects = <S extends z.ZodMiniType>(
  known: OpenField<S>,
  fates: Partial<Record<(typeof dialects)[number], Fate>>,
  harmless: readonly unknown[] = known.harmless,
): OpenField<S> => ({ ...known, ...fates, harmless });
/** It has the same meaning in all words. */
const everywhere = <S extends z.ZodMiniType>(known: OpenField<S>): OpenField<S> =>
  inDialects(known, { anthropic: 'done', gemini: 'done' });
/** Without it the answer is what it would be. */
const unneeded = <S extends z.ZodMiniType>(known: OpenField<S>): OpenField<S> =>
  inDialects(known, { anthropic: 'idle', gemini: 'idle' });

/** What is built in has no use for it. */
const passed = <S extends z.ZodMiniType>(schema: S) => field(schema, 'passed', 'idle');
/** What is built in cannot do it. */
const passedOnly = <S extends z.ZodMiniType>(schema: S, harmless: readonly unknown[]) =>
  field(schema, 'passed', 'refused', '内置的模型做不到，请换一个模型', harmless);
const done = <S extends z.ZodMiniType>(schema: S) => field(schema, 'done', 'done');
const idle = <S extends z.ZodMiniType>(schema: S, note: string) =>
  field(schema, 'idle', 'idle', note);

const same = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** Whether a value may be given to a field that is refused. */
export const isHarmless = (value: unknown, harmless: readonly unknown[]): boolean =>
  value === null || value === undefined || harmless.some((each) => same(each, value));

const refused = (note: string, harmless: readonly unknown[] = []) =>
  field(
    z.optional(z.unknown().check(z.refine((value) => isHarmless(value, harmless), note))),
    'refused',
    'refused',
    note,
    harmless,
  );

const model = text(200).check(z.minLength(1));

const dearer = '会让上游多收费用，本站不转';
const acts = '会让上游自己上网或执行别的动作，本站不转';
const kept = '本站不保存请求和回答';
const notKept = '收下但不保存，也不转给上游';
const routed = '由本站选择服务，不能指定';
const oneFormat = '只支持默认的取值';

/** Fields of a chat and of a response that go on under the same name. */
const common = {
  model: done(model),
  stream: done(yesNo),
  temperature: everywhere(passed(between(0, 2))),
  top_p: everywhere(passed(between(0, 1))),
  parallel_tool_calls: inDialects(passed(yesNo), { anthropic: 'done' }, [true]),
  seed: inDialects(passed(maybe(z.int())), { anthropic: 'idle', gemini: 'done' }),
  user: inDialects(passed(words(512)), { anthropic: 'done', gemini: 'idle' }),
  safety_identifier: unneeded(passed(words(512))),
  prompt_cache_key: unneeded(passed(words(512))),
  prompt_cache_retention: refused(dearer, ['in_memory', 'in-memory']),
  metadata: idle(maybe(z.record(z.string(), z.unknown())), notKept),
  store: refused(kept, [false]),
  service_tier: refused(dearer, ['auto', 'default']),
  prompt: refused('请用 messages 或 input'),
};

const thinkingMarks = {
  enable_thinking: yesNo,
  thinking: yesNo,
  thinking_budget: count(1_000_000),
  reasoning_effort: words(20),
};

export const chatFields = {
  ...common,
  messages: everywhere(field(said.messages, 'passed', 'passed')),
  stream_options: done(maybe(z.strictObject({ include_usage: yesNo, include_obfuscation: yesNo }))),
  n: passedOnly(count(8), [1]),
  max_tokens: done(count(10_000_000)),
  max_completion_tokens: done(count(10_000_000)),
  embedding: done(words(100)),
  sources: done(yesNo),
  strict_mode: done(maybe(z.union([z.literal(0), z.literal(1), z.boolean()]))),
  tools: everywhere(passed(maybe(said.tools))),
  tool_choice: everywhere(passedOnly(maybe(said.toolChoice), ['auto', 'none'])),
  functions: inDialects(passed(maybe(said.functions)), {}, [[]]),
  function_call: passedOnly(maybe(said.functionChoice), ['auto', 'none']),
  response_format: everywhere(passedOnly(maybe(said.responseFormat), [{ type: 'text' }])),
  stop: everywhere(passed(maybe(z.union([text(500), z.array(text(500)).check(z.maxLength(16))])))),
  frequency_penalty: inDialects(passed(between(-2, 2)), { gemini: 'done' }, [0]),
  presence_penalty: inDialects(passed(between(-2, 2)), { gemini: 'done' }, [0]),
  repetition_penalty: inDialects(passed(between(0, 10)), {}, [1]),
  top_k: everywhere(passed(maybe(z.int().check(z.gte(-1), z.lte(100_000))))),
  min_p: inDialects(passed(between(0, 1)), {}, [0]),
  top_a: inDialects(passed(between(0, 1)), {}, [0]),
  logit_bias: inDialects(
    passed(maybe(z.record(text(20), z.number().check(z.gte(-100), z.lte(100))))),
    {},
    [{}],
  ),
  logprobs: passedOnly(yesNo, [false]),
  top_logprobs: passedOnly(maybe(z.int().check(z.gte(0), z.lte(20))), [0]),
  verbosity: inDialects(passed(maybe(z.enum(['low', 'medium', 'high']))), {}, ['medium']),
  // What a model thinks is written into the answer's tokens and held with them.
  reasoning_effort: everywhere(
    passed(maybe(z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']))),
  ),
  reasoning: passed(
    maybe(
      z.strictObject({
        effort: words(20),
        max_tokens: count(1_000_000),
        enabled: yesNo,
        exclude: yesNo,
      }),
    ),
  ),
  include_reasoning: unneeded(passed(yesNo)),
  enable_thinking: inDialects(passed(yesNo), {}, [false]),
  thinking_budget: passed(count(1_000_000)),
  thinking: everywhere(
    passed(
      maybe(
        z.strictObject({
          type: z.enum(['enabled', 'disabled', 'auto', 'adaptive']),
          budget_tokens: count(1_000_000),
        }),
      ),
    ),
  ),
  chat_template_kwargs: passed(maybe(z.strictObject(thinkingMarks))),
  modalities: refused('本站的对话只回答文字', [['text']]),
  audio: refused('本站的对话只回答文字，要声音请用 /v1/audio/speech'),
  best_of: refused(dearer, [1]),
  use_beam_search: refused(dearer, [false]),
  echo: refused(dearer, [false]),
  prediction: refused(dearer),
  documents: refused('请把内容写进 messages，或用 embedding 指定知识库'),
  data_sources: refused(acts),
  web_search_options: refused(acts),
  web_search: refused(acts, [false]),
  enable_search: refused(acts, [false]),
  search_options: refused(acts),
  search_parameters: refused(acts),
  plugins: refused(acts, [[]]),
  enable_code_interpreter: refused(acts, [false]),
  models: refused(routed),
  provider: refused(routed),
  route: refused(routed),
  transforms: refused(routed, [[]]),
  moderation: refused('由本站和模型的服务决定', ['auto']),
} satisfies OpenFields;

/** Anthropic's messages: said in OpenAI's words to those who speak them. */
export const messageFields = {
  model: done(model),
  messages: done(own.anthropicMessages),
  system: done(maybe(own.anthropicSystem)),
  max_tokens: done(z.int().check(z.gte(1), z.lte(10_000_000))),
  stream: done(yesNo),
  metadata: field(
    maybe(z.strictObject({ user_id: words(1000) })),
    'done',
    'idle',
    'user_id 只以摘要转给服务',
  ),
  stop_sequences: field(maybe(z.array(text(500)).check(z.maxLength(64))), 'done', 'idle'),
  temperature: field(between(0, 1), 'done', 'idle'),
  top_p: field(between(0, 1), 'done', 'idle'),
  top_k: field(maybe(z.int().check(z.gte(0), z.lte(100_000))), 'done', 'idle'),
  thinking: field(maybe(own.anthropicThinking), 'done', 'idle'),
  tools: field(maybe(own.anthropicTools), 'done', 'idle'),
  tool_choice: field(maybe(own.anthropicChoice), 'done', 'idle'),
  output_config: field(maybe(own.anthropicOutput), 'done', 'idle'),
  output_format: field(own.anthropicFormat, 'done', 'idle'),
  cache_control: inDialects(field(own.anthropicCache, 'idle', 'idle', '别的服务自己缓存'), {
    anthropic: 'done',
  }),
  context_management: idle(maybe(z.record(z.string(), z.unknown())), '本站不替您删减前文'),
  service_tier: refused(dearer, ['auto', 'standard_only']),
  speed: refused(dearer, ['standard']),
  inference_geo: refused(dearer),
  container: refused(acts),
  mcp_servers: refused(acts, [[]]),
  diagnostics: refused(kept),
} satisfies OpenFields;

/** What counts of them for how long a request is. */
export const countFields = {
  model: messageFields.model,
  messages: messageFields.messages,
  system: messageFields.system,
  tools: messageFields.tools,
  tool_choice: messageFields.tool_choice,
  output_config: messageFields.output_config,
  output_format: messageFields.output_format,
  thinking: idle(messageFields.thinking.schema, '不改变请求的长度'),
  cache_control: idle(own.anthropicCache, '不改变请求的长度'),
  context_management: messageFields.context_management,
  mcp_servers: messageFields.mcp_servers,
} satisfies OpenFields;

export const responseFields = {
  ...common,
  /** As of OpenAI's own, unless it is false. */
  store: field(
    yesNo,
    'done',
    'done',
    '不写时也保存 30 天，供 previous_response_id 使用；false 不保存',
  ),
  input: done(said.responseInput),
  instructions: done(words(1_000_000)),
  max_output_tokens: done(count(10_000_000)),
  tools: done(maybe(said.responseTools)),
  tool_choice: done(maybe(said.responseToolChoice)),
  text: done(maybe(said.responseText)),
  reasoning: done(
    maybe(
      z.strictObject({
        effort: chatFields.reasoning_effort.schema,
        summary: words(20),
        generate_summary: words(20),
      }),
    ),
  ),
  stream_options: idle(maybe(z.strictObject({ include_obfuscation: yesNo })), '回答里从不加填充'),
  top_logprobs: refused('请用 /v1/chat/completions', [0]),
  include: refused('没有可以附带的内容', [[], ['reasoning.encrypted_content']]),
  truncation: refused('对话太长时请自己删减', ['disabled']),
  previous_response_id: done(words(100)),
  conversation: refused('本站不保存对话，请在 input 里带上'),
  background: refused('不支持后台运行', [false]),
  max_tool_calls: refused('没有由上游执行的工具'),
  context_management: refused(acts, [[]]),
} satisfies OpenFields;

const listOnly = '一次只能接着写一段';

/** Texts to go on writing, as before there were chats. */
export const completionFields = {
  model: done(model),
  prompt: done(
    z.union([
      text(1_000_000).check(z.minLength(1)),
      z.array(text(1_000_000)).check(z.minLength(1), z.maxLength(1, listOnly)),
    ]),
  ),
  max_tokens: chatFields.max_tokens,
  temperature: chatFields.temperature,
  top_p: chatFields.top_p,
  n: chatFields.n,
  stop: chatFields.stop,
  seed: chatFields.seed,
  frequency_penalty: chatFields.frequency_penalty,
  presence_penalty: chatFields.presence_penalty,
  logit_bias: chatFields.logit_bias,
  user: chatFields.user,
  stream: chatFields.stream,
  stream_options: chatFields.stream_options,
  suffix: refused('只能接着写，不能写在中间', ['']),
  logprobs: refused('请用 /v1/chat/completions', [0]),
  echo: refused('回答里不重复问题', [false]),
  best_of: refused(dearer, [1]),
} satisfies OpenFields;

const toModerate = text(100_000);
export const moderationFields = {
  model: done(words(100)),
  input: done(
    z.union([
      toModerate,
      z
        .array(
          z.union([
            toModerate,
            z.strictObject({
              type: z.literal('text', { error: '只看文字，图片请去掉' }),
              text: toModerate,
            }),
          ]),
        )
        .check(z.minLength(1), z.maxLength(32)),
    ]),
  ),
} satisfies OpenFields;

const toRank = text(100_000).check(z.minLength(1));
export const rerankFields = {
  model: done(model),
  query: done(toRank),
  documents: done(
    z
      .array(z.union([toRank, z.strictObject({ text: toRank })]))
      .check(z.minLength(1), z.maxLength(1000)),
  ),
  top_n: done(count(1000)),
  return_documents: done(yesNo),
  max_chunks_per_doc: refused('每份资料都当一整段比较'),
  max_tokens_per_doc: refused('每份资料都当一整段比较'),
  instruction: refused('没有可以改的做法'),
  user: idle(words(512), notKept),
} satisfies OpenFields;

const imageSize = words(20);
const imageWords = text(32_000).check(z.minLength(1));
const imageAnswer = {
  model: done(maybe(model)),
  prompt: done(imageWords),
  size: done(imageSize),
  response_format: done(maybe(z.enum(['url', 'b64_json']))),
  quality: done(maybe(z.enum(['auto', 'standard', 'medium', 'hd', 'high']))),
  style: done(maybe(z.enum(['vivid', 'natural']))),
  user: idle(words(512), notKept),
  background: refused('背景由模型决定，要透明请用 /v1/removeBg', ['auto']),
  output_format: refused('只给 png', ['png']),
  output_compression: refused('png 没有压缩率', [100, '100']),
  moderation: refused('由本站和模型的服务决定', ['auto']),
  stream: refused('图片不支持流式返回', [false, 'false']),
  partial_images: refused('图片不支持流式返回', [0, '0']),
};

export const imageFields = {
  ...imageAnswer,
  n: done(count(10)),
  parameters: done(z.optional(strictImageParameters)),
} satisfies OpenFields;

export const imageEditFields = {
  ...imageAnswer,
  n: done(z.optional(wholeNumber(1, 10))),
  input_fidelity: refused(oneFormat, ['low']),
} satisfies OpenFields;

export const imageVariationFields = {
  model: imageAnswer.model,
  n: imageEditFields.n,
  size: imageAnswer.size,
  response_format: imageAnswer.response_format,
  user: imageAnswer.user,
  prompt: refused('没有提示词，要说怎样改请用 /v1/images/edits', ['']),
} satisfies OpenFields;

export const speechFields = {
  model: done(model),
  input: done(text(20_000).check(z.minLength(1))),
  voice: done(words(60)),
  speed: done(between(0.25, 4)),
  response_format: done(maybe(z.enum(['mp3']))),
  stream_format: refused('只返回整个音频', ['audio']),
  instructions: refused('还不能指定语气', ['']),
} satisfies OpenFields;

export const transcriptionFields = {
  model: done(model),
  language: done(words(20)),
  prompt: done(words(4000)),
  response_format: done(maybe(z.enum(['json', 'text']))),
  temperature: refused(oneFormat, [0, '0']),
  stream: refused('听写不支持流式返回', [false, 'false']),
  chunking_strategy: refused(oneFormat, ['auto']),
  timestamp_granularities: refused('没有时间标记'),
  'timestamp_granularities[]': refused('没有时间标记'),
  include: refused('没有可以附带的内容'),
  'include[]': refused('没有可以附带的内容'),
} satisfies OpenFields;

export const translationFields = {
  model: transcriptionFields.model,
  prompt: transcriptionFields.prompt,
  response_format: transcriptionFields.response_format,
  temperature: transcriptionFields.temperature,
} satisfies OpenFields;

export const embeddingFields = {
  model: done(model),
  input: field(
    z.union([
      z.string().check(z.minLength(1)),
      z.array(z.string()).check(z.minLength(1), z.maxLength(2048)),
      z.array(z.int()).check(z.minLength(1), z.maxLength(100_000)),
      z.array(z.array(z.int())).check(z.minLength(1), z.maxLength(2048)),
    ]),
    'passed',
    'done',
  ),
  encoding_format: field(maybe(z.enum(['float', 'base64'])), 'passed', 'done'),
  dimensions: field(count(4096), 'passed', 'refused', '内置的向量模型只有 256 维', [256]),
  user: idle(words(512), notKept),
} satisfies OpenFields;

/** The fields of each call that has a list, by its path. */
export const openFields: Readonly<Record<string, OpenFields>> = {
  '/v1/chat/completions': chatFields,
  '/v1/chat': chatFields,
  '/v1/responses': responseFields,
  '/v1/messages': messageFields,
  '/v1/messages/count_tokens': countFields,
  '/v1/completions': completionFields,
  '/v1/moderations': moderationFields,
  '/v1/rerank': rerankFields,
  '/v1/embeddings': embeddingFields,
  '/v1/images/generations': imageFields,
  '/v1/images/edits': imageEditFields,
  '/v1/images/variations': imageVariationFields,
  '/v1/audio/speech': speechFields,
  '/v1/audio/transcriptions': transcriptionFields,
  '/v1/audio/translations': translationFields,
};

type Shape<F extends OpenFields> = { -readonly [K in keyof F]: F[K]['schema'] };

/** What a request may carry, by its list. */
export const inputOf = <F extends OpenFields>(fields: F) =>
  z.strictObject(
    Object.fromEntries(
      Object.entries(fields).map(([name, { schema }]) => [name, schema]),
    ) as Shape<F>,
  );
