import type { StreamCode } from '#contract/page-errors.ts';
import { EngineError } from '../chat-engine.ts';

/** What services say about a failure, in the fields that are meant for programs. */
export interface UpstreamFault {
  /** HTTP status, or 0 where the error came inside a stream. */
  status: number;
  /** `error.code`, `error.type` and `error.param`, lower-cased; empty where there is none. */
  code: string;
  type: string;
  param: string;
  /** Its words are about tools, as of a model that knows none. */
  aboutTools?: boolean;
  /** The same about thinking. */
  aboutThinking?: boolean;
  /** When the service wants to be asked again, ms from then; left out: it did not say. */
  retryAfterMs?: number;
  /** What was asked for would cost more than is left, and less would not. */
  tooDear?: boolean;
}

/** Longest time that a service is believed when it says how long it wants to be left alone, ms. */
const longestWait = 10 * 60_000;

/** `Retry-After` in seconds or as a date, and `retry-after-ms`. */
export const retryAfterOf = (
  headers: Readonly<Record<string, string | string[] | undefined>>,
): { retryAfterMs?: number } => {
  const exact = Number(headers['retry-after-ms'] ?? NaN);
  const given = String(headers['retry-after'] ?? '').trim();
  const ms = Number.isFinite(exact)
    ? exact
    : /^\d+(\.\d+)?$/.test(given)
      ? Number(given) * 1000
      : Date.parse(given) - Date.now();
  return Number.isFinite(ms) && ms >= 0 ? { retryAfterMs: Math.min(ms, longestWait) } : {};
};

const word = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value).toLowerCase() : '';

const record = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;

/**
 * Reads the common shapes: `{error: {code, type, param}}` (OpenAI and most), `{error: "…"}`
 * (Ollama), `[{error: …}]` (Gemini), `{object: "error", code, type}` (vLLM before 0.10) and
 * `{code, message}` (DashScope, SiliconFlow).
 */
export const readFault = (status: number, body: unknown): UpstreamFault => {
  const whole = record(Array.isArray(body) ? body[0] : body);
  const error = record(whole?.['error']) ?? whole;
  return {
    status,
    code: word(error?.['code']),
    type: word(error?.['type']) || word(error?.['status']),
    param: word(error?.['param']),
    aboutTools: /\btools?\b|tool_choice|function.?call/.test(
      word(error?.['message']) || word(whole?.['error']),
    ),
    aboutThinking: /think|reason/.test(
      `${word(error?.['param'])} ${word(error?.['message']) || word(whole?.['error'])}`,
    ),
    // OpenRouter: anybody could use up a key for all others by asking for more than it can pay.
    ...(/fewer max_tokens|can only afford/i.test(word(error?.['message'])) && { tooDear: true }),
  };
};

const tooLongCodes = new Set([
  'context_length_exceeded',
  'exceed_context_size_error', // llama.cpp
  'string_above_max_length',
  'input_too_long',
  'prompt_too_long',
  'inputtokenlimitexceeded',
  '1261', // Zhipu
]);
const noMoneyCodes = new Set([
  'insufficient_quota',
  'insufficient_balance',
  'exceeded_current_quota_error', // Moonshot
  'arrearage', // DashScope
  'billing_hard_limit_reached',
  '1113', // Zhipu
  'allocationquota.freetieronly', // DashScope
  'accountoverdueerror', // 火山方舟
]);
const rateCodes = new Set([
  'rate_limit_exceeded',
  'rate_limit_reached_error',
  'rate_limit_error',
  'resource_exhausted',
  'throttling',
  'engine_overloaded_error',
  'overloaded_error',
]);
const contentCodes = new Set([
  'content_filter',
  'content_policy_violation',
  'moderation_blocked', // OpenAI, of images
  'data_inspection_failed', // DashScope
  'datainspectionfailed',
  '1301', // Zhipu
]);
const noModelCodes = new Set([
  'model_not_found',
  'model_not_supported',
  'not_found_error',
  'invalidendpointormodel.notfound', // 火山方舟
  'model_not_exist',
  '1211', // Zhipu
]);
const keyCodes = new Set([
  'invalid_api_key',
  'authentication_error',
  'permission_error',
  'account_deactivated',
  'invalid_authentication_error', // Moonshot
  'authenticationerror', // 火山方舟
  'invalidapikey', // DashScope
  '1000', // Zhipu: authentication failed
  '1002', // Zhipu: its token is not valid
]);

/** Whether the words or images are what the service refused. */
export const isContentFault = ({ code, type }: UpstreamFault): boolean =>
  contentCodes.has(code) || contentCodes.has(type);

/** Whether it is about money that is owed to the service. */
export const isMoneyFault = ({ code, type, status, tooDear }: UpstreamFault): boolean =>
  tooDear !== true && (status === 402 || noMoneyCodes.has(code) || noMoneyCodes.has(type));

/** Whether it is the key that the service refused. */
export const isKeyFault = ({ code, type, status }: UpstreamFault): boolean =>
  status === 401 || keyCodes.has(code) || keyCodes.has(type);

/** Whether the service says that it has no such model. */
export const saysNoModel = ({ code, type }: UpstreamFault): boolean =>
  noModelCodes.has(code) || noModelCodes.has(type);

/** Whether the service has no such model, which some say with 400, and some by 404 alone. */
export const isNoModel = (fault: UpstreamFault): boolean =>
  saysNoModel(fault) || (fault.status === 404 && !contentCodes.has(fault.code));

/** Turns a fault into what a person is told. The service's own words never get there. */
export const faultError = (fault: UpstreamFault, options: { begun: boolean }): EngineError => {
  const has = (known: Set<string>) => known.has(fault.code) || known.has(fault.type);
  const error = (code: StreamCode, message: string) =>
    new EngineError(code, message, { retriable: !options.begun, cause: fault });
  /** Another channel would say the same, or take it at somebody's cost. */
  const askersFault = (code: StreamCode, message: string, retriable = false) =>
    new EngineError(code, message, {
      retriable: retriable && !options.begun,
      askerAtFault: true,
      cause: fault,
    });
  const { status } = fault;

  if (has(tooLongCodes))
    return askersFault('context_length_exceeded', '对话超出了模型的最大长度，请新建会话后继续');
  if (has(contentCodes))
    return askersFault('upstream', '模型服务认为这段对话不合它的内容规则，没有回答');
  if (fault.tooDear)
    return askersFault('upstream', '模型服务的额度不够这么长的回答，请要短一些', true);
  if (has(noMoneyCodes) || status === 402)
    return error('upstream', '模型服务的额度已用完，请换一个模型或联系管理员');
  if (status === 429 || has(rateCodes) || fault.code === '429')
    return error('rate_limited', '模型服务繁忙，请稍后重试');
  if (status === 413)
    return askersFault('context_length_exceeded', '对话超出了模型的最大长度，请新建会话后继续');
  if (status === 408 || status === 504) return error('timeout', '模型长时间没有回应，请重试');
  if (status === 401 || status === 403 || has(keyCodes))
    return error('upstream', '模型服务没有接受本站的密钥，请联系管理员');
  if (status === 404 || has(noModelCodes))
    return error('upstream', '模型服务里没有这个模型，请换一个');
  if (status >= 300 && status < 400) return error('upstream', '模型服务的地址已更改，请联系管理员');
  if (status >= 400 && status < 500)
    return askersFault('upstream', '模型服务没有接受这次请求，请重试', true);
  return error('upstream', '模型服务出错，请重试');
};
