import { Agent, type Dispatcher } from 'undici';
import { imagesOf, textOf, type ChatMessage } from '#common/chat-message.ts';
import type { Maker } from '#contract/makers.ts';
import type { ChatEngine, ChatPart, ChatRequest, ToolSpec } from '../chat-engine.ts';
import { fieldsOfThinking, lengthWithThinking, thinkingFields } from '../thinking.ts';
import { apiUrl } from './address.ts';
import { callUrl, inWordsOf, keyHeaders, lackedBy } from './makers.ts';
import { RefusedRequest, StreamReader } from './stream-reader.ts';
import { faultError, type UpstreamFault } from './upstream-error.ts';

export interface OpenAiCompatibleOptions {
  /** Such as `https://api.deepseek.com/v1`. */
  baseUrl: string;
  /** Empty: none is sent, as local services want it. */
  apiKey: string;
  /** Added to each request; what the program says itself counts more. */
  headers?: Record<string, string>;
  body?: Record<string, unknown>;
  /** Left out: straight to the service. */
  dispatcher?: Dispatcher;
  /** Left out: as its address tells. */
  maker?: Maker;
}

/** All services share it: one pool of connections for each origin. Redirects are not followed. */
const agent = new Agent({
  connect: { timeout: 10_000 },
  // Whoever asks keeps the time, by what was said and not by bytes.
  headersTimeout: 0,
  bodyTimeout: 0,
});

/** Fields that some services or models refuse and that a request can do without. */
const optional = [
  'tools',
  'stream_options',
  'temperature',
  'presence_penalty',
  'frequency_penalty',
  'max_tokens',
  ...thinkingFields,
] as const;
type Optional = (typeof optional)[number];
const isOptional = (name: string): name is Optional =>
  (optional as readonly string[]).includes(name);

/** Many services know text alone: pieces are sent only where there is an image among them. */
const contentOf = (content: ChatMessage['content']): unknown => {
  const images = imagesOf(content);
  const text = textOf(content);
  if (images.length === 0) return text;
  return [...(text === '' ? [] : [{ type: 'text', text }]), ...images];
};

/** Services whose thinking models want what they thought before a call back within the same loop. */
const wantsThought = /deepseek|qwen|qwq|kimi|glm|mimo|minimax/i;

/** A message as OpenAI's words have it. @param model decides whether its thoughts go back */
export const messageOf = (
  { role, content, calls, thought, callId }: ChatMessage,
  model: string,
): Record<string, unknown> => {
  if (role === 'tool') return { role, tool_call_id: callId, content: textOf(content) };
  if (!calls) return { role, content: contentOf(content) };
  return {
    role,
    // Some services refuse an empty text beside calls, others a text that is missing.
    content: textOf(content) === '' ? null : textOf(content),
    ...(thought && wantsThought.test(model) ? { reasoning_content: thought } : {}),
    tool_calls: calls.map(({ id, name, arguments: given, signed }) => ({
      id,
      type: 'function',
      function: { name, arguments: given },
      ...(signed && { extra_content: signed }),
    })),
  };
};

/** A tool as OpenAI's words have it. */
export const toolOf = (tool: ToolSpec): Record<string, unknown> => ({
  type: 'function',
  function: tool,
});

const bodyOf = (
  request: ChatRequest,
  thinking: Record<string, unknown>,
  without: ReadonlySet<Optional>,
): Record<string, unknown> => {
  const body: Record<string, unknown> = {
    model: request.model,
    messages: request.messages.map((message) => messageOf(message, request.model)),
    stream: true,
  };
  const set = (name: Optional, value: unknown) => {
    if (!without.has(name)) body[name] = value;
  };
  if (request.tools && request.tools.length > 0) set('tools', request.tools.map(toolOf));
  set('stream_options', { include_usage: true });
  set('temperature', request.temperature);
  if (request.presencePenalty !== 0) set('presence_penalty', request.presencePenalty);
  if (request.frequencyPenalty !== 0) set('frequency_penalty', request.frequencyPenalty);
  for (const name of thinkingFields) if (name in thinking) set(name, thinking[name]);
  const length = lengthWithThinking(request.maxTokens, request.thinking);
  if (length !== undefined) {
    set('max_tokens', length);
    // OpenAI's thinking models know it by this name alone.
    if (without.has('max_tokens')) body['max_completion_tokens'] = length;
  }
  return body;
};

