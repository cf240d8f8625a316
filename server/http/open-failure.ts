import type { FastifyReply } from 'fastify';
import type { Wire } from '#contract/call.ts';
import { codes, type CodeName } from '#contract/errors.ts';
import { Refusal } from './handlers.ts';

/** How a failure reads to programs: the status and OpenAI's words for it. */
interface Words {
  status: number;
  type: string;
  code: string | null;
  param?: string;
}

const invalid = (status: number, code: string | null, param?: string): Words => ({
  status,
  type: 'invalid_request_error',
  code,
  ...(param === undefined ? {} : { param }),
});

const known: Readonly<Partial<Record<CodeName, Words>>> = {
  unauthorized: invalid(401, 'invalid_api_key'),
  payment_required: { status: 402, type: 'insufficient_quota', code: 'payment_required' },
  balance: { status: 402, type: 'insufficient_quota', code: 'insufficient_quota' },
  balance_excluded: { status: 402, type: 'insufficient_quota', code: 'insufficient_quota' },
  forbidden: { status: 403, type: 'permission_error', code: 'forbidden' },
  account_disabled: { status: 403, type: 'permission_error', code: 'account_disabled' },
  model_unavailable: invalid(404, 'model_not_found', 'model'),
  not_found: invalid(404, 'not_found'),
  conflict: invalid(409, 'idempotency_conflict'),
  too_large: invalid(413, 'request_too_large'),
  unsupported: invalid(415, 'unsupported_media_type'),
  prompt_banned: invalid(400, 'content_policy_violation'),
  too_many: { status: 429, type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  too_many_jobs: { status: 429, type: 'rate_limit_error', code: 'too_many_jobs' },
  engine_failed: { status: 502, type: 'server_error', code: 'engine_failed' },
  upstream: { status: 502, type: 'server_error', code: 'upstream_error' },
  engine_timeout: { status: 504, type: 'server_error', code: 'timeout' },
};

const wordsOf = (name: CodeName): Words => {
  const found = known[name];
  if (found) return found;
  const { http } = codes[name];
  if (http >= 500) return { status: http, type: 'server_error', code: name };
  return invalid(400, name === 'bad_input' || name === 'bad_body' ? null : name);
};

/** A failure of the public API with words of its own, such as those of a model's service. */
export class ApiRefusal extends Refusal {
  readonly words: Words;
  constructor(name: CodeName, message: string, words: Partial<Words> = {}, data: unknown = null) {
    super(name, message, data);
    this.words = { ...wordsOf(name), ...words };
  }
}

const failureOf = (refusal: Refusal): Words =>
  refusal instanceof ApiRefusal ? refusal.words : wordsOf(refusal.codeName);

/** The HTTP status that programs are told of a failure. */
export const statusIn = (refusal: Refusal): number => failureOf(refusal).status;

/** The field that a message about the input begins with. */
const fieldOf = ({ codeName, message }: Refusal): string | null =>
  codeName === 'bad_input' ? (/^[\w.[\]-]+/.exec(message)?.[0] ?? null) : null;

/** Anthropic's words for a status. */
const anthropicTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
};
const anthropicType = (refusal: Refusal): string => {
  const { status } = failureOf(refusal);
  return anthropicTypes[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
};

/** A failure as the body of an answer, or of the event that ends a stream. */
export const failureBody = (wire: Wire, refusal: Refusal): Record<string, unknown> => {
  const { type, code, param } = failureOf(refusal);
  const { message } = refusal;
  if (wire === 'anthropic')
    return { type: 'error', error: { type: anthropicType(refusal), message } };
  return wire === 'openai'
    ? { error: { message, type, param: param ?? fieldOf(refusal), code } }
    : { result: false, code: codes[refusal.codeName].code, message };
};

export const sendApiFailure = (reply: FastifyReply, wire: Wire, refusal: Refusal): FastifyReply => {
  const { retry_after: wait } = (refusal.data ?? {}) as { retry_after?: number };
  const status = statusIn(refusal);
  if (wait !== undefined) reply.header('retry-after', String(wait));
  else if (status === 429) reply.header('retry-after', '5');
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  return reply
    .code(wire === 'plain' && refusal.codeName === 'bad_input' ? 422 : status)
    .send(failureBody(wire, refusal));
};
