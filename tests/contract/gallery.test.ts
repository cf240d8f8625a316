import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import { paint, replyOf } from '../support/images.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let owner: TestClient;
let other: TestClient;
beforeAll(async () => {
  server = await startServer();
  [owner, other] = await Promise.all([
    TestClient.register(server.baseURL),
    TestClient.register(server.baseURL),
  ]);
});
afterAll(() => server.stop());

interface Row {
  id: number;
  url: string;
}
interface Task {
  uuid: string;
  state: string;
  error_message: string;
}
/** What a client that only knows the documents reads. */
interface Told {
  list: Row[];
  images: Row[];
  image: Row;
  result: { progress: number };
  isLiked: number;
  job: Task;
  info: Row & { children: Row[]; parents: Row[]; tools: { method: string }[] };
}
interface Answer {
  status: number;
  code: number;
  message: string;
  data: Told;
}

/** A client that knows document 2 §7 and nothing of this project: paths and fields as written there. */
const plain = (token: string) => {
  const send = async (method: string, path: string, given: object = {}): Promise<Answer> => {
    const inQuery = method === 'GET' || method === 'DELETE';
    const query = inQuery
      ? `?${new URLSearchParams(Object.entries(given).map(([k, v]) => [k, String(v)])).toString()}`
      : '';
    const response = await fetch(`${server.baseURL}/api/${path}${query}`, {
      method,
      headers: {
        ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
        ...(inQuery ? {} : { 'content-type': 'application/json' }),
      },
      ...(inQuery ? {} : { body: JSON.stringify(given) }),
    });
    return { status: response.status, ...((await response.json()) as Omit<Answer, 'status'>) };
  };
  return {
    get: (path: string, given?: object) => send('GET', path, given),
    post: (path: string, given?: object) => send('POST', path, given),
    remove: (path: string, given?: object) => send('DELETE', path, given),
    upload: async (data: Buffer): Promise<Answer> => {
      const form = new FormData();
      form.set('file', new Blob([new Uint8Array(data)], { type: 'image/png' }), '照片.png');
      const { ticket } = (await new TestClient(server.baseURL, token).call('ticket', {})) as {
        ticket: string;
      };
      const response = await fetch(`${server.baseURL}/api/image/upload?ticket=${ticket}`, {
        method: 'POST',
        body: form,
      });
      return { status: response.status, ...((await response.json()) as Omit<Answer, 'status'>) };
    },
    /** What a job has made, as image/progress tells once it is at its end. */
    result: async ({ uuid }: Task): Promise<[Row, ...Row[]]> => {
      for (let waited = 0; waited < 20_000; waited += 100) {
        const { data } = await send('GET', 'image/progress', { request_id: uuid });
        if (data.result.progress === 1 && data.images.length > 0)
          return data.images as [Row, ...Row[]];
        if (data.job.state === 'error') throw new Error(data.job.error_message);
        await sleep(100);
      }
      throw new Error('the job does not end');
    },
  };
};

const photo = (width = 96, height = 64) =>
  sharp({ create: { width, height, channels: 3, background: '#f4f4f4' } })
    .composite([
      {
        input: { create: { width: 32, height: 32, channels: 3, background: '#205080' } },
        left: 32,
        top: 16,
      },
    ])
    .png()
    .toBuffer();

const pixels = async (url: string) => {
  const response = await fetch(server.baseURL + url);
  expect(response.status, url).toBe(200);
  const data = Buffer.from(await response.arrayBuffer());
  const { info, data: raw } = await sharp(data)
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return {
    ...info,
    at: (x: number, y: number) => [
      ...raw.subarray((y * info.width + x) * 4, (y * info.width + x) * 4 + 4),
    ],
  };
};

const publicPicture = async (client: TestClient, words: string) => {
  const { sent, message } = await paint(client, words, { image: { n: 1, size: 0 } });
  await client.call('setSession', { session_id: sent.uuid, private: 0 });
  const image = replyOf(message).images[0]!;
  return { ...image, session: sent.uuid, historyId: sent.historyId };
};

