import { randomUUID } from 'node:crypto';
import { asideOf, type RelayEvent } from '#server/engines/chat-relay.ts';
import type { Style } from './chat-stream.ts';
import { type Counted, firstChoice } from './chat-text.ts';
import { newId } from './new-id.ts';

/** Answers of chat completions in Anthropic's words. */

type Json = Record<string, unknown>;

const reasons: Readonly<Record<string, string>> = {
  length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'refusal',
};

const endOf = (finish: unknown, sequence: string | undefined): Json => ({
  stop_reason: sequence === undefined ? (reasons[String(finish)] ?? 'end_turn') : 'stop_sequence',
  stop_sequence: sequence ?? null,
});

/** Tokens of the prompt stand apart by where they were read from. */
const usageOf = ({ promptTokens, completionTokens, cachedTokens, cacheWriteTokens }: Counted) => ({
  input_tokens: promptTokens - cachedTokens - cacheWriteTokens,
  cache_creation_input_tokens: cacheWriteTokens,
  cache_read_input_tokens: cachedTokens,
  output_tokens: completionTokens,
});

const headOf = (id: unknown, model: string): Json => ({
  id: typeof id === 'string' && id.startsWith('msg_') ? id : newId('msg', '_'),
  type: 'message',
  role: 'assistant',
  model,
});

const worded = (value: unknown): string => (typeof value === 'string' ? value : '');

const inputOf = (words: string): unknown => {
  try {
    const value: unknown = JSON.parse(words || '{}');
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // The words are kept as they are.
  }
  return { arguments: words };
};

interface ToolCall {
  index?: number;
  id?: string;
  function?: { name?: string; arguments?: string };
}

const newCall = (): string => `toolu_${randomUUID().replaceAll('-', '')}`;

/** A whole answer. @throws ApiRefusal where there is none */
export const messageOf = (answer: Json, model: string, counted: Counted): Json => {
  const { message, finish } = firstChoice(answer);
  const [choice] = answer['choices'] as object[];
  const thought = worded(message['reasoning_content']) || worded(message['reasoning']);
  const signed = message['thinking_blocks'] as Json[] | undefined;
  const text = worded(message['content']) || worded(message['refusal']);
  const calls = (message['tool_calls'] ?? []) as ToolCall[];
  return {
    ...headOf(answer['id'], model),
    content: [
      ...(signed ??
        (thought === '' ? [] : [{ type: 'thinking', thinking: thought, signature: '' }])),
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...calls.map(({ id, function: called }) => ({
        type: 'tool_use',
        id: id || newCall(),
        name: called?.name ?? '',
        input: inputOf(called?.arguments ?? ''),
      })),
    ],
    ...endOf(
      calls.length > 0 && finish === 'stop' ? 'tool_calls' : finish,
      asideOf(choice ?? {}).stopSequence,
    ),
    usage: usageOf(counted),
  };
};

const isWhole = (words: string): boolean => {
  try {
    JSON.parse(words || '{}');
    return true;
  } catch {
    return false;
  }
};

const frame = (type: string, rest: Json): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;

