import { ApiError } from '@/platform/api-error.ts';
import { authStore } from '@/platform/auth-store.ts';
import { callTable } from '@common/call-table.ts';
import type { In } from '@contract/calls.ts';

/** Has the built-in voice made ready, so that the first words are not waited for. */
export const prepareVoice = async (model: string): Promise<void> => {
  const { token } = authStore.get();
  if (token === '') return;
  await fetch(callTable.textToSpeech.path, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, prepare: 1 } satisfies In<'textToSpeech'>),
    priority: 'low',
  }).catch(() => undefined);
};

/**
 * The sound of words that are read aloud, as an address that is to be given back
 * (`URL.revokeObjectURL`). @throws ApiError with the server's words, or 音频文件获取错误
 */
export const readSound = async (
  input: In<'textToSpeech'>,
  signal: AbortSignal,
): Promise<string> => {
  const failed = (message: string, status: number) =>
    new ApiError(0, message || '音频文件获取错误', status);
  let response: Response;
  try {
    response = await fetch(callTable.textToSpeech.path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${authStore.get().token}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(input),
      signal,
    });
  } catch (error) {
    signal.throwIfAborted();
    throw new ApiError(0, '音频文件获取错误', 0, error);
  }
  const type = response.headers.get('content-type') ?? '';
  if (response.ok && type.startsWith('audio/')) return URL.createObjectURL(await response.blob());
  const said = (await response.json().catch(() => null)) as { message?: string } | null;
  throw failed(said?.message ?? '', response.status);
};
