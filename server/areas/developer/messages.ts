import { createHash } from 'node:crypto';
import type { Parsed } from '#contract/calls.ts';
import type { AnthropicMessage } from '#contract/open-anthropic.ts';
import type { OpenMessage } from '#contract/open-messages.ts';
import { withAside } from '#server/engines/chat-relay.ts';
import type { ChatAsked, InWords } from './chat-asking.ts';

/**
 * Anthropic's messages in the words of OpenAI's chat completions. What those have no words for goes
 * along aside, for services that speak as it was asked.
 */

type Json = Record<string, unknown>;
type Asked = Parsed<'countMessageTokens'> &
  Partial<Omit<Parsed<'createMessage'>, keyof Parsed<'countMessageTokens'>>>;

type UserMessage = Extract<AnthropicMessage, { role: 'user' }>;
type UserBlock = Exclude<UserMessage['content'], string>[number];
type AssistantMessage = Extract<AnthropicMessage, { role: 'assistant' }>;
type Part = Exclude<Extract<OpenMessage, { role: 'user' }>['content'], string>[number];
type Mark = { cache_control?: unknown };

const marked = <T extends object>(part: T, { cache_control: mark }: Mark): T =>
  mark ? { ...part, cache_control: mark } : part;

const textPart = (text: string): Part => ({ type: 'text', text });

type DocumentBlock = Extract<UserBlock, { type: 'document' }>;

const documentText = ({ source, title, context }: DocumentBlock): string => {
  const text =
    source.type === 'text'
      ? source.data
      : typeof source.content === 'string'
        ? source.content
        : source.content.map((each) => each.text).join('\n');
  return [title, context, text].filter((each) => each).join('\n');
};

const partOf = (block: Exclude<UserBlock, { type: 'tool_result' }>): Part => {
  if (block.type === 'text') return marked(textPart(block.text), block);
  if (block.type === 'document') return marked(textPart(documentText(block)), block);
  const { source } = block;
  const url =
    source.type === 'url'
      ? source.url
      : `data:${source.media_type};base64,${source.data.replaceAll(/\s/g, '')}`;
  return marked({ type: 'image_url' as const, image_url: { url } }, block);
};

type ResultBlock = Extract<UserBlock, { type: 'tool_result' }>;

const resultOf = (block: ResultBlock): OpenMessage => {
  const { content, tool_use_id: id, is_error: failed } = block;
  const said = typeof content === 'string' ? content : (content ?? []).map((each) => partOf(each));
  const isText = typeof said !== 'string' && said.every((part) => part.type === 'text');
  const message: OpenMessage = {
    role: 'tool',
    tool_call_id: id,
    // Many services know text alone in an answer of a tool.
    content: isText ? said.map((part) => part.text).join('\n') : said,
  };
  return withAside(marked(message, block), failed ? { failed: true } : {});
};

/** Answers of tools come before what is said beside them. */
const userMessages = ({ content }: UserMessage): OpenMessage[] => {
  if (typeof content === 'string') return [{ role: 'user', content }];
  const results = content.filter((block) => block.type === 'tool_result');
  const rest = content.filter((block) => block.type !== 'tool_result').map(partOf);
  return [
    ...results.map(resultOf),
    ...(rest.length > 0 || results.length === 0 ? [{ role: 'user' as const, content: rest }] : []),
  ];
};

const assistantMessage = ({ content }: AssistantMessage): OpenMessage => {
  if (typeof content === 'string') return { role: 'assistant', content };
  const texts = content.filter((block) => block.type === 'text');
  const calls = content.filter((block) => block.type === 'tool_use');
  const thoughts = content.filter((block) => block.type === 'thinking');
  // Without its signature nobody takes it back.
  const signed = content.flatMap((block): Json[] => {
    if (block.type === 'redacted_thinking') return [{ type: block.type, data: block.data }];
    if (block.type !== 'thinking' || !block.signature) return [];
    return [{ type: block.type, thinking: block.thinking, signature: block.signature }];
  });
  const thought = thoughts.map((block) => block.thinking).join('');
  const message: OpenMessage = {
    role: 'assistant',
    content:
      texts.length === 0
        ? null
        : texts.map((block) => marked({ type: 'text' as const, text: block.text }, block)),
    ...(thought === '' ? {} : { reasoning_content: thought }),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(({ id, name, input }) => ({
            id,
            type: 'function' as const,
            function: { name, arguments: JSON.stringify(input ?? {}) },
          })),
        }),
  };
  return withAside(message, signed.length > 0 ? { thinking: signed } : {});
};

const systemMessages = (system: Asked['system']): OpenMessage[] => {
  if (!system) return [];
  if (typeof system === 'string') return [{ role: 'system', content: system }];
  const content = system.map((block) => marked({ type: 'text' as const, text: block.text }, block));
  return content.length > 0 ? [{ role: 'system', content }] : [];
};

