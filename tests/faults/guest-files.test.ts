import { randomBytes, randomUUID } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onDatabase } from '../support/api-user.ts';
import { ClientAt } from '../support/client-at.ts';
import { TestClient } from '../support/client.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** What those who cost nothing may keep of the disk. */

const megabyte = 1024 * 1024;

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ env: { TRUST_PROXY: '127.0.0.1', GUEST_NETWORK_MB: '1' } });
});
afterAll(() => server.stop());

const visitor = async (address: string, at = server): Promise<TestClient> => {
  const guest = new ClientAt(at.baseURL, address);
  await guest.call('newSession', { type: 0 });
  return guest;
};

const send = (client: TestClient, data: Buffer) =>
  client.upload('uploadImage', new Blob([new Uint8Array(data)]), 'a');

const noise = (width: number, height: number) =>
  sharp(randomBytes(width * height * 3), { raw: { width, height, channels: 3 } });

test('no image takes more of the disk than it came with', async () => {
  const person = await TestClient.register(server.baseURL);
  const grey = sharp(randomBytes(300 * 300), { raw: { width: 300, height: 300, channels: 1 } });
  const samples: [string, Buffer][] = [
    ['a jpeg of low quality', await noise(700, 700).jpeg({ quality: 40 }).toBuffer()],
    ['a jpeg of the lowest', await noise(700, 700).jpeg({ quality: 5 }).toBuffer()],
    ['a png of few colours', await noise(300, 300).png({ palette: true, colours: 4 }).toBuffer()],
    ['a grey png', await grey.toColourspace('b-w').png({ compressionLevel: 9 }).toBuffer()],
    [
      'a turned png with a place',
      await noise(300, 300)
        .png({ palette: true, colours: 4 })
        .withMetadata({ orientation: 6 })
        .toBuffer(),
    ],
  ];
  for (const [what, data] of samples) {
    const { image } = await send(person, data);
    const kept = Buffer.from(await (await fetch(server.baseURL + image.url)).arrayBuffer());
    expect(kept.length, what).toBe(image.bytes);
    expect(kept.length, what).toBeLessThanOrEqual(data.length);
    const { width, height } = await sharp(kept).metadata();
    expect([width, height], what).toEqual([image.width, image.height]);
  }
});

test('the guests of a network have one room together, and those of another have theirs', async () => {
  const data = await noise(450, 450).png().toBuffer();
  expect(data.length).toBeGreaterThan(megabyte / 2);
  await send(await visitor('203.0.113.5'), data);
  await expect(send(await visitor('203.0.113.6'), data)).rejects.toThrow('1420');
  await send(await visitor('203.0.114.6'), data);
  const person = await TestClient.register(server.baseURL);
  await send(person, data);
  await send(person, data);
});

/** Sends so many bytes of a file in pieces; gives the code of the answer. */
const announce = async (guest: TestClient, sent: number, id: string = randomUUID()) => {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(sent)]), 'piece');
  const size = Math.max(sent, megabyte / 2);
  const query = `upload_id=${id}&offset=0&size=${size}`;
  const init = { method: 'POST', headers: guest.headers(), body: form };
  const answer = await fetch(`${server.baseURL}/api/upload_piece?${query}`, init);
  return ((await answer.json()) as { code: number }).code;
};

test('what a call took of pieces and refused fills the room of its network', async () => {
  const guest = await visitor('192.0.2.5');
  const id = randomUUID();
  expect(await announce(guest, (megabyte * 3) / 4, id)).toBe(0);
  const form = new FormData();
  form.set('file_upload', id);
  form.set('file', new Blob([]), 'a.exe');
  const init = { method: 'POST', headers: guest.headers(), body: form };
  const refused = await fetch(`${server.baseURL}/api/upload_file`, init);
  expect(((await refused.json()) as { code: number }).code).toBe(1416);
  expect(await announce(await visitor('192.0.2.6'), megabyte / 2)).toBe(1420);
  expect(await announce(await visitor('192.0.3.6'), megabyte / 2)).toBe(0);
});

test('what a guest has only announced takes the room of nobody else', async () => {
  const data = await noise(300, 300).png().toBuffer();
  for (const host of [5, 6, 7])
    expect(await announce(await visitor(`198.51.100.${host}`), 1)).toBe(0);
  const other = await visitor('198.51.100.8');
  await send(other, data);
  // What has come does, whoever of them sent it.
  expect(await announce(other, megabyte - data.length - 10_000)).toBe(0);
  await expect(send(await visitor('198.51.100.9'), data)).rejects.toThrow('1420');
});

test('a nearly full disk is closed to guests, who are told so, and open to others', async () => {
  const { bavail, bsize } = await statfs(server.dataDir);
  const reserve = Math.floor((bavail * bsize * 0.7) / megabyte);
  const small = await startServer({ env: { DISK_RESERVE_MB: String(reserve) } });
  try {
    const data = await noise(20, 20).png().toBuffer();
    const guest = new TestClient(small.baseURL);
    await guest.call('newSession', { type: 0 });
    await expect(send(guest, data)).rejects.toThrow('507');
    const { uuid, id } = await guest.ask('你好');
    await guest.read(uuid, id);
    const copied = await guest.raw('newSession', { type: 0, history_id: id });
    expect(copied).toMatchObject({ code: 507, message: expect.stringContaining('快满了') });
    await send(await TestClient.register(small.baseURL), data);
    const [row] = await onDatabase<{ files: number }>(
      small,
      'SELECT count(*)::int AS files FROM files',
    );
    expect(row?.files).toBe(1);
  } finally {
    await small.stop();
  }
});
