import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { shownByMessages } from '#server/areas/chat/chat.store.ts';
import { createFileService } from '#server/areas/file/file.service.ts';
import { elsewhere } from '#server/storage/disk-room.ts';
import { openDatabase } from '#server/db/database.ts';
import { createFolderStorage } from '#server/storage/folder-storage.ts';
import { createS3Storage } from '#server/storage/s3-storage.ts';
import type { Storage } from '#server/storage/storage-interface.ts';
import { newKey } from '#server/storage/storage.ts';
import { TestClient } from '../support/client.ts';
import { makeFilm } from '../support/films.ts';
import { type MockS3, startMockS3 } from '../support/mock-s3.ts';
import { noise } from '../support/sample-files.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { onePixel } from '../support/world.ts';

let s3: MockS3;
let folder: string;
beforeAll(async () => {
  s3 = await startMockS3();
  folder = mkdtempSync(path.join(tmpdir(), 'queqiao-storage-'));
});
afterAll(async () => {
  await s3.close();
  rmSync(folder, { recursive: true, force: true });
});

const s3Settings = (bucket = 'pictures') => ({ ...s3, bucket });

describe.each<[string, () => Storage]>([
  ['a folder', () => createFolderStorage(folder)],
  ['S3', () => createS3Storage(s3Settings())],
  ['S3 whose endpoint names the bucket', () => createS3Storage(s3Settings(''))],
])('%s', (_what, make) => {
  test('gives back what it was given, until that is deleted', async () => {
    const storage = make();
    const key = `${newKey()}.png`;
    const data = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 7) % 256));
    expect(await storage.get(key)).toBeNull();
    await storage.put(key, data, 'image/png');
    const found = await storage.get(key);
    expect(found?.size).toBe(data.length);
    expect((await buffer(found!.stream)).equals(data)).toBe(true);
    const place = path.join(folder, 'new.png');
    writeFileSync(place, 'new');
    await storage.putFile(key, place, 'image/png');
    expect((await buffer((await storage.get(key))!.stream)).toString()).toBe('new');
    await storage.delete(key);
    await storage.delete(key);
    expect(await storage.get(key)).toBeNull();
  });

  test.each([true, false])('gives parts of a file (S3 knows ranges: %s)', async (ranges) => {
    const storage = make();
    const key = newKey();
    const data = Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * 7) % 256));
    await storage.put(key, data, 'video/webm');
    s3.ranges = ranges;
    try {
      for (const [range, from, to] of [
        [{ from: 10, to: 19 }, 10, 19],
        [{ from: 4990, to: null }, 4990, 4999],
        [{ from: 4000, to: 90_000 }, 4000, 4999],
        [{ last: 7 }, 4993, 4999],
        [{ last: 90_000 }, 0, 4999],
      ] as const) {
        const part = await storage.getPart(key, range);
        if (part === null || part === 'outside') throw new Error('there is such a part');
        expect([part.from, part.to, part.size]).toEqual([from, to, data.length]);
        expect((await buffer(part.stream)).equals(data.subarray(from, to + 1))).toBe(true);
      }
      expect(await storage.getPart(key, { from: 5000, to: null })).toBe('outside');
      expect(await storage.getPart(newKey(), { from: 0, to: null })).toBeNull();
    } finally {
      s3.ranges = true;
    }
  });

  test.each([
    '',
    '.',
    '..',
    '../a',
    'a/b',
    '/etc/passwd',
    'A'.repeat(40),
    `${'a'.repeat(40)}/b`,
    `${'a'.repeat(40)}.PNG`,
    `${'a'.repeat(40)}.a/../b`,
    `${'a'.repeat(40)}\0`,
  ])('does nothing with the key %j', async (key) => {
    const storage = make();
    await expect(storage.get(key)).rejects.toThrow('no key');
    await expect(storage.put(key, Buffer.from('a'), 'text/plain')).rejects.toThrow('no key');
    await expect(storage.delete(key)).rejects.toThrow('no key');
  });
});

