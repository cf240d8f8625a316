import { api } from '#src/platform/api.ts';
import { ApiError } from '#src/platform/api-error.ts';
import type { Message } from '#contract/chat.ts';
import { afterEach, expect, test, vi } from 'vitest';
import { MessageLoader } from './message-loader.ts';
import { MessageStore } from './message-store.ts';
import { ThreadCommands } from './thread-commands.ts';
import { blank } from './unsent-messages.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const message = (id: number, change: Partial<Message> = {}): Message => ({
  ...blank,
  id,
  human: `问题 ${id}`,
  ai: `回答 ${id}`,
  state: 'done',
  created_at: new Date(Date.UTC(2026, 0, 1, 0, 0, id)).toISOString(),
  ...change,
});

const opened = (...messages: Message[]) => {
  const store = new MessageStore('a-session');
  store.takeNew(messages, { hasOlder: false, hasNewer: false, focus: null });
  const commands = new ThreadCommands(store, new MessageLoader(store, () => {}));
  // Reading is tried by the browser tests.
  vi.spyOn(commands.reader, 'attachAll').mockReturnValue();
  return { store, commands };
};
const refusal = new ApiError(1030, '余额不足', 200);

test('a branch that is refused leaves the list as it was', async () => {
  const { store, commands } = opened(message(1), message(2), message(3));
  const before = store.messages;
  const sending = vi.spyOn(api, 'sendMessage').mockRejectedValue(refusal);
  const sent = commands.send('换个问法', 'a-key', { replace: 2 });
  expect(store.messages.map(({ human }) => human)).toEqual(['问题 1', '换个问法']);
  expect(store.get().sending).toBe(true);
  await expect(sent).rejects.toBe(refusal);
  expect(sending).toHaveBeenCalledTimes(1);
  expect(store.messages).toEqual(before);
  expect(store.get().sending).toBe(false);
});

test('a branch takes the place of what it branches from, and knows its siblings', async () => {
  const { store, commands } = opened(message(1), message(2), message(3));
  const key = store.keyOf(store.messages[1]!);
  vi.spyOn(api, 'sendMessage').mockResolvedValue({
    id: 9,
    msg: '换个问法',
    created_at: '2026-01-02T00:00:00.000Z',
    beside: null,
  });
  await commands.send('换个问法', 'a-key', { replace: 2 });
  expect(store.messages.map(({ id }) => id)).toEqual([1, 9]);
  expect(store.find(9)).toMatchObject({ siblings: [2, 9], state: 'streaming' });
  expect(store.keyOf(store.find(9)!)).toBe(key);
});

test('what was put in takes its number, or leaves the list', () => {
  const { store, commands } = opened(message(1));
  const drawn = { human: '{}', format: 1, type: 1, state: 'none' } as const;
  const taken = commands.unsent.put(drawn, 'first');
  const refused = commands.unsent.put(drawn, 'second');
  expect(taken).toBeLessThan(0);
  commands.unsent.settle(taken, { id: 5, created_at: '2026-01-02T00:00:00.000Z' });
  commands.unsent.settle(refused, null);
  expect(store.messages.map(({ id }) => id)).toEqual([1, 5]);
  expect(store.keyOf(store.find(5)!)).toBe('first');
});

test('a refused new answer leaves the old one', async () => {
  const { store, commands } = opened(message(1), message(2));
  vi.spyOn(api, 'regenerateMessage').mockRejectedValue(refusal);
  await expect(commands.regenerate(2)).rejects.toBe(refusal);
  expect(store.find(2)?.ai).toBe('回答 2');
});

test('a message stands in the list though the end of it can not be read now', async () => {
  vi.useFakeTimers();
  try {
    const { store, commands } = opened(message(1), message(2));
    store.publish({ hasNewer: true });
    vi.spyOn(api, 'historyList').mockReturnValue(new Promise(() => {}));
    vi.spyOn(api, 'sendMessage').mockReturnValue(new Promise(() => {}));
    void commands.send('在电梯里问', 'a-key', { replace: 2 });
    await vi.advanceTimersByTimeAsync(2_000);
    expect(store.messages.map(({ human }) => human)).toEqual(['问题 1', '在电梯里问']);
  } finally {
    vi.useRealTimers();
  }
});
