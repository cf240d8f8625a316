import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { joined, TestClient } from '../support/client.ts';
import { startServer } from '../support/server.ts';
import { createWorld, sendRaw, type World } from '../support/world.ts';

describe('among people of one server', () => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld();
  });
  afterAll(() => world.stop());

  test('a ticket of a reply reads that reply once, also from behind an event, and nothing else', async () => {
    const { user, other, none } = world.people;
    const { uuid, historyId } = world.talks.user;
    const own = { session_id: uuid, history_id: historyId };
    const ticketOf = async (person: TestClient) =>
      (await person.call('ticket', { history_id: historyId })).ticket;
    const next = await user.ask('再说一句');

    const ticket = await ticketOf(user);
    for (const [name, input] of [
      ['eventStream', { session_id: next.uuid, history_id: next.id }],
      ['transactionFile', { history_id: historyId }],
      ['exportSession', { session_id: uuid, format: 'markdown' }],
      ['jobEvents', {}],
    ] as const) {
      const answer = await sendRaw(none, name, { ...input, ticket });
      expect(answer.status, name).toBe(401);
    }
    const answer = await sendRaw(none, 'eventStream', { ...own, ticket });
    expect(answer.text).toContain('[DONE]');
    expect(answer.headers.get('authorization')).toBeNull();
    expect((await sendRaw(none, 'eventStream', { ...own, ticket })).status).toBe(401);
    const again = { ...own, ticket: await ticketOf(user), last_event_id: 1 };
    const rest = (await sendRaw(none, 'eventStream', again)).text;
    expect(rest).toContain('[DONE]');
    expect(rest).not.toMatch(/^id: 1$/m);
    // Somebody else's ticket has somebody else's rights.
    const others = await sendRaw(none, 'eventStream', { ...own, ticket: await ticketOf(other) });
    expect(others.envelope?.code).toBe(1432);
  });

  test('an accelerator is set by the owner alone, and to an address of the web', async () => {
    const owner = world.people.manager;
    const manager = await TestClient.register(world.server.baseURL);
    const { id } = await manager.call('userInfo', {});
    await owner.call('setManager', { user_id: id, rank: 'manager' });
    const [model] = (await owner.call('adminModelList', { unique_key: 'builtin-assistant' })).list;
    const set = async (person: TestClient, accelerator: string) =>
      (await sendRaw(person, 'setModel', { id: model!.id, accelerator })).envelope?.code;
    expect(await set(manager, 'https://fast.example')).toBe(1490);
    expect(await set(owner, 'javascript:alert(1)')).toBe(422);
    expect(await set(manager, '')).toBe(0);
    expect(await set(owner, 'https://fast.example')).toBe(0);
    expect(await set(manager, 'https://fast.example')).toBe(0);
    expect(await set(manager, '')).toBe(1490);
  });
});

test('a page reads replies from the accelerator of a model, and from no other address', async () => {
  const server = await startServer();
  const database = new pg.Client({ connectionString: server.databaseUrl });
  await database.connect();
  const second = await startServer({ databaseUrl: server.databaseUrl });
  try {
    const policy = async () =>
      (await fetch(`${server.baseURL}/api/models`)).headers.get('content-security-policy');
    expect(await policy()).toContain("connect-src 'self'");
    await database.query(
      `UPDATE models SET accelerator = CASE name WHEN 'builtin-assistant' THEN $1
         ELSE 'javascript:alert(1)' END`,
      [`${second.baseURL}/some/path?x=1`],
    );
    await expect
      .poll(policy, { timeout: 15_000 })
      .toContain(`connect-src 'self' ${second.baseURL};`);

    const person = await TestClient.register(server.baseURL);
    const { uuid, id } = await person.ask('鹊桥是什么，请介绍一下');
    const address = `${second.baseURL}/api/event_stream?session_id=${uuid}&history_id=${id}`;
    const origin = server.baseURL;
    const preflight = await fetch(address, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'last-event-id',
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    // A page cannot even by mistake send a login there.
    expect(preflight.headers.get('access-control-allow-headers')).toBe('last-event-id');
    for (const [url, headers, status] of [
      [address, person.headers(), 200],
      [address, {}, 200],
      [`${address}x`, person.headers(), 422],
    ] as const) {
      const response = await fetch(url, { headers: { origin, ...headers } });
      expect(response.status).toBe(status);
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      await response.text();
    }
    const there = new TestClient(second.baseURL, person.token);
    const reply = joined(await there.read(uuid, id));
    expect(reply.done && reply.text.length > 0).toBe(true);
    // Every other call stays with its own address.
    const other = await fetch(`${second.baseURL}/api/models`, { headers: { origin } });
    expect(other.headers.get('access-control-allow-origin')).toBeNull();
  } finally {
    await database.end();
    await second.stop();
    await server.stop();
  }
});
