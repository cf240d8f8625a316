import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { calls } from '#contract/calls.ts';
import { requestOf, TestClient } from '../support/client.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** What ends with a login, and with an account. */

let server: TestServer;
let database: pg.Client;
beforeAll(async () => {
  server = await startServer({
    env: { ASSISTANT_RATE: '0', GUEST_MESSAGES: '3', TRUST_PROXY: '127.0.0.1' },
  });
  database = new pg.Client({ connectionString: server.databaseUrl });
  await database.connect();
});
afterAll(async () => {
  await database.end();
  await server.stop();
});

test('an open stream of jobs ends soon after a logout', async () => {
  const person = await TestClient.register(server.baseURL);
  const response = await fetch(server.baseURL + requestOf('jobEvents', {}).url, {
    headers: person.headers(),
  });
  const over = (async () => {
    try {
      for await (const _ of response.body!);
    } catch {
      // It was cut.
    }
    return true;
  })();
  await person.call('logout', {});
  const late = new Promise((resolve) => setTimeout(resolve, 12_000, false));
  expect(await Promise.race([over, late])).toBe(true);
});

test('a guest’s token does not come again by its key after the logout', async () => {
  const key = { 'idempotency-key': randomUUID() };
  const guest = new TestClient(server.baseURL);
  await guest.call('newSession', { type: 0 }, key);
  const again = new TestClient(server.baseURL);
  await again.call('newSession', { type: 0 }, key);
  // An answer that was lost on the way is given again.
  expect(again.token).not.toBe('');
  await guest.call('logout', {});
  await again.call('logout', {});
  const thief = new TestClient(server.baseURL);
  await thief.raw('newSession', { type: 0 }, key);
  expect(thief.token).toBe('');
});

test.each(['disabled', 'session_private'])(
  'public sessions and shares of somebody who becomes %s are read by nobody',
  async (column) => {
    const person = await TestClient.register(server.baseURL);
    const session = await person.call('newSession', { type: 0, private: 0 });
    const sent = await person.call('sendMessage', { session_id: session.uuid, msg: '大家都能看' });
    await person.read(session.uuid, sent.id);
    await person.call('setSession', { session_id: session.uuid, private: 0 });
    const { key } = await person.call('shareSession', { session_id: session.uuid });
    const visitor = new TestClient(server.baseURL);
    const codes = async () => [
      (await visitor.raw('getSession', { uuid: session.uuid })).code,
      (await visitor.raw('sharedSession', { key })).code,
    ];
    expect(await codes()).toEqual([0, 0]);
    await database.query(
      `UPDATE users SET ${column} = true WHERE id = (SELECT user_id FROM sessions WHERE id = $1)`,
      [session.id],
    );
    const [read, shared] = await codes();
    expect(read).toBe(1432);
    expect(shared).not.toBe(0);
  },
);

test('a reader of an answer is cut off when its session is made private, and an export ends', async () => {
  // Slow enough that the answer is being written all the while.
  const server = await startServer({ env: { ASSISTANT_RATE: '3' } });
  const person = await TestClient.register(server.baseURL);
  const visitor = new TestClient(server.baseURL);
  const session = await person.call('newSession', { type: 0, private: 0 });
  await person.call('setSession', { session_id: session.uuid, private: 0 });
  const { id } = await person.call('sendMessage', {
    session_id: session.uuid,
    msg: '请详细介绍一下这里都能做什么，怎么收费，有哪些模型',
  });
  const begin = async (client: TestClient) => {
    const { url } = requestOf('eventStream', { session_id: session.uuid, history_id: id });
    const response = await fetch(server.baseURL + url, { headers: client.headers() });
    let text = '';
    const over = async () => {
      try {
        for await (const chunk of response.body!) text += Buffer.from(chunk).toString();
      } catch {
        return 'cut';
      }
      return text.includes('[DONE]') ? 'done' : 'ended';
    };
    // In an object: a promise itself would be waited for.
    return { over: over() };
  };
  const reading = await begin(visitor);
  const { url } = requestOf('exportSession', { session_id: session.uuid, format: 'markdown' });
  const events = await (await fetch(server.baseURL + url)).text();
  const key = /"key":"([^"]+)"/.exec(events)?.[1] ?? '';
  const file = () => fetch(`${server.baseURL}${requestOf('exportFile', { key }).url}`);
  expect((await file()).status).toBe(200);
  await person.call('setSession', { session_id: session.uuid, private: 1 });
  expect((await file()).status).toBe(404);
  expect(await reading.over).toBe('cut');

  /** A session whose answer is being written, read by its owner. */
  const own = async () => {
    const owner = await TestClient.register(server.baseURL);
    const { uuid, id: number } = await owner.call('newSession', { type: 0, private: 0 });
    const sent = await owner.call('sendMessage', {
      session_id: uuid,
      msg: '请详细介绍一下这里都能做什么，怎么收费，有哪些模型',
    });
    const place = { session_id: uuid, history_id: sent.id };
    const answer = await fetch(server.baseURL + requestOf('eventStream', place).url, {
      headers: owner.headers(),
    });
    const jobs = await fetch(server.baseURL + requestOf('jobEvents', {}).url, {
      headers: owner.headers(),
    });
    const cut = [answer, jobs].map(async ({ body }) => {
      let text = '';
      try {
        for await (const chunk of body!) text += Buffer.from(chunk).toString();
      } catch {
        return 'cut';
      }
      return text.includes('[DONE]') ? 'done' : 'ended';
    });
    return { owner, uuid, number, place, cut: Promise.all(cut) };
  };
  const [left, disabled, deleted] = await Promise.all([own(), own(), own()]);
  await left.owner.call('logout', {});
  const other = new pg.Client({ connectionString: server.databaseUrl });
  await other.connect();
  await other.query(
    `UPDATE users SET disabled = true WHERE id = (SELECT user_id FROM sessions WHERE id = $1)`,
    [disabled.number],
  );
  await other.end();
  expect(await left.cut).toEqual(['cut', 'cut']);
  expect(await disabled.cut).toEqual(['cut', 'cut']);

  await deleted.owner.call('stopStream', { history_id: deleted.place.history_id });
  await deleted.owner.read(deleted.uuid, deleted.place.history_id);
  const making = requestOf('exportSession', { session_id: deleted.uuid, format: 'markdown' });
  const made = await (
    await fetch(server.baseURL + making.url, { headers: deleted.owner.headers() })
  ).text();
  const link = requestOf('exportFile', { key: /"key":"([^"]+)"/.exec(made)?.[1] ?? '' }).url;
  const linked = () => fetch(server.baseURL + link, { headers: deleted.owner.headers() });
  expect((await linked()).status).toBe(200);
  await deleted.owner.call('deleteSession', { session_id: deleted.uuid });
  expect((await linked()).status).toBe(404);
  await server.kill9();
  await server.stop();
}, 60_000);

