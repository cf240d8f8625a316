import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import pg from 'pg';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { codes } from '#contract/errors.ts';
import { modelTypes } from '#contract/kinds.ts';
import { apiUser } from '../support/api-user.ts';
import { TestClient } from '../support/client.ts';
import { colourOf, gridColours } from '../support/fake-service.ts';
import { type MockMidjourney, startMockMidjourney } from '../support/mock-midjourney.ts';
import { type MockOpenAiImages, startMockOpenAiImages } from '../support/mock-openai-images.ts';
import { type MockSdWebui, startMockSdWebui } from '../support/mock-sd-webui.ts';
import { ended, generate, messageOf, paint, replyOf, sendPicture } from '../support/images.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** Services of pictures in the environment of a server, several for one model. */

let first: MockSdWebui;
let second: MockSdWebui;
let midjourney: MockMidjourney;
let openAi: MockOpenAiImages;
let env: Record<string, string>;
let server: TestServer;
let client: TestClient;

beforeAll(async () => {
  first = await startMockSdWebui({ auth: 'me:secret', controlnet: true });
  second = await startMockSdWebui({ auth: 'me:secret' });
  midjourney = await startMockMidjourney({ secret: 's3cret' });
  openAi = await startMockOpenAiImages({ apiKey: 'sk-images' });
  env = {
    // One gets nearly everything; the other has another name, so that people's words tell them apart.
    SD_WEBUI_URL: `${first.url}#9999, ${second.url.replace('127.0.0.1', 'localhost')}`,
    SD_WEBUI_AUTH: 'me:secret',
    MJ_PROXY_URL: midjourney.url,
    MJ_PROXY_SECRET: 's3cret',
    OPENAI_BASE_URL: `${openAi.url}/v1`,
    OPENAI_API_KEY: 'sk-images',
    SIGNUP_TOKENS: '1000000',
    LOG_LEVEL: 'warn',
  };
  server = await startServer({ env });
  client = await TestClient.register(server.baseURL);
});
afterAll(async () => {
  await server?.stop();
  // The server that took over was given the first one's folder and leaves it.
  if (server) rmSync(server.dataDir, { recursive: true, force: true });
  for (const mock of [first, second, midjourney, openAi]) {
    expect(mock.faults).toEqual([]);
    await mock.close();
  }
});

const photo = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#336699' } })
    .png()
    .toBuffer();

const pictures = async () => {
  const { models } = await client.call('models', {});
  return new Map(
    models.filter(({ type }) => type === modelTypes.image).map((model) => [model.name, model]),
  );
};

test('the models of all services are offered with what each takes', async () => {
  await expect
    .poll(async () => [...(await pictures()).keys()])
    .toEqual([
      'midjourney',
      'stable-diffusion',
      'gpt-image-1',
      'dall-e-3',
      'qwen-image',
      'builtin-canvas',
    ]);
  // What stable-diffusion-webui can do it says itself.
  await expect
    .poll(async () => (await pictures()).get('stable-diffusion')?.image?.checkpoints.length)
    .toBe(1);
  const models = await pictures();
  expect(models.get('stable-diffusion')?.image?.abilities).toContain('controlnet');
  expect(models.get('stable-diffusion')?.image?.abilities).not.toContain('remove-background');
  expect(models.get('midjourney')).toMatchObject({
    label: 'Midjourney',
    vip_excluded: false,
    image: { family: 'midjourney', default_count: 4, max_count: 4 },
  });
  expect(models.get('dall-e-3')).toMatchObject({
    label: 'DALL-E 3',
    vip_excluded: true,
    image: { family: 'dalle', default_count: 2, sizes: ['1024x1024', '1792x1024', '1024x1792'] },
  });
  expect(models.get('qwen-image')?.image).toMatchObject({ family: 'cloud', default_count: 5 });
  // A session of pictures that names no model is Midjourney's where there is one.
  const { uuid } = await client.call('newSession', { type: 1 });
  expect((await client.call('getSession', { uuid })).model).toBe('midjourney');
});

