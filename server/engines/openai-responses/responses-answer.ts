import type { RelayEvent } from '../chat-relay.ts';
import { answerMessage, headOf } from '../completion.ts';
import { type DialectReader, worded } from '../dialect.ts';
import { upstreamRefusal } from '../openai-compatible/chat-relay.ts';

/** Answers of OpenAI's Responses in the words of its chat completions. */

type Json = Record<string, unknown>;

const count = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.ceil(value) : 0;

const usageOf = (usage: Json): Json => {
  const prompt = count(usage['input_tokens']);
  const completion = count(usage['output_tokens']);
  const { cached_tokens: cached } = (usage['input_tokens_details'] ?? {}) as Json;
  const { reasoning_tokens: thought } = (usage['output_tokens_details'] ?? {}) as Json;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: count(cached) },
    completion_tokens_details: { reasoning_tokens: count(thought) },
  };
};

const finishOf = (response: Json, calls: number): string => {
  const { reason } = (response['incomplete_details'] ?? {}) as Json;
  if (reason === 'content_filter') return reason;
  if (response['status'] === 'incomplete') return 'length';
  return calls > 0 ? 'tool_calls' : 'stop';
};

/** What was thought as it goes back; null: nothing that can. */
const sealed = ({ type, id, summary, encrypted_content: seal }: Json): Json | null =>
  type === 'reasoning' && typeof seal === 'string' && seal !== ''
    ? { type, id, summary: summary ?? [], encrypted_content: seal }
    : null;

const partsIn = (item: Json, field: 'content' | 'summary'): Json[] =>
  Array.isArray(item[field]) ? (item[field] as Json[]) : [];

/** A failure that came in place of the end. */
const refusalOf = ({ code, message }: Json, begun: boolean) =>
  upstreamRefusal(0, { error: { code, message } }, begun);

/** A whole answer. @throws RelayError */
export const completionOf = (response: Json, model: string): Json => {
  if (response['status'] === 'failed') throw refusalOf((response['error'] ?? {}) as Json, false);
  const items = (Array.isArray(response['output']) ? response['output'] : []) as Json[];
  const of = (type: string) => items.filter((item) => item['type'] === type);
  const text = of('message')
    .flatMap((item) => partsIn(item, 'content'))
    .map((part) => worded(part['text'] ?? part['refusal']))
    .join('');
  const thought = of('reasoning')
    .flatMap((item) => partsIn(item, 'summary'))
    .map((part) => worded(part['text']))
    .join('\n\n');
  const calls = of('function_call').map(({ call_id: id, name, arguments: given }) => ({
    id,
    type: 'function',
    function: { name, arguments: given },
  }));
  const signed = items.flatMap((item) => sealed(item) ?? []);
  const message = answerMessage({ text, thought, signed, calls });
  const finish_reason = finishOf(response, calls.length);
  return {
    ...headOf(response['id'], model),
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason }],
    usage: usageOf((response['usage'] ?? {}) as Json),
  };
};

/** The same of one in events. */
export const createEventReader = (model: string): DialectReader => {
  let head: Json = { ...headOf(undefined, model), object: 'chat.completion.chunk' };
  let whole = false;
  let begun = false;
  /** Calls by their place in the answer, and those whose arguments came in pieces. */
  const calls = new Map<unknown, number>();
  const inPieces = new Set<unknown>();
  const event = (rest: Json): RelayEvent => {
    begun = true;
    const chunk = { ...head, ...rest };
    return { data: JSON.stringify(chunk), chunk };
  };
  const said = (delta: Json): RelayEvent =>
    event({ choices: [{ index: 0, delta, finish_reason: null }] });
  const grown = (place: unknown, given: unknown): RelayEvent[] =>
    calls.has(place) && worded(given) !== ''
      ? [said({ tool_calls: [{ index: calls.get(place), function: { arguments: given } }] })]
      : [];

  const added = (place: unknown, item: Json): RelayEvent[] => {
    if (item['type'] !== 'function_call') return [];
    const index = calls.size;
    calls.set(place, index);
    const { call_id: id, name } = item;
    const call = { index, id, type: 'function', function: { name, arguments: '' } };
    return [said({ tool_calls: [call] })];
  };
  const ended = (place: unknown, item: Json): RelayEvent[] => {
    const seal = sealed(item);
    if (seal) return [said({ thinking_blocks: [seal] })];
    // Some that stand before it send the arguments with the end alone.
    return inPieces.has(place) ? [] : grown(place, item['arguments']);
  };
  const over = (response: Json): RelayEvent[] => {
    whole = true;
    return [
      event({
        choices: [{ index: 0, delta: {}, finish_reason: finishOf(response, calls.size) }],
      }),
      event({ choices: [], usage: usageOf((response['usage'] ?? {}) as Json) }),
    ];
  };

  return {
    isWhole: () => whole,
    read(given) {
      const { type, output_index: place, delta } = given;
      const item = (given['item'] ?? {}) as Json;
      const response = (given['response'] ?? {}) as Json;
      switch (type) {
        case 'response.created':
          head = { ...headOf(response['id'], model), object: 'chat.completion.chunk' };
          return [said({ role: 'assistant', content: '' })];
        case 'response.output_item.added':
          return added(place, item);
        case 'response.output_text.delta':
        case 'response.refusal.delta':
          return [said({ content: delta })];
        case 'response.reasoning_summary_text.delta':
        case 'response.reasoning_text.delta':
          return [said({ reasoning_content: delta })];
        case 'response.function_call_arguments.delta':
          inPieces.add(place);
          return grown(place, delta);
        case 'response.output_item.done':
          return ended(place, item);
        case 'response.completed':
        case 'response.incomplete':
          return over(response);
        case 'response.failed':
          throw refusalOf((response['error'] ?? {}) as Json, begun);
        case 'error':
          throw refusalOf(given, begun);
        default:
          return [];
      }
    },
  };
};