const messagesOf = ({ system, messages }: Asked): OpenMessage[] => [
  ...systemMessages(system),
  ...messages.flatMap((message): OpenMessage[] => {
    if (message.role === 'user') return userMessages(message);
    return message.role === 'assistant'
      ? [assistantMessage(message)]
      : systemMessages(message.content);
  }),
];

const choiceOf = (choice: Asked['tool_choice']): unknown => {
  if (!choice) return undefined;
  if (choice.type === 'any') return 'required';
  return choice.type === 'tool'
    ? { type: 'function', function: { name: choice.name } }
    : choice.type;
};

const toolsOf = (tools: Asked['tools']): unknown =>
  tools && tools.length > 0
    ? tools.map(({ name, description, input_schema: parameters, strict, cache_control: mark }) =>
        marked(
          {
            type: 'function',
            function: {
              name,
              ...(description ? { description } : {}),
              parameters,
              ...(typeof strict === 'boolean' ? { strict } : {}),
            },
          },
          { cache_control: mark },
        ),
      )
    : undefined;

/** Features that change nothing of what is billed. */
const freeBetas = new Set([
  'interleaved-thinking-2025-05-14',
  'fine-grained-tool-streaming-2025-05-14',
]);

/** The most that some services take. */
const userLength = 64;

/** @param betas the header anthropic-beta */
export const chatOfMessages = (asked: Asked, betas: string): ChatAsked => {
  const { output_config: output, output_format: format, metadata, thinking } = asked;
  const choice = asked.tool_choice;
  const alone = choice && 'disable_parallel_tool_use' in choice && choice.disable_parallel_tool_use;
  const schema = (output?.format ?? format)?.schema;
  const user = metadata?.user_id;
  const effort = output?.effort === 'max' ? 'xhigh' : output?.effort;
  const known = betas.split(',').map((each) => each.trim());
  const chosen = known.filter((each) => freeBetas.has(each));
  return withAside(
    {
      model: asked.model,
      messages: messagesOf(asked),
      max_tokens: asked.max_tokens,
      temperature: asked.temperature,
      top_p: asked.top_p,
      top_k: asked.top_k,
      stop: asked.stop_sequences?.length ? asked.stop_sequences : undefined,
      tools: toolsOf(asked.tools),
      tool_choice: choiceOf(choice),
      parallel_tool_calls: alone ? false : undefined,
      thinking: thinking && {
        type: thinking.type,
        ...('budget_tokens' in thinking ? { budget_tokens: thinking.budget_tokens } : {}),
      },
      reasoning_effort: effort,
      response_format: schema && {
        type: 'json_schema',
        json_schema: { name: 'answer', schema },
      },
      user: user && createHash('sha256').update(user).digest('hex').slice(0, userLength),
    },
    {
      ...(chosen.length > 0 ? { betas: chosen } : {}),
      ...(asked.cache_control ? { cache: true as const } : {}),
    },
  );
};

/** The least of thinking that an effort stands for, in tokens. */
const effortOf = (budget: number): string =>
  budget < 4096 ? 'low' : budget < 16_384 ? 'medium' : 'high';

/**
 * What is to be thought, in the words of the model's maker: services that speak as OpenAI does have
 * many for it. Where none are known nothing is said, and a model that thinks does as it usually does.
 */
const thinkingFor = (name: string, thinking: Json, effort: unknown, longest: unknown): Json => {
  const { type, budget_tokens: budget } = thinking;
  const on = type !== 'disabled';
  if (/deepseek|glm|kimi|doubao|seed|mimo/i.test(name))
    return { thinking: { type: on ? 'enabled' : 'disabled' } };
  if (/qwen|qwq/i.test(name))
    return {
      enable_thinking: on,
      // It counts beside the answer's length, and without it has no end.
      ...(on ? { thinking_budget: typeof budget === 'number' ? budget : longest } : {}),
    };
  if (/(?:^|\/)(?:o\d|gpt-5|gpt-oss|gemini-(?:2\.5|[3-9])|grok-3-mini)/i.test(name) && on)
    return {
      reasoning_effort: effort ?? effortOf(typeof budget === 'number' ? budget : 8192),
    };
  return {};
};

/** A request that was asked in Anthropic's words, for services that speak OpenAI's. */
export const openAiWords: InWords = (body, kind) => {
  if (kind !== 'service') return body;
  const { thinking, reasoning_effort: effort, ...rest } = body;
  const own = (thinking ?? (effort ? { type: 'adaptive' } : null)) as Json | null;
  return own ? { ...rest, ...thinkingFor(body.model, own, effort, body['max_tokens']) } : rest;
};
