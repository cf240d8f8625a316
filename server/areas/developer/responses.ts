import { randomUUID } from 'node:crypto';
import type { Parsed } from '#contract/calls.ts';
import type { OpenMessage, ResponseItem } from '#contract/open-messages.ts';
import type { RelayEvent } from '#server/engines/chat-relay.ts';
import { Refusal } from '#server/http/handlers.ts';
import { ApiRefusal } from '#server/http/open-failure.ts';
import { failureBody } from '#server/http/open-failure.ts';
import type { ChatAsked, Style } from './chat.service.ts';
import type { Counted } from './chat-text.ts';

/**
 * OpenAI's Responses in the words of its chat completions, which every service speaks, and back.
 * What has no such words is refused rather than left out.
 */

type Json = Record<string, unknown>;
type Asked = Parsed<'createResponse'>;

const refuse = (field: string, why: string): never => {
  throw new Refusal('bad_input', `${field}：${why}`);
};

type Message = Extract<ResponseItem, { type: 'message' }>;
type MessagePart = Exclude<Message['content'], string>[number];
type UserContent = Extract<OpenMessage, { role: 'user' }>['content'];

const partOf = (part: MessagePart): Exclude<UserContent, string>[number] => {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: part.text };
    case 'refusal':
      return { type: 'text', text: part.refusal };
    case 'input_image':
      return {
        type: 'image_url',
        image_url: { url: part.image_url, detail: part.detail ?? 'auto' },
      };
    default:
      return part;
  }
};

const textOf = (content: Message['content'], role: string): string =>
  typeof content === 'string'
    ? content
    : content
        .map(partOf)
        .map((part) =>
          part.type === 'text'
            ? part.text
            : refuse('input', `role 为 ${role} 的消息只能有文字，图片和录音请放在 user 的消息里`),
        )
        .join('\n');

const messageOf = ({ role, content }: Message): OpenMessage => {
  if (role === 'user')
    return { role, content: typeof content === 'string' ? content : content.map(partOf) };
  return { role: role === 'developer' ? 'system' : role, content: textOf(content, role) };
};

const messagesOf = (
  { input, instructions }: Asked,
  before: readonly ResponseItem[],
): OpenMessage[] => {
  const messages: OpenMessage[] = [];
  if (instructions) messages.push({ role: 'system', content: instructions });
  const items: readonly ResponseItem[] =
    typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : input;
  for (const item of [...before, ...items])
    if (item.type === 'message') messages.push(messageOf(item));
    else if (item.type === 'function_call') {
      const call = {
        id: item.call_id,
        type: 'function' as const,
        function: { name: item.name, arguments: item.arguments },
      };
      const last = messages.at(-1);
      // Calls that were made together stand in one message.
      if (last?.role === 'assistant' && last.tool_calls) last.tool_calls.push(call);
      else messages.push({ role: 'assistant', content: null, tool_calls: [call] });
    } else if (item.type === 'function_call_output') {
      const { output } = item;
      const content =
        typeof output === 'string' ? output : output.map(({ text }) => text).join('\n');
      messages.push({ role: 'tool', tool_call_id: item.call_id, content });
    }
  return messages;
};

const choiceOf = (choice: Asked['tool_choice']): unknown =>
  typeof choice === 'object' && choice !== null
    ? { type: 'function', function: { name: choice.name } }
    : choice;

const formatOf = (text: Asked['text']): unknown => {
  const format = text?.format;
  if (!format || format.type === 'text') return undefined;
  const { type, ...schema } = format;
  return type === 'json_schema' ? { type, json_schema: schema } : { type };
};

/**
 * @param passed fields that a chat completion knows by the same name
 * @param before what was said in the responses that it goes on from
 * @throws Refusal bad_input for what cannot be asked in a chat completion
 */
export const chatOf = (asked: Asked, passed: Json, before: readonly ResponseItem[]): ChatAsked => {
  const fields: Json = {
    ...passed,
    max_tokens: asked.max_output_tokens,
    tools: asked.tools?.map(({ type, ...shape }) => ({ type, function: shape })),
    tool_choice: choiceOf(asked.tool_choice),
    response_format: formatOf(asked.text),
    verbosity: asked.text?.verbosity,
    reasoning_effort: asked.reasoning?.effort,
  };
  return { ...fields, model: asked.model, messages: messagesOf(asked, before) };
};

const newId = (kind: string): string => `${kind}_${randomUUID().replaceAll('-', '')}`;

