import type { Out, UploadName } from '#contract/calls.ts';
import { postFiles } from './pieces.ts';
import type { PostFormOptions } from './post-form.ts';

/** Sends a file to a call that takes one. Rejects as `postFiles` does. */
export const upload = <K extends UploadName>(
  name: K,
  file: Blob,
  {
    fileName,
    fields = {},
    ...options
  }: PostFormOptions & {
    fileName: string;
    /** What goes beside it in the form. */
    fields?: Readonly<Record<string, string>>;
  },
): Promise<Out<K>> => {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.set(field, value);
  form.set('file', file, fileName);
  return postFiles(name, form, options);
};
