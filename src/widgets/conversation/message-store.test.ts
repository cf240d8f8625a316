import type { Message } from '#contract/chat.ts';
import { expect, test } from 'vitest';
import { MessageStore } from './message-store.ts';
import { blank } from './unsent-messages.ts';

const message = (id: number, change: Partial<Message> = {}): Message => ({
  ...blank,
  id,
  human: `问题 ${id}`,
  ai: `回答 ${id}`,
  state: 'done',
  created_at: new Date(Date.UTC(2026, 0, 1, 0, 0, id)).toISOString(),
  ...change,
});
const whole = { hasOlder: false, hasNewer: false, focus: null };
const opened = (messages: Message[], change: Partial<typeof whole> = {}) => {
  const store = new MessageStore('a-session');
  store.takeNew(messages, { ...whole, ...change });
  return store;
};
const numbers = (store: MessageStore) => store.messages.map(({ id }) => id);

test('what comes before keeps the rows that are there in their place', () => {
  const store = opened([message(5), message(6)], { hasOlder: true });
  const { firstIndex, rows } = store.get();
  store.takeOlder([message(3), message(4), message(5)], false);
  const after = store.get();
  expect(numbers(store)).toEqual([3, 4, 5, 6]);
  expect(after.hasOlder).toBe(false);
  expect(after.firstIndex + after.rows.length).toBe(firstIndex + rows.length);
  expect(after.rows.slice(-rows.length).map(({ key }) => key)).toEqual(rows.map(({ key }) => key));
});

test('what comes behind moves nothing, and with the newest first all of it', () => {
  const store = opened([message(1)], { hasNewer: true });
  const { firstIndex } = store.get();
  store.takeNewer([message(2)], true);
  expect(store.get().firstIndex).toBe(firstIndex);
  store.setNewestFirst(true);
  const before = store.get();
  store.takeNewer([message(3)], false);
  expect(before.firstIndex - store.get().firstIndex).toBe(
    store.get().rows.length - before.rows.length,
  );
  expect(store.get().hasNewer).toBe(false);
});

test('a stretch as the server has it takes out what is gone, and leaves what is not sent', () => {
  const store = opened([message(1), message(2), message(3), message(4)]);
  store.messages = [...store.messages, message(-1, { state: 'none' })];
  store.takeStretch([message(2), message(3, { human: '改过了' })], 1, 3);
  store.takeStretch([], 3, Infinity);
  expect(numbers(store)).toEqual([1, 2, 3, -1]);
  expect(store.find(3)?.human).toBe('改过了');
});

test('a message that did not change stays the same object, so that nothing is drawn again', () => {
  const store = opened([message(1), message(2)]);
  const [first] = store.messages;
  const [row] = store.get().rows;
  store.takeStretch([message(1), message(2, { liked: true })], 0, Infinity);
  store.publish();
  expect(store.messages[0]).toBe(first);
  expect(store.get().rows[0]).toBe(row);
  expect(store.find(2)?.liked).toBe(true);
});

test('a reply that is being read is newer here than what the server told', () => {
  const store = opened([message(1, { state: 'streaming', ai: '写到这里' })]);
  store.streams.set(1, new AbortController());
  store.takeStretch([message(1, { state: 'streaming', ai: '', liked: true })], 0, Infinity);
  expect(store.find(1)).toMatchObject({ ai: '写到这里', state: 'streaming', liked: true });
  store.drop(1);
  expect(store.streams.size).toBe(0);
});

test('the words that were read of a reply stay while the server tells of it without them', () => {
  const store = opened([message(1, { state: 'streaming', ai: '读到一半', reasoning: '想过' })]);
  store.takeNew([message(1, { state: 'streaming', ai: '' })], whole);
  expect(store.find(1)).toMatchObject({ state: 'streaming', ai: '读到一半', reasoning: '想过' });
  store.takeNew([message(1, { ai: '全部' })], whole);
  expect(store.find(1)).toMatchObject({ state: 'done', ai: '全部' });
});

test('words that were read of a reply stay when the server that wrote it kept fewer', () => {
  const cut = { state: 'error', error_code: 'interrupted', ai: '读到了这里' } as const;
  const store = opened([message(1, cut), message(2, cut)]);
  const stored = { state: 'interrupted', error_code: 'interrupted', ai: '读到' } as const;
  const refreshed = (ai: string) => {
    store.takeNew([message(1, { ...stored, ai })], whole);
    return store.find(1);
  };
  for (const _ of [1, 2])
    expect(refreshed('读到')).toMatchObject({
      ai: '读到了这里',
      error_message: expect.stringContaining('最后 3 个字') as string,
    });
  // Shortened on another device, or another answer altogether.
  expect(refreshed('读')).toMatchObject({ ai: '读' });
  store.takeNew([message(2, { ...stored, ai: '别的' })], whole);
  expect(store.find(2)).toMatchObject({ ai: '别的' });
});

test('a second answer is found, changed and named by the place of the first', () => {
  const { human: _human, ...second } = message(8);
  const store = opened([
    message(6),
    message(7, { beside: { ...second, human: '' }, siblings: [4, 7] }),
  ]);
  store.change(8, { ai: '另一个回答' });
  expect(store.find(8)?.ai).toBe('另一个回答');
  expect(store.placeOf(8)?.id).toBe(7);
  expect(store.before(8)).toBe(6);
  expect(store.keyOf(store.messages[1]!)).toBe('4');
});

const among = { model: '', temporary: false, makes: false, type: 2, streamBase: () => '' };

test('the accepted answer stands right below its question, but not where the newest come first', () => {
  const store = opened([message(1, { title: '问题' }), ...[2, 3, 4].map((id) => message(id))]);
  const shown = () =>
    store.get().rows.flatMap(({ kind, message: { id } }) => (kind === 'question' ? [id] : []));
  store.know({ ...among, people: true, accepted: 4, me: { id: 7, name: '自己' } });
  expect(shown()).toEqual([1, 4, 2, 3]);
  store.setNewestFirst(true);
  expect(shown()).toEqual([4, 3, 2, 1]);
});

test('of several people only one’s own reply is waited for', () => {
  const store = opened([message(1, { state: 'streaming', ai: '', user_id: 7 })]);
  const session = { ...among, accepted: null };
  store.know({ ...session, people: true, me: { id: 9, name: '别人' } });
  expect(store.get().replying).toBeNull();
  store.know({ ...session, people: true, me: { id: 7, name: '自己' } });
  expect(store.get().replying?.id).toBe(1);
});

test('what goes along with the next question is what was answered, newest first', () => {
  const store = opened([message(1), message(2, { ai: '' }), message(3), message(4)]);
  expect(store.recentExchanges(2).map(({ human }) => human)).toEqual(['问题 4', '问题 3']);
});