const usageOf = ({ promptTokens, completionTokens, cachedTokens, reasoningTokens }: Counted) => ({
  input_tokens: promptTokens,
  input_tokens_details: { cached_tokens: cachedTokens },
  output_tokens: completionTokens,
  output_tokens_details: { reasoning_tokens: reasoningTokens },
  total_tokens: promptTokens + completionTokens,
});

const headOf = (asked: Asked): Json => ({
  id: newId('resp'),
  object: 'response',
  created_at: Math.floor(Date.now() / 1000),
  model: asked.model,
  error: null,
  incomplete_details: null,
  instructions: asked.instructions ?? null,
  max_output_tokens: asked.max_output_tokens ?? null,
  metadata: asked.metadata ?? {},
  parallel_tool_calls: asked.parallel_tool_calls ?? true,
  previous_response_id: asked.previous_response_id ?? null,
  reasoning: asked.reasoning ?? { effort: null, summary: null },
  store: false,
  temperature: asked.temperature ?? null,
  text: asked.text ?? { format: { type: 'text' } },
  tool_choice: asked.tool_choice ?? 'auto',
  tools: asked.tools ?? [],
  top_p: asked.top_p ?? null,
  truncation: 'disabled',
  user: asked.user ?? null,
});

const endOf = (finish: unknown): Json =>
  finish === 'length' || finish === 'content_filter'
    ? {
        status: 'incomplete',
        incomplete_details: { reason: finish === 'length' ? 'max_output_tokens' : finish },
      }
    : { status: 'completed' };

const textPart = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });
const messageItem = (id: string, status: string, content: unknown[]) => ({
  id,
  type: 'message',
  role: 'assistant',
  status,
  content,
});
const thoughtItem = (id: string, text: string) => ({
  id,
  type: 'reasoning',
  summary: [],
  content: [{ type: 'reasoning_text', text }],
});
const callItem = (
  id: string,
  status: string,
  call: { id: string; name: string; args: string },
) => ({
  id,
  type: 'function_call',
  status,
  call_id: call.id,
  name: call.name,
  arguments: call.args,
});

interface ToolCall {
  index?: number;
  id?: string;
  function?: { name?: string; arguments?: string };
}

/** A whole chat completion as a response. */
export const responseOf = (asked: Asked, answer: Json, counted: Counted): Json => {
  const [choice] = answer['choices'] as { message?: Json; finish_reason?: unknown }[];
  const message = choice?.message ?? {};
  const output: unknown[] = [];
  const thought = message['reasoning_content'] ?? message['reasoning'];
  if (typeof thought === 'string' && thought !== '') output.push(thoughtItem(newId('rs'), thought));
  const { content, refusal } = message;
  if (typeof content === 'string' && content !== '')
    output.push(messageItem(newId('msg'), 'completed', [textPart(content)]));
  else if (typeof refusal === 'string' && refusal !== '')
    output.push(messageItem(newId('msg'), 'completed', [{ type: 'refusal', refusal }]));
  for (const call of (message['tool_calls'] ?? []) as ToolCall[])
    output.push(
      callItem(newId('fc'), 'completed', {
        id: call.id ?? newId('call'),
        name: call.function?.name ?? '',
        args: call.function?.arguments ?? '',
      }),
    );
  return {
    ...headOf(asked),
    ...endOf(choice?.finish_reason),
    output,
    usage: usageOf(counted),
  };
};

