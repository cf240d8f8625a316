import { expect, it, vi } from 'vitest';
import { ApiError } from './api-error.ts';
import { attempt } from './attempt.ts';
import { toast } from './toast.ts';

vi.mock('./toast.ts', () => ({ toast: vi.fn() }));

const refused = () => Promise.reject(new ApiError(1, 'refused', 200));

it('tells whether it was done, and says so once', async () => {
  expect(await attempt(() => Promise.resolve(), 'done')).toBe(true);
  expect(await attempt(refused, 'done')).toBe(false);
  expect(toast).toHaveBeenCalledTimes(1);
});

it('throws what no call answered, unless its screen says why', async () => {
  const fault = () => Promise.reject(new TypeError('fault'));
  await expect(attempt(fault)).rejects.toThrow(TypeError);
  const failed = vi.fn();
  expect(await attempt(fault, '', failed)).toBe(false);
  expect(failed).toHaveBeenCalledOnce();
});
