import { codeNumbers } from '#contract/page-errors.ts';

/** Why a call failed. */
export class ApiError extends Error {
  /** The business code of contract/errors.ts, or the HTTP status, or 0 when nothing was reached. */
  readonly code: number;
  /** `data` of the envelope, null without one. */
  readonly data: unknown;
  /** The HTTP status, 0 when no answer came. */
  readonly status: number;
  constructor(code: number, message: string, status: number, data: unknown = null) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.status = status;
    this.data = data;
  }
}

/** A call that its caller aborted: nothing to tell anybody. */
export const isCancelled = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'AbortError';

/** No answer came: the network is gone, or the server is out of reach. */
export const isOffline = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 0;

export const offlineText = '网络不通，请检查网络后再试';
export const silentText = '网络没有回应，请稍后再试';
export const serverFaultText = '服务器异常，请稍后重试';

/** What is wrong, in words for whoever does it, without a call that failed. */
export class Told extends Error {}

/** The sentence to show for any error. */
export const errorText = (error: unknown): string =>
  error instanceof ApiError || error instanceof Told ? error.message : serverFaultText;

const refusedFiles: ReadonlySet<number> = new Set([
  codeNumbers.upload_type,
  codeNumbers.upload_unreadable,
  codeNumbers.too_large,
  codeNumbers.bad_input,
]);

/** A file that was refused for what it is, here or by the server: the same one never gets through. */
export const isRefusedFile = (error: unknown): boolean =>
  error instanceof ApiError
    ? refusedFiles.has(error.code)
    : error instanceof Error && !(error instanceof TypeError);

/**
 * Gives what stands in `data`, or throws.
 * @param status HTTP status of the answer
 * @param body its JSON, or undefined when it was none
 */
export const openEnvelope = (status: number, body: unknown): unknown => {
  const envelope =
    typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : undefined;
  const said = [envelope?.['msg'], envelope?.['message']].find(
    (text): text is string => typeof text === 'string' && text !== '',
  );
  const data = envelope?.['data'] ?? null;
  if (status < 200 || status > 299) {
    const code = typeof envelope?.['code'] === 'number' ? envelope['code'] : status;
    throw new ApiError(code, said ?? serverFaultText, status, data);
  }
  if (typeof envelope?.['code'] !== 'number')
    throw new ApiError(500, serverFaultText, status, null);
  if (envelope['code'] > 0)
    throw new ApiError(envelope['code'], said ?? serverFaultText, status, data);
  return data;
};