test('what can be chosen is told, and how words will reach the service', async () => {
  const choices = await client.call('imageMetadata', { model: 'stable-diffusion' });
  expect(choices).toMatchObject({
    checkpoints: [{ label: 'dreamshaper_8' }],
    loras: [{ key: 'ink', label: '水墨' }],
    samplers: ['Euler', 'DPM++ 2M'],
    controlnetTypes: [{ type: 'Canny', label: '硬边缘', modules: ['canny'] }],
  });
  const styles = async (model: string) => (await client.call('imageMetadata', { model })).styles;
  expect(await styles('qwen-image')).toHaveLength(18);
  expect(await styles('dall-e-3')).toHaveLength(2);
  expect((await client.raw('imageMetadata', { model: 'gpt-4o-mini' })).code).toBe(1413);
  const { result } = await client.call('promptParameter', {
    model: 'midjourney',
    prompt: 'https://example.com/a.png 桥 --chaos 30',
    parameters: { aspect: '16:9', stylize: 100 },
  });
  expect(result).toMatch(/^https:\/\/example\.com\/a\.png 桥 .*--ar 16:9.*--chaos 30/);
  expect(result).not.toContain('stylize');
});

test('an image that a program ordered is made and paid though the program hung up', async () => {
  const user = await apiUser(server);
  const balance = async () => (await user.person.call('userInfo', {})).chatgpt_balance;
  const before = await balance();
  const stop = new AbortController();
  const asked = openAi.asked.length;
  const order = fetch(`${server.baseURL}/v1/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${user.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'dall-e-3', prompt: '一座桥', size: '1024x1024' }),
    signal: stop.signal,
  });
  order.catch(() => {});
  await expect
    .poll(() => openAi.asked.length, { timeout: 5000, interval: 5 })
    .toBeGreaterThan(asked);
  stop.abort();
  await expect(order).rejects.toThrow('abort');
  const job = async () => (await user.person.call('jobList', {})).list[0];
  await expect.poll(async () => (await job())?.state, { timeout: 10_000 }).toBe('done');
  expect(before - (await balance())).toBe((await job())?.deduct_tokens);
  expect(before - (await balance())).toBeGreaterThan(0);
});

test('as many images as usual are drawn, however a message that names no number is written', async () => {
  for (const prompt of [
    '一只猫在看书',
    { prompt: '一只猫在看书' },
    { prompt: '一只猫', size: 3 },
  ]) {
    const { uuid } = await client.call('newSession', { type: 1, model: 'dall-e-3' });
    const words = typeof prompt === 'string' ? prompt : JSON.stringify(prompt);
    const format = typeof prompt === 'string' ? 0 : 1;
    const { id } = await client.call('sendMessage', { session_id: uuid, msg: words, format });
    const job = await generate(client, id);
    expect((await ended(client, job.uuid)).state).toBe('done');
    expect(replyOf(await messageOf(client, { uuid, historyId: id })).images).toHaveLength(2);
  }
});

test('the flat fields of a message reach the service, and what it draws with them', async () => {
  const file = new Blob([new Uint8Array(await photo(640, 480))], { type: 'image/png' });
  const { image } = await client.upload('uploadImage', file, 'a.png');
  const { uuid } = await client.call('newSession', { type: 1, model: 'stable-diffusion' });
  for (const [strength, resize_mode] of [
    [60, 1],
    [35, 2],
  ] as const) {
    const { id } = await client.call('sendMessage', {
      session_id: uuid,
      format: 1,
      msg: JSON.stringify({
        type: 'img2img',
        prompt: '一座桥',
        base_image: image.url,
        strength,
        resize_mode,
        n: 1,
        size: 1,
      }),
    });
    const { job } = await client.call('generateImage', {
      history_id: id,
      request_id: randomUUID(),
      // Where nothing is said, what is usual for the model counts.
      ...(strength === 35 ? {} : { translate: 0 }),
    });
    expect(await ended(client, job.uuid)).toMatchObject({ state: 'done' });
    // The list tells whose words were translated: doing it again takes that, too.
    const [newest] = (await client.call('jobList', {})).list;
    expect(newest?.translates).toBe(strength === 35 ? true : undefined);
    const order = [...first.asked, ...second.asked].filter(({ path }) => path.endsWith('img2img'));
    expect(order.map(({ body }) => body)).toContainEqual(
      expect.objectContaining({ denoising_strength: strength / 100, resize_mode, batch_size: 1 }),
    );
  }
});

test('a picture is put into words by who was asked, in Chinese too where a chat model is there', async () => {
  const file = new Blob([new Uint8Array(await photo(64, 64))], { type: 'image/png' });
  const { image } = await client.upload('uploadImage', file, 'a.png');
  const look = (model: string) => client.call('interrogateImage', { image_url: image.url, model });
  expect(await look('clip')).toMatchObject({
    result: 'a blue square',
    result_cn: '蓝色方块',
    translated: true,
  });
  expect(await look('DeepBooru')).toMatchObject({ result: 'square, blue' });
  expect(await look('midjourney')).toMatchObject({
    result: 'a red square',
    result_cn: '红色方块',
    engine: 'Midjourney',
    translated: false,
  });
  expect((await look('builtin-canvas')).result_cn).toMatch(/\p{Script=Han}/u);
  const nobody = await client.raw('interrogateImage', { image_url: image.url, model: 'gpt-9' });
  expect(nobody.code).toBe(codes.model_unavailable.code);
});

test('an edit gives back the size that the picture had, whatever steps a service knows', async () => {
  const file = new Blob([new Uint8Array(await photo(1200, 900))], { type: 'image/png' });
  const { image } = await client.upload('uploadImage', file, 'a.png');
  const sizeAt = async (painter: string) => {
    const { job } = await client.call('editImage', {
      image_id: image.id,
      painter,
      prompt: 'a red lantern',
      mask: { left: 100, top: 100, width: 300, height: 200 },
      n: 1,
    });
    expect(await ended(client, job.uuid)).toMatchObject({ state: 'done' });
    const { images } = await client.call('imageProgress', { request_id: job.uuid });
    return images.map(({ size }) => size);
  };
  expect(await sizeAt('stable-diffusion')).toEqual(['1200x900']);
  expect(await sizeAt('gpt-image-1')).toEqual(['1200x900']);
  // It was given a picture of the shape that it makes, with its own in the middle.
  const { width, height } = await sharp(openAi.asked.at(-1)!.files['image']).metadata();
  expect(`${width}x${height}`).toBe(openAi.asked.at(-1)!.fields['size']);
});

test('the finest quality is asked for and paid as such; unasked it is the usual one', async () => {
  const { key } = await apiUser(server);
  const draw = async (quality?: string) => {
    const answer = await fetch(`${server.baseURL}/v1/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-image-1', prompt: 'a bridge', n: 1, quality }),
    });
    expect(answer.status).toBe(200);
    await answer.arrayBuffer();
    expect(openAi.asked.at(-1)?.fields['quality']).toBe(quality ?? 'medium');
    return Number(answer.headers.get('x-deducted-tokens'));
  };
  const usual = await draw();
  expect(usual).toBeGreaterThan(0);
  expect(await draw('medium')).toBe(usual);
  expect(await draw('high')).toBe(4 * usual);
});

