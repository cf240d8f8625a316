import type { In, Out, UploadName } from '@contract/calls.ts';
import { ApiError, offlineText, openEnvelope } from './api-error.ts';
import { keepRefreshedToken, leaveExpiredLogin } from './api.ts';
import { authStore } from './auth-store.ts';
import { beginBusy } from './busy.ts';
import { callTable } from '@common/call-table.ts';
import { refreshScreens } from './query-client.ts';

/** As long as one may take, ms. */
const timeout = 600_000;

const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

interface Files {
  file?: File | null;
  cover_image?: File | null;
}

/** Sends a form whose fields stand beside files that may be missing. Rejects with ApiError. */
export const sendForm = <K extends UploadName>(
  name: K,
  fields: In<K>,
  { file = null, cover_image: cover = null }: Files,
  onProgress: (part: number) => void = () => undefined,
): Promise<Out<K>> => {
  const form = new FormData();
  for (const [key, value] of Object.entries(fields as Record<string, unknown>))
    if (typeof value === 'string' || typeof value === 'number') form.set(key, String(value));
  // Files come last: what reads the form knows its fields by then.
  if (cover) form.set('cover_image', cover, cover.name);
  if (file) form.set('file', file, file.name);
  const { token } = authStore.get();
  const end = beginBusy('uploads');
  return new Promise<Out<K>>((resolve, reject) => {
    // fetch tells nothing of how far a body has got.
    const request = new XMLHttpRequest();
    request.open('POST', callTable[name].path);
    request.timeout = timeout;
    if (token) request.setRequestHeader('authorization', `Bearer ${token}`);
    request.upload.addEventListener('progress', ({ lengthComputable, loaded, total }) => {
      if (lengthComputable && total > 0) onProgress(loaded / total);
    });
    request.addEventListener('load', () => {
      keepRefreshedToken(request.getResponseHeader('authorization'), token);
      if (request.status === 401) leaveExpiredLogin(token);
      try {
        resolve(openEnvelope(request.status, readJson(request.responseText)) as Out<K>);
      } catch (error) {
        reject(error);
        return;
      }
      void refreshScreens();
    });
    const unreached = (text: string) => () => reject(new ApiError(0, text, 0));
    request.addEventListener('error', unreached(offlineText));
    request.addEventListener('timeout', unreached('请求超时，请稍后重试'));
    request.addEventListener('loadend', end);
    request.send(form);
  });
};
