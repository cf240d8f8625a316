import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MadeVideo } from '#contract/video.ts';
import { exported } from '../support/exports.ts';
import { TestClient } from '../support/client.ts';
import { generateFilm, makeFilm, sendFilm, until, uploadBase } from '../support/films.ts';
import { startMediaService, type MediaService } from '../support/mock-media.ts';
import { ended } from '../support/images.ts';
import { startServer, type TestServer } from '../support/server.ts';

const tokens = 1_000_000;
/** Of a film by these models. */
const prices = { 'sora-2': 150_000, 'stable-video-diffusion': 75_000 } as const;

let service: MediaService;
let server: TestServer;
let owner: TestClient;
let other: TestClient;
const visitor = () => new TestClient(server.baseURL);

beforeAll(async () => {
  service = await startMediaService();
  server = await startServer({
    env: {
      OPENAI_BASE_URL: `${service.url}/v1`,
      OPENAI_API_KEY: 'sk-test',
      OPENAI_MODELS: 'sora-2',
      STABILITY_BASE_URL: service.url,
      STABILITY_API_KEY: 'sk-stability',
      FILM_POLL_SECONDS: '0',
      SIGNUP_TOKENS: String(tokens),
    },
  });
  owner = await TestClient.register(server.baseURL);
  other = await TestClient.register(server.baseURL);
});
afterAll(async () => {
  await server.stop();
  await service.close();
});

const read = (url: string, headers: Record<string, string> = {}) =>
  fetch(server.baseURL + url, { headers });

