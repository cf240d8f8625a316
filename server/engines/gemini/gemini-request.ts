import type { ChatBody } from '../chat-relay.ts';
import { cannotSay, worded } from '../dialect.ts';

/** A chat completion in the words of Gemini's generateContent. */

type Json = Record<string, unknown>;

interface Turn {
  role: 'user' | 'model';
  parts: Json[];
}

/** Tokens that may be thought, by the effort that is asked for. */
const efforts: Readonly<Record<string, number>> = {
  none: 0,
  minimal: 512,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 24_576,
};

const inline = (mimeType: string, data: string): Json => ({ inlineData: { mimeType, data } });

const partOf = (part: Json): Json[] => {
  if (part['type'] === 'text' || part['type'] === 'refusal') {
    const text = worded(part['text'] ?? part['refusal']);
    return text === '' ? [] : [{ text }];
  }
  if (part['type'] === 'input_audio') {
    const { data, format } = part['input_audio'] as { data: string; format: string };
    return [inline(`audio/${format}`, data)];
  }
  const { url = '' } = (part['image_url'] ?? {}) as { url?: string };
  const [, mime, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  if (mime === undefined || data === undefined)
    throw cannotSay('messages', 'messages：这个模型的服务不接受图片的网址');
  return [inline(mime, data)];
};

const partsOf = (content: unknown): Json[] =>
  typeof content === 'string'
    ? content === ''
      ? []
      : [{ text: content }]
    : ((content ?? []) as Json[]).flatMap(partOf);

const record = (words: unknown, otherwise: string): Json => {
  try {
    const value: unknown = JSON.parse(String(words));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
  } catch {
    // Words alone are put under a name.
  }
  return words === '' || words === undefined ? {} : { [otherwise]: words };
};

interface Call {
  id?: string;
  function: { name: string; arguments?: string };
  extra_content?: { google?: { thought_signature?: string } };
}

const callPart = ({ function: { name, arguments: words }, extra_content: extra }: Call): Json => {
  const signature = extra?.google?.thought_signature;
  return {
    functionCall: { name, args: record(words, 'arguments') },
    ...(signature ? { thoughtSignature: signature } : {}),
  };
};

/** @param names of the calls that were made, by their ids: results are told by them */
const turnOf = (message: Json, names: Map<string, string>): Turn => {
  const { role, content } = message;
  if (role === 'assistant') {
    const calls = (message['tool_calls'] ?? []) as Call[];
    for (const { id, function: called } of calls) if (id) names.set(id, called.name);
    return { role: 'model', parts: [...partsOf(content), ...calls.map(callPart)] };
  }
  if (role === 'user') return { role, parts: partsOf(content) };
  if (role !== 'tool')
    throw cannotSay('messages', `messages：这个模型的服务没有 role 为 ${String(role)} 的消息`);
  const parts = partsOf(content);
  const text = parts.map(({ text }) => worded(text)).join('\n');
  const name = names.get(worded(message['tool_call_id'])) ?? (worded(message['name']) || 'tool');
  const media = parts.filter((part) => 'inlineData' in part);
  return {
    role: 'user',
    parts: [{ functionResponse: { name, response: record(text, 'result') } }, ...media],
  };
};

const turnsOf = (messages: readonly Json[]): Turn[] => {
  const names = new Map<string, string>();
  const turns: Turn[] = [];
  for (const message of messages) {
    const turn = turnOf(message, names);
    const last = turns.at(-1);
    if (turn.parts.length === 0) continue;
    if (last?.role === turn.role) last.parts.push(...turn.parts);
    else turns.push(turn);
  }
  return turns;
};

const toolsOf = (tools: readonly Json[]): Json[] => [
  {
    functionDeclarations: tools.map((tool) => {
      const { name, description, parameters } = tool['function'] as Json;
      return {
        name,
        ...(description ? { description } : {}),
        ...(parameters ? { parametersJsonSchema: parameters } : {}),
      };
    }),
  },
];

const choiceOf = (choice: unknown): Json | undefined => {
  if (choice === 'none') return { mode: 'NONE' };
  if (choice === 'auto') return { mode: 'AUTO' };
  if (choice === 'required') return { mode: 'ANY' };
  if (typeof choice !== 'object' || choice === null) return undefined;
  const { name } = (choice as { function: { name: string } }).function;
  return { mode: 'ANY', allowedFunctionNames: [name] };
};

const thinkingOf = (body: ChatBody): Json => {
  const { thinking, reasoning_effort: effort } = body;
  const { type, budget_tokens: asked } = (thinking ?? {}) as Json;
  if (type === 'disabled') return { thinkingConfig: { thinkingBudget: 0 } };
  const thinkingBudget = typeof asked === 'number' ? asked : efforts[String(effort)];
  if (thinkingBudget === undefined)
    return thinking ? { thinkingConfig: { includeThoughts: true } } : {};
  return { thinkingConfig: { thinkingBudget, includeThoughts: thinkingBudget > 0 } };
};

const formatOf = (format: unknown): Json => {
  const { type, json_schema: shape } = (format ?? {}) as { type?: string; json_schema?: Json };
  if (type !== 'json_object' && type !== 'json_schema') return {};
  return {
    responseMimeType: 'application/json',
    ...(shape?.['schema'] ? { responseJsonSchema: shape['schema'] } : {}),
  };
};

/** Fields that differ in their names alone. */
const renamed = [
  ['temperature', 'temperature'],
  ['top_p', 'topP'],
  ['seed', 'seed'],
  ['max_tokens', 'maxOutputTokens'],
  ['presence_penalty', 'presencePenalty'],
  ['frequency_penalty', 'frequencyPenalty'],
] as const;

/** @throws RelayError for what has no words there */
export const geminiBody = (body: ChatBody): Json => {
  const isSystem = ({ role }: Json) => role === 'system' || role === 'developer';
  const system = body.messages.filter(isSystem).flatMap(({ content }) => partsOf(content));
  const contents = turnsOf(body.messages.filter((message) => !isSystem(message)));
  if (contents.length === 0) throw cannotSay('messages', 'messages：没有要回答的问题');
  const tools = (body['tools'] ?? []) as Json[];
  const choice = tools.length > 0 ? choiceOf(body['tool_choice']) : undefined;
  const { top_k: topK } = body;
  const ends = [body['stop'] ?? []].flat();
  return {
    contents,
    ...(system.length > 0 ? { systemInstruction: { parts: system } } : {}),
    ...(tools.length > 0 ? { tools: toolsOf(tools) } : {}),
    ...(choice ? { toolConfig: { functionCallingConfig: choice } } : {}),
    generationConfig: {
      ...Object.fromEntries(
        renamed
          .filter(([name]) => typeof body[name] === 'number')
          .map(([name, there]) => [there, body[name]]),
      ),
      ...(typeof topK === 'number' && topK > 0 ? { topK } : {}),
      ...(ends.length > 0 ? { stopSequences: ends } : {}),
      ...formatOf(body['response_format']),
      ...thinkingOf(body),
    },
  };
};
