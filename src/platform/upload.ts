import type { Out, UploadName } from '@contract/calls.ts';
import { ApiError, offlineText, openEnvelope } from './api-error.ts';
import { keepRefreshedToken, leaveExpiredLogin } from './api.ts';
import { authStore } from './auth-store.ts';
import { beginBusy } from './busy.ts';
import { callTable } from '@common/call-table.ts';

/** As long as one may take, ms. */
const timeout = 600_000;

const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/**
 * Sends a file to a call that takes one. Rejects with ApiError (status 0: nothing was reached), or
 * with an AbortError when the signal ends it.
 */
export const upload = <K extends UploadName>(
  name: K,
  file: Blob,
  options: {
    fileName: string;
    /** A repeat under the same key stores nothing twice. */
    idempotencyKey: string;
    /** What goes beside it in the form. */
    fields?: Readonly<Record<string, string>>;
    signal: AbortSignal;
    /** What else the call takes. */
    query?: Readonly<Record<string, string | number>>;
    /** The part that has left, 0–1. */
    onProgress: (part: number) => void;
  },
): Promise<Out<K>> =>
  new Promise((resolve, reject) => {
    // fetch tells nothing of how far a body has got.
    const request = new XMLHttpRequest();
    const { token } = authStore.get();
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries(options.query ?? {})) query.set(key, String(value));
    request.open('POST', `${callTable[name].path}${query.size > 0 ? `?${query.toString()}` : ''}`);
    request.timeout = timeout;
    request.setRequestHeader('idempotency-key', options.idempotencyKey);
    if (token) request.setRequestHeader('authorization', `Bearer ${token}`);
    request.upload.addEventListener('progress', (event) => {
      if (event.lengthComputable && event.total > 0) options.onProgress(event.loaded / event.total);
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
    if (options.signal.aborted) {
      abort();
      return;
    }
    options.signal.addEventListener('abort', abort, { once: true });
    const end = beginBusy('uploads');
    request.addEventListener('loadend', () => {
      end();
      options.signal.removeEventListener('abort', abort);
    });
    const form = new FormData();
    for (const [name, value] of Object.entries(options.fields ?? {})) form.set(name, value);
    form.set('file', file, options.fileName);
    request.send(form);
  });
