import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readPngText } from '../../server/file/png-text.ts';
import { TestClient } from '../support/client.ts';
import {
  ended,
  followJobs,
  generate,
  messageOf,
  newPictures,
  paint,
  replyOf,
  sendPicture,
} from '../support/pictures.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let client: TestClient;
beforeAll(async () => {
  server = await startServer({ env: { CANVAS_SECONDS: '0' } });
  client = await TestClient.register(server.baseURL);
});
afterAll(() => server.stop());

const fileOf = async (url: string): Promise<{ data: Buffer; type: string | null }> => {
  const response = await fetch(server.baseURL + url);
  expect(response.status, url).toBe(200);
  return {
    data: Buffer.from(await response.arrayBuffer()),
    type: response.headers.get('content-type'),
  };
};

test('words become pictures: a job, then the message with pictures that carry what made them', async () => {
  const { sent, begun, job, message } = await paint(client, '雪山上的月亮', {
    image: { n: 2, parameters: { seed: 7 } },
  });
  expect(begun).toMatchObject({ kind: 'image', state: 'queued', title: '雪山上的月亮' });
  expect(job).toMatchObject({ state: 'done', progress: 1, error_code: 0, deduct_tokens: 0 });
  expect(message).toMatchObject({ state: 'done', type: 1, deduct_tokens: 0 });
  expect(message.job?.uuid).toBe(begun.uuid);
  const reply = replyOf(message);
  expect(reply.images).toHaveLength(2);
  for (const image of reply.images) {
    expect(image).toMatchObject({ width: 1024, height: 1024, error: '' });
    const { data, type } = await fileOf(image.url);
    expect(type).toBe('image/png');
    expect(readPngText(data, 'parameters')).toContain('雪山上的月亮');
    expect(readPngText(data, 'parameters')).toContain(`Seed: ${image.seed}`);
    expect((await fileOf(`${image.url}?size=128`)).type).toBe('image/webp');
  }
  const session = await client.call('getSession', { uuid: sent.uuid });
  expect(session).toMatchObject({ type: 1, prompt: '雪山上的月亮', summary: '[图片] 2 张' });
  expect(session.images).toEqual(reply.images.map(({ url }) => url).reverse());
  const made = await client.call('privateImages', {});
  expect(made.list.map(({ url }) => url)).toEqual(session.images);
});

test('the page is told of every step as it happens', async () => {
  const sent = await sendPicture(client, '海上日出');
  let begin: () => void = () => {};
  const opened = new Promise<void>((resolve) => (begin = resolve));
  const following = followJobs(client, ({ job }) => job.state === 'done', { onOpen: begin });
  await opened;
  const job = await generate(client, sent.historyId);
  const events = await following;
  expect(events.every((event) => event.job.uuid === job.uuid)).toBe(true);
  const states = events.map((event) => event.job.state);
  expect(states.at(-1)).toBe('done');
  const steps = events.map((event) => event.job.progress);
  expect(steps).toEqual([...steps].sort((a, b) => a - b));
});

test('whoever is not the owner learns nothing of a job', async () => {
  const other = await TestClient.register(server.baseURL);
  const { job, sent } = await paint(client, '竹林里的小路');
  const progress = await other.raw('imageProgress', { request_id: job.uuid });
  expect(progress.status).toBe(404);
  expect((await other.raw('cancelJob', { request_id: job.uuid })).status).toBe(404);
  const foreign = await other.raw('generateImage', {
    history_id: sent.historyId,
    request_id: randomUUID(),
  });
  expect(foreign.status).toBe(404);
  expect((await other.call('jobList', {})).list).toEqual([]);
  const mine = await client.call('jobList', {});
  expect(mine.list[0]?.uuid).toBe(job.uuid);
  expect(mine.running).toBe(0);
});

test('the same request once more is the same job, and its number is good for no other', async () => {
  const sent = await sendPicture(client, '一座红色的桥');
  const request_id = randomUUID();
  const [first, second] = await Promise.all([
    client.call('generateImage', { history_id: sent.historyId, request_id }),
    client.call('generateImage', { history_id: sent.historyId, request_id }),
  ]);
  expect(second.job.uuid).toBe(first.job.uuid);
  await ended(client, request_id);
  const other = await sendPicture(client, '另一座红色的桥');
  const taken = await client.raw('generateImage', { history_id: other.historyId, request_id });
  expect(taken.status).toBe(409);
  const again = await client.raw('generateImage', {
    history_id: sent.historyId,
    request_id: randomUUID(),
  });
  expect(again.code).toBe(1422);
  expect((await messageOf(client, sent)).state).toBe('done');
});

test('a session of pictures takes pictures’ models alone and no chat’s ways', async () => {
  const wrong = await client.raw('newSession', { type: 1, model: 'builtin-assistant' });
  expect(wrong.code).toBe(1413);
  const { uuid } = await newPictures(client);
  expect((await client.call('getSession', { uuid })).model).toBe('builtin-canvas');
  const empty = await client.raw('sendMessage', {
    session_id: uuid,
    msg: JSON.stringify({ type: 'txt2img', prompt: '  ' }),
    format: 1,
  });
  expect(empty.status).toBe(422);
  expect(empty.message).toContain('请输入画图提示内容');
  const sent = await sendPicture(client, '一朵白色的云', { uuid });
  for (const call of ['retryMessage', 'regenerateMessage'] as const) {
    const answer = await client.raw(call, { session_id: uuid, history_id: sent.historyId });
    expect(answer.code, call).toBe(1422);
  }
});