/** The field to leave out after a refusal; null: the refusal has another reason. */
const refusedField = (fault: UpstreamFault, body: Record<string, unknown>): Optional | null => {
  if (fault.status !== 400 && fault.status !== 422) return null;
  const named = fault.param.split('.')[0] ?? '';
  if (isOptional(named)) return named in body ? named : null;
  if (fault.aboutTools && 'tools' in body) return 'tools';
  const thinks = thinkingFields.find((name) => name in body);
  if (fault.aboutThinking && thinks) return thinks;
  // Services that know no stream_options seldom name it: those that say why in a known way are left.
  const reason = faultError(fault, { begun: false });
  if (!reason.retriable || reason.code !== 'upstream') return null;
  return thinks ?? ('stream_options' in body ? 'stream_options' : null);
};

/** Any service that speaks OpenAI's chat completions: OpenAI, DeepSeek, Qwen, Ollama, vLLM … */
export const createOpenAiCompatibleEngine = (options: OpenAiCompatibleOptions): ChatEngine => {
  const url = apiUrl(options.baseUrl, 'chat/completions');
  const headers: Record<string, string> = {
    ...options.headers,
    'content-type': 'application/json',
    accept: 'text/event-stream',
    ...keyHeaders(options, options.apiKey),
  };
  const lacked = [...lackedBy(options)].filter(isOptional);
  /**
   * Fields with their values that the service refused for a model, so that later requests do without
   * at once: what one person chose takes nothing from those who chose something else.
   */
  const refused = new Map<string, Set<string>>();
  const mark = (body: Record<string, unknown>, name: Optional): string =>
    `${name} ${JSON.stringify(body[name])}`;

  const marks = (body: Record<string, unknown>, names: ReadonlySet<Optional>): string[] =>
    [...names].map((name) => mark(body, name));

  const open = (
    body: Record<string, unknown>,
    take: (parts: ChatPart[]) => void,
    onSent?: () => void,
  ): StreamReader => {
    const reader = new StreamReader(take, onSent);
    const { origin, pathname, search } = callUrl(
      options,
      'chat/completions',
      String(body['model']),
    );
    const request: Dispatcher.DispatchOptions = {
      origin,
      path: pathname + search,
      method: 'POST',
      headers,
      body: JSON.stringify(inWordsOf(options, { ...options.body, ...body })),
    };
    (options.dispatcher ?? agent).dispatch(request, reader);
    return reader;
  };

  return {
    async write(request, take) {
      const without = new Set<Optional>(lacked);
      const known = refused.get(request.model);
      const thinking = fieldsOfThinking(request.thinking, request.model, url, options.body);
      const whole = bodyOf(request, thinking, without);
      for (const name of optional) if (known?.has(mark(whole, name))) without.add(name);
      for (;;) {
        request.signal.throwIfAborted();
        const body = bodyOf(request, thinking, without);
        const reader = open(body, take, request.onSent);
        const onAbort = () => reader.abort(request.signal.reason);
        request.signal.addEventListener('abort', onAbort, { once: true });
        try {
          await reader.whole;
          return;
        } catch (error) {
          if (!(error instanceof RefusedRequest)) throw error;
          const field = refusedField(error.fault, body);
          if (field === null) throw faultError(error.fault, { begun: false });
          without.add(field);
        } finally {
          request.signal.removeEventListener('abort', onAbort);
          if (reader.begun && without.size > lacked.length)
            refused.set(
              request.model,
              new Set([...(refused.get(request.model) ?? []), ...marks(whole, without)]),
            );
        }
      }
    },
  };
};
