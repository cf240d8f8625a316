import { asideOf, type ChatBody } from '../chat-relay.ts';
import { cannotSay, worded } from '../dialect.ts';

/** A chat completion in the words of Anthropic's messages. */

type Json = Record<string, unknown>;

interface Turn {
  role: 'user' | 'assistant';
  content: Json[];
}

/** Thinking that is shorter than this is refused. */
const leastThinking = 1024;

/** Tokens that may be thought, by the effort that is asked for. */
const efforts: Readonly<Record<string, number>> = {
  minimal: leastThinking,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 32_000,
};

/** How long an answer may be where nobody says, by what the models of a generation can. */
const usualLength = (model: string): number => {
  if (/claude-3-(?:haiku|opus|sonnet)/.test(model)) return 4096;
  return /claude-3-5/.test(model) ? 8192 : 32_000;
};

const marked = (block: Json, of: object): Json =>
  asideOf(of).cache ? { ...block, cache_control: { type: 'ephemeral' } } : block;

/** Numbers of calls are letters, digits, _ and - there. */
const callId = (id: unknown): string => worded(id).replaceAll(/[^\w-]/g, '_') || 'call';

const partsOf = (content: unknown): Json[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : ((content ?? []) as Json[]);

const blockOf = (part: Json): Json[] => {
  if (part['type'] === 'text' || part['type'] === 'refusal') {
    const text = worded(part['text'] ?? part['refusal']);
    // Empty texts are refused.
    return text === '' ? [] : [marked({ type: 'text', text }, part)];
  }
  if (part['type'] !== 'image_url')
    throw cannotSay('messages', 'messages：这个模型的服务不接受录音');
  const { url = '' } = (part['image_url'] ?? {}) as { url?: string };
  const [, media_type, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  const source = data === undefined ? { type: 'url', url } : { type: 'base64', media_type, data };
  return [marked({ type: 'image', source }, part)];
};

/** The blocks of a message; a mark of the message itself stands at the last of them. */
const blocksOf = (message: Json): Json[] => {
  const blocks = partsOf(message['content']).flatMap(blockOf);
  const last = blocks.at(-1);
  return last ? [...blocks.slice(0, -1), marked(last, message)] : blocks;
};

const argumentsOf = (words: unknown): unknown => {
  try {
    const value: unknown = JSON.parse(worded(words));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Models write half an object now and then; the words are kept.
  }
  return words === undefined || words === '' ? {} : { arguments: words };
};

const assistantBlocks = (message: Json): Json[] => {
  const calls = (message['tool_calls'] ?? []) as { id?: unknown; function: Json }[];
  return [
    ...(asideOf(message).thinking ?? []),
    ...blocksOf(message),
    ...calls.map(({ id, function: { name, arguments: words } }) => ({
      type: 'tool_use',
      id: callId(id),
      name,
      input: argumentsOf(words),
    })),
  ];
};

const turnOf = (message: Json): Turn => {
  const { role } = message;
  if (role === 'assistant') return { role, content: assistantBlocks(message) };
  if (role === 'tool') {
    const result = {
      type: 'tool_result',
      tool_use_id: callId(message['tool_call_id']),
      content: partsOf(message['content']).flatMap(blockOf),
      ...(asideOf(message).failed ? { is_error: true } : {}),
    };
    return { role: 'user', content: [marked(result, message)] };
  }
  if (role !== 'user')
    throw cannotSay('messages', `messages：这个模型的服务没有 role 为 ${String(role)} 的消息`);
  return { role, content: blocksOf(message) };
};

/** Turns of the same side stand in one message: results of tools have to. */
const turnsOf = (messages: readonly Json[]): Turn[] => {
  const turns: Turn[] = [];
  for (const message of messages) {
    const turn = turnOf(message);
    const last = turns.at(-1);
    if (turn.content.length === 0) continue;
    if (last?.role === turn.role) last.content.push(...turn.content);
    else turns.push(turn);
  }
  const end = turns.at(-1);
  // What an answer is to begin with may not end with a space.
  const begun = end?.role === 'assistant' ? end.content.at(-1) : undefined;
  if (begun?.['type'] === 'text') begun['text'] = String(begun['text']).trimEnd();
  return turns;
};

const toolOf = (tool: Json): Json => {
  const { name, description, parameters, strict } = tool['function'] as Json;
  return marked(
    {
      name,
      ...(description ? { description } : {}),
      input_schema: { type: 'object', ...(parameters as Json | undefined) },
      ...(strict ? { strict } : {}),
    },
    tool,
  );
};

const choiceOf = (body: ChatBody): Json | undefined => {
  const { tool_choice: choice, parallel_tool_calls: parallel } = body;
  const alone = parallel === false ? { disable_parallel_tool_use: true } : {};
  if (choice === 'none') return { type: 'none' };
  if (choice === 'required') return { type: 'any', ...alone };
  if (typeof choice === 'object' && choice !== null) {
    const { name } = (choice as { function: { name: string } }).function;
    return { type: 'tool', name, ...alone };
  }
  return choice === 'auto' || parallel === false ? { type: 'auto', ...alone } : undefined;
};

/** Whether a call of a tool goes on without what was thought before it: then it may not be thought now. */
const lacksThought = (turns: readonly Turn[]): boolean => {
  const called = [...turns]
    .reverse()
    .find(
      ({ role, content }) =>
        role === 'assistant' && content.some((block) => block['type'] === 'tool_use'),
    );
  if (!called || turns.at(-1)?.role !== 'user') return false;
  const answers = turns.at(-1)?.content.some((block) => block['type'] === 'tool_result') ?? false;
  const first = called.content[0]?.['type'];
  return answers && first !== 'thinking' && first !== 'redacted_thinking';
};

const thinkingOf = (body: ChatBody, length: number, turns: readonly Turn[]): Json => {
  const { thinking, reasoning_effort: effort } = body;
  const { type, budget_tokens: asked } = (thinking ?? {}) as Json;
  const forced = ['any', 'tool'].includes(worded(choiceOf(body)?.['type']));
  if (type === 'disabled') return { thinking: { type } };
  if (forced || lacksThought(turns)) return {};
  if (type === 'adaptive' || type === 'auto')
    return {
      thinking: { type: 'adaptive' },
      ...(typeof effort === 'string' && effort in efforts ? { output_config: { effort } } : {}),
    };
  const wanted = typeof asked === 'number' ? asked : efforts[String(effort)];
  const budget = Math.min(wanted ?? (type === 'enabled' ? length : 0), length - 1);
  return budget >= leastThinking ? { thinking: { type: 'enabled', budget_tokens: budget } } : {};
};

/** How the answer is to be formed, and how it is drawn. */
const wishesOf = (body: ChatBody, thinks: boolean): Json => {
  const { temperature, top_p: topP, top_k: topK, stop, response_format: format } = body;
  const ends = [stop ?? []].flat().filter((each) => worded(each).trim() !== '');
  const { type, json_schema: shape } = (format ?? {}) as { type?: string; json_schema?: Json };
  if (type === 'json_object')
    throw cannotSay('response_format', 'response_format：这个模型的服务只支持 json_schema');
  return {
    ...(ends.length > 0 ? { stop_sequences: ends } : {}),
    // Who thinks draws as it is; 1 is what is usual, and some models take no other.
    ...(typeof temperature === 'number' && temperature !== 1 && !thinks
      ? { temperature: Math.min(temperature, 1) }
      : {}),
    ...(typeof topP === 'number' && topP !== 1 && !thinks ? { top_p: topP } : {}),
    ...(typeof topK === 'number' && topK > 0 && !thinks ? { top_k: topK } : {}),
    ...(shape
      ? { output_config: { format: { type: 'json_schema', schema: shape['schema'] ?? {} } } }
      : {}),
  };
};

/** @throws RelayError for what has no words there */
export const anthropicBody = (body: ChatBody, stream: boolean): Json => {
  const isSystem = ({ role }: Json) => role === 'system' || role === 'developer';
  const system = body.messages.filter(isSystem).flatMap(blocksOf);
  const turns = turnsOf(body.messages.filter((message) => !isSystem(message)));
  if (turns.length === 0) throw cannotSay('messages', 'messages：没有要回答的问题');
  const length = (body['max_tokens'] as number | undefined) ?? usualLength(body.model);
  const tools = (body['tools'] ?? []) as Json[];
  const thinking = thinkingOf(body, length, turns);
  const wishes = wishesOf(body, 'thinking' in thinking && !isOff(thinking['thinking']));
  const choice = tools.length > 0 ? choiceOf(body) : undefined;
  return {
    model: body.model,
    max_tokens: length,
    stream,
    ...(system.length > 0 ? { system } : {}),
    messages: turns,
    ...(tools.length > 0 ? { tools: tools.map(toolOf) } : {}),
    ...(choice ? { tool_choice: choice } : {}),
    ...(typeof body['user'] === 'string' ? { metadata: { user_id: body['user'] } } : {}),
    ...thinking,
    ...wishes,
    ...('output_config' in thinking && 'output_config' in wishes
      ? {
          output_config: {
            ...(thinking['output_config'] as Json),
            ...(wishes['output_config'] as Json),
          },
        }
      : {}),
    ...(asideOf(body).cache ? { cache_control: { type: 'ephemeral' } } : {}),
  };
};

const isOff = (thinking: unknown): boolean => (thinking as Json)['type'] === 'disabled';