test('a client made from the specification alone uploads, edits, lists, likes and deletes @I12 @I14', async () => {
  const client = plain(owner.token);
  const uploaded = await client.upload(await photo());
  expect(uploaded).toMatchObject({ code: 0, message: '' });
  const { url } = uploaded.data.image;
  const chosen = await client.get('image/uploaded_files', { page: 1 });
  expect(chosen.data).toMatchObject({ page_count: 1, page_size: 32 });
  const file = chosen.data.list[0]!;
  expect(file).toMatchObject({ url, size: '96x64', origin: 'uploaded' });
  expect(file.id).toBeGreaterThan(0);

  const [large] = await client.result(
    (await client.post('image/upscale', { image_id: file.id, model: 'ESRGAN_4x', resize: 2 })).data
      .job,
  );
  expect(large).toMatchObject({ size: '192x128', error: '' });
  const [cut] = await client.result(
    (await client.post('image/removeBg', { image_id: file.id })).data.job,
  );
  expect((await pixels(cut.url)).at(2, 2)[3]).toBe(0);
  const ground = { image_id: file.id, method: 'editBg', bg_color: '#d02020' };
  const [red] = await client.result((await client.post('image/editBg', ground)).data.job);
  expect((await pixels(red.url)).at(2, 2)[0]).toBeGreaterThan(150);
  // Only what the mask holds is changed.
  const mask = { left: 0, top: 0, width: 48, height: 64 };
  const [half] = await client.result(
    (await client.post('image/editBg', { ...ground, mask })).data.job,
  );
  const halved = await pixels(half.url);
  expect(halved.at(2, 2)[0]).toBeGreaterThan(halved.at(2, 2)[1]! + 100);
  expect(halved.at(90, 2)).toEqual([244, 244, 244, 255]);
  const edit = { method: 'edit', image_id: file.id, prompt: '一轮月亮', mask };
  const drawn = await client.result((await client.post('image/edit', edit)).data.job);
  expect(drawn).toHaveLength(4);
  // One like it is of the whole: a part's words alone would make another picture.
  const again = { ...edit, image_id: drawn[0].id, prompt: '一条小船' };
  const [twice] = await client.result(
    (await client.post('image/edit', { ...again, n: 1 })).data.job,
  );
  const whole = await client.get('image/info', { image_id: twice.id });
  expect(whole.data.info).toMatchObject({
    prompt: '一条小船',
    whole_prompt: '一轮月亮，一条小船',
  });
  await client.remove('image/delete', { image_id: twice.id });
  const told = await client.post('image/interrogate', { image_id: file.id, model: 'clip' });
  expect(told.data).toMatchObject({ result: expect.any(String), result_cn: expect.any(String) });

  const mine = await client.get('image/index', { page: 1, query: '', private: 1, rank: '' });
  expect(mine.data).toMatchObject({ vip: 0, page_size: 30, userinfo: { user_name: '测试用户' } });
  expect(mine.data.list.map(({ id }) => id)).toEqual(
    [large, cut, red, half, ...drawn].map(({ id }) => id).sort((a, b) => b - a),
  );
  for (const row of mine.data.list)
    expect(row).toMatchObject({ like: 0, isLiked: 0, user_name: '测试用户' });
  const info = await client.get('image/info', { explore: 0, image_id: large.id });
  expect(info.data.info).toMatchObject({
    own: true,
    how: 'upscale',
    parents: [{ id: file.id, origin: 'uploaded' }],
    history: { prompt: '' },
  });
  expect(info.data.isLiked).toBe(0);
  const source = await client.get('image/info', { image_id: file.id });
  expect(source.data.info.children.map(({ id }) => id)).toContain(large.id);
  expect(source.data.info.tools.map(({ method }) => method).sort()).toEqual(
    ['edit', 'editBg', 'interrogate', 'removeBg', 'upscale', 'variations'].sort(),
  );

  expect((await client.post('image/like', { image_id: large.id, status: 1 })).data).toMatchObject({
    status: 1,
    liked_count: 1,
    disliked_count: 0,
  });
  const gone = await client.remove('image/delete', { image_id: large.id });
  expect(gone).toMatchObject({ code: 0, message: '' });
  expect((await client.get('image/info', { image_id: large.id })).data.info.url).toBe('');
  const after = await client.get('image/index', { private: 1 });
  expect(after.data.list.map(({ id }) => id)).not.toContain(large.id);
  expect((await client.post('image/upscale', { image_id: large.id })).status).toBe(404);
  expect((await fetch(server.baseURL + large.url)).status).toBe(404);
  expect(await client.remove('image/delete', { image_id: file.id })).toMatchObject({ code: 0 });
  expect((await fetch(`${server.baseURL}${url}?size=180`)).status).toBe(404);
  expect((await client.get('image/uploaded_files', { page: 1 })).data.list).toEqual([]);
});

