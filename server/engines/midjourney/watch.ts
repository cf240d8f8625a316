import { setTimeout as sleep } from 'node:timers/promises';
import type { ImageIo } from '../image-engine.ts';
import { measure } from '../image-pixels.ts';
import { slowService } from '../image-wire.ts';
import { watchSilence } from '../silence.ts';
import type { Remembered } from './order.ts';
import type { Proxy, Task } from './proxy.ts';
import { failed, whyItFailed } from './refusals.ts';

const percent = (text: string | null | undefined): number => {
  const value = Number.parseFloat(text ?? '');
  return Number.isFinite(value) ? Math.min(1, Math.max(0, value / 100)) : 0;
};

/** Asks until the work is done. A passing fault of the network is lived through. */
const watched = async (
  { poll, read, submit, fetchImage }: Proxy,
  work: Remembered,
  io: ImageIo,
  prompt: string,
  { stands, waits }: Pick<ReturnType<typeof watchSilence>, 'stands' | 'waits'>,
): Promise<Task> => {
  const { task: id } = work;
  let pause = poll.first;
  let faults = 0;
  let highest = 0;
  let seen = '';
  let confirmed = work.confirmed === true;
  for (;;) {
    await sleep(pause, undefined, { signal: io.signal });
    pause = Math.min(poll.longest, pause * 1.3);
    let now: Task;
    try {
      now = await read(id, io.signal);
      faults = 0;
    } catch (error) {
      io.signal.throwIfAborted();
      faults += 1;
      if (faults >= 5) throw error;
      continue;
    }
    switch (now.status) {
      case 'SUCCESS':
        return now;
      case 'FAILURE':
        throw whyItFailed(now.failReason ?? '');
      case 'CANCEL':
        throw failed('Midjourney 取消了这次作画，没有扣费，请重试', true);
      case 'MODAL':
        // It wants the words confirmed, once.
        if (!confirmed) await submit('modal', { taskId: id, prompt }, io.signal);
        confirmed = true;
        break;
      case 'NOT_START':
      case 'SUBMITTED':
      case 'IN_PROGRESS':
      case null:
      case undefined:
    }
    if (now.status === 'NOT_START') waits();
    else if (now.status === 'IN_PROGRESS' || now.status === 'MODAL')
      stands(`${now.status} ${now.progress ?? ''}`);
    highest = Math.max(highest, percent(now.progress));
    const url = now.imageUrl ?? '';
    let preview: Buffer | null = null;
    if (url !== '' && url !== seen && now.status === 'IN_PROGRESS') {
      seen = url;
      preview = await fetchImage(url, io.signal);
      if (preview !== null && (await measure(preview)) === null) preview = null;
    }
    io.progress(highest * 0.95, preview ?? undefined);
  }
};

/**
 * Waits for the work, and gives it up where the service tells nothing new for too long.
 * @throws ImageEngineError
 */
export const wait = async (
  proxy: Proxy,
  work: Remembered,
  io: ImageIo,
  prompt: string,
): Promise<Task> => {
  const watch = watchSilence(io.signal, proxy.silence);
  try {
    return await watched(proxy, work, { ...io, signal: watch.signal }, prompt, watch);
  } catch (error) {
    if (!watch.silent) throw error;
    await proxy.cancel(work.task);
    throw slowService(error);
  } finally {
    watch.end();
  }
};
