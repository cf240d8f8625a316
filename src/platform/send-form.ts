import type { In, Out, UploadName } from '@contract/calls.ts';
import { openEnvelope } from './api-error.ts';
import { authStore } from './auth-store.ts';
import { callTable } from './call-table.ts';
import { refreshScreens } from './query-client.ts';

/** Sends a form whose fields stand beside a file that may be missing. Rejects with ApiError. */
export const sendForm = async <K extends UploadName>(
  name: K,
  fields: In<K>,
  file: File | null,
): Promise<Out<K>> => {
  const form = new FormData();
  for (const [key, value] of Object.entries(fields as Record<string, unknown>))
    if (typeof value === 'string' || typeof value === 'number') form.set(key, String(value));
  // The file comes last: what reads the form knows its fields by then.
  if (file) form.set('file', file, file.name);
  const { token } = authStore.get();
  const response = await fetch(callTable[name].path, {
    method: 'POST',
    headers: token ? { authorization: `Bearer ${token}` } : {},
    body: form,
  });
  const json: unknown = await response.json().catch(() => undefined);
  const data = openEnvelope(response.status, json) as Out<K>;
  void refreshScreens();
  return data;
};
