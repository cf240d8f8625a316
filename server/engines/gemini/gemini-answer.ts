import { randomUUID } from 'node:crypto';
import type { RelayEvent } from '../chat-relay.ts';
import { answerMessage, headOf } from '../completion.ts';
import { type DialectReader, senseless, worded } from '../dialect.ts';

/** Answers of Gemini's generateContent in the words of chat completions. */

type Json = Record<string, unknown>;

const filtered = new Set([
  'SAFETY',
  'RECITATION',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
]);

const finishOf = (reason: string, called: boolean): string => {
  if (reason === 'MAX_TOKENS') return 'length';
  if (filtered.has(reason)) return 'content_filter';
  return called ? 'tool_calls' : 'stop';
};

const count = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.ceil(value) : 0;

const usageOf = (usage: Json): Json => {
  const prompt = count(usage['promptTokenCount']) + count(usage['toolUsePromptTokenCount']);
  const thought = count(usage['thoughtsTokenCount']);
  const completion = count(usage['candidatesTokenCount']) + thought;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: count(usage['cachedContentTokenCount']) },
    completion_tokens_details: { reasoning_tokens: thought },
  };
};

interface Read {
  text: string;
  thought: string;
  calls: Json[];
  /** Empty: there is more to come. */
  finish: string;
  usage: Json | null;
}

const callOf = (part: Json): Json => {
  const { id, name, args } = part['functionCall'] as Json;
  const signature = part['thoughtSignature'];
  return {
    id: typeof id === 'string' ? id : `call_${randomUUID().replaceAll('-', '')}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args ?? {}) },
    ...(signature ? { extra_content: { google: { thought_signature: signature } } } : {}),
  };
};

const read = (answer: Json): Read => {
  const [candidate] = (answer['candidates'] ?? []) as Json[];
  const { parts = [] } = (candidate?.['content'] ?? {}) as { parts?: Json[] };
  const blocked = (answer['promptFeedback'] as Json | undefined)?.['blockReason'];
  const textOf = (isThought: boolean) =>
    parts
      .filter((part) => typeof part['text'] === 'string' && Boolean(part['thought']) === isThought)
      .map((part) => part['text'])
      .join('');
  const usage = answer['usageMetadata'] as Json | undefined;
  return {
    text: textOf(false),
    thought: textOf(true),
    calls: parts.filter((part) => 'functionCall' in part).map(callOf),
    finish: worded(candidate?.['finishReason'] ?? (!candidate && blocked ? 'SAFETY' : '')),
    usage: usage ? usageOf(usage) : null,
  };
};

/** A whole answer. @throws RelayError */
export const completionOf = (answer: Json, model: string): Json => {
  const { text, thought, calls, finish, usage } = read(answer);
  if (finish === '' && text === '' && calls.length === 0) throw senseless(false);
  const message = answerMessage({ text, thought, calls });
  const finish_reason = finishOf(finish, calls.length > 0);
  return {
    ...headOf(undefined, model),
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason }],
    ...(usage ? { usage } : {}),
  };
};

/** The same of one in events. */
export const createEventReader = (model: string): DialectReader => {
  const head = { ...headOf(undefined, model), object: 'chat.completion.chunk' };
  let whole = false;
  let begun = false;
  let calls = 0;
  const event = (rest: Json): RelayEvent => {
    const chunk = { ...head, ...rest };
    return { data: JSON.stringify(chunk), chunk };
  };
  const said = (delta: Json, finish: string | null = null): RelayEvent =>
    event({ choices: [{ index: 0, delta, finish_reason: finish }] });
  return {
    isWhole: () => whole,
    read(given) {
      const { text, thought, calls: made, finish, usage } = read(given);
      const events: RelayEvent[] = [];
      if (!begun) events.push(said({ role: 'assistant', content: '' }));
      begun = true;
      if (thought !== '') events.push(said({ reasoning_content: thought }));
      if (text !== '') events.push(said({ content: text }));
      for (const call of made) {
        events.push(said({ tool_calls: [{ index: calls, ...call }] }));
        calls += 1;
      }
      if (finish === '') return events;
      whole = true;
      events.push(said({}, finishOf(finish, calls > 0)));
      if (usage) events.push(event({ choices: [], usage }));
      return events;
    },
  };
};
