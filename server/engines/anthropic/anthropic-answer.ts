import { type RelayEvent, withAside } from '../chat-relay.ts';
import { answerMessage, headOf } from '../completion.ts';
import { type DialectReader, worded } from '../dialect.ts';

/** Answers of Anthropic's messages in the words of chat completions. */

type Json = Record<string, unknown>;

const finishes: Readonly<Record<string, string>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};
const finishOf = (reason: unknown): string => finishes[String(reason)] ?? 'stop';

const count = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.ceil(value) : 0;

/** What was read from a cache and written to it stands beside the rest there, and within it here. */
const usageOf = (usage: Json): Json => {
  const read = count(usage['cache_read_input_tokens']);
  const written = count(usage['cache_creation_input_tokens']);
  const prompt = count(usage['input_tokens']) + read + written;
  const completion = count(usage['output_tokens']);
  const { thinking_tokens: thought } = (usage['output_tokens_details'] ?? {}) as Json;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: read, cache_creation_tokens: written },
    completion_tokens_details: { reasoning_tokens: Math.min(count(thought), completion) },
  };
};

const choiceOf = (choice: Json, sequence: unknown): Json =>
  withAside(choice, typeof sequence === 'string' ? { stopSequence: sequence } : {});

/** A whole answer. */
export const completionOf = (answer: Json, model: string): Json => {
  const blocks = (Array.isArray(answer['content']) ? answer['content'] : []) as Json[];
  const joined = (type: string, field: string) =>
    blocks
      .filter((block) => block['type'] === type)
      .map((block) => worded(block[field]))
      .join('');
  const thought = joined('thinking', 'thinking');
  const signed = blocks.filter(({ type }) => type === 'thinking' || type === 'redacted_thinking');
  const calls = blocks
    .filter(({ type }) => type === 'tool_use')
    .map(({ id, name, input }) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(input ?? {}) },
    }));
  const text = joined('text', 'text');
  const message = answerMessage({ text, thought, signed, calls });
  const finish_reason = finishOf(answer['stop_reason']);
  return {
    ...headOf(answer['id'], model),
    object: 'chat.completion',
    choices: [
      choiceOf({ index: 0, message, logprobs: null, finish_reason }, answer['stop_sequence']),
    ],
    usage: usageOf((answer['usage'] ?? {}) as Json),
  };
};

/** The same of one in events. */
export const createEventReader = (model: string): DialectReader => {
  let head: Json = { ...headOf(undefined, model), object: 'chat.completion.chunk' };
  let usage: Json = {};
  let whole = false;
  /** The block that is being written: what it thought, or its place among the calls. */
  let thought = '';
  let calls = -1;
  const event = (rest: Json): RelayEvent => {
    const chunk = { ...head, ...rest };
    return { data: JSON.stringify(chunk), chunk };
  };
  const said = (delta: Json): RelayEvent =>
    event({ choices: [{ index: 0, delta, finish_reason: null }] });
  const called = (call: Json): RelayEvent => said({ tool_calls: [{ index: calls, ...call }] });

  const started = (block: Json): RelayEvent[] => {
    thought = '';
    if (block['type'] === 'redacted_thinking') return [said({ thinking_blocks: [block] })];
    if (block['type'] === 'text' && block['text']) return [said({ content: block['text'] })];
    if (block['type'] !== 'tool_use') return [];
    calls += 1;
    const { id, name } = block;
    return [called({ id, type: 'function', function: { name, arguments: '' } })];
  };
  const grown = (delta: Json): RelayEvent[] => {
    switch (delta['type']) {
      case 'text_delta':
        return [said({ content: delta['text'] })];
      case 'thinking_delta':
        thought += worded(delta['thinking']);
        return [said({ reasoning_content: delta['thinking'] })];
      case 'signature_delta': {
        const { signature } = delta;
        return [said({ thinking_blocks: [{ type: 'thinking', thinking: thought, signature }] })];
      }
      case 'input_json_delta':
        return delta['partial_json']
          ? [called({ function: { arguments: delta['partial_json'] } })]
          : [];
      default:
        return [];
    }
  };

  return {
    isWhole: () => whole,
    read(given) {
      switch (given['type']) {
        case 'message_start': {
          const message = (given['message'] ?? {}) as Json;
          usage = { ...(message['usage'] as Json | undefined) };
          head = { ...headOf(message['id'], model), object: 'chat.completion.chunk' };
          const { data, chunk } = said({ role: 'assistant', content: '' });
          return [{ data, chunk: withAside(chunk, { usage: usageOf(usage) }) }];
        }
        case 'content_block_start':
          return started((given['content_block'] ?? {}) as Json);
        case 'content_block_delta':
          return grown((given['delta'] ?? {}) as Json);
        case 'message_delta': {
          const { stop_reason, stop_sequence } = (given['delta'] ?? {}) as Json;
          const told = Object.entries((given['usage'] ?? {}) as Json);
          usage = { ...usage, ...Object.fromEntries(told.filter(([, value]) => value !== null)) };
          if (!stop_reason) return [];
          const finish = { index: 0, delta: {}, finish_reason: finishOf(stop_reason) };
          return [
            event({ choices: [choiceOf(finish, stop_sequence)] }),
            event({ choices: [], usage: usageOf(usage) }),
          ];
        }
        case 'message_stop':
          whole = true;
          return [];
        default:
          return [];
      }
    },
  };
};
