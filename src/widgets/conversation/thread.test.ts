import { api } from '#src/platform/api.ts';
import { ApiError } from '#src/platform/api-error.ts';
import { afterEach, expect, test, vi } from 'vitest';
import { Thread } from './thread.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

test('what two ask for at once is asked once, and its refusal is heard by both', async () => {
  const asked = vi
    .spyOn(api, 'historyList')
    .mockRejectedValue(new ApiError(1433, '会话已删除', 200));
  const thread = new Thread('a-session');
  const told = await Promise.allSettled([thread.loader.refresh(), thread.loader.refresh()]);
  expect(told.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  // A request of nobody's would be refused unheard.
  expect(asked).toHaveBeenCalledTimes(1);
});
