import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import { type MockMidjourney, startMockMidjourney } from '../support/mock-midjourney.ts';
import { type MockOpenAiImages, startMockOpenAiImages } from '../support/mock-openai-images.ts';
import { type MockSdWebui, startMockSdWebui } from '../support/mock-sd-webui.ts';
import { ended, generate, paint, replyOf, sendPicture } from '../support/images.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** Services of pictures that are silent, full, or say nothing of how far they are. */

const silence = 3;
let images: MockOpenAiImages;
let midjourney: MockMidjourney;
let webui: MockSdWebui;
let server: TestServer;
let client: TestClient;

beforeAll(async () => {
  images = await startMockOpenAiImages({});
  midjourney = await startMockMidjourney();
  webui = await startMockSdWebui();
  server = await startServer({
    env: {
      OPENAI_BASE_URL: `${images.url}/v1`,
      OPENAI_API_KEY: 'sk-test',
      OPENAI_MODELS: 'dall-e-2,sd3.5-large',
      MJ_PROXY_URL: midjourney.url,
      SD_WEBUI_URL: webui.url,
      IMAGE_SILENCE_SECONDS: String(silence),
      SIGNUP_TOKENS: '1000000',
      CANVAS_SECONDS: '0',
    },
  });
  client = await TestClient.register(server.baseURL);
});
afterAll(async () => {
  await server?.stop();
  await images.close();
  await midjourney.close();
  await webui.close();
});

test('one that never answers is given up after its time, and the next try paints; nobody is told a time that is a guess', async () => {
  for (let at = 0; at < 3; at += 1)
    expect((await paint(client, '一座桥', { model: 'dall-e-2', image: { n: 1 } })).job.state).toBe(
      'done',
    );
  images.next.push('endless');
  const sent = await sendPicture(client, '画不完的画', { model: 'dall-e-2', image: { n: 1 } });
  const begun = Date.now();
  const { uuid } = await generate(client, sent.historyId);
  await sleep(silence * 500);
  const { job } = await client.call('imageProgress', { request_id: uuid });
  expect(job).toMatchObject({ state: 'running', progress: 0, remaining: null });
  expect(await ended(client, uuid)).toMatchObject({ state: 'done' });
  expect(Date.now() - begun).toBeLessThan(silence * 1000 + 8_000);
  expect(images.hungUp).toBeGreaterThan(0);
});

test('a full queue is waited for: no try is used up, and the pictures come', async () => {
  midjourney.scenario = 'full';
  const sent = await sendPicture(client, '一座小桥', { model: 'midjourney' });
  const { uuid } = await generate(client, sent.historyId);
  await sleep(2_500);
  const { job } = await client.call('imageProgress', { request_id: uuid });
  expect(job).toMatchObject({ state: 'queued', finished_at: null });
  midjourney.scenario = 'normal';
  expect(await ended(client, uuid)).toMatchObject({ state: 'done', error_code: 0 });
});

test('a work that stands still is given up and cancelled at its service', async () => {
  midjourney.scenario = 'endless';
  const before = midjourney.cancels;
  const sent = await sendPicture(client, '一座小桥', { model: 'midjourney' });
  const { uuid } = await generate(client, sent.historyId);
  for (let waited = 0; waited < 20_000 && midjourney.cancels === before; waited += 100)
    await sleep(100);
  expect(midjourney.cancels).toBeGreaterThan(before);
  midjourney.scenario = 'normal';
  expect(await ended(client, uuid)).toMatchObject({ state: 'done' });
});

test('a webui that stands still in the middle is told to stop, and its place is free for the next', async () => {
  webui.scenario = 'endless';
  const stuck = await sendPicture(client, 'a stone bridge', {
    model: 'stable-diffusion',
    image: { n: 1 },
  });
  const { uuid } = await generate(client, stuck.historyId);
  const other = await TestClient.register(server.baseURL);
  const waits = await sendPicture(other, 'a small boat', {
    model: 'stable-diffusion',
    image: { n: 1 },
  });
  const next = await generate(other, waits.historyId);
  await expect.poll(() => webui.interrupts, { timeout: 20_000 }).toBeGreaterThan(0);
  webui.scenario = 'normal';
  expect(await ended(other, next.uuid)).toMatchObject({ state: 'done', error_code: 0 });
  expect(await ended(client, uuid)).toMatchObject({ state: 'done', error_code: 0 });
  expect(webui.running).toBe(0);

  // It breaks off in the middle of its answer, as one does that is ended: tried again, paid once.
  webui.scenario = 'cut';
  const before = (await client.call('userInfo', {})).chatgpt_balance;
  const broken = await sendPicture(client, 'a lantern', {
    model: 'stable-diffusion',
    image: { n: 1 },
  });
  const asked = webui.asked.length;
  const { uuid: again } = await generate(client, broken.historyId);
  await expect.poll(() => webui.asked.length, { timeout: 10_000 }).toBeGreaterThan(asked);
  webui.scenario = 'normal';
  const job = await ended(client, again);
  expect(job).toMatchObject({ state: 'done' });
  expect(before - (await client.call('userInfo', {})).chatgpt_balance).toBe(job.deduct_tokens);
  expect(job.deduct_tokens).toBeGreaterThan(0);
});

test('of a fixed seed no picture is ordered twice: each has the next', async () => {
  // What it costs is paid for different pictures alone.
  images.asked.length = 0;
  const { message } = await paint(client, 'a bridge', {
    model: 'sd3.5-large',
    image: { n: 2, parameters: { seed: 41 } },
  });
  expect(replyOf(message).images).toHaveLength(2);
  const seeds = images.asked.flatMap(({ fields }) =>
    fields['seed'] === undefined ? [] : [Number(fields['seed'])],
  );
  expect(seeds.sort((a, b) => a - b)).toEqual([41, 42]);
});