/** An answer in events: blocks follow one another, each shut before the next is opened. */
export const messageStyle = (model: string): Style => {
  let started = false;
  let index = -1;
  let open: 'text' | 'thinking' | 'redacted_thinking' | 'tool_use' | null = null;
  /** Of the block of a call that is open, as its service numbers it. */
  let calling = -1;
  let words = '';
  const waiting = new Map<number, { id: string | undefined; name: string; said: string }>();
  let called = false;
  let finish: unknown = 'stop';
  let sequence: string | undefined;

  const delta = (more: Json): string => frame('content_block_delta', { index, delta: more });
  const shut = (): string => {
    if (open === null) return '';
    open = null;
    calling = -1;
    return frame('content_block_stop', { index });
  };
  const begin = (kind: NonNullable<typeof open>, block: Json): string => {
    const before = shut();
    index += 1;
    open = kind;
    return (
      before + frame('content_block_start', { index, content_block: { type: kind, ...block } })
    );
  };
  const start = (event: RelayEvent | null): string => {
    if (started) return '';
    started = true;
    const { usage } = event ? asideOf(event.chunk) : {};
    const { prompt_tokens: prompt = 0, prompt_tokens_details: details = {} } = (usage ?? {}) as {
      prompt_tokens?: number;
      prompt_tokens_details?: { cached_tokens?: number; cache_creation_tokens?: number };
    };
    const known = {
      promptTokens: prompt,
      completionTokens: 0,
      cachedTokens: details.cached_tokens ?? 0,
      cacheWriteTokens: details.cache_creation_tokens ?? 0,
      reasoningTokens: 0,
    };
    const message = {
      ...headOf(event?.chunk['id'], model),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: usageOf(known),
    };
    return frame('message_start', { message }) + frame('ping', {});
  };
  const think = (text: string): string =>
    (open === 'thinking' ? '' : begin('thinking', { thinking: '', signature: '' })) +
    delta({ type: 'thinking_delta', thinking: text });
  const sign = (block: Json): string => {
    if (block['type'] === 'redacted_thinking')
      return begin('redacted_thinking', { data: block['data'] }) + shut();
    const before = open === 'thinking' ? '' : begin('thinking', { thinking: '', signature: '' });
    return before + delta({ type: 'signature_delta', signature: block['signature'] }) + shut();
  };
  const say = (text: string): string =>
    (open === 'text' ? '' : begin('text', { text: '' })) + delta({ type: 'text_delta', text });
  const call = ({ index: at = 0, id, function: given }: ToolCall): string => {
    let frames = '';
    called = true;
    const before = waiting.get(at);
    if (before || (open === 'tool_use' && calling !== at && !isWhole(words))) {
      const { id: known = id, name = given?.name ?? '', said = '' } = before ?? {};
      waiting.set(at, { id: known, name, said: said + (given?.arguments ?? '') });
      return '';
    }
    if (open !== 'tool_use' || calling !== at) {
      frames += begin('tool_use', { id: id || newCall(), name: given?.name ?? '', input: {} });
      calling = at;
      words = '';
    }
    const more = given?.arguments ?? '';
    if (more === '') return frames;
    words += more;
    return frames + delta({ type: 'input_json_delta', partial_json: more });
  };

  /** Calls whose words came before those of another had ended. */
  const callWaiting = (): string => {
    const frames = [...waiting.values()].map(
      ({ id, name, said }) =>
        begin('tool_use', { id: id || newCall(), name, input: {} }) +
        delta({ type: 'input_json_delta', partial_json: said }),
    );
    return frames.join('');
  };

  return {
    write: (event) => {
      let frames = start(event);
      const [choice] = (event.chunk['choices'] ?? []) as {
        delta?: Json;
        finish_reason?: unknown;
      }[];
      if (!choice) return frames;
      const given = choice.delta ?? {};
      const thought = worded(given['reasoning_content']) || worded(given['reasoning']);
      if (thought !== '') frames += think(thought);
      for (const block of (given['thinking_blocks'] ?? []) as Json[]) frames += sign(block);
      const text = worded(given['content']) || worded(given['refusal']);
      if (text !== '') frames += say(text);
      for (const each of (given['tool_calls'] ?? []) as ToolCall[]) frames += call(each);
      if (choice.finish_reason) finish = choice.finish_reason;
      sequence ??= asideOf(choice).stopSequence;
      return frames;
    },
    end: (counted) =>
      start(null) +
      callWaiting() +
      shut() +
      frame('message_delta', {
        delta: endOf(called && finish === 'stop' ? 'tool_calls' : finish, sequence),
        usage: usageOf(counted),
      }) +
      frame('message_stop', {}),
  };
};
