import { callTable } from '#common/call-table.ts';
import type { Out, UploadName } from '#contract/calls.ts';
import { ApiError, isOffline, offlineText, openEnvelope, silentText } from './api-error.ts';
import { authStore } from './auth-store.ts';
import { beginBusy } from './busy.ts';
import { awaitBytes, heard, lineIsWell, lost, moved, untilWell } from './line.ts';
import { keepRefreshedToken, leaveExpiredLogin } from './server-api.ts';

/** An upload that stands still for so long is given up, to be begun again by who asked for it, ms. */
const standstill = 30_000;
/**
 * Once all of it has left here, it may still be on its way for long: so long, and for each 6 KB a
 * second more, ms.
 */
const answerPatience = 60_000;
const bytesPerMs = 6;
/** Instead of both, where others are answered and nothing moves here: its connection may be dead. */
const doubtPatience = 6_000;
/**
 * Nothing at all came for a while, and now others are answered: it surely is, unless what a phone
 * holds back of it, bytes, is still on its way. A line that comes and goes leaves some seconds.
 */
const afterSilencePatience = 2_000;
const heldBack = 256_000;
const bytesPerMsAfterSilence = 20;

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
  /** Where the line is lost it waits for it, and is sent again under its key. */
  outlasts?: boolean;
}

const postOnce = <K extends UploadName>(
  name: K,
  form: FormData,
  { idempotencyKey, query = {}, signal, onProgress }: PostFormOptions,
  tries: number,
): Promise<Out<K>> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    // fetch tells nothing of how far a body has got.
    const request = new XMLHttpRequest();
    const { token } = authStore.get();
    const asked = new URLSearchParams();
    for (const [key, value] of Object.entries(query)) asked.set(key, String(value));
    request.open('POST', `${callTable[name].path}${asked.size > 0 ? `?${asked.toString()}` : ''}`);
    if (idempotencyKey !== undefined) request.setRequestHeader('idempotency-key', idempotencyKey);
    if (token) request.setRequestHeader('authorization', `Bearer ${token}`);
    const end = beginBusy('uploads');
    let size = 0;
    // A slow line seems dead, too: each time it is given twice as long.
    const doubt = (afterSilence: boolean) => {
      const needed = afterSilence
        ? afterSilencePatience + Math.min(size, heldBack) / bytesPerMsAfterSilence
        : doubtPatience + size / bytesPerMs;
      const ms = needed * 2 ** (tries - 1);
      // A line that comes and goes makes it doubted each time, and no doubt puts off another.
      if (performance.now() + ms < until) giveUpIn(ms);
    };
    let endWaiting = awaitBytes(doubt);
    let timer: ReturnType<typeof setTimeout> | undefined;
    let until = 0;
    const giveUpIn = (ms: number) => {
      clearTimeout(timer);
      until = performance.now() + ms;
      timer = setTimeout(() => {
        reject(new ApiError(0, silentText, 0));
        request.abort();
      }, ms);
    };
    giveUpIn(standstill);
    request.upload.addEventListener('progress', ({ lengthComputable, loaded, total }) => {
      moved();
      size = total;
      endWaiting();
      endWaiting = awaitBytes(doubt);
      giveUpIn(loaded < total ? standstill : answerPatience + total / bytesPerMs);
      if (lengthComputable && total > 0) onProgress?.(loaded / total);
    });
    request.addEventListener('load', () => {
      heard();
      keepRefreshedToken(request.getResponseHeader('authorization'), token);
      if (request.status === 401) leaveExpiredLogin(token, readJson(request.responseText));
      try {
        resolve(openEnvelope(request.status, readJson(request.responseText)) as Out<K>);
      } catch (error) {
        reject(error);
      }
    });
    request.addEventListener('error', () => {
      reject(new ApiError(0, offlineText, 0));
      lost();
    });
    const abort = () => {
      request.abort();
      reject(new DOMException('', 'AbortError'));
    };
    signal?.addEventListener('abort', abort, { once: true });
    request.addEventListener('loadend', () => {
      clearTimeout(timer);
      endWaiting();
      end();
      signal?.removeEventListener('abort', abort);
    });
    request.send(form);
  });

/**
 * So often a form is sent where others are answered and it is not, and so often where the line is
 * lost meanwhile; only if that stores nothing twice.
 */
const mostTries = 3;
const mostLosses = 20;

/**
 * Sends a form to a call that takes one. Rejects with ApiError (status 0: nothing was reached), or
 * with an AbortError when the signal ends it.
 */
export const postForm = async <K extends UploadName>(
  name: K,
  form: FormData,
  options: PostFormOptions = {},
): Promise<Out<K>> => {
  const { idempotencyKey, outlasts = false, signal } = options;
  let losses = 0;
  for (let tries = 1; ;) {
    try {
      return await postOnce(name, form, options, tries);
    } catch (error) {
      if (!isOffline(error) || idempotencyKey === undefined) throw error;
      if (lineIsWell()) tries += 1;
      else losses += 1;
      if (tries > mostTries || losses > (outlasts ? mostLosses : 0)) throw error;
      await untilWell(signal);
    }
  }
};
