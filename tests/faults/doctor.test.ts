import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scratchFolder } from '../support/scratch.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** `npm run doctor` beside a server, and what it says of a proxy that holds streams back. */

let server: TestServer;
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
  server = await startServer();
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  proxy.close();
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
        ...env,
      },
    },
  ).then(
    (said) => ({ ...said, code: 0 }),
    (error: { stdout: string; code: number }) => error,
  );
  return { said: stdout, code };
};

test('a server that works is found well', async () => {
  const { said, code } = await examine({});
  expect(said).toMatch(/✓ 数据库：PostgreSQL \d+/);
  expect(said).toContain('✓ 数据库结构：是最新的');
  expect(said).toContain('✓ 反向代理：流是一段一段到的');
  expect(code, said).toBe(0);
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
    DATA_DIR: '/dev/null/nowhere',
  });
  expect(code).toBe(1);
  for (const line of [
    /✗ 反向代理：把流攒在一起.*\n.*proxy_buffering off/,
    /✗ 模型服务：/,
    /✗ 对象存储：/,
    /备份：存进 vault 的备份没有加密.*\n.*BACKUP_PASSPHRASE/,
    /✗ 收款：.*WECHAT/,
    /✗ 数据文件夹：/,
  ])
    expect(said).toMatch(line);
  expect((await examine({ DATABASE_URL: 'postgres://x@127.0.0.1:9/x' })).said).toMatch(
    /✗ 数据库：连接不上/,
  );
  expect((await examine({ TRUST_PROXY: 'nonsense' })).said).toMatch(/✗ 设置：TRUST_PROXY/);
});