test('bad wishes are refused in plain words, and nothing is begun', async () => {
  const client = plain(owner.token);
  const { id } = (await client.upload(await photo())).data.image;
  const mask = { left: 0, top: 0, width: 8, height: 8 };
  const edit = (more: object) => client.post('image/edit', { image_id: id, mask, ...more });
  expect((await edit({ prompt: '' })).message).toContain('请填写修改图片的提示内容');
  expect((await edit({ prompt: '猫' })).message).toBe('长度在 2 到 512 个字符');
  expect((await edit({ prompt: '猫'.repeat(513) })).code).toBe(1411);
  expect((await edit({ prompt: '一只猫', mask: null })).message).toContain('请框选要修改的区域');
  expect((await client.post('image/editBg', { image_id: id })).message).toContain('背景颜色或图片');
  expect((await client.post('image/editBg', { image_id: id, bg_color: 'red' })).status).toBe(422);
  expect((await client.post('image/upscale', { image_id: id, resize: 3 })).status).toBe(422);
  expect((await client.get('image/index', { rank: 'ever' })).status).toBe(422);
  expect((await plain('').get('image/index', { private: 1 })).status).toBe(401);
  const request = { image_id: id, request_id: randomUUID() };
  const first = await client.post('image/removeBg', request);
  const again = await client.post('image/removeBg', request);
  expect(again.data.job.uuid).toBe(first.data.job.uuid);
});

test('a foreign private picture is found by no call; a public one can be seen and liked, not changed @I12 @I13', async () => {
  const words = `孤山夜雪${randomUUID().slice(0, 6)}`;
  const made = await publicPicture(owner, words);
  const stranger = plain(other.token);
  const visitor = plain('');
  const ids = async (client: typeof visitor, path: string, given: object): Promise<number[]> =>
    (await client.get(path, given)).data.list.map(({ id }) => id);

  expect(await ids(visitor, 'image/index', { query: words.slice(0, 4), private: 0 })).toContain(
    made.id,
  );
  for (const sort of ['default', 'newest', 'most-popular'])
    expect(await ids(visitor, 'image/explore', { page: 1, sort })).toContain(made.id);
  const seen = await visitor.get('image/info', { explore: 1, image_id: made.id });
  expect(seen.data.info).toMatchObject({
    own: false,
    public: true,
    session: { uuid: made.session },
    history: { prompt: words },
    tools: [],
  });
  for (const [path, more] of [
    ['image/upscale', {}],
    ['image/removeBg', {}],
    ['image/editBg', { bg_color: '#ffffff' }],
    ['image/edit', { prompt: '一只猫', mask: { left: 0, top: 0, width: 9, height: 9 } }],
    ['image/hide', { hidden: 1 }],
  ] as const)
    expect((await stranger.post(path, { image_id: made.id, ...more })).code, path).toBe(1403);
  expect((await stranger.remove('image/delete', { image_id: made.id })).code).toBe(1403);
  expect((await plain('').post('image/like', { image_id: made.id, status: 1 })).status).toBe(401);

  // One vote a person, however often it is given.
  for (const [status, liked, disliked] of [
    [1, 1, 0],
    [1, 1, 0],
    [-1, 0, 1],
    [1, 1, 0],
  ] as const)
    expect((await stranger.post('image/like', { image_id: made.id, status })).data).toMatchObject({
      liked_count: liked,
      disliked_count: disliked,
    });
  for (const rank of ['all', 'month', 'week', 'day'])
    expect((await ids(stranger, 'image/index', { rank }))[0], rank).toBe(made.id);

  const hiddenFor = async (what: string) => {
    const calls: [string, Promise<Answer>][] = [
      ['info', stranger.get('image/info', { image_id: made.id })],
      ['explored', stranger.get('image/info', { image_id: made.id, explore: 1 })],
      ['like', stranger.post('image/like', { image_id: made.id, status: 0 })],
      ['interrogate', stranger.post('image/interrogate', { image_id: made.id, model: 'clip' })],
      ['upscale', stranger.post('image/upscale', { image_id: made.id, resize: 2 })],
      ['removeBg', stranger.post('image/removeBg', { image_id: made.id })],
      ['editBg', stranger.post('image/editBg', { image_id: made.id, bg_color: '#ffffff' })],
      [
        'edit',
        stranger.post('image/edit', {
          image_id: made.id,
          prompt: '一只猫',
          mask: { left: 0, top: 0, width: 9, height: 9 },
        }),
      ],
      ['hide', stranger.post('image/hide', { image_id: made.id, hidden: 0 })],
      ['delete', stranger.remove('image/delete', { image_id: made.id })],
    ];
    for (const [name, call] of calls) expect((await call).status, `${what}: ${name}`).toBe(404);
    for (const client of [stranger, visitor])
      for (const [path, given] of [
        ['image/index', { private: 0 }],
        ['image/index', { private: 0, query: words }],
        ['image/index', { private: 0, rank: 'all' }],
        ['image/explore', { sort: 'newest' }],
        ['image/explore', { sort: 'most-popular' }],
      ] as const)
        expect(await ids(client, path, given), `${what}: ${path}`).not.toContain(made.id);
    for (const path of ['image/index', 'image/uploaded_files', 'image/private_all'])
      expect(await ids(stranger, path, { private: 1 }), path).not.toContain(made.id);
  };
  await plain(owner.token).post('image/hide', { image_id: made.id, hidden: 1 });
  await hiddenFor('hidden by its owner');
  await plain(owner.token).post('image/hide', { image_id: made.id, hidden: 0 });
  expect(await ids(visitor, 'image/explore', { sort: 'newest' })).toContain(made.id);
  await owner.call('setSession', { session_id: made.session, private: 1 });
  await hiddenFor('in a private session');
  // Their kin do not tell of it, either: what a stranger draws from its address has no parent.
  const base = { n: 1, size: 0, base_image: made.url };
  const copied = await paint(other, '照着画一张', { task: 'img2img', image: base });
  const { id } = replyOf(copied.message).images[0]!;
  const kin = await stranger.get('image/info', { image_id: id });
  expect(kin.data.info.parents).toEqual([]);
});