test('a client of the specification alone makes a film, lists it and plays it in parts', async () => {
  // Its fields and nothing else, by the wire itself.
  const post = async (path: string, body: object) => {
    const answer = await fetch(`${server.baseURL}/api/${path}`, {
      method: 'POST',
      headers: { ...owner.headers(), 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await answer.json()) as { code: number; message: string; data: Record<string, never> };
  };
  const get = async (path: string, headers = owner.headers()) =>
    (await (await fetch(`${server.baseURL}/api/${path}`, { headers })).json()) as {
      data: {
        list: Record<string, never>[];
        userinfo: { id: number } | null;
        vip: number;
      } & Record<string, number>;
    };
  const { data: session } = await post('new_session', { type: 4 });
  const base = await uploadBase(owner, 640, 480);
  const sent = await post(`send_message?session_id=${String(session['uuid'])}`, {
    msg: JSON.stringify({
      prompt: '',
      type: 'img2video',
      app: 'img-video',
      base_image: base,
      parameters: { cfg_model: 'builtin-film', cfg_scale: 2.5, motion_bucket_id: 200 },
    }),
    format: 1,
  });
  expect(sent.code).toBe(0);
  const request = randomUUID();
  const begun = await post('video/generate_video', {
    history_id: sent.data['id'],
    request_id: request,
    model: 'builtin-film',
    parameters: { cfg_scale: 2.5, motion_bucket_id: 200 },
  });
  expect(begun.code, begun.message).toBe(0);
  expect(await ended(owner, request)).toMatchObject({ state: 'done', kind: 'video' });
  const { data } = await get('video/index?page=1&private=1');
  expect(data).toMatchObject({ page_count: 1, page_size: 10, vip: 0 });
  expect(data.userinfo?.id).toBeGreaterThan(0);
  const [film] = data.list as unknown as MadeVideo[];
  expect(film).toMatchObject({ width: 640, height: 480 });
  const { list: history } = (await get(`history_list?session_id=${String(session['uuid'])}`)).data;
  const [made] = JSON.parse(String(history[0]?.['ai'])) as { url: string; error: string }[];
  expect(made).toMatchObject({ url: film?.url, error: '' });
  const { completion } = await owner.call('getSession', { uuid: String(session['uuid']) });
  expect(JSON.parse(completion)).toEqual([
    {
      uuid: film?.uuid,
      url: film?.url,
      poster: film?.poster,
      width: film?.width,
      height: film?.height,
    },
  ]);

  const whole = await read(film?.url ?? '');
  expect(whole.headers.get('content-type')).toBe('video/webm');
  expect(whole.headers.get('accept-ranges')).toBe('bytes');
  const bytes = Buffer.from(await whole.arrayBuffer());
  // EBML, as WebM begins.
  expect(bytes.subarray(0, 4).toString('hex')).toBe('1a45dfa3');
  service.film = bytes;
  const part = await read(film?.url ?? '', { range: 'bytes=10-19' });
  expect(part.status).toBe(206);
  expect(part.headers.get('content-range')).toBe(`bytes 10-19/${bytes.length}`);
  expect(Buffer.from(await part.arrayBuffer())).toEqual(bytes.subarray(10, 20));
  expect((await read(film?.url ?? '', { range: `bytes=${bytes.length}-` })).status).toBe(416);
  const small = await read(`${film?.poster}/w200`);
  expect(small.headers.get('content-type')).toBe('image/webp');
  expect((await small.arrayBuffer()).byteLength).toBeGreaterThan(200);
});

test.each(Object.entries(prices))('%s films at its wire and is paid once', async (model, price) => {
  service.asked.length = 0;
  const client = await TestClient.register(server.baseURL);
  const { job, films } = await makeFilm(client, {
    model,
    base: await uploadBase(client, 800, 800),
  });
  expect(job).toMatchObject({ state: 'done', deduct_tokens: price });
  expect(films).toMatchObject([{ width: 640, height: 480, error: '' }]);
  expect((await client.call('userInfo', {})).chatgpt_balance).toBe(tokens - price);
  const { list } = await client.call('transactionList', {});
  expect(list).toMatchObject([{ type: 4, model, human: '湖边的小屋', deduct_tokens: price }]);
  const [begin] = service.asked;
  expect(begin?.file?.subarray(1, 4).toString('latin1')).toBe('PNG');
  if (model === 'sora-2') {
    expect(begin?.authorization).toBe('Bearer sk-test');
    expect(begin?.fields).toMatchObject({ model, prompt: '湖边的小屋', seconds: '4' });
    expect(begin?.fields['size']).toMatch(/^(1280x720|720x1280)$/);
  } else {
    expect(begin?.authorization).toBe('Bearer sk-stability');
    expect(begin?.fields).toMatchObject({ cfg_scale: '2', motion_bucket_id: '127' });
  }
});

test('a film that is refused or is none costs nothing and can be tried again', async () => {
  const client = await TestClient.register(server.baseURL);
  service.behave(async (response) => {
    response.writeHead(403, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ name: 'content_moderation', errors: ['flagged'] }));
    return true;
  });
  const model = 'stable-video-diffusion';
  const { job, sent } = await makeFilm(client, { model });
  expect(job).toMatchObject({ state: 'error', error_code: 1427, deduct_tokens: 0 });
  service.behave(null);
  const good = service.film;
  service.film = Buffer.from('not a film at all');
  const orders = () => service.asked.filter(({ path }) => path.startsWith('POST ')).length;
  const before = orders();
  const bad = await generateFilm(client, sent.historyId);
  expect(await ended(client, bad.uuid)).toMatchObject({ state: 'error', deduct_tokens: 0 });
  expect(orders() - before, 'a film is billed when it is begun').toBe(1);
  service.film = good;
  const again = await generateFilm(client, sent.historyId);
  expect(await ended(client, again.uuid)).toMatchObject({ state: 'done' });
  expect((await client.call('userInfo', {})).chatgpt_balance).toBe(tokens - prices[model]);
}, 40_000);

test('without an image, beyond a range or without money nothing begins', async () => {
  const { uuid } = await owner.call('newSession', { type: 4 });
  const send = (msg: object) =>
    owner.raw('sendMessage', { session_id: uuid, msg: JSON.stringify(msg), format: 1 });
  const none = await send({ prompt: '动起来', type: 'img2video' });
  expect(none.message).toContain('请填入图片');
  const base_image = await uploadBase(owner);
  for (const parameters of [{ cfg_scale: 11 }, { motion_bucket_id: 0 }, { motion_bucket_id: 256 }])
    expect((await send({ type: 'img2video', base_image, parameters })).status).toBe(422);
  expect((await send({ type: 'img2video', base_image: '/files/nothing.png' })).status).toBe(422);
  const poor = await TestClient.register(server.baseURL);
  for (let at = 0; at < 7; at += 1) {
    const { historyId } = await sendFilm(poor, { model: 'sora-2' });
    const reply = await poor.raw('generateVideo', {
      history_id: historyId,
      request_id: randomUUID(),
    });
    if (reply.code === 1025 || reply.code === 1026) return;
  }
  throw new Error('a film was begun that nobody can pay');
}, 40_000);

