import { isHarmless } from '#contract/open-fields.ts';
import { asideOf, type ChatBody, type RelayError } from '../chat-relay.ts';
import { cannotSay, worded } from '../dialect.ts';

/** A chat completion in the words of OpenAI's Responses. */

type Json = Record<string, unknown>;

/** What has no words there, with values that ask for nothing. */
const lacks: Readonly<Record<string, readonly unknown[]>> = {
  n: [1],
  stop: [[]],
  seed: [],
  logit_bias: [{}],
  logprobs: [false],
  top_logprobs: [0],
  frequency_penalty: [0],
  presence_penalty: [0],
  functions: [[]],
  function_call: ['auto', 'none'],
  top_k: [],
  top_a: [0],
  min_p: [0],
  repetition_penalty: [1],
  enable_thinking: [false],
  thinking_budget: [],
  chat_template_kwargs: [{}],
};

/** Why a request cannot be put so; null: it can. */
export const unableToRespond = (body: ChatBody): RelayError | null => {
  for (const [name, harmless] of Object.entries(lacks))
    if (!isHarmless(body[name], harmless))
      return cannotSay(name, `${name}：这个模型的服务没有这个参数`);
  return null;
};

const partOf = (part: Json): Json => {
  if (part['type'] === 'text' || part['type'] === 'refusal')
    return { type: 'input_text', text: worded(part['text'] ?? part['refusal']) };
  if (part['type'] !== 'image_url')
    throw cannotSay('messages', 'messages：这个模型的服务不接受录音');
  const { url = '', detail = 'auto' } = (part['image_url'] ?? {}) as Record<string, string>;
  return { type: 'input_image', image_url: url, detail };
};

const contentOf = (content: unknown): unknown =>
  Array.isArray(content) ? (content as Json[]).map(partOf) : worded(content);

/** What stands in a message as plain words. */
const wordsOf = (content: unknown): string =>
  Array.isArray(content)
    ? (content as Json[]).map((part) => worded(part['text'] ?? part['refusal'])).join('\n')
    : worded(content);

const itemsOf = (message: Json): Json[] => {
  const { role, content } = message;
  if (role === 'tool') {
    const { tool_call_id: call } = message;
    return [{ type: 'function_call_output', call_id: call, output: wordsOf(content) }];
  }
  if (role !== 'assistant')
    return [{ role: role === 'system' ? 'developer' : role, content: contentOf(content) }];
  const calls = (message['tool_calls'] ?? []) as { id?: unknown; function: Json }[];
  const said = wordsOf(content);
  return [
    // What was thought goes back as it came, before what came of it.
    ...(asideOf(message).thinking ?? []),
    ...(said === '' ? [] : [{ role, content: said }]),
    ...calls.map(({ id, function: { name, arguments: given } }) => ({
      type: 'function_call',
      call_id: id,
      name,
      arguments: given,
    })),
  ];
};

const toolOf = ({ function: told }: Json): Json => {
  const { name, description, parameters, strict = false } = told as Json;
  return { type: 'function', name, description, parameters, strict };
};

const choiceOf = (choice: unknown): unknown =>
  typeof choice === 'object' && choice !== null
    ? { type: 'function', name: (choice as { function: Json }).function['name'] }
    : choice;

/** The greatest of its models think long, whatever they are asked. */
const alwaysLong = /-pro/i;

const effortOf = ({ reasoning_effort: effort, reasoning, thinking, model }: ChatBody): unknown => {
  const told = effort ?? ((reasoning ?? {}) as Json)['effort'];
  if (typeof told === 'string') return told;
  const { type } = (thinking ?? {}) as Json;
  if (type === undefined) return undefined;
  if (type !== 'disabled') return 'high';
  return alwaysLong.test(model) ? undefined : 'low';
};

const textOf = ({ response_format: format, verbosity }: ChatBody): Json | undefined => {
  const { type, json_schema: schema } = (format ?? {}) as Json;
  const shape = type === 'json_schema' ? { type, ...(schema as Json) } : type && { type };
  return shape || verbosity
    ? { ...(shape ? { format: shape } : {}), ...(verbosity ? { verbosity } : {}) }
    : undefined;
};

/** Nothing is kept there: what was thought comes sealed, to be sent back. @throws RelayError */
export const responsesBody = (body: ChatBody, stream: boolean): Json => {
  const tools = (body['tools'] ?? []) as Json[];
  const effort = effortOf(body);
  const fields: Json = {
    model: body.model,
    input: body.messages.flatMap(itemsOf),
    stream,
    store: false,
    include: ['reasoning.encrypted_content'],
    max_output_tokens: body['max_completion_tokens'] ?? body['max_tokens'],
    tools: tools.length > 0 ? tools.map(toolOf) : undefined,
    tool_choice: tools.length > 0 ? choiceOf(body['tool_choice']) : undefined,
    parallel_tool_calls: tools.length > 0 ? body['parallel_tool_calls'] : undefined,
    reasoning: effort === undefined ? undefined : { effort },
    text: textOf(body),
    temperature: body['temperature'],
    top_p: body['top_p'],
    user: body['user'],
    safety_identifier: body['safety_identifier'],
    prompt_cache_key: body['prompt_cache_key'],
  };
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  );
};
