import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import { connectDatabase } from '#server/db/connect.ts';
import { TestClient } from '../support/client.ts';
import { scratchFolder } from '../support/scratch.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { databaseStopped, killDatabase, postmasterOf } from './postgres-processes.ts';

/**
 * A server under load is killed, alone or with its database; whatever it had acknowledged before
 * must be there afterwards, and all money must still add up.
 */
const rounds = process.env['HEAVY'] ? 50 : 2;
const writers = 6;

const dataDir = scratchFolder('crash');
const env = { RATE_LIMIT: '1000000', CREDENTIALS_LIMIT: '1000000', FREE_REGISTRATIONS: '1000000' };
const start = (): Promise<TestServer> => startServer({ embedded: true, dataDir, env });

interface Acknowledged {
  accounts: { account: string; token: string }[];
  sessions: { token: string; uuid: string }[];
  messages: { token: string; uuid: string; id: number; text: string }[];
}

const account = (): string => `u${randomUUID().slice(0, 13)}`;

/** Writes until the server is gone. Notes only what was answered. */
const write = async (baseURL: string, acknowledged: Acknowledged): Promise<void> => {
  try {
    for (;;) {
      const name = account();
      const client = await TestClient.register(baseURL, name);
      const { token } = client;
      acknowledged.accounts.push({ account: name, token });
      for (let count = 0; count < 4; count++) {
        const { uuid } = await client.call('newSession', { type: 0 });
        acknowledged.sessions.push({ token, uuid });
        const text = `这条消息不能丢：${randomUUID()}`;
        const { id } = await client.call('sendMessage', { session_id: uuid, msg: text });
        acknowledged.messages.push({ token, uuid, id, text });
      }
    }
  } catch (error) {
    // The connection broke, as it should. A refusal would be a finding.
    if (error instanceof Error && /: \d{3} \d+ /.test(error.message)) throw error;
  }
};

/** What of the acknowledged is missing, in words. */
const missing = async (baseURL: string, acknowledged: Acknowledged): Promise<string[]> => {
  const lost: string[] = [];
  for (const { account: name, token } of acknowledged.accounts) {
    const reply = await new TestClient(baseURL, token).raw<{ account: string }>('userInfo', {});
    if (reply.data?.account !== name) lost.push(`account ${name}: ${reply.status}`);
  }
  for (const { token, uuid } of acknowledged.sessions) {
    const reply = await new TestClient(baseURL, token).raw<{ uuid: string }>('getSession', {
      uuid,
    });
    if (reply.data?.uuid !== uuid) lost.push(`session ${uuid}: ${reply.status} ${reply.code}`);
  }
  for (const { token, uuid, id, text } of acknowledged.messages) {
    const { list } = await new TestClient(baseURL, token).call('historyList', { session_id: uuid });
    if (list.find((message) => message.id === id)?.human !== text) lost.push(`message ${id}`);
  }
  return lost;
};

/** People whose wallet is not the sum of their ledger, or below zero. */
const wrongWallets = async (): Promise<unknown[]> => {
  const { pool, close } = await connectDatabase({ dataDir }, pino({ level: 'silent' }));
  try {
    const { rows } = await pool.query(
      `SELECT user_id, balance, vip_balance FROM wallets
       WHERE balance < 0 OR vip_balance < 0
         OR balance <> (SELECT coalesce(sum(amount), 0) FROM ledger
                        WHERE ledger.user_id = wallets.user_id AND pot = 'balance')
         OR vip_balance <> (SELECT coalesce(sum(amount), 0) FROM ledger
                            WHERE ledger.user_id = wallets.user_id AND pot = 'vip')`,
    );
    return rows;
  } finally {
    await close();
  }
};

afterAll(async () => {
  await databaseStopped(dataDir);
  rmSync(dataDir, { recursive: true, force: true });
});

test(
  `nothing acknowledged is lost in ${rounds} kills of the server and of its database`,
  { timeout: rounds * 60_000 },
  async () => {
    let messages = 0;
    for (let round = 0; round < rounds; round++) {
      const withDatabase = round % 2 === 1;
      const server = await start();
      const acknowledged: Acknowledged = { accounts: [], sessions: [], messages: [] };
      const load = Array.from({ length: writers }, () => write(server.baseURL, acknowledged));
      // By what was done and not by the clock, so that a slow machine tries as much.
      const enough = 8 + Math.random() * 40;
      while (acknowledged.messages.length < enough) await sleep(1);
      await server.kill9();
      if (withDatabase) await killDatabase(dataDir);
      await Promise.all(load);

      const again = await start();
      try {
        expect(await missing(again.baseURL, acknowledged)).toEqual([]);
        expect(await wrongWallets()).toEqual([]);
      } finally {
        await again.stop();
      }
      messages += acknowledged.messages.length;
    }
    expect(messages).toBeGreaterThanOrEqual(rounds * 8);
  },
);

test('a database that falls under a running server is set up again by it', async () => {
  const server = await start();
  try {
    const client = await TestClient.register(server.baseURL, account());
    await killDatabase(dataDir);
    const during = await client.raw('userInfo', {});
    expect([200, 503]).toContain(during.status);
    let answered = false;
    for (const until = Date.now() + 10_000; Date.now() < until && !answered; await sleep(50)) {
      answered = (await client.raw('userInfo', {})).status === 200;
    }
    expect(answered).toBe(true);
    expect(postmasterOf(dataDir)).not.toBeNull();
    await client.call('newSession', { type: 0 });
  } finally {
    await server.stop();
  }
});
