import { afterEach, expect, it, vi } from 'vitest';
import { beginBusy } from './busy.ts';

afterEach(() => vi.unstubAllGlobals());

it('takes a new version only once no reply is being read and nothing is being sent', async () => {
  const told: unknown[] = [];
  vi.stubGlobal('navigator', {
    serviceWorker: {
      getRegistration: () =>
        Promise.resolve({ waiting: { postMessage: (message: unknown) => told.push(message) } }),
    },
  });
  const { takeUpdate } = await import('./pwa.ts');
  const endReply = beginBusy('replies');
  const endUpload = beginBusy('uploads');
  const taken = takeUpdate();
  endReply();
  await new Promise((resolve) => {
    setTimeout(resolve, 20);
  });
  expect(told).toEqual([]);
  endUpload();
  await taken;
  expect(told).toEqual([{ type: 'take-update' }]);
});