test('nobody puts a picture of theirs among what was made of another’s by naming its number', async () => {
  const made = await publicPicture(owner, '断桥残雪');
  const parameters = { image_id: made.id };
  const painted = await paint(other, '不相干的一张', { image: { n: 1, parameters } });
  const { id } = replyOf(painted.message).images[0]!;
  const { info: mine } = (await plain(other.token).get('image/info', { image_id: id })).data;
  expect(mine.parents).toEqual([]);
});

test('what is made of a picture in a session is as public as the session; a deleted one leaves its message', async () => {
  const made = await publicPicture(owner, '湖心亭看雪');
  const client = plain(owner.token);
  const { job } = (await client.post('image/upscale', { image_id: made.id, resize: 2 })).data;
  const [large] = await client.result(job);
  const seen = await plain('').get('image/info', { image_id: large.id });
  expect(seen.data.info).toMatchObject({ public: true, parents: [{ id: made.id, url: made.url }] });
  await client.remove('image/delete', { image_id: made.id });
  const orphan = await plain('').get('image/info', { image_id: large.id });
  expect(orphan.data.info.parents).toEqual([]);
  const own = await client.get('image/info', { image_id: large.id });
  expect(own.data.info.parents).toMatchObject([{ id: made.id, url: '' }]);
  const { list } = await owner.call('historyList', { session_id: made.session });
  expect(replyOf(list[0]!).images).toMatchObject([{ url: '', error: '图片已删除' }]);
});

test('what was drawn from another’s words says whose, to whoever may see that one', async () => {
  const words = '花港观鱼';
  const source = await publicPicture(owner, words);
  const kept = await paint(owner, '谁也不给看的一张', { image: { n: 1, size: 0 } });
  const hidden = replyOf(kept.message).images[0]!;
  const drawnFrom = async (inspired_by: number) => {
    const { sent, message } = await paint(other, words, { image: { n: 1, inspired_by } });
    await other.call('setSession', { session_id: sent.uuid, private: 0 });
    return replyOf(message).images[0]!.id;
  };
  const inspirationFor = async (client: TestClient, image_id: number) =>
    (await client.call('imageInfo', { image_id })).info.inspired_by;
  const like = await drawnFrom(source.id);
  const visitor = new TestClient(server.baseURL);
  for (const client of [other, owner, visitor])
    expect(await inspirationFor(client, like)).toMatchObject({
      id: source.id,
      url: source.url,
      user_name: '测试用户',
    });
  // What one may not see and what there is not draw the same, and leave nothing.
  for (const unseen of [hidden.id, 999_999_999]) {
    const id = await drawnFrom(unseen);
    // Its owner could see it, had the reference been kept.
    for (const client of [other, owner]) expect(await inspirationFor(client, id)).toBeUndefined();
  }
  await owner.call('hideImage', { image_id: source.id, hidden: 1 });
  for (const client of [other, visitor]) expect(await inspirationFor(client, like)).toBeUndefined();
  expect(await inspirationFor(owner, like)).toMatchObject({ id: source.id });
  await owner.call('hideImage', { image_id: source.id, hidden: 0 });
  await owner.call('deleteImage', { image_id: source.id });
  for (const client of [other, owner, visitor])
    expect(await inspirationFor(client, like)).toBeUndefined();
});
