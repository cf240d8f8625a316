import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { codes } from '#contract/errors.ts';
import { createBringing } from '#server/areas/local-model/bring-model.ts';
import type { ShelfEntry } from '#server/engines/local/catalogue.ts';
import { TestClient } from '../support/client.ts';
import { startServer } from '../support/server.ts';

/** Writes until nothing more fits. */
const fillUp = (file: string): void => {
  const descriptor = openSync(file, 'w');
  try {
    for (let size = 1024 * 1024; size >= 4096;) {
      try {
        writeSync(descriptor, Buffer.alloc(size, 1));
      } catch {
        size /= 2;
      }
    }
  } finally {
    closeSync(descriptor);
  }
};

/** A file system of so many megabytes; skips the test where none can be mounted. */
const smallDisk = (size: number, skip: (is: boolean, why: string) => void): string => {
  const folder = mkdtempSync(path.join(tmpdir(), 'queqiao-full-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}m`, 'tmpfs', folder], {
    encoding: 'utf8',
  });
  skip(
    mounted.status !== 0,
    `a small file system cannot be mounted here: ${mounted.error?.message ?? mounted.stderr}`,
  );
  onTestFinished(() => void spawnSync('umount', ['-l', folder]));
  chmodSync(folder, 0o755);
  return folder;
};

test('where a new database would not fit a start says so in one line, and ends', ({ skip }) => {
  const folder = smallDisk(90, skip);
  const { status, stderr } = spawnSync(process.execPath, ['dist/server/main.js'], {
    env: { PATH: process.env['PATH'], HOST: '127.0.0.1', PORT: '0', DATA_DIR: `${folder}/data` },
    encoding: 'utf8',
    timeout: 60_000,
  });
  expect(status).toBe(1);
  expect(stderr.trim()).toMatch(
    /^.* 所在的盘只剩 \d+ MB，新的数据库要 200 MB：腾出空间，或用 DATA_DIR 换一个盘$/,
  );
});

test('a model that fills the disk keeps what came of it, says so, and goes on from there', async ({
  skip,
}) => {
  const folder = smallDisk(8, skip);
  const model = Buffer.alloc(6 * 1024 * 1024, 7);
  model.write('GGUF');
  const asked: number[] = [];
  const mirror = createServer((request, response) => {
    const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
    asked.push(from);
    response.writeHead(from > 0 ? 206 : 200, { 'content-length': model.length - from });
    response.end(model.subarray(from));
  }).listen(0, '127.0.0.1');
  await once(mirror, 'listening');
  onTestFinished(() => void mirror.close());
  const host = `127.0.0.1:${(mirror.address() as AddressInfo).port}`;
  writeFileSync(path.join(folder, 'mirrors.json'), JSON.stringify([`http://${host}/{file}`]));
  const bringing = createBringing({
    folder,
    settings: { fetchAllowed: [host] },
    log: { info: () => {}, warn: () => {} },
    onHere: () => Promise.resolve(),
  });
  const entry: ShelfEntry = {
    key: 'large',
    kind: 'chat',
    label: 'large',
    repository: '',
    file: 'large.gguf',
    size: model.length,
    sha256: createHash('sha256').update(model).digest('hex'),
    memory: 0,
    licence: '',
    languages: '',
  };
  const hog = path.join(folder, 'hog');
  writeFileSync(hog, Buffer.alloc(4 * 1024 * 1024, 1));
  expect(await bringing.bring(entry)).toEqual({
    state: 'failed',
    error: expect.stringContaining('磁盘满了：下好的部分留着') as string,
  });
  const { bytes } = await bringing.stateOf(entry);
  expect(bytes).toBeGreaterThan(2 * 1024 * 1024);
  rmSync(hog);
  expect(await bringing.bring(entry)).toEqual({ state: 'here' });
  expect(asked).toEqual([0, bytes]);
  expect(await bringing.stateOf(entry)).toMatchObject({ state: 'ready', checked: true });
});

test('on a full disk writes are refused clearly, reads go on, and room brings writes back', async ({
  skip,
}) => {
  const folder = smallDisk(320, skip);

  const server = await startServer({ embedded: true, dataDir: path.join(folder, 'data') });
  onTestFinished(() => server.stop());
  const client = await TestClient.register(server.baseURL);
  const { uuid, id } = await client.ask('你好，请介绍一下鹊桥');
  await client.read(uuid, id);

  const reading = async () => {
    const { list } = await client.call('historyList', { session_id: uuid });
    expect(list.map((message) => message.id)).toContain(id);
    const sessions = await client.call('sessionList', { channel: 'private' });
    expect(sessions.list.map((session) => session.uuid)).toContain(uuid);
    await client.call('userInfo', {});
  };

  const hog = path.join(folder, 'hog');
  fillUp(hog);
  await sleep(1500);
  for (let count = 0; count < 20; count++) {
    const refused = await client.raw('newSession', { type: 0 });
    expect(refused.code).toBe(codes.storage_full.code);
    expect(refused.status).toBe(codes.storage_full.http);
    const sent = await client.raw('sendMessage', { session_id: uuid, msg: '磁盘满了还能发吗' });
    expect(sent.code).toBe(codes.storage_full.code);
    await reading();
  }

  rmSync(hog);
  let back = false;
  for (const until = Date.now() + 10_000; Date.now() < until && !back; await sleep(100)) {
    back = (await client.raw('newSession', { type: 0 })).code === 0;
  }
  expect(back).toBe(true);
  const again = await client.ask('现在可以了吗？请回答', { sessionId: uuid });
  await client.read(uuid, again.id);
  await reading();
});
