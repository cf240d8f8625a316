import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { zipSync } from 'fflate';
import pg from 'pg';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { codes } from '#contract/errors.ts';
import { limits } from '#contract/limits.ts';
import { TestClient } from '../support/client.ts';
import {
  docxOf,
  glassPng,
  noise,
  pdfOf,
  photoWithPlace,
  pptxOf,
  wordXml,
  xlsxOf,
} from '../support/sample-files.ts';
import { ADMIN_PASSWORD, startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let client: TestClient;
beforeAll(async () => {
  server = await startServer({ env: { UPLOAD_LIMIT: '1000', FILE_QUOTA_MB: '30' } });
  client = await TestClient.register(server.baseURL);
});
afterAll(() => server.stop());

const get = (address: string, init: RequestInit = {}) => fetch(server.baseURL + address, init);
const bytesOf = async (address: string): Promise<Buffer> => {
  const response = await get(address);
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
};

test('a photo is turned upright, loses what it tells of its owner and gets thumbnails', async () => {
  const original = await photoWithPlace(1200, 800);
  expect(original.includes('SECRET')).toBe(true);
  const { image } = await client.upload(
    'uploadImage',
    new Blob([new Uint8Array(original)]),
    '照片.jpg',
  );
  expect(image).toMatchObject({ width: 800, height: 1200 });
  expect(image.url).toMatch(/^\/files\/[0-9a-f]{40}\.jpg$/);
  const served = await bytesOf(image.url);
  expect(served.length).toBe(image.bytes);
  expect(image.size).toBe(`${image.width}x${image.height}`);
  expect(served.includes('SECRET')).toBe(false);
  const { exif, xmp, orientation } = await sharp(served).metadata();
  expect([exif, xmp, orientation]).toEqual([undefined, undefined, undefined]);
  for (const side of [128, 180, 640]) {
    const small = await Promise.all([1, 2, 3].map(() => bytesOf(`${image.url}?size=${side}`)));
    const { format, width, height } = await sharp(small[0]).metadata();
    expect({ format, width, height }).toEqual({
      format: 'webp',
      width: Math.round((side * 2) / 3),
      height: side,
    });
    expect(small[1]?.equals(small[0]!)).toBe(true);
  }
  const { width, height } = await sharp(await bytesOf(`${image.url}?size=320`)).metadata();
  expect([width, height]).toEqual([320, 480]);
});

test('a cropped picture comes as a data URL and is checked as an upload is', async () => {
  const original = await photoWithPlace(300, 200);
  const { image } = await client.call('croppingImage', {
    image: `data:image/jpeg;base64,${original.toString('base64')}`,
  });
  expect((await bytesOf(image.url)).includes('SECRET')).toBe(false);
  const refused = {
    'data:image/svg+xml;base64,PHN2Zy8+': codes.upload_type,
    'https://example.com/a.png': codes.upload_type,
    'data:image/png;base64,': codes.upload_type,
    [`data:image/png;base64,${Buffer.from('<svg/>').toString('base64')}`]: codes.upload_type,
    [`data:image/jpeg;base64,${original.subarray(0, 200).toString('base64')}`]:
      codes.upload_unreadable,
  };
  for (const [data, { code }] of Object.entries(refused))
    expect((await client.raw('croppingImage', { image: data })).code).toBe(code);
});

test('a file is served so that nothing in it runs, and may be kept for ever', async () => {
  const { image } = await client.upload(
    'uploadImage',
    new Blob([new Uint8Array(await glassPng())]),
    'a.png',
  );
  // What else a query says is somebody's way around a cache.
  for (const query of ['', '?t=1', '?size=128', '?v=2&size=128']) {
    const response = await get(image.url + query);
    const type = query.includes('size') ? 'image/webp' : 'image/png';
    expect(response.headers.get('content-type')).toBe(type);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'");
    expect(response.headers.get('cache-control')).toBe('private, max-age=300');
    const etag = response.headers.get('etag') ?? '';
    const again = await get(image.url + query, { headers: { 'if-none-match': etag } });
    expect(again.status).toBe(304);
    await response.arrayBuffer();
  }
  expect((await get(image.url, { method: 'HEAD' })).status).toBe(200);
  expect((await sharp(await bytesOf(image.url)).stats()).isOpaque).toBe(false);
  for (const wrong of [
    image.url.replace('.png', '.jpg'),
    `${image.url}?size=64`,
    image.url.replace(/.\.png/, '.png'),
    image.url.toUpperCase().replace('/FILES', '/files'),
    '/files/',
    '/files/a/b',
  ]) {
    const response = await get(wrong);
    expect(response.status, wrong).toBe(404);
    expect(await response.json(), wrong).toMatchObject({ code: 404 });
  }
});

test('a picture of 4 MB is taken and one byte more is refused in Chinese', async () => {
  const picture = await noise(1500, 1000);
  const padded = (size: number) =>
    new Blob([new Uint8Array(Buffer.concat([picture, Buffer.alloc(size - picture.length)]))]);
  const { image } = await client.upload('uploadImage', padded(limits.imageBytes), 'a.jpg');
  expect(image.width).toBe(1500);
  const form = new FormData();
  form.set('file', padded(limits.imageBytes + 1), 'a.jpg');
  const response = await get('/api/image/upload', {
    method: 'POST',
    headers: client.headers(),
    body: form,
  });
  expect(response.status).toBe(413);
  expect(await response.json()).toMatchObject({ code: 413, message: '文件太大，最多 4 MB' });
});

const poem = '床前明月光，疑是地上霜。\r\n举头望明月，低头思故乡。';
const gbk = Buffer.from(
  'b4b2c7b0c3f7d4c2b9e2a3acd2c9cac7b5d8c9cfcbaaa1a30d0abed9cdb7cdfbc3f7d4c2a3acb5cdcdb7cbbcb9cacfe7a1a3',
  'hex',
);

test.each([
  ['UTF-8', Buffer.from(poem)],
  ['UTF-8 with a mark', Buffer.from(`\uFEFF${poem}`)],
  ['UTF-16LE', Buffer.from(`\uFEFF${poem}`, 'utf16le')],
  ['UTF-16BE', Buffer.from(`\uFEFF${poem}`, 'utf16le').swap16()],
  ['GB18030', gbk],
])('a Chinese text in %s is read', async (_encoding, data) => {
  const { file } = await client.upload(
    'uploadFile',
    new Blob([new Uint8Array(data)]),
    '../静夜思.txt',
  );
  expect(file).toEqual({
    uuid: expect.any(String),
    name: '静夜思.txt',
    mime: 'text/plain',
    size: data.length,
    chars: poem.length - 1,
    cut: false,
    tokens: expect.any(Number),
  });
});

const textOfUpload = async (data: Buffer, name: string) => {
  const { file } = await client.upload('uploadFile', new Blob([new Uint8Array(data)]), name);
  return (await client.call('attachedText', { uuid: file.uuid })).text;
};

test('documents, sheets and slides give their text, Chinese too', async () => {
  const pdf = await pdfOf(['第一页：床前明月光', '第二页：疑是地上霜 office']);
  const { file } = await client.upload('uploadFile', new Blob([new Uint8Array(pdf)]), '诗.pdf');
  expect(file).toMatchObject({ mime: 'application/pdf', cut: false });
  const { text } = await client.call('attachedText', { uuid: file.uuid });
  expect(text).toBe('【第 1 页】\n第一页：床前明月光\n\n【第 2 页】\n第二页：疑是地上霜 office');
  const docx = docxOf(wordXml(['第一段', '第二段 &amp; more']));
  expect(await textOfUpload(docx, '文.docx')).toBe('第一段\n第二段 & more');
  const sheet = xlsxOf('表', [
    ['品名', '价格', '产地'],
    ['苹果', 3.5, '烟台'],
  ]);
  expect(await textOfUpload(sheet, '价.xlsx')).toBe(
    '【表：表】\n第 2 行　品名：苹果；价格：3.5；产地：烟台',
  );
  expect(await textOfUpload(pptxOf([{ title: '总结', text: '增长' }]), 'a.pptx')).toBe(
    '【第 1 张幻灯片】\n\n# 总结\n增长',
  );
  const locked = Buffer.concat([
    Buffer.from('d0cf11e0a1b11ae1', 'hex'),
    Buffer.from('EncryptedPackage', 'utf16le'),
  ]);
  await expect(textOfUpload(locked, '密.xlsx')).rejects.toThrow('密码');
});

test('a longer text is cut and says so', async () => {
  const text = '长'.repeat(limits.fileText + 10);
  const { file } = await client.upload('uploadFile', new Blob([text]), 'long.md');
  expect(file).toMatchObject({ chars: limits.fileText, cut: true, mime: 'text/markdown' });
});

test('an upload may be repeated with its key: the same picture, kept once', async () => {
  const form = () => {
    const made = new FormData();
    made.set('file', new Blob(['同一个文件']), 'a.txt');
    return made;
  };
  const key = randomUUID();
  const send = async () => {
    const response = await get('/api/upload_file', {
      method: 'POST',
      headers: { ...client.headers(), 'idempotency-key': key },
      body: form(),
    });
    return (await response.json()) as { data: { file: { uuid: string } } };
  };
  const [first, second] = await Promise.all([send(), send()]);
  expect(first.data.file.uuid).toBeTruthy();
  expect(second).toEqual(first);
  expect(await send()).toEqual(first);
});

test('who has filled the own space is told so, and nobody else is', async () => {
  const person = await TestClient.register(server.baseURL);
  const ten = () => new Blob(['字'.repeat(3_300_000)]);
  for (let at = 0; at < 3; at += 1) await person.upload('uploadFile', ten(), 'a.txt');
  await expect(person.upload('uploadFile', ten(), 'a.txt')).rejects.toThrow('1420');
  await client.upload('uploadFile', new Blob(['还有空间']), 'a.txt');
});

test('a ticket opens an upload once; without any right it is refused', async () => {
  const { ticket } = await client.call('ticket', {});
  const send = async (query: string) => {
    const form = new FormData();
    form.set('file', new Blob(['文字']), 'a.txt');
    const response = await get(`/api/upload_file${query}`, { method: 'POST', body: form });
    await response.text();
    return response.status;
  };
  expect(await send(`?ticket=${ticket}`)).toBe(200);
  expect(await send(`?ticket=${ticket}`)).toBe(401);
  expect(await send('')).toBe(401);
});

test('a picture far too large is refused with 413 after it was sent, not by a broken connection', async () => {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(26 * 1024 * 1024)], { type: 'image/png' }), 'a.png');
  const response = await get('/api/image/upload', {
    method: 'POST',
    headers: { authorization: `Bearer ${client.token}` },
    body: form,
  });
  expect(response.status).toBe(413);
  expect(await response.json()).toMatchObject({ code: 413, message: '文件太大，最多 4 MB' });
});

