import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { calls, type Out } from '#contract/calls.ts';
import type { Envelope } from '#contract/call.ts';
import { TestClient } from '../support/client.ts';
import { type HostileFile, hostileFiles, mark, planted } from '../support/hostile-files.ts';
import { glassPng, photoWithPlace } from '../support/sample-files.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
/** Each person's files wait for each other: several send them. */
let people: TestClient[];
let files: HostileFile[];
beforeAll(async () => {
  rmSync(planted, { force: true });
  files = await hostileFiles();
  server = await startServer({
    alone: true,
    env: { UPLOAD_LIMIT: '100000', DOCUMENT_SECONDS: '2' },
  });
  people = await Promise.all([1, 2, 3].map(() => TestClient.register(server.baseURL)));
}, 120_000);
afterAll(() => server.stop());

interface Sent {
  status: number;
  envelope: Envelope<Partial<Out<'uploadImage'> & Out<'uploadFile'>> | null>;
}

const post = async (pathname: string, init: RequestInit, person = 0): Promise<Sent> => {
  const response = await fetch(server.baseURL + pathname, {
    method: 'POST',
    ...init,
    headers: { ...people[person]?.headers(), ...(init.headers as Record<string, string>) },
  });
  return { status: response.status, envelope: (await response.json()) as Sent['envelope'] };
};

/** Written by hand: FormData would make names harmless. */
const send = (
  { call, name, mime, data }: Pick<HostileFile, 'call' | 'name' | 'mime' | 'data'>,
  person = 0,
) =>
  post(
    calls[call].path,
    {
      headers: { 'content-type': 'multipart/form-data; boundary=qq' },
      body: new Uint8Array(
        Buffer.concat([
          Buffer.from(
            `--qq\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\ncontent-type: ${mime}\r\n\r\n`,
          ),
          data,
          Buffer.from('\r\n--qq--\r\n'),
        ]),
      ),
    },
    person,
  );

/** Everything below a folder, as paths from it. */
const below = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => !entry.isDirectory())
        .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    : [];

const faults: string[] = [];

/** What was taken must be a picture of ours, served as nothing else. */
const checkServed = async (what: string, url: string): Promise<void> => {
  for (const query of ['', '?size=128']) {
    const response = await fetch(server.baseURL + url + query);
    const data = Buffer.from(await response.arrayBuffer());
    const { headers } = response;
    const type = headers.get('content-type') ?? '';
    if (response.status !== 200 || !/^image\/(png|jpeg|webp)$/.test(type))
      faults.push(`${what}: served with ${response.status} as ${type}`);
    if (headers.get('x-content-type-options') !== 'nosniff') faults.push(`${what}: sniffed`);
    if (!headers.get('content-security-policy')?.includes('sandbox'))
      faults.push(`${what}: not in a sandbox`);
    if (data.includes(mark)) faults.push(`${what}: the mark is served`);
    const { format, exif, xmp, iptc, icc, comments } = await sharp(data).metadata();
    if (!type.endsWith(format)) faults.push(`${what}: ${format} served as ${type}`);
    if (exif ?? xmp ?? iptc ?? icc ?? comments) faults.push(`${what}: metadata is served`);
  }
};

describe('hostile files', () => {
  test('none harms anybody, and what is taken is harmless', async () => {
    expect(files.length).toBeGreaterThan(300);
    let next = 0;
    let taken = 0;
    const lane = async (person: number) => {
      while (next < files.length) {
        const file = files[next++];
        if (!file) return;
        const { what, refused } = file;
        const { status, envelope } = await send(file, person);
        if (status >= 500) faults.push(`${what}: ${status}`);
        if (typeof envelope.code !== 'number') faults.push(`${what}: no envelope`);
        if (envelope.code !== 0 && !/\p{Script=Han}/u.test(envelope.message))
          faults.push(`${what}: refused without a word: ${envelope.message}`);
        if (envelope.code === 0 && refused) faults.push(`${what}: was taken`);
        if (envelope.code !== 0) continue;
        taken += 1;
        const { image, file: attached } = envelope.data ?? {};
        if (image) await checkServed(what, image.url);
        if (attached && /[/\\\p{Cc}\u202E\u2028\uFEFF]/u.test(attached.name))
          faults.push(`${what}: keeps the name ${JSON.stringify(attached.name)}`);
      }
    };
    await Promise.all([lane(0), lane(1), lane(2)]);
    expect(faults).toEqual([]);
    expect(taken, 'those that are only odd must be taken').toBeGreaterThan(100);
  }, 240_000);

  test('nothing was written but pictures under names of the server', async () => {
    expect(existsSync(planted)).toBe(false);
    expect(below(server.dataDir).length).toBeGreaterThan(50);
    const odd = () =>
      below(server.dataDir).filter(
        (file) =>
          !/^files\/([0-9a-f]{2})\/\1[0-9a-f]{38}\.(jpg|png|128\.webp|bin)$/.test(file) &&
          file !== 'secret-key',
      );
    // A file that was read is kept as it came, too; no address leads to it. The last thumbnail may still be on its way to the disk.
    await expect.poll(odd).toEqual([]);
  });

  test('the server is alive, was never out of order, and did not grow without bounds', async () => {
    expect(await people[0]?.call('health', {})).toMatchObject({ ready: true });
    expect(server.log()).not.toMatch(/"level":(50|60)/);
    const status = readFileSync(`/proc/${server.pid}/status`, 'utf8');
    const peak = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
    expect(peak, 'MB at the most').toBeLessThan(1600);
  });
});