/** Items of a response as they are written: one is open at a time, but for calls of tools. */
export const responseStyle = (
  asked: Asked,
  /** Keeps it where it is to be kept, and gives it as it is told then. */
  keep: (response: Json) => Promise<Json>,
): Style => {
  const head = headOf(asked);
  const output: unknown[] = [];
  let sequence = 0;
  let started = false;
  let finish: unknown = null;
  let open: { kind: 'message' | 'reasoning'; id: string; at: number; text: string } | null = null;
  const calls = new Map<
    number,
    { item: string; at: number; id: string; name: string; args: string }
  >();
  let items = 0;

  const frame = (type: string, rest: Json): string => {
    const event = { type, sequence_number: sequence, ...rest };
    sequence += 1;
    return `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`;
  };
  const start = (): string => {
    if (started) return '';
    started = true;
    const response = { ...head, status: 'in_progress', output: [], usage: null };
    return frame('response.created', { response }) + frame('response.in_progress', { response });
  };
  const shut = (): string => {
    if (!open) return '';
    const { kind, id, at, text } = open;
    open = null;
    const where = { item_id: id, output_index: at, content_index: 0 };
    if (kind === 'reasoning') {
      const item = thoughtItem(id, text);
      output[at] = item;
      return (
        frame('response.reasoning_text.done', { ...where, text }) +
        frame('response.output_item.done', { output_index: at, item })
      );
    }
    const item = messageItem(id, 'completed', [textPart(text)]);
    output[at] = item;
    return (
      frame('response.output_text.done', { ...where, text, logprobs: [] }) +
      frame('response.content_part.done', { ...where, part: textPart(text) }) +
      frame('response.output_item.done', { output_index: at, item })
    );
  };
  const say = (kind: 'message' | 'reasoning', delta: string): string => {
    let frames = '';
    if (open?.kind !== kind) {
      frames += shut();
      const id = newId(kind === 'message' ? 'msg' : 'rs');
      open = { kind, id, at: items, text: '' };
      items += 1;
      const item =
        kind === 'message'
          ? messageItem(id, 'in_progress', [])
          : { ...thoughtItem(id, ''), content: [] };
      frames += frame('response.output_item.added', { output_index: open.at, item });
      if (kind === 'message')
        frames += frame('response.content_part.added', {
          item_id: id,
          output_index: open.at,
          content_index: 0,
          part: textPart(''),
        });
    }
    open.text += delta;
    const where = { item_id: open.id, output_index: open.at, content_index: 0, delta };
    return (
      frames +
      (kind === 'message'
        ? frame('response.output_text.delta', { ...where, logprobs: [] })
        : frame('response.reasoning_text.delta', where))
    );
  };
  const callTool = ({ index = 0, id, function: called }: ToolCall): string => {
    let frames = '';
    let call = calls.get(index);
    if (!call) {
      frames += shut();
      call = {
        item: newId('fc'),
        at: items,
        id: id ?? newId('call'),
        name: called?.name ?? '',
        args: '',
      };
      items += 1;
      calls.set(index, call);
      frames += frame('response.output_item.added', {
        output_index: call.at,
        item: callItem(call.item, 'in_progress', call),
      });
    }
    const delta = called?.arguments ?? '';
    if (delta === '') return frames;
    call.args += delta;
    return (
      frames +
      frame('response.function_call_arguments.delta', {
        item_id: call.item,
        output_index: call.at,
        delta,
      })
    );
  };
  const shutCalls = (): string => {
    let frames = '';
    for (const call of calls.values()) {
      const item = callItem(call.item, 'completed', call);
      output[call.at] = item;
      frames +=
        frame('response.function_call_arguments.done', {
          item_id: call.item,
          output_index: call.at,
          name: call.name,
          arguments: call.args,
        }) + frame('response.output_item.done', { output_index: call.at, item });
    }
    return frames;
  };

  return {
    write: ({ chunk }: RelayEvent) => {
      let frames = start();
      const [choice] = (chunk['choices'] ?? []) as { delta?: Json; finish_reason?: unknown }[];
      const delta = choice?.delta ?? {};
      const thought = delta['reasoning_content'] ?? delta['reasoning'];
      if (typeof thought === 'string' && thought !== '') frames += say('reasoning', thought);
      const { content, tool_calls: called } = delta;
      if (typeof content === 'string' && content !== '') frames += say('message', content);
      if (Array.isArray(called)) for (const call of called as ToolCall[]) frames += callTool(call);
      if (choice?.finish_reason) finish = choice.finish_reason;
      return frames;
    },
    end: async (counted) => {
      const frames = start() + shut() + shutCalls();
      const ended = endOf(finish);
      const response = await keep({ ...head, ...ended, output, usage: usageOf(counted) });
      return frames + frame(`response.${String(ended['status'])}`, { response });
    },
    fail: (refusal) => {
      const { error } = failureBody('openai', refusal) as { error: Json };
      return start() + frame('error', { ...error, message: refusal.message });
    },
  };
};

/** @throws ApiRefusal where the answer is no completion */
export const firstChoice = (answer: Json): { message: Json; finish: string } => {
  const [choice] = answer['choices'] as { message?: Json; finish_reason?: string }[];
  if (!choice?.message) throw new ApiRefusal('upstream', '模型没有返回内容，请重试');
  return { message: choice.message, finish: choice.finish_reason ?? 'stop' };
};