test('a manager’s file of any kind is kept, and only ever downloaded', async () => {
  const manager = new TestClient(server.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  for (const [name, type, data] of [
    ['手册.pdf', 'application/pdf', '%PDF-1.4'],
    ['a.html', 'text/html', '<script>alert(1)</script>'],
    ['a.svg', 'image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'],
    ['b.png', 'image/png', '<script>alert(1)</script>'],
  ] as const) {
    const { url } = await manager.upload('adminUpload', new Blob([data], { type }), name);
    expect(url).toMatch(/^\/files\/[0-9a-f]{40}\.bin$/);
    const sent = await get(url);
    expect(await sent.text()).toBe(data);
    expect(Object.fromEntries(sent.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
    });
    expect(sent.headers.get('content-disposition')).toContain(
      `attachment; filename="${name.replace('手册', '_')}"; filename*=UTF-8''${encodeURIComponent(name)}`,
    );
    // It is no image of any other ending.
    expect((await get(url.replace('.bin', '.png'))).status).toBe(404);
    expect((await get(`${url}?size=180`)).status).toBe(404);
  }
  const png = new Blob([new Uint8Array(await glassPng())]);
  const { url } = await manager.upload('adminUpload', png, 'a.png');
  expect((await sharp(await bytesOf(url)).metadata()).format).toBe('png');
});

test('a file comes in by pieces, goes on where it broke, and is its sender’s alone', async () => {
  const person = await TestClient.register(server.baseURL);
  const stranger = await TestClient.register(server.baseURL);
  const whole = Buffer.from('一二三四五六七八九十。'.repeat(2000));
  const id = randomUUID();
  const post = async (who: TestClient, address: string, form: FormData) =>
    (await (await get(address, { method: 'POST', headers: who.headers(), body: form })).json()) as {
      code: number;
      data: { received: number; file: { size: number; uuid: string } };
    };
  const piece = async (from: number, to: number, { who = person, size = whole.length } = {}) => {
    const form = new FormData();
    form.set('file', new Blob([whole.subarray(from, to)]), 'piece');
    const query = `upload_id=${id}&offset=${from}&size=${size}`;
    return post(who, `/api/upload_piece?${query}`, form);
  };
  const finish = async (who: TestClient) => {
    const form = new FormData();
    form.set('file_upload', id);
    form.set('file', new Blob([]), '数.txt');
    return post(who, '/api/upload_file', form);
  };
  expect((await piece(0, 30_000)).data.received).toBe(30_000);
  // The same piece once more, one that leaves a hole and one beyond the end change nothing.
  expect((await piece(0, 30_000)).data.received).toBe(30_000);
  expect((await piece(50_000, 60_000)).data.received).toBe(30_000);
  expect((await finish(person)).code).toBe(404);
  // To others it is not there, and what they call the same is another.
  expect((await stranger.call('uploadState', { upload_id: id })).received).toBe(0);
  expect((await piece(0, 10, { who: stranger, size: 20 })).data.received).toBe(10);
  expect((await person.call('uploadState', { upload_id: id })).received).toBe(30_000);
  expect((await piece(30_000, whole.length)).data.received).toBe(whole.length);
  expect((await finish(stranger)).code).toBe(404);
  const { data } = await finish(person);
  expect(data.file.size).toBe(whole.length);
  const { text } = await person.call('attachedText', { uuid: data.file.uuid });
  expect(text).toBe(whole.toString());
  // Where the answer was lost, it is asked for again.
  expect((await finish(person)).code).toBe(0);

  // A database that is gone for a moment is no fault of the file's.
  const database = new pg.Client(server.databaseUrl);
  await database.connect();
  await database.query('BEGIN; LOCK TABLE file_pieces IN ACCESS EXCLUSIVE MODE');
  const reading = finish(person);
  const cut = () =>
    database.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`);
  await expect.poll(async () => (await cut()).rowCount).toBeGreaterThan(0);
  await database.query('ROLLBACK');
  expect((await reading).code).toBe(codes.unavailable.code);
  await database.end();
  expect((await finish(person)).code).toBe(0);
});

test('what has not come whole counts as what its sender keeps, and a call takes no more than its own limit', async () => {
  const person = await TestClient.register(server.baseURL);
  const begin = async (id: string, size: number, data = Buffer.from('a')) => {
    const form = new FormData();
    form.set('file', new Blob([data]), 'piece');
    const query = `upload_id=${id}&offset=0&size=${size}`;
    const address = `/api/upload_piece?${query}`;
    const answer = await get(address, { method: 'POST', headers: person.headers(), body: form });
    return ((await answer.json()) as { code: number }).code;
  };
  const megabyte = 1024 * 1024;
  expect(await begin(randomUUID(), 20 * megabyte)).toBe(0);
  expect(await begin(randomUUID(), 20 * megabyte)).toBe(codes.file_quota.code);
  const id = randomUUID();
  const large = Buffer.alloc(megabyte, 'a');
  expect(await begin(id, 5 * megabyte, large)).toBe(0);
  for (let at = megabyte; at < 5 * megabyte; at += megabyte) {
    const form = new FormData();
    form.set('file', new Blob([large]), 'piece');
    const address = `/api/upload_piece?upload_id=${id}&offset=${at}&size=${5 * megabyte}`;
    await get(address, { method: 'POST', headers: person.headers(), body: form });
  }
  const form = new FormData();
  form.set('file_upload', id);
  form.set('file', new Blob([]), 'a.png');
  const init = { method: 'POST', headers: person.headers(), body: form };
  expect((await get('/api/image/upload', init)).status).toBe(413);
});

test('what is larger than people’s files is an app, which a manager alone brings, in pieces, beyond any quota', async () => {
  const manager = new TestClient(server.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  const person = await TestClient.register(server.baseURL);
  const megabyte = 1024 * 1024;
  const [id, size, most] = [randomUUID(), 65 * megabyte, limits.pieces.most];
  const send = async (who: TestClient, at: number, data: Buffer, whole = size) => {
    const form = new FormData();
    form.set('file', new Blob([new Uint8Array(data)]), 'piece');
    const address = `/api/upload_piece?upload_id=${id}&offset=${at}&size=${whole}`;
    return (await get(address, { method: 'POST', headers: who.headers(), body: form })).status;
  };
  expect(await send(person, 0, Buffer.from('a'))).toBe(413);
  // Larger than this house takes: said with the first piece, not with the last.
  expect(await send(manager, 0, Buffer.from('a'), 201 * megabyte)).toBe(413);
  const bytes = randomBytes(size);
  for (let at = 0; at < size; at += most)
    expect(await send(manager, at, bytes.subarray(at, at + most))).toBe(200);
  const form = new FormData();
  for (const [field, value] of Object.entries({ title: '大应用', state: 'draft', file_upload: id }))
    form.set(field, value);
  form.set('file', new Blob([]), 'large.zip');
  const init = { method: 'POST', headers: manager.headers(), body: form };
  const saved = (await (await get('/api/product/save_app', init)).json()) as {
    data: { id: number };
  };
  const versions = await manager.call('appVersionList', { id: saved.data.id });
  expect(JSON.stringify(versions)).toContain(createHash('sha256').update(bytes).digest('hex'));
});

test('requests of a few bytes do not take up one large file many times at once', async () => {
  const person = await TestClient.register(server.baseURL);
  const id = randomUUID();
  const post = async (address: string, form: FormData) => {
    const init = { method: 'POST', headers: person.headers(), body: form };
    return (await get(address, init)).status;
  };
  const megabyte = 1024 * 1024;
  for (let at = 0; at < 4 * megabyte; at += megabyte) {
    const form = new FormData();
    form.set('file', new Blob([new Uint8Array(megabyte)]), 'piece');
    const query = `upload_id=${id}&offset=${at}&size=${4 * megabyte}`;
    expect(await post(`/api/upload_piece?${query}`, form)).toBe(200);
  }
  const statuses = await Promise.all(
    Array.from({ length: 30 }, () => {
      const form = new FormData();
      form.set('file_upload', id);
      form.set('file', new Blob([]), 'a.png');
      return post('/api/image/upload', form);
    }),
  );
  expect(statuses).toContain(200);
  expect(statuses).toContain(429);
});

test('training files of several projects that come at once take no more than there is room', async () => {
  const person = await TestClient.register(server.baseURL);
  const made = Array.from({ length: 11 }, (_, at) => ({
    name: `库${at}`,
    key: `room_${at}`,
    type: 0,
  }));
  for (const project of made) await person.call('newTrainModel', project);
  const { list } = await person.call('trainModelList', {});
  const send = async (id: number) => {
    const form = new FormData();
    form.set('file', new Blob([`${id} 号……\n`.repeat(320_000)]), `${id}.txt`);
    const address = `/api/train/upload_file?model_id=${id}&start=0`;
    const answer = await get(address, { method: 'POST', headers: person.headers(), body: form });
    return ((await answer.json()) as { code: number }).code;
  };
  const codesOf = await Promise.all(list.map(({ id }) => send(id)));
  const kept = codesOf.filter((code) => code === 0).length;
  expect(new Set(codesOf)).toEqual(new Set([0, codes.file_quota.code]));
  // Of 3.8 MB each.
  expect(kept).toBeLessThan(9);
});

test('what comes out of an archive of training files takes no more than there is room, either', async () => {
  const person = await TestClient.register(server.baseURL);
  await person.call('newTrainModel', { name: '库', key: 'room_of_archives', type: 0 });
  const [project] = (await person.call('trainModelList', {})).list;
  const text = (at: number) => Buffer.from(`${at} 号桥\n`.repeat(440_000)).subarray(0, 3_900_000);
  const texts = Array.from({ length: 9 }, (_, at) => [`${at}.txt`, text(at)] as const);
  // 35 MB of 400 KB: a file of noise keeps it below what an archive may hold.
  const packed = zipSync({
    ...Object.fromEntries(texts),
    'noise.txt': Buffer.from(randomBytes(300_000).toString('base64')),
  });
  expect(packed.length).toBeLessThan(1_000_000);
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(packed)]), 'texts.zip');
  const address = `/api/train/upload_file?model_id=${project!.id}`;
  await get(address, { method: 'POST', headers: person.headers(), body: form });
  const filesOf = async () =>
    (await person.call('trainFileList', { model_id: project!.id, page_size: 256 })).list;
  await expect
    .poll(async () => (await filesOf()).map(({ error }) => error), { timeout: 30_000 })
    .toEqual([codes.file_quota.text]);
});
