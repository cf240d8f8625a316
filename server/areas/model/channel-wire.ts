import { Refusal } from '#server/http/handlers.ts';
import { hintOf } from './channel-key.ts';

/**
 * What the program says itself, what carries a key and belongs where it is encrypted, or what asks
 * for features with prices of their own.
 */
const ownHeaders =
  /^(?:authorization|proxy-.*|cookie|host|connection|upgrade|te|trailer|expect|content-.*|transfer-encoding|(?:x-)?api-key|x-goog-api-key|anthropic-.*)$/i;
/** What the program says itself, or what makes an answer cost more than whoever asks is told. */
const ownFields = new Set([
  'model',
  'messages',
  'stream',
  'stream_options',
  'n',
  'best_of',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'service_tier',
  'tools',
  'tool_choice',
  'functions',
  'function_call',
  'plugins',
  'web_search_options',
  'enable_search',
  'search_options',
  'reasoning',
  'reasoning_effort',
  'thinking_budget',
  // The same in the words of others.
  'system',
  'output_config',
  'mcp_servers',
  'container',
  'speed',
  'inference_geo',
  'contents',
  'systemInstruction',
  'generationConfig',
  'toolConfig',
  'cachedContent',
]);
const mostLetters = 8_000;

/** Whether a field turns thinking on, which is billed by its length. */
const thinks = (name: string, value: unknown): boolean =>
  (name === 'enable_thinking' && value !== false) ||
  (name === 'thinking' && (value as { type?: unknown } | null)?.type !== 'disabled');

const objectIn = (text: string, field: string): Record<string, unknown> => {
  if (text.trim() === '') return {};
  if (text.length > mostLetters) throw new Refusal('bad_input', `${field}：太长`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Refusal('bad_input', `${field}：应为 JSON，例如 {"名字": "值"}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Refusal('bad_input', `${field}：应为 JSON 对象，例如 {"名字": "值"}`);
  return value as Record<string, unknown>;
};

/** Headers as managers see them: a value may be as secret as a key. */
export const maskedHeaders = (headers: Record<string, string> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, hintOf(value)]));

/**
 * Headers as a form has them, a JSON object. A value that comes back masked is the one before; masks
 * have letters that no value has.
 * @throws Refusal bad_input
 */
export const readHeaders = (
  text: string,
  before: Record<string, string> = {},
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(objectIn(text, 'headers')).map(([name, value]) => {
      if (!/^[\w-]{1,100}$/.test(name) || ownHeaders.test(name))
        throw new Refusal('bad_input', `headers：不能设置 ${name}，密钥请填在“密钥”里`);
      const kept = before[name.toLowerCase()];
      if (kept !== undefined && value === hintOf(kept)) return [name.toLowerCase(), kept];
      if (typeof value === 'string' && /[•…]/.test(value))
        throw new Refusal('bad_input', `headers：请重新填写 ${name} 的值`);
      if (typeof value !== 'string' || !/^[\x20-\x7e]{0,1000}$/.test(value))
        throw new Refusal('bad_input', `headers：${name} 的值应为英文与符号`);
      return [name.toLowerCase(), value];
    }),
  );

/** A field of a body that is a secret by its name, or by what it looks like. */
const secretName = /key|secret|token$|passw|pwd|credential|auth|signature|cookie/i;
const secretValue = /^(?:bearer\s.+|sk-.+|(?=.*\d)(?=.*[a-z])[\w.~+/=-]{20,})$/i;

/** Its values with each secret changed; what lies within a secret field is one, too. */
const withSecrets = (
  value: unknown,
  change: (secret: string, path: readonly string[]) => unknown,
  path: readonly string[] = [],
): unknown => {
  if (typeof value === 'object' && value !== null) {
    const parts = Object.entries(value).map(([name, part]): [string, unknown] => [
      name,
      withSecrets(part, change, [...path, name]),
    ]);
    return Array.isArray(value) ? parts.map(([, part]) => part) : Object.fromEntries(parts);
  }
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
  const named = path.some((name) => secretName.test(name));
  const secret = named ? text !== '' : typeof value === 'string' && secretValue.test(text);
  return secret || /[•…]/.test(text) ? change(text, path) : value;
};

/** Body fields as managers see them. */
export const maskedBody = (body: Record<string, unknown> = {}): object =>
  withSecrets(body, hintOf) as object;

const at = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (inside, name) =>
      typeof inside === 'object' && inside !== null && Object.hasOwn(inside, name)
        ? (inside as Record<string, unknown>)[name]
        : undefined,
    value,
  );

/**
 * Body fields as a form has them, a JSON object. A secret that comes back masked is the one before.
 * @throws Refusal bad_input
 */
export const readBody = (
  text: string,
  before: Record<string, unknown> = {},
): Record<string, unknown> => {
  const told = objectIn(text, 'body');
  const fields = withSecrets(told, (secret, path) => {
    const kept = at(before, path);
    if ((typeof kept === 'string' || typeof kept === 'number') && hintOf(String(kept)) === secret)
      return kept;
    if (/^(?:••••|.{3}….{4})$/.test(secret))
      throw new Refusal('bad_input', `body：请重新填写 ${path.join('.')} 的值`);
    return at(told, path);
  }) as Record<string, unknown>;
  for (const [name, value] of Object.entries(fields))
    if (ownFields.has(name) || thinks(name, value))
      throw new Refusal('bad_input', `body：不能设置 ${name}，它会改变费用或由本站决定`);
  return fields;
};

/** @throws Refusal bad_input */
export const readProxy = (text: string): string => {
  if (text.trim() === '') return '';
  if (!URL.canParse(text.trim())) throw new Refusal('bad_input', 'proxy：应为 http://地址:端口');
  const { protocol, username, password, pathname, origin } = new URL(text.trim());
  if (!/^https?:$/.test(protocol) || username !== '' || password !== '' || pathname !== '/')
    throw new Refusal('bad_input', 'proxy：应为 http://地址:端口，不带用户名与路径');
  return origin;
};