test('a folder holds nothing but whole files, which nobody else may read', async () => {
  const storage = createFolderStorage(folder);
  const key = newKey();
  await Promise.all(
    Array.from({ length: 20 }, (_, at) => storage.put(key, Buffer.alloc(100_000, at), 'a/b')),
  );
  const files = readdirSync(path.join(folder, 'files', key.slice(0, 2)));
  expect(files).toEqual([key]);
  const file = path.join(folder, 'files', key.slice(0, 2), key);
  expect(statSync(file).mode & 0o077).toBe(0);
  const whole = await buffer((await storage.get(key))!.stream);
  expect(whole.equals(Buffer.alloc(100_000, whole[0]))).toBe(true);
});

test('what S3 refuses is an error without its words', async () => {
  const storage = createS3Storage({ ...s3Settings(), secretKey: 'wrong' });
  for (const act of [
    () => storage.put(newKey(), Buffer.from('a'), 'a/b'),
    () => storage.get(newKey()),
    () => storage.delete(newKey()),
  ]) {
    const error = await act().then(
      () => null,
      (reason: unknown) => reason as Error,
    );
    expect(error?.message).toContain('403');
    expect(error?.message).not.toContain('SECRET');
  }
});

test('S3 that does not answer is not waited for without end', async () => {
  const storage = createS3Storage(s3Settings(), 300);
  const key = newKey();
  await storage.put(key, Buffer.from('a'), 'a/b');
  s3.delay = 2_000;
  try {
    await expect(storage.get(key)).rejects.toThrow('timeout');
    await expect(storage.put(key, Buffer.from('b'), 'a/b')).rejects.toThrow('timeout');
  } finally {
    s3.delay = 0;
  }
  expect((await buffer((await storage.get(key))!.stream)).toString()).toBe('a');
});