test('a guest asks so much in a day, and reports so many requests in a minute', async () => {
  const guest = new TestClient(server.baseURL);
  const from = { 'x-forwarded-for': '203.0.113.80' };
  const codes: number[] = [];
  for (let at = 0; at < 4; at += 1) {
    const { uuid } = await guest.call('newSession', { type: 0 }, from);
    codes.push(
      (await guest.raw('sendMessage', { session_id: uuid, msg: '今天吃什么好' }, from)).code,
    );
  }
  expect(codes).toEqual([0, 0, 0, 1001]);
  const stat = {
    state: 'success',
    first_time: 300,
    time: 1200,
    model: 'builtin-assistant',
    request_time: '2026-01-01T00:00:00.000Z',
  };
  const reports = await Promise.all(
    Array.from({ length: 80 }, () => guest.raw('modelStat', stat, from)),
  );
  expect(new Set(reports.map(({ status }) => status))).toEqual(new Set([200, 429]));
});

test('all that makes a service work counts for guests: of each, of an address, of a network', async () => {
  const guestAt = async (address: string) => {
    const from = { 'x-forwarded-for': address };
    const guest = new TestClient(server.baseURL);
    const { uuid } = await guest.call('newSession', { type: 0 }, from);
    const use = async () =>
      (await guest.raw('translate', { msg: 'bridge', cn2en: 0 }, from)).code === 0;
    return { guest, from, uuid, use };
  };
  /** All that so many guests of an address may do; how much of it went well. */
  const useUp = async (address: string, guests: number) => {
    const done = await Promise.all(
      Array.from({ length: guests }, async () => {
        const { use } = await guestAt(address);
        return [await use(), await use(), await use()].filter(Boolean).length;
      }),
    );
    return done.reduce((sum, each) => sum + each, 0);
  };
  const { guest, from, uuid, use } = await guestAt('203.0.113.90');
  // Making a voice ready is none.
  const speak = async (input: Record<string, unknown>) =>
    fetch(server.baseURL + calls.textToSpeech.path, {
      method: 'POST',
      headers: { ...guest.headers(), ...from, 'content-type': 'application/json' },
      body: JSON.stringify(input),
    });
  for (let at = 0; at < 4; at += 1) expect((await speak({ prepare: 1 })).ok).toBe(true);
  expect([await use(), await use(), await use(), await use()]).toEqual([true, true, true, false]);
  const place = { session_id: uuid, history_id: 1 };
  const said = { session_id: uuid, msg: '你好' };
  const picture = { image_id: 1, painter: 'builtin-canvas' };
  const inputs = {
    sendMessage: said,
    condenseSession: { session_id: uuid },
    retryMessage: place,
    regenerateMessage: place,
    generateImage: { history_id: 1, request_id: randomUUID() },
    upscaleImage: picture,
    removeImageBackground: picture,
    editImageBackground: picture,
    editImage: picture,
    controlnetDetect: {
      model: 'a',
      controlnet_module: 'canny',
      controlnet_image_url: '/files/a.png',
    },
    interrogateImage: { image_id: 1 },
    translate: { msg: '桥' },
    inscriptor: { msg: '桥' },
    generateVideo: { history_id: 1, request_id: randomUUID() },
  } as const;
  const counted = Object.entries(calls).filter(([, spec]) => spec.countsForGuests({}));
  const more = ['speechToText', 'textToSpeech'];
  expect([...Object.keys(inputs), ...more].toSorted()).toEqual(
    counted.map(([name]) => name).toSorted(),
  );
  for (const [name, input] of Object.entries(inputs))
    expect(await guest.raw(name as keyof typeof inputs, input, from), name).toMatchObject({
      code: 1001,
      message: expect.stringContaining('次数用完'),
    });
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(64)]), 'a.mp3');
  const heard = await fetch(server.baseURL + calls.speechToText.path, {
    method: 'POST',
    headers: { ...guest.headers(), ...from },
    body: form,
  });
  for (const answer of [heard, await speak({ text: '你好' })])
    expect(await answer.json()).toMatchObject({ code: 1001 });
  // Twenty times as much of an address, sixty of a network; a neighbouring network is not touched.
  expect(await useUp('198.51.100.1', 21)).toBe(60);
  expect(await useUp('198.51.100.2', 19)).toBe(57);
  expect(await useUp('198.51.100.3', 19)).toBe(57);
  expect(await useUp('198.51.100.4', 3)).toBe(6);
  expect(await useUp('198.51.101.4', 1)).toBe(3);
});
