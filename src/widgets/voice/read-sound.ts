import { ApiError } from '#src/platform/api-error.ts';
import { authStore } from '#src/platform/auth-store.ts';
import { callTable } from '#common/call-table.ts';
import type { In } from '#contract/calls.ts';
import { playsInParts, soundInParts, type Sound } from './sound-in-parts.ts';

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

const brokenOff = '声音没有传完，点播放从断的地方接着听';

/**
 * The sound of words that are read aloud, from its first part on where the browser can play it so.
 * @throws ApiError with the server's words, or 音频文件获取错误
 */
export const readSound = async (input: In<'textToSpeech'>, signal: AbortSignal): Promise<Sound> => {
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
  if (response.ok && type.startsWith('audio/')) {
    const broken = (error: unknown): never => {
      signal.throwIfAborted();
      throw new ApiError(0, brokenOff, 0, error);
    };
    if (response.body && playsInParts(type)) {
      const { url, whole } = soundInParts(response.body, type, signal);
      return { url, whole: whole.catch(broken) };
    }
    const whole = await response.blob().catch(broken);
    return { url: URL.createObjectURL(whole), whole: Promise.resolve(null) };
  }
  const said = (await response.json().catch(() => null)) as { message?: string } | null;
  throw failed(said?.message ?? '', response.status);
};
