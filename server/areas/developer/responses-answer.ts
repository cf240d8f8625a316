import type { Parsed } from '#contract/calls.ts';
import type { RelayEvent } from '#server/engines/chat-relay.ts';
import { failureBody } from '#server/http/open-failure.ts';
import type { Style } from './chat-stream.ts';
import type { Counted } from './chat-text.ts';
import { newId } from './new-id.ts';

/** Answers of chat completions in the words of OpenAI's Responses. */

type Json = Record<string, unknown>;
type Asked = Parsed<'createResponse'>;

const usageOf = ({ promptTokens, completionTokens, cachedTokens, reasoningTokens }: Counted) => ({
  input_tokens: promptTokens,
  input_tokens_details: { cached_tokens: cachedTokens },
  output_tokens: completionTokens,
  output_tokens_details: { reasoning_tokens: reasoningTokens },
  total_tokens: promptTokens + completionTokens,
});

const headOf = (asked: Asked): Json => ({
  id: newId('resp', '_'),
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
  if (typeof thought === 'string' && thought !== '')
    output.push(thoughtItem(newId('rs', '_'), thought));
  const { content, refusal } = message;
  if (typeof content === 'string' && content !== '')
    output.push(messageItem(newId('msg', '_'), 'completed', [textPart(content)]));
  else if (typeof refusal === 'string' && refusal !== '')
    output.push(messageItem(newId('msg', '_'), 'completed', [{ type: 'refusal', refusal }]));
  for (const call of (message['tool_calls'] ?? []) as ToolCall[])
    output.push(
      callItem(newId('fc', '_'), 'completed', {
        id: call.id ?? newId('call', '_'),
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

type Frame = (type: string, rest: Json) => string;

/** Items of a response as they are written: one is open at a time, but for calls of tools. */
const createItems = (frame: Frame) => {
  const output: unknown[] = [];
  let open: { kind: 'message' | 'reasoning'; id: string; at: number; text: string } | null = null;
  const calls = new Map<
    number,
    { item: string; at: number; id: string; name: string; args: string }
  >();
  let items = 0;

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
      const id = newId(kind === 'message' ? 'msg' : 'rs', '_');
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
        item: newId('fc', '_'),
        at: items,
        id: id ?? newId('call', '_'),
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
    output,
    say,
    callTool,
    end: () => shut() + shutCalls(),
  };
};

/** A response in events. */
export const responseStyle = (
  asked: Asked,
  /** Keeps it where it is to be kept, and gives it as it is told then. */
  keep: (response: Json) => Promise<Json>,
): Style => {
  const head = headOf(asked);
  let sequence = 0;
  let started = false;
  let finish: unknown = null;
  const frame: Frame = (type, rest) => {
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
  const items = createItems(frame);

  return {
    write: ({ chunk }: RelayEvent) => {
      let frames = start();
      const [choice] = (chunk['choices'] ?? []) as { delta?: Json; finish_reason?: unknown }[];
      const delta = choice?.delta ?? {};
      const thought = delta['reasoning_content'] ?? delta['reasoning'];
      if (typeof thought === 'string' && thought !== '') frames += items.say('reasoning', thought);
      const { content, tool_calls: called } = delta;
      if (typeof content === 'string' && content !== '') frames += items.say('message', content);
      if (Array.isArray(called))
        for (const call of called as ToolCall[]) frames += items.callTool(call);
      if (choice?.finish_reason) finish = choice.finish_reason;
      return frames;
    },
    end: async (counted) => {
      const frames = start() + items.end();
      const ended = endOf(finish);
      const response = await keep({
        ...head,
        ...ended,
        output: items.output,
        usage: usageOf(counted),
      });
      return frames + frame(`response.${String(ended['status'])}`, { response });
    },
    fail: (refusal) => {
      const { error } = failureBody('openai', refusal) as { error: Json };
      return start() + frame('error', { ...error, message: refusal.message });
    },
  };
};
