import { randomUUID } from 'node:crypto';
import type { Parsed } from '../../../contract/calls.ts';
import type { ChatBody, RelayEvent } from '../../engines/chat-relay.ts';
import { Refusal } from '../../http/handlers.ts';
import { ApiRefusal } from '../../http/open-failure.ts';
import { failureBody } from '../../http/open-failure.ts';
import type { Style } from './chat.service.ts';
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

const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const contentOf = (content: unknown): unknown => {
  if (!Array.isArray(content)) return content;
  return (content as Json[]).map((part) => {
    switch (part['type']) {
      case 'input_text':
      case 'output_text':
      case 'text':
        return { type: 'text', text: part['text'] };
      case 'refusal':
        return { type: 'text', text: part['refusal'] };
      case 'input_image':
        if (typeof part['image_url'] !== 'string')
          return refuse('input', '图片请用 image_url 给出，本站不保存文件');
        return {
          type: 'image_url',
          image_url: { url: part['image_url'], detail: part['detail'] ?? 'auto' },
        };
      case 'input_audio':
        return { type: 'input_audio', input_audio: part['input_audio'] };
      default:
        return refuse('input', `不支持 ${String(part['type'])}`);
    }
  });
};

const outputText = (output: unknown): string =>
  typeof output === 'string' ? output : JSON.stringify(output ?? '');

const messagesOf = (asked: Asked): ChatBody['messages'] => {
  const messages: Json[] = [];
  const { instructions } = asked as Json;
  if (typeof instructions === 'string' && instructions !== '')
    messages.push({ role: 'system', content: instructions });
  if (typeof asked.input === 'string') return [...messages, { role: 'user', content: asked.input }];
  for (const item of asked.input as Json[]) {
    const { type = 'message' } = item as { type?: string };
    if (type === 'message') {
      if (typeof item['role'] !== 'string') refuse('input', '每条消息要有 role');
      const role = item['role'] === 'developer' ? 'system' : item['role'];
      messages.push({ role, content: contentOf(item['content']) });
    } else if (type === 'function_call') {
      const call = {
        id: item['call_id'],
        type: 'function',
        function: { name: item['name'], arguments: item['arguments'] },
      };
      const last = messages.at(-1);
      // Calls that were made together stand in one message.
      if (last?.['role'] === 'assistant' && Array.isArray(last['tool_calls']))
        (last['tool_calls'] as unknown[]).push(call);
      else messages.push({ role: 'assistant', content: null, tool_calls: [call] });
    } else if (type === 'function_call_output')
      messages.push({
        role: 'tool',
        tool_call_id: item['call_id'],
        content: outputText(item['output']),
      });
    else if (type !== 'reasoning') refuse('input', `不支持 ${type}`);
  }
  return messages;
};

const toolsOf = (tools: unknown): unknown =>
  Array.isArray(tools)
    ? (tools as Json[]).map(({ type, ...tool }) =>
        type === 'function'
          ? { type, function: tool }
          : refuse('tools', `只支持 function，不支持 ${String(type)}`),
      )
    : undefined;

const choiceOf = (choice: unknown): unknown =>
  isRecord(choice) && choice['type'] === 'function'
    ? { type: 'function', function: { name: choice['name'] } }
    : choice;

const formatOf = (text: unknown): unknown => {
  const format = isRecord(text) ? text['format'] : undefined;
  if (!isRecord(format) || format['type'] === 'text') return undefined;
  const { type, ...schema } = format;
  return type === 'json_schema' ? { type, json_schema: schema } : { type };
};

const passed = [
  'temperature',
  'top_p',
  'parallel_tool_calls',
  'user',
  'seed',
  'service_tier',
  'safety_identifier',
  'prompt_cache_key',
] as const;

/** @throws Refusal bad_input for what cannot be asked in a chat completion */
export const chatOf = (asked: Asked): ChatBody => {
  const given = asked as Json;
  if (given['previous_response_id'])
    refuse('previous_response_id', '本站不保存回答，请在 input 里带上前面的对话');
  if (given['conversation']) refuse('conversation', '本站不保存对话，请在 input 里带上');
  if (given['background'] === true) refuse('background', '不支持后台运行');
  const body: ChatBody = { model: asked.model, messages: messagesOf(asked) };
  const put = (name: string, value: unknown): void => {
    if (value !== undefined && value !== null) body[name] = value;
  };
  for (const name of passed) put(name, given[name]);
  put('max_completion_tokens', asked.max_output_tokens);
  put('tools', toolsOf(given['tools']));
  put('tool_choice', choiceOf(given['tool_choice']));
  put('response_format', formatOf(given['text']));
  const { reasoning } = given;
  if (isRecord(reasoning)) put('reasoning_effort', reasoning['effort']);
  return body;
};

const newId = (kind: string): string => `${kind}_${randomUUID().replaceAll('-', '')}`;

const usageOf = ({ promptTokens, completionTokens }: Counted) => ({
  input_tokens: promptTokens,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: completionTokens,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: promptTokens + completionTokens,
});

const headOf = (asked: Asked): Json => {
  const given = asked as Json;
  return {
    id: newId('resp'),
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    model: asked.model,
    error: null,
    incomplete_details: null,
    instructions: given['instructions'] ?? null,
    max_output_tokens: asked.max_output_tokens ?? null,
    metadata: given['metadata'] ?? {},
    parallel_tool_calls: given['parallel_tool_calls'] ?? true,
    previous_response_id: null,
    reasoning: given['reasoning'] ?? { effort: null, summary: null },
    store: false,
    temperature: given['temperature'] ?? null,
    text: given['text'] ?? { format: { type: 'text' } },
    tool_choice: given['tool_choice'] ?? 'auto',
    tools: given['tools'] ?? [],
    top_p: given['top_p'] ?? null,
    truncation: 'disabled',
    user: given['user'] ?? null,
  };
};

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
export const responseStyle = (asked: Asked): Style => {
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
    end: (counted) => {
      const frames = start() + shut() + shutCalls();
      const ended = endOf(finish);
      const response = { ...head, ...ended, output, usage: usageOf(counted) };
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
