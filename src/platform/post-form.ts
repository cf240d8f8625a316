import { callTable } from '@common/call-table.ts';
import type { Out, UploadName } from '@contract/calls.ts';
import { ApiError, offlineText, openEnvelope } from './api-error.ts';
import { authStore } from './auth-store.ts';
import { beginBusy } from './busy.ts';
import { keepRefreshedToken, leaveExpiredLogin } from './server-api.ts';

/** As long as one may take, ms. */
const timeout = 600_000;

const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

export interface PostFormOptions {
  /** A repeat under the same key stores nothing twice. */
  idempotencyKey?: string;
  /** What else the call takes. */
  query?: Readonly<Record<string, string | number>>;
  signal?: AbortSignal;
  /** The part that has left, 0–1. */
  onProgress?: (part: number) => void;
}

/**
 * Sends a form to a call that takes one. Rejects with ApiError (status 0: nothing was reached), or
 * with an AbortError when the signal ends it.
 */
export const postForm = <K extends UploadName>(
  name: K,
  form: FormData,
  { idempotencyKey, query = {}, signal, onProgress }: PostFormOptions = {},
): Promise<Out<K>> =>
  new Promise((resolve, reject) => {
    // fetch tells nothing of how far a body has got.
    const request = new XMLHttpRequest();
    const { token } = authStore.get();
    const asked = new URLSearchParams();
    for (const [key, value] of Object.entries(query)) asked.set(key, String(value));
    request.open('POST', `${callTable[name].path}${asked.size > 0 ? `?${asked.toString()}` : ''}`);
    request.timeout = timeout;
    if (idempotencyKey !== undefined) request.setRequestHeader('idempotency-key', idempotencyKey);
    if (token) request.setRequestHeader('authorization', `Bearer ${token}`);
    request.upload.addEventListener('progress', ({ lengthComputable, loaded, total }) => {
      if (lengthComputable && total > 0) onProgress?.(loaded / total);
    });
    request.addEventListener('load', () => {
      keepRefreshedToken(request.getResponseHeader('authorization'), token);
      if (request.status === 401) leaveExpiredLogin(token);
      try {
        resolve(openEnvelope(request.status, readJson(request.responseText)) as Out<K>);
      } catch (error) {
        reject(error);
      }
    });
    const unreached = (text: string) => () => reject(new ApiError(0, text, 0));
    request.addEventListener('error', unreached(offlineText));
    request.addEventListener('timeout', unreached('请求超时，请稍后重试'));
    const abort = () => {
      request.abort();
      reject(new DOMException('', 'AbortError'));
    };
    if (signal?.aborted) {
      abort();
      return;
    }
    signal?.addEventListener('abort', abort, { once: true });
    const end = beginBusy('uploads');
    request.addEventListener('loadend', () => {
      end();
      signal?.removeEventListener('abort', abort);
    });
    request.send(form);
  });
