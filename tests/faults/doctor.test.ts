import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import { startFakeMail } from '../support/fake-mail.ts';
import { nginx, startNginx } from '../support/nginx.ts';
import { pgbouncer, startPooler } from '../support/pooler.ts';
import { scratchFolder } from '../support/scratch.ts';
import { ADMIN_PASSWORD, startServer, type TestServer } from '../support/server.ts';
import { redisServer, startValkey } from '../support/valkey.ts';

/** `npm run doctor` beside a server, and what it says of a proxy that holds streams back. */

let server: TestServer;
let mail: Awaited<ReturnType<typeof startFakeMail>>;
/** Passes everything on, whole. */
const proxy = createServer((request, response) => {
  const pass = async () => {
    const answer = await fetch(server.baseURL + request.url);
    response.writeHead(answer.status, { 'content-type': 'text/event-stream' });
    response.end(await answer.text());
  };
  void pass();
});
beforeAll(async () => {
  server = await startServer({ env: { SECRET_KEY: 'a-key' } });
  mail = await startFakeMail();
  const manager = new TestClient(server.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  await manager.call('saveSignIn', mail.settings);
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  proxy.close();
  await mail.close();
  await server.stop();
});

const examine = async (env: Record<string, string>) => {
  const { stdout, code } = await promisify(execFile)(
    process.execPath,
    ['dist/server/doctor-main.js', '--doctor'],
    {
      env: {
        PATH: process.env['PATH'],
        DATABASE_URL: server.databaseUrl,
        DATA_DIR: scratchFolder('doctor'),
        PUBLIC_URL: server.baseURL,
        SECRET_KEY: 'a-key',
        ...env,
      },
    },
  ).then(
    (said) => ({ ...said, code: 0 }),
    (error: { stdout: string; code: number }) => error,
  );
  return { said: stdout, code };
};

const hasFronts = [nginx, pgbouncer, redisServer].every(existsSync);

/** Puts Debian's nginx with deploy/nginx.conf, PgBouncer and Redis around the server. */
const startFronts = async () => {
  const front = await startNginx(scratchFolder('doctor'), [server.port]);
  const pooler = await startPooler(server.databaseUrl, 5);
  const valkey = await startValkey();
  return {
    baseURL: front.baseURL,
    env: {
      DATABASE_URL: pooler.databaseUrl,
      DATABASE_DIRECT_URL: server.databaseUrl,
      VALKEY_URL: valkey.url,
      PUBLIC_URL: front.baseURL,
    },
    stop: async () => {
      front.stop();
      pooler.close();
      await valkey.kill9();
    },
  };
};

test('a server that works is found well, behind nginx, PgBouncer and Redis where they are', async () => {
  const fronts = hasFronts ? await startFronts() : null;
  try {
    const { said, code } = await examine(fronts?.env ?? {});
    expect(code, said).toBe(0);
    expect(said).toMatch(/✓ 数据库：PostgreSQL \d+/);
    for (const line of [
      '数据库结构：是最新的',
      '邮件：127.0.0.1',
      '推送：',
      '反向代理：流是一段一段到的',
    ])
      expect(said).toContain(`✓ ${line}`);
    if (!fronts) return;
    for (const line of ['连接池：DATABASE_URL 经过连接池', 'Valkey：redis'])
      expect(said).toContain(`✓ ${line}`);
    // What is between processes is refused by nginx itself.
    const between = await fetch(`${fronts.baseURL}/api/instances/1/replies/1`);
    expect([between.status, await between.text()]).toEqual([404, expect.stringContaining('nginx')]);
  } finally {
    await fronts?.stop();
  }
});

test('what cannot work is named, with what to do', async () => {
  const { port } = proxy.address() as AddressInfo;
  const { said, code } = await examine({
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    OPENAI_API_KEY: 'sk-x',
    OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
    S3_ENDPOINT: 'http://127.0.0.1:9',
    S3_BUCKET: 'b',
    BACKUP_S3_BUCKET: 'vault',
    PAYMENT: 'wechat',
    SECRET_KEY: 'another',
    VALKEY_URL: 'redis://127.0.0.1:9',
    DATA_DIR: '/dev/null/nowhere',
  });
  expect(code).toBe(1);
  for (const line of [
    /✗ 反向代理：把流攒在一起.*\n.*proxy_buffering off/,
    /✗ 模型服务：/,
    /✗ 对象存储：/,
    /备份：存进 vault 的备份没有加密.*\n.*BACKUP_PASSPHRASE/,
    /✗ 收款：.*WECHAT/,
    /✗ 邮件：127\.0\.0\.1：/,
    /✗ Valkey：/,
    /✗ 数据文件夹：/,
  ])
    expect(said).toMatch(line);
  expect((await examine({ DATABASE_URL: 'postgres://x@127.0.0.1:9/x' })).said).toMatch(
    /✗ 数据库：连接不上/,
  );
  expect((await examine({ TRUST_PROXY: 'nonsense' })).said).toMatch(/✗ 设置：TRUST_PROXY/);
});
