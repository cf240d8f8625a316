import pg from 'pg';
import { expect, test } from 'vitest';
import { joined, TestClient } from '../support/client.ts';
import { startServer } from '../support/server.ts';

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
        'access-control-request-headers': 'authorization,last-event-id',
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    expect(preflight.headers.get('access-control-allow-headers')).toMatch(
      /authorization.*last-event-id/,
    );
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