test('of several services another one takes over when one fails; who answered is named', async () => {
  const usual = await paint(client, '一座桥', { model: 'stable-diffusion', image: { n: 1 } });
  expect(replyOf(usual.message)).toMatchObject({ engine: '127.0.0.1', images: [{ seed: 1234 }] });
  expect(usual.job.engine).toBe('127.0.0.1');
  first.scenario = '500';
  const before = second.asked.length;
  // One person alone never rests a service for the others.
  const others = await Promise.all([1, 2].map(() => TestClient.register(server.baseURL)));
  const people = [client, ...others];
  for (let at = 0; at < 6; at += 1) {
    const { message } = await paint(people[at % people.length]!, '一座桥', {
      model: 'stable-diffusion',
      image: { n: 1 },
    });
    expect(replyOf(message)).toMatchObject({ engine: 'localhost', images: [{ error: '' }] });
  }
  expect(second.asked.length).toBeGreaterThan(before);
  // After five failures in a row, of three people, it is left alone for a while.
  const orders = () => first.asked.filter(({ path }) => path.endsWith('txt2img')).length;
  const asked = orders();
  expect(asked).toBe(6);
  await paint(client, '一座桥', { model: 'stable-diffusion', image: { n: 1 } });
  expect(orders()).toBe(asked);
  first.scenario = 'normal';
});

test('what had the order and gave nothing is not asked to bill it again', async () => {
  const orders = () => openAi.asked.filter(({ path }) => path.endsWith('/generations')).length;
  const draw = () => paint(client, '一座桥', { model: 'gpt-image-1', image: { n: 1 } });
  for (const scenario of ['empty', 'html', 'wrong-type'] as const) {
    openAi.scenario = scenario;
    const before = orders();
    const { job } = await draw();
    expect(job, scenario).toMatchObject({ state: 'error', deduct_tokens: 0 });
    expect(orders() - before, scenario).toBe(1);
  }
  openAi.scenario = 'normal';
  // Whoever says no at once has billed nothing.
  openAi.next.push('500');
  const before = orders();
  expect((await draw()).job.state).toBe('done');
  expect(orders() - before).toBe(2);
});