test('what a file says it is counts for nothing', async () => {
  const { envelope } = await send({
    call: 'uploadImage',
    name: 'a.html',
    mime: 'text/html',
    data: await glassPng(),
  });
  expect(envelope.data?.image?.url).toMatch(/\.png$/);
});

test('the place where a photo was taken is not served', async () => {
  const data = await photoWithPlace();
  expect((await sharp(data).metadata()).exif).toBeDefined();
  const { envelope } = await send({ call: 'uploadImage', name: 'a.jpg', mime: 'image/jpeg', data });
  const response = await fetch(server.baseURL + (envelope.data?.image?.url ?? ''));
  const served = Buffer.from(await response.arrayBuffer());
  expect(served.includes('SECRET')).toBe(false);
  expect((await sharp(served).metadata()).exif).toBeUndefined();
});

test.each<[string, string, string]>([
  ['no boundary', 'multipart/form-data', 'a'],
  ['another boundary', 'multipart/form-data; boundary=b', '--a\r\n\r\n--a--'],
  ['no parts', 'multipart/form-data; boundary=a', '--a--\r\n'],
  [
    'an end that never comes',
    'multipart/form-data; boundary=a',
    '--a\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nabc',
  ],
  [
    'another field',
    'multipart/form-data; boundary=a',
    '--a\r\ncontent-disposition: form-data; name="x"; filename="a.txt"\r\n\r\nabc\r\n--a--\r\n',
  ],
  [
    'a field that is no file',
    'multipart/form-data; boundary=a',
    '--a\r\ncontent-disposition: form-data; name="file"\r\n\r\nabc\r\n--a--\r\n',
  ],
  [
    'a field of the prototype',
    'multipart/form-data; boundary=a',
    '--a\r\ncontent-disposition: form-data; name="__proto__"; filename="a.txt"\r\n\r\nabc\r\n--a--\r\n',
  ],
  [
    'headers without an end',
    'multipart/form-data; boundary=a',
    `--a\r\ncontent-disposition: form-data; name="file"; filename="${'a'.repeat(200_000)}"`,
  ],
  [
    '10,000 headers',
    'multipart/form-data; boundary=a',
    `--a\r\n${'x: y\r\n'.repeat(10_000)}\r\nabc\r\n--a--\r\n`,
  ],
  [
    '10,000 parts',
    'multipart/form-data; boundary=a',
    `${'--a\r\ncontent-disposition: form-data; name="a"\r\n\r\nb\r\n'.repeat(10_000)}--a--\r\n`,
  ],
  ['a very long boundary', `multipart/form-data; boundary=${'a'.repeat(8000)}`, 'a'],
  ['json', 'application/json', '{}'],
  ['a form', 'application/x-www-form-urlencoded', 'file=a'],
  ['nothing', 'multipart/form-data; boundary=a', ''],
])('a body with %s is refused in the envelope', async (_what, type, body) => {
  for (const call of ['uploadImage', 'uploadFile'] as const) {
    const { status, envelope } = await post(calls[call].path, {
      headers: { 'content-type': type },
      body,
    });
    expect([400, 413, 415, 422]).toContain(status);
    expect(envelope).toMatchObject({ code: status, data: null });
  }
});