describe('a server with S3', () => {
  let server: TestServer;
  let client: TestClient;
  beforeAll(async () => {
    server = await startServer({
      env: {
        S3_ENDPOINT: s3.endpoint,
        S3_BUCKET: 'bucket',
        S3_REGION: s3.region,
        S3_ACCESS_KEY: s3.accessKey,
        S3_SECRET_KEY: s3.secretKey,
      },
    });
    client = await TestClient.register(server.baseURL);
  });
  afterAll(() => server.stop());
  const png = new Blob([new Uint8Array(onePixel)]);

  test('plays films from there in parts, without fetching the whole for each', async () => {
    const [film] = (await makeFilm(client)).films;
    const url = film?.url ?? '';
    const whole = Buffer.from(await (await fetch(server.baseURL + url)).arrayBuffer());
    s3.sent = 0;
    const part = await fetch(server.baseURL + url, { headers: { range: 'bytes=100-199' } });
    expect([part.status, part.headers.get('content-range')]).toEqual([
      206,
      `bytes 100-199/${whole.length}`,
    ]);
    expect(Buffer.from(await part.arrayBuffer()).equals(whole.subarray(100, 200))).toBe(true);
    expect(s3.sent).toBe(100);
    const outside = { headers: { range: `bytes=${whole.length}-` } };
    expect((await fetch(server.baseURL + url, outside)).status).toBe(416);
  });

  test('keeps pictures and thumbnails there alone', async () => {
    const { image } = await client.upload('uploadImage', png, 'a.png');
    const response = await fetch(server.baseURL + image.url);
    expect(Buffer.from(await response.arrayBuffer()).length).toBe(image.bytes);
    expect((await fetch(`${server.baseURL}${image.url}?size=128`)).status).toBe(200);
    const key = image.url.slice('/files/'.length, -'.png'.length);
    const kept = () => [...s3.objects.keys()].filter((path) => path.includes(key)).sort();
    await expect.poll(kept).toEqual([`/bucket/${key}.128.webp`, `/bucket/${key}.png`]);
    expect(readdirSync(server.dataDir)).not.toContain('files');
  });

  test('says so when the service is out of order, and goes on after it', async () => {
    s3.failing = 500;
    try {
      await expect(client.upload('uploadImage', png, 'a.png')).rejects.toThrow('503');
    } finally {
      s3.failing = 0;
    }
    await client.upload('uploadImage', png, 'a.png');
  });

  test('gives nothing that is cut, slow or gone for a picture, and keeps no thumbnail of it', async () => {
    const photo = new Blob([new Uint8Array(await noise(700, 700))]);
    const { image } = await client.upload('uploadImage', photo, 'a.jpg');
    const address = server.baseURL + image.url;
    const read = async (url: string, headers: Record<string, string> = {}) =>
      (await (await fetch(url, { headers })).arrayBuffer()).byteLength;
    s3.cutting = true;
    try {
      await expect(read(address)).rejects.toThrow();
      expect((await fetch(`${address}?size=320`)).status).toBe(500);
    } finally {
      s3.cutting = false;
    }
    s3.delay = 300;
    try {
      // A part of it is not offered: who asks for one gets the whole.
      expect(await read(address, { range: 'bytes=0-9' })).toBe(image.bytes);
      expect((await fetch(`${address}?size=320`)).status).toBe(200);
    } finally {
      s3.delay = 0;
    }
    for (const path of s3.objects.keys())
      if (path.includes(image.url.slice(7, 47))) s3.objects.delete(path);
    expect((await fetch(address)).status).toBe(404);
    expect((await fetch(`${address}?size=640`)).status).toBe(404);
  });

  test('clears away what no message refers to after a week, and nothing else', async () => {
    const pool = new pg.Pool({ connectionString: server.databaseUrl });
    try {
      const db = openDatabase(pool);
      const service = createFileService({
        db,
        storage: createS3Storage(s3Settings('bucket')),
        fetch: () => Promise.resolve(null),
        quota: 1e9,
        guestQuota: { network: 1e9, all: 1e9 },
        disk: elsewhere,
        appFileBytes: 1024 * 1024,
        uploadLimit: 100,
        keepUploaded: () => Promise.resolve(1),
        checkPicture: () => Promise.resolve(null),
        sign: (data) => Promise.resolve(data),
        stateOfFile: () => Promise.resolve('unknown'),
        drawnBytes: () => Promise.resolve(0),
        documentSeconds: 10,
      });
      const picture = new Blob([new Uint8Array(await noise(900, 900))]);
      const images = [];
      for (let at = 0; at < 3; at += 1)
        images.push((await client.upload('uploadImage', picture, 'a.jpg')).image);
      const [used, unused, fresh] = images;
      if (!used || !unused || !fresh) throw new Error('no pictures');
      const text = (name: string) => client.upload('uploadFile', new Blob(['文字']), name);
      const [usedText, unusedText] = [(await text('a.txt')).file, (await text('b.txt')).file];
      await service.imagesForModel(
        images.map(({ url }) => url),
        'low',
      );
      const { uuid } = await client.call('newSession', { type: 0 });
      const { id } = await client.call('userInfo', {});
      await pool.query(
        `INSERT INTO history (session_id, user_id, human, model, request)
         SELECT id, $2, '看图', 'm', $3 FROM sessions WHERE uuid = $1`,
        [uuid, id, JSON.stringify({ images: [used.url], files: [{ uuid: usedText.uuid }] })],
      );
      await pool.query(`UPDATE files SET seen_at = now() - interval '8 days' WHERE id <> $1`, [
        fresh.uuid,
      ]);
      await db.transaction((tx) => service.removeUnused(tx, [shownByMessages]));
      const { rows } = await pool.query<{ id: string }>('SELECT id FROM files');
      const left = rows.map((row) => row.id);
      expect(left).toEqual(expect.arrayContaining([used.uuid, fresh.uuid, usedText.uuid]));
      expect(left).not.toContain(unused.uuid);
      expect(left).not.toContain(unusedText.uuid);
      const keptOf = ({ url }: { url: string }) =>
        [...s3.objects.keys()].filter((path) => path.includes(url.slice(7, 47))).length;
      expect([keptOf(used), keptOf(unused), keptOf(fresh)]).toEqual([2, 0, 2]);
    } finally {
      await pool.end();
    }
  });

  test('a guest’s files go over to the account that the guest becomes', async () => {
    const guest = new TestClient(server.baseURL);
    await guest.call('newSession', { type: 0 });
    const { image } = await guest.upload('uploadImage', png, 'a.png');
    const account = `u${newKey().slice(0, 12)}`;
    const data = await guest.call('register', {
      account,
      name: '新朋友',
      password: 'password-1',
      password2: 'password-1',
    });
    const pool = new pg.Pool({ connectionString: server.databaseUrl });
    try {
      const { rows } = await pool.query<{ user_id: string }>(
        'SELECT user_id FROM files WHERE id = $1',
        [image.uuid],
      );
      expect(Number(rows[0]?.user_id)).toBe(data.profile?.id);
    } finally {
      await pool.end();
    }
  });
});
