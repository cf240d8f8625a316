import type { In, Out, UploadName } from '#contract/calls.ts';
import { postFiles } from './pieces.ts';
import { refreshScreens } from './query-client.ts';
import { underKey } from './unheard.ts';

interface Files {
  file?: File | null;
  cover_image?: File | null;
}

/** Sends a form whose fields stand beside files that may be missing. Rejects as `postFiles` does. */
export const sendForm = async <K extends UploadName>(
  name: K,
  fields: In<K>,
  { file = null, cover_image: cover = null }: Files,
  onProgress?: (part: number) => void,
): Promise<Out<K>> => {
  const form = new FormData();
  for (const [key, value] of Object.entries(fields as Record<string, unknown>))
    if (typeof value === 'string' || typeof value === 'number') form.set(key, String(value));
  // Files come last: what reads the form knows its fields by then.
  if (cover) form.set('cover_image', cover, cover.name);
  if (file) form.set('file', file, file.name);
  const told = [cover, file].map((each) => each && [each.name, each.size, each.lastModified]);
  const done = await underKey(name, [fields, told], undefined, (idempotencyKey) =>
    postFiles(name, form, { idempotencyKey, ...(onProgress && { onProgress }) }),
  );
  void refreshScreens();
  return done;
};