test('what a service refuses for its words is no failure of the service', async () => {
  midjourney.scenario = 'banned';
  await Promise.all(
    Array.from({ length: 6 }, async () => {
      const { job } = await paint(client, '不好的词', { model: 'midjourney' });
      expect(job).toMatchObject({ state: 'error', error_code: 1427, deduct_tokens: 0 });
      // Whoever knows the documents alone reads the failure there.
      expect(await client.raw('imageProgress', { request_id: job.uuid })).toMatchObject({
        status: 200,
        code: 1427,
        message: job.error_message,
        data: { result: { progress: expect.any(Number), current_image: '' } },
      });
    }),
  );
  midjourney.scenario = 'normal';
});

test('Midjourney’s four pictures are four, and each can be gone on with', async () => {
  const { sent, job, message } = await paint(client, '桥上的喜鹊 --ar 1:1', {
    model: 'midjourney',
  });
  expect(job).toMatchObject({ state: 'done', deduct_tokens: 8000 });
  const { images, actions } = replyOf(message);
  const colours = await Promise.all(
    images.map(async ({ url }) => {
      const response = await fetch(server.baseURL + url);
      return colourOf(Buffer.from(await response.arrayBuffer()));
    }),
  );
  expect(colours).toEqual([...gridColours]);
  const order = (label: string) => {
    const action = actions.find((each) => each.label === label);
    const parameters = { action, image_id: images[0]?.id };
    return { uuid: sent.uuid, task: 'action', image: { parameters } } as const;
  };
  const press = async (label: string) => {
    const { begun, job: done, message: answer } = await paint(client, label, order(label));
    expect(replyOf(answer).images).toHaveLength(done.deduct_tokens / 2000);
    return [begun.held_tokens, done.deduct_tokens];
  };
  expect(await press('变体 1')).toEqual([8000, 8000]);
  expect(midjourney.asked.at(-1)?.body['customId']).toMatch(/^MJ::JOB::variation::1::/);
  // Whoever has the price of one can make one of them large, and no more than that.
  const database = new pg.Client({ connectionString: server.databaseUrl });
  await database.connect();
  const { id } = await client.call('userInfo', {});
  const have = (tokens: number) =>
    database.query('UPDATE wallets SET balance = $1 WHERE user_id = $2', [tokens, id]);
  await have(2000);
  expect(await press('放大 3')).toEqual([2000, 2000]);
  expect((await client.call('userInfo', {})).chatgpt_balance).toBe(0);
  await have(7999);
  const { historyId } = await sendPicture(client, '变体 2', order('变体 2'));
  const refused = (of: number) =>
    client.raw('generateImage', { history_id: of, request_id: randomUUID() });
  expect((await refused(historyId)).code).toBe(1025);
  await have(1_000_000);
  // A service has buttons for everybody’s works: what was not offered is not pressed.
  const action = { hash: 'MJ::CancelJob::ByJobid::1', emoji: '', label: '放大 1' };
  const foreign = await sendPicture(client, '放大 1', {
    ...order('放大 1'),
    image: { parameters: { action, image_id: images[0]?.id } },
  });
  expect((await refused(foreign.historyId)).code).toBe(codes.job_unsuitable.code);
  await database.end();
});

test('a work that was ordered is collected by another process when the first one is killed', async () => {
  midjourney.scenario = 'endless';
  midjourney.asked.length = 0;
  // What was looked at is the order that follows, not one before.
  midjourney.tasks.clear();
  const sent = await sendPicture(client, '喜鹊飞过山岗', { model: 'midjourney' });
  const { uuid } = await generate(client, sent.historyId);
  const looks = () => [...midjourney.tasks.values()].at(-1)?.looks ?? 0;
  await expect.poll(looks, { timeout: 10_000 }).toBeGreaterThan(1);
  await server.kill9();
  for (const task of midjourney.tasks.values()) task.scenario = 'normal';
  midjourney.scenario = 'normal';
  const { databaseUrl, dataDir } = server;
  server = await startServer({ env, databaseUrl, dataDir });
  const again = new TestClient(server.baseURL, client.token);
  const job = await ended(again, uuid, 60_000);
  expect(job).toMatchObject({ state: 'done', deduct_tokens: 8000 });
  expect(replyOf(await messageOf(again, sent)).images).toHaveLength(4);
  // Ordered once, paid once.
  expect(midjourney.asked.filter(({ path }) => path.endsWith('/imagine'))).toHaveLength(1);
}, 90_000);
