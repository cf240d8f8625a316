import { beforeAll, expect, test } from 'vitest';
import { joined, TestClient, type SseEvent } from '../support/client.ts';
import { stageWithModels } from '../support/stage.ts';

const here = stageWithModels('mock-chat');
let client: TestClient;

beforeAll(async () => {
  client = await TestClient.register(here.server.baseURL);
});

const ask = (msg: string) => client.ask(msg, { model: 'mock-chat' });

test('a reader that loses its connection 100 times gets every character once, from one call', async () => {
  const before = here.mock.calls;
  const { uuid, id } = await ask('[[bench tokens=1500 rate=150 id=again]]');
  const events: SseEvent[] = [];
  let connections = 0;
  while (!events.some((event) => event.data === '[DONE]')) {
    connections += 1;
    events.push(
      ...(await client.read(uuid, id, {
        lastEventId: events.at(-1)?.id,
        onEvent: () => connections > 100,
      })),
    );
  }
  expect(connections).toBeGreaterThan(50);
  const ids = events.map((event) => Number(event.id));
  expect(ids).toEqual([...ids].sort((a, b) => a - b));
  expect(new Set(ids).size).toBe(ids.length);
  const { list } = await client.call('historyList', { session_id: uuid });
  expect(joined(events)).toEqual({
    text: list[0]?.ai,
    reasoning: '',
    error: null,
    done: true,
  });
  expect(list[0]?.ai.endsWith('END-again-DONE')).toBe(true);
  expect(here.mock.calls).toBe(before + 1);
});

test('100 readers at once read one and the same reply', async () => {
  const before = here.mock.calls;
  const { uuid, id } = await ask('[[bench tokens=300 rate=300 id=many]]');
  const texts = await Promise.all(
    Array.from({ length: 100 }, async (_, index) => {
      await new Promise((resolve) => setTimeout(resolve, index * 12));
      return joined(await client.read(uuid, id)).text;
    }),
  );
  expect(new Set(texts).size).toBe(1);
  expect(texts[0]?.endsWith('END-many-DONE')).toBe(true);
  expect(here.mock.calls).toBe(before + 1);
});

test('a finished reply is read from any position on, thinking and text in their order', async () => {
  const { uuid, id } = await ask('[[mock reasoning]] 想一想');
  const whole = joined(await client.read(uuid, id));
  expect(whole.reasoning).toBe('先想一想，再回答。');
  const all = whole.reasoning + whole.text;
  for (let position = 0; position <= all.length; position += 1) {
    const rest = joined(await client.read(uuid, id, { lastEventId: String(position) }));
    expect(rest.done).toBe(true);
    // A position inside a character is none that an event had.
    if (!/^[\udc00-\udfff]/.test(all.slice(position))) {
      expect(rest.reasoning + rest.text).toBe(all.slice(position));
    }
  }
});

test('two sends at once make one reply, and a repeated send none', async () => {
  const before = here.mock.calls;
  const { uuid } = await client.call('newSession', { model: 'mock-chat' });
  const send = (key: string) =>
    client.raw<{ id: number }>(
      'sendMessage',
      { session_id: uuid, msg: '[[bench tokens=250 rate=50 id=two]]' },
      { 'idempotency-key': key },
    );
  const keys = Array.from({ length: 10 }, () => crypto.randomUUID());
  const replies = await Promise.all(keys.map(send));
  const accepted = replies.filter((reply) => reply.code === 0);
  expect(accepted).toHaveLength(1);
  expect(new Set(replies.map((reply) => reply.code))).toEqual(new Set([0, 1409]));
  const key = keys[replies.findIndex((reply) => reply.code === 0)] ?? '';
  expect((await send(key)).data.id).toBe(accepted[0]?.data.id);
  await client.read(uuid, accepted[0]?.data.id ?? 0);
  expect((await send(key)).data.id).toBe(accepted[0]?.data.id);
  expect(here.mock.calls).toBe(before + 1);
});
