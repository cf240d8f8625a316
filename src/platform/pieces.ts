import { sleep } from './sleep.ts';
import type { Out, UploadName } from '#contract/calls.ts';
import { limits } from '#contract/limits.ts';
import { ApiError, isOffline } from './api-error.ts';
import { authStore } from './auth-store.ts';
import { postForm, type PostFormOptions } from './post-form.ts';
import { serverApi } from './server-api.ts';
import { uuid } from './uuid.ts';

const { from, first, most, fileBytes } = limits.pieces;
/** Of a larger one so much at its beginning, middle and end stands for it. */
const sample = 1024 * 1024;
/** A piece that takes less than this is followed by one twice as large, ms. */
const quick = 1500;

/** Where the browser makes no digests, on plain http, a file goes on while this page lives. */
const unnamed = new WeakMap<Blob, string>();

/** What a file is known by: all that is in it, or of one that would fill a phone's memory some of it. */
const markOf = (file: Blob): Blob => {
  if (file.size <= fileBytes) return file;
  const { name, lastModified } = file as File;
  const parts = [0, (file.size - sample) / 2, file.size - sample].map((at) =>
    file.slice(at, at + sample),
  );
  return new Blob([JSON.stringify([name, lastModified, file.size]), ...parts]);
};

/** Called by what is in it, the same file goes on after the page was closed, and in another tab. */
const nameOf = async (file: Blob): Promise<string> => {
  if (!isSecureContext) {
    const known = unnamed.get(file) ?? uuid();
    unnamed.set(file, known);
    return known;
  }
  const digest = new Uint8Array(
    await crypto.subtle.digest('SHA-256', await markOf(file).arrayBuffer()),
  );
  digest[6] = (digest[6]! & 0x0f) | 0x40;
  digest[8] = (digest[8]! & 0x3f) | 0x80;
  const hex = Array.from(digest.slice(0, 16), (byte) => byte.toString(16).padStart(2, '0'));
  return hex.join('').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
};

/** How often the line may fail with nothing new at the server, and how long each is waited for, ms. */
const mostFailures = 6;
const pause = 3_000;

interface Watching {
  signal: AbortSignal | undefined;
  tell: (bytes: number) => void;
}

/** Sends pieces from where the server has none; where the line fails its error tells so. */
const goOn = async (file: Blob, id: string, { signal, tell }: Watching): Promise<void> => {
  const options = { ...(signal && { signal }), quiet: true };
  let { received: at } = await serverApi.uploadState({ upload_id: id }, options);
  let length: number = first;
  tell(at);
  while (at < file.size) {
    const began = performance.now();
    const sent = at;
    const piece = file.slice(at, at + length);
    const form = new FormData();
    form.set('file', piece, 'piece');
    const { received } = await postForm('uploadPiece', form, {
      ...(signal && { signal }),
      query: { upload_id: id, offset: at, size: file.size },
      onProgress: (part) => tell(sent + piece.size * part),
    });
    if (received === at) throw new ApiError(0, '上传没有进展，请重试', 0);
    at = received;
    tell(at);
    if (performance.now() - began < quick) length = Math.min(most, length * 2);
  }
};

/** Sends what is not there yet of a file, however often the line breaks; gives its number there. */
const sendPieces = async (file: Blob, { signal, tell }: Watching): Promise<string> => {
  const id = await nameOf(file);
  let furthest = 0;
  let failures = 0;
  for (;;) {
    try {
      await goOn(file, id, {
        signal,
        tell: (bytes) => {
          if (bytes > furthest) failures = 0;
          furthest = Math.max(furthest, bytes);
          tell(bytes);
        },
      });
      return id;
    } catch (error) {
      failures += 1;
      if (!isOffline(error) || failures > mostFailures) throw error;
      await sleep(pause);
      signal?.throwIfAborted();
    }
  }
};

const sizeOf = (value: FormDataEntryValue) => (typeof value === 'string' ? 0 : value.size);
const isLarge = (value: FormDataEntryValue): boolean => sizeOf(value) > from;

/** The same form, with an empty file for each large one, whose pieces are sent before. */
const inPieces = async (
  form: FormData,
  { signal, onProgress }: Pick<PostFormOptions, 'signal' | 'onProgress'>,
): Promise<FormData> => {
  const entries = [...form.entries()];
  const total = entries.reduce((sum, [, value]) => sum + sizeOf(value), 0);
  const made = new FormData();
  let before = 0;
  for (const [field, value] of entries) {
    const start = before;
    before += sizeOf(value);
    if (typeof value === 'string') made.append(field, value);
    else if (!isLarge(value)) made.append(field, value, value.name);
    else {
      const tell = (bytes: number) => onProgress?.((start + bytes) / total);
      made.append(`${field}_upload`, await sendPieces(value, { signal, tell }));
      made.append(field, new Blob([], { type: value.type }), value.name);
    }
  }
  return made;
};

/**
 * As postForm; of a form with large files those go before it in pieces, so that a line that breaks
 * costs a piece and not the file.
 */
export const postFiles = async <K extends UploadName>(
  name: K,
  form: FormData,
  options: PostFormOptions = {},
): Promise<Out<K>> => {
  const large = [...form.values()].some(isLarge);
  // Without an account nothing is kept of anybody.
  if (!large || authStore.get().token === '') return postForm(name, form, options);
  const { onProgress: _told, ...rest } = options;
  const send = async () => postForm(name, await inPieces(form, options), rest);
  try {
    return await send();
  } catch (error) {
    // The server had cleared the pieces away meanwhile.
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    return send();
  }
};
