import type { Out } from '#contract/calls.ts';

const endings: Readonly<Record<string, string>> = {
  'text/markdown': 'md',
  'text/html': 'html',
  'text/csv': 'csv',
  'application/json': 'json',
  'application/pdf': 'pdf',
  'image/png': 'png',
  'image/jpeg': 'jpg',
};

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> => {
  const letters = atob(base64);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at += 1) bytes[at] = letters.charCodeAt(at);
  return bytes;
};

/**
 * A resource of a server as a file that can be attached: with an ending, by which it is read.
 * @throws Error for bytes that are none; its message is for people
 */
export const fileOf = (
  { name, uri, mime: listed }: { name: string; uri: string; mime: string },
  { mime: told, text, data }: Out<'readToolResource'>,
): File => {
  const mime = (told || listed).split(';')[0]?.trim().toLowerCase() ?? '';
  const last = decodeURIComponent((uri.split(/[?#]/)[0] ?? '').split('/').at(-1) ?? '');
  const own = [name, last].find((each) => /\.[a-z0-9]{1,5}$/i.test(each));
  const ending = endings[mime] ?? (text === '' ? 'bin' : 'txt');
  const safe = (own ?? `${name}.${ending}`).replaceAll(/[\\/:*?"<>|\p{Cc}]/gu, '_').slice(-100);
  try {
    return new File([data === '' ? text : bytesOf(data)], safe, { type: mime });
  } catch {
    throw new Error('这份资源读不懂');
  }
};
