import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import { startMockOpenAi } from '../support/mock-openai.ts';
import { startMockS3 } from '../support/mock-s3.ts';
import { scratchFolder } from '../support/scratch.ts';
import { ADMIN_PASSWORD, makeDatabase, startServer, type TestServer } from '../support/server.ts';
import { onePixel } from '../support/world.ts';
import { databaseStopped } from './postgres-processes.ts';

/** What somebody who runs the service is shown: of all processes, and in the log. */

interface Line {
  level: number;
  msg: string;
}
const linesOf = (server: TestServer): Line[] =>
  server
    .log()
    .split('\n')
    .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Line] : []));
const faultsIn = (server: TestServer) => linesOf(server).filter(({ level }) => level >= 50);

const managerOf = async ({ baseURL }: TestServer) => {
  const manager = new TestClient(baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  return manager;
};

test('every process tells the disk and the last backup, whichever of them has them', async () => {
  const databaseUrl = await makeDatabase();
  const elsewhere = {
    SECRET_KEY: 'one-key-for-both',
    S3_ENDPOINT: 'http://127.0.0.1:9',
    S3_BUCKET: 'bucket',
    S3_REGION: 'r',
    S3_ACCESS_KEY: 'a',
    S3_SECRET_KEY: 's',
  };
  const folder = scratchFolder('operations');
  const none = path.join(folder, 'none');
  // It has no data folder, so no disk and no backups of its own.
  const without = await startServer({ databaseUrl, dataDir: none, env: elsewhere });
  try {
    const manager = await managerOf(without);
    const alone = await manager.call('adminService', {});
    expect(alone).toMatchObject({ disk_free: null, disk_total: null, last_backup: null });
    const having = await startServer({ databaseUrl, env: { SECRET_KEY: elsewhere.SECRET_KEY } });
    try {
      await promisify(execFile)(process.execPath, ['dist/server/backup-main.js', '--backup'], {
        env: { PATH: process.env['PATH'], DATABASE_URL: databaseUrl, DATA_DIR: having.dataDir },
      });
      const there = await (await managerOf(having)).call('adminService', {});
      const here = await manager.call('adminService', {});
      expect(here).toMatchObject({
        processes: 2,
        disk_free: there.disk_free,
        disk_total: there.disk_total,
        last_backup: there.last_backup,
      });
      expect(here.instances.map(({ own, address }) => [own, address])).toEqual([
        [true, without.baseURL],
        [false, having.baseURL],
      ]);
      for (const { version, load, memory } of here.instances)
        expect([version, load !== null, memory !== null]).toEqual([here.version, true, true]);
      expect(here.disk_free).toBeGreaterThan(0);
      expect(here.disk_total).toBeGreaterThanOrEqual(here.disk_free ?? 0);
      expect(here.last_backup?.bytes).toBeGreaterThan(1000);
    } finally {
      await having.stop();
    }
    const { instances } = await manager.call('adminService', {});
    expect(instances).toMatchObject([{ alive: true, own: true, address: without.baseURL }]);
    // A disk goes with the process that has it; that there was a backup stays.
    const left = await manager.call('adminService', {});
    expect(left.disk_free).toBeNull();
    expect(left.last_backup).not.toBeNull();
  } finally {
    await without.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

test('an ordinary stop writes no stack', async () => {
  const dataDir = scratchFolder('operations');
  const server = await startServer({ embedded: true, dataDir });
  const person = await TestClient.register(server.baseURL);
  // Connections of the pool are open, and a stream is.
  await Promise.all(Array.from({ length: 8 }, () => person.call('userInfo', {})));
  const stream = await fetch(`${server.baseURL}/api/job_events`, { headers: person.headers() });
  await server.stop();
  await databaseStopped(dataDir);
  await stream.body?.cancel().catch(() => undefined);
  expect(await server.exited).toBe(0);
  expect(server.log()).not.toMatch(/^\s+at |57P01|"stack"/m);
  expect(faultsIn(server)).toEqual([]);
  rmSync(dataDir, { recursive: true, force: true });
});

test('backups are made by schedule and by button, one at a time, and the newest are kept', async () => {
  const s3 = await startMockS3();
  const env = {
    S3_ENDPOINT: s3.endpoint,
    S3_BUCKET: 'files',
    S3_REGION: s3.region,
    S3_ACCESS_KEY: s3.accessKey,
    S3_SECRET_KEY: s3.secretKey,
    BACKUP_S3_BUCKET: 'safe',
    BACKUP_HOURS: '1',
    BACKUP_KEEP: '1',
  };
  const server = await startServer({ env });
  try {
    const manager = await managerOf(server);
    const state = () => manager.call('adminService', {});
    await expect.poll(async () => (await state()).last_backup?.bytes ?? 0).toBeGreaterThan(1000);
    const first = (await state()).last_backup?.name;
    await expect.poll(async () => (await state()).backup.running).toBe(false);
    const asked = await Promise.allSettled([1, 2, 3].map(() => manager.call('adminBackup', {})));
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect.poll(async () => (await state()).last_backup?.name).not.toBe(first);
    await expect
      .poll(async () => (await state()).backup)
      .toEqual({ running: false, error: '', hours: 1, bucket: 'safe' });
    expect(await readdir(path.join(server.dataDir, 'backups'))).toEqual([
      (await state()).last_backup?.name,
    ]);
    const [elsewhere, ...older] = [...s3.objects].filter(([name]) => name.startsWith('/safe/'));
    expect(older).toEqual([]);
    expect(elsewhere?.[0]).toBe(`/safe/backups/${(await state()).last_backup?.name}`);
    expect(elsewhere?.[1].data).toHaveLength((await state()).last_backup?.bytes ?? 0);
    s3.failing = 503;
    await manager.call('adminBackup', {});
    await expect.poll(async () => (await state()).backup.error).toMatch(/对象存储没有收下备份/);
    s3.failing = 0;
    // A folder that is none: the next one says why it failed.
    await rm(path.join(server.dataDir, 'backups'), { recursive: true });
    await writeFile(path.join(server.dataDir, 'backups'), '');
    await manager.call('adminBackup', {});
    await expect.poll(async () => (await state()).backup.error).toMatch(/EEXIST|ENOTDIR/);
  } finally {
    await server.stop();
    await s3.close();
  }
});

test('connections that the database ends leave no stack, and the service goes on', async () => {
  const server = await startServer();
  const person = await TestClient.register(server.baseURL);
  const database = new pg.Client({ connectionString: server.databaseUrl });
  await database.connect();
  await Promise.all(Array.from({ length: 8 }, () => person.call('userInfo', {})));
  await database.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
  await database.end();
  await expect.poll(() => linesOf(server).some(({ msg }) => msg.includes('is back'))).toBe(true);
  await expect
    .poll(async () => (await person.raw('userInfo', {}).catch(() => null))?.status)
    .toBe(200);
  await server.stop();
  expect(server.log()).not.toMatch(/^\s+at |"stack"/m);
  expect(faultsIn(server)).toEqual([]);
});

/** Sends a request and hangs up at its answer's first byte, or after so many ms without one. */
const hangUp = (server: TestServer, text: string, afterMs = 2_000): Promise<void> =>
  new Promise((resolve) => {
    const socket = connect(server.port, '127.0.0.1', () => socket.write(text));
    socket.setTimeout(afterMs, () => socket.destroy());
    socket.on('error', () => undefined);
    socket.once('data', () => socket.destroy());
    socket.once('close', () => resolve());
  });

test('a caller that hangs up is no error, and the errors of the page are those of the log', async () => {
  const server = await startServer({});
  try {
    const manager = await managerOf(server);
    const person = await TestClient.register(server.baseURL);
    const photo = randomBytes(3_000_000);
    const talk = await person.call('newSession', { type: 2, private: 0 });
    for (let i = 0; i < 12; i += 1)
      await person.call('sendMessage', {
        session_id: talk.uuid,
        msg: `${i} ${randomBytes(6_000).toString('hex')}`,
      });
    const auth = `authorization: Bearer ${person.token}`;
    const get = (address: string) =>
      hangUp(
        server,
        `GET ${address} HTTP/1.1\r\nhost: a\r\naccept-encoding: br, gzip\r\n${auth}\r\n\r\n`,
      );
    const form =
      '--b\r\ncontent-disposition: form-data; name="file"; filename="a.png"\r\ncontent-type: image/png\r\n\r\n';
    const post = (address: string, type: string, body: string) =>
      hangUp(
        server,
        `POST ${address} HTTP/1.1\r\nhost: a\r\n${auth}\r\ncontent-type: ${type}\r\ncontent-length: 4000000\r\n\r\n${body}`,
        300,
      );
    const page = await (await fetch(`${server.baseURL}/`)).text();
    const [script = ''] = /\/assets\/[\w.-]+\.js/.exec(page) ?? [];
    await Promise.all([
      get(script),
      get('/api/openapi.json'),
      get('/api/job_events'),
      get(`/api/history_list?session_id=${talk.uuid}`),
      get(`/api/export_session?session_id=${talk.uuid}&format=pdf`),
      // Bodies that never come whole.
      post('/api/upload_image', 'multipart/form-data; boundary=b', form + photo.toString('latin1')),
      post('/api/send_message', 'application/json', '{"msg":"half'),
      post('/v1/chat/completions', 'application/json', '{"model":"half'),
    ]);
    await sleep(1_000);
    expect(faultsIn(server)).toEqual([]);
    expect((await manager.call('adminService', {})).errors).toBe(0);

    // A fault of ours is counted once where it is logged, whatever answered it.
    const files = path.join(server.dataDir, 'files');
    const { image } = await person.upload(
      'uploadImage',
      new Blob([new Uint8Array(onePixel)], { type: 'image/png' }),
      'a.png',
    );
    await rename(files, `${files}-away`);
    await writeFile(files, 'no folder');
    const broken = await fetch(new URL(image.url, server.baseURL));
    expect(broken.status).toBeGreaterThanOrEqual(500);
    await expect
      .poll(async () => [(await manager.call('adminService', {})).errors, faultsIn(server).length])
      .toEqual([1, 1]);
  } finally {
    await server.stop();
  }
});

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: { key: string; value: object }[];
  events?: { name: string }[];
}

test('a question is one trace from its request to the channel, without a word that people wrote', async () => {
  const spans: Span[] = [];
  let asked = '';
  const take = async (request: IncomingMessage): Promise<void> => {
    asked = `${request.url} ${String(request.headers['x-key'])}`;
    const { resourceSpans } = (await json(request)) as {
      resourceSpans: { scopeSpans: { spans: Span[] }[] }[];
    };
    spans.push(...resourceSpans.flatMap((each) => each.scopeSpans.flatMap((one) => one.spans)));
  };
  const collector = createServer((request, response) => {
    void take(request).finally(() => response.end('{}'));
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const upstream = await startMockOpenAi();
  const { port } = collector.address() as AddressInfo;
  const server = await startServer({
    env: {
      OPENAI_BASE_URL: upstream.baseURL,
      OPENAI_MODELS: 'mock-chat',
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b',
      OTEL_BSP_SCHEDULE_DELAY: '100',
    },
  });
  try {
    const person = await TestClient.register(server.baseURL);
    const { uuid, id } = await person.ask('我的暗号是七叶一枝花', { model: 'mock-chat' });
    await person.read(uuid, id);
    const named = (name: string) => spans.find((span) => span.name === name);
    await expect.poll(() => named('reply')).toBeDefined();
    const [request, reply, channel] = ['POST /api/send_message', 'reply', 'chat mock-chat'].map(
      named,
    );
    expect(reply).toMatchObject({ traceId: request?.traceId, parentSpanId: request?.spanId });
    expect(channel).toMatchObject({ traceId: request?.traceId, parentSpanId: reply?.spanId });
    expect(channel?.events).toEqual([expect.objectContaining({ name: 'first word' })]);
    expect(JSON.stringify(spans)).not.toContain('七叶一枝花');
    expect(asked).toBe('/v1/traces a b');
  } finally {
    await server.stop();
    await upstream.close();
    collector.close();
  }
});
