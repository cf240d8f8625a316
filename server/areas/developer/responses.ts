import type { Parsed } from '#contract/calls.ts';
import type { OpenMessage, ResponseItem } from '#contract/open-messages.ts';
import { Refusal } from '#server/http/handlers.ts';
import type { ChatAsked } from './chat-asking.ts';

/**
 * OpenAI's Responses in the words of its chat completions, which every service speaks.
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