test('private films are found by nobody else, public ones by all, deleted ones by none', async () => {
  const secret = await makeFilm(owner);
  const open = await makeFilm(owner, { isPrivate: 0 }).catch(() => null);
  const { list: shown } = await other.call('videoIndex', {});
  expect(shown.map(({ url }) => url)).not.toContain(secret.films[0]?.url);
  expect((await other.call('videoIndex', { private: 1 })).list).toEqual([]);
  expect((await visitor().raw('videoIndex', { private: 1 })).status).toBe(401);
  const stolen = { history_id: secret.sent.historyId, request_id: randomUUID() };
  expect((await other.raw('generateVideo', stolen)).status).toBe(404);
  if (open) {
    await owner.call('saveSettings', { private_global: 1 });
    await owner.call('setSession', { session_id: open.sent.uuid, private: 0 });
    const { list } = await visitor().call('videoIndex', {});
    expect(list[0]).toMatchObject({ url: open.films[0]?.url, session_uuid: open.sent.uuid });
    const watched = await other.call('historyList', { session_id: open.sent.uuid });
    expect(watched.list[0]?.ai).toContain(open.films[0]?.url);
    await owner.call('setSession', { session_id: open.sent.uuid, private: 1 });
    expect((await visitor().call('videoIndex', {})).list).toEqual([]);
    await owner.call('deleteSession', { session_id: open.sent.uuid });
    expect((await read(open.films[0]?.url ?? '')).status).toBe(404);
  }
  // Whoever has its link sees it, and a file has its first picture.
  const { key } = await owner.call('shareSession', { session_id: secret.sent.uuid });
  const { list: told } = await visitor().call('sharedSession', { key });
  expect(told[0]?.ai).toContain(secret.films[0]?.url);
  expect((await exported(owner, secret.sent.uuid, 'pdf')).failed).toEqual([]);
  await owner.call('deleteHistory', { session_id: secret.sent.uuid, id: secret.sent.historyId });
  expect((await read(secret.films[0]?.url ?? '')).status).toBe(404);
  expect((await read(secret.films[0]?.poster ?? '')).status).toBe(404);
}, 40_000);

test('a film that its service has begun is delivered although it is stopped, and paid once', async () => {
  const client = await TestClient.register(server.baseURL);
  service.rounds = 1_000_000;
  const askedBefore = service.asked.length;
  const { historyId } = await sendFilm(client, { model: 'sora-2' });
  const job = await generateFilm(client, historyId);
  expect(job.held_tokens).toBe(prices['sora-2']);
  await until('the service is at it', () =>
    service.asked.slice(askedBefore).some(({ path }) => path.startsWith('GET /v1/videos/')),
  );
  const stopped = await client.call('cancelJob', { request_id: job.uuid });
  expect(stopped).toEqual({ cancelled: false });
  service.rounds = 1;
  const price = prices['sora-2'];
  expect(await ended(client, job.uuid)).toMatchObject({ state: 'done', deduct_tokens: price });
  expect((await client.call('userInfo', {})).chatgpt_balance).toBe(tokens - price);
});

test('a film that is deleted with its message while its service is at it is paid once it is made', async () => {
  const client = await TestClient.register(server.baseURL);
  service.rounds = 1_000_000;
  const askedBefore = service.asked.length;
  const sent = await sendFilm(client, { model: 'sora-2' });
  await generateFilm(client, sent.historyId);
  await until('the service is at it', () =>
    service.asked.slice(askedBefore).some(({ path }) => path.startsWith('GET /v1/videos/')),
  );
  await client.call('deleteHistory', { session_id: sent.uuid, id: sent.historyId });
  service.rounds = 1;
  const price = prices['sora-2'];
  await expect
    .poll(async () => (await client.call('transactionList', {})).list, { timeout: 20_000 })
    .toMatchObject([{ deduct_tokens: price }]);
  expect((await client.call('userInfo', {})).chatgpt_balance).toBe(tokens - price);
  expect((await client.call('videoIndex', { private: 1 })).list).toEqual([]);
});
