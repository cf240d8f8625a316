import { randomUUID } from 'node:crypto';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readPngText } from '#server/labels/png-text.ts';
import { TestClient } from '../support/client.ts';
import { exported } from '../support/exports.ts';
import {
  ended,
  followJobs,
  generate,
  messageOf,
  newPictures,
  paint,
  replyOf,
  sendPicture,
} from '../support/images.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let client: TestClient;
beforeAll(async () => {
  server = await startServer();
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
    image: { n: 2, size: undefined, parameters: { seed: 7 } },
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
  const { job, sent } = await paint(client, '竹林里的小路 --seed 7');
  expect(job.title).toBe('竹林里的小路');
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
  const [picture] = (await messageOf(client, sent)).made?.images ?? [];
  expect(mine.list[0]?.image).toBe(picture?.url);
  await client.call('deleteImage', { image_id: picture?.id ?? 0 });
  expect((await client.call('jobList', {})).list[0]?.image).toBeUndefined();
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
  const wrong = await client.raw('newSession', { type: 1, model: 'nobody-knows' });
  expect(wrong.code).toBe(1413);
  // A chat’s model is none that paints: then as if none were named.
  const { uuid } = await newPictures(client, 'builtin-assistant');
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

const upload = async (who: TestClient, side = 400): Promise<string> => {
  const data = await sharp({
    create: { width: side, height: side / 2, channels: 3, background: '#c2410c' },
  })
    .png()
    .toBuffer();
  const file = new Blob([new Uint8Array(data)], { type: 'image/png' });
  return (await who.upload('uploadImage', file, 'a.png')).image.url;
};

test('from a picture comes a picture; one’s uploads and own pictures can be chosen', async () => {
  const url = await upload(client);
  expect((await client.call('uploadedFiles', {})).list[0]).toMatchObject({ url, size: '400x200' });
  const first = await paint(client, '同一处的雪景', {
    task: 'img2img',
    image: { base_image: url, strength: 40, resize_mode: 1, n: 1, size: 1 },
  });
  const [made] = replyOf(first.message).images;
  expect(made).toMatchObject({ width: 512, height: 512, error: '' });
  const large = await paint(client, '', {
    uuid: first.sent.uuid,
    task: 'upscale',
    image: { base_image: made?.url ?? '', parameters: { resize: 2 } },
  });
  expect(replyOf(large.message).images).toMatchObject([{ width: 1024, height: 1024 }]);
  const words = await client.call('interrogateImage', { image_id: made?.id ?? 0 });
  expect(words.result_cn).toMatch(/\p{Script=Han}/u);
  const look = { model: 'builtin-canvas', controlnet_image_url: made?.url ?? '' };
  const lines = await client.call('controlnetDetect', { ...look, controlnet_module: 'Canny' });
  expect(lines.image_base64).toMatch(/^data:image\/png;base64,/);
  const blank = await client.raw('controlnetDetect', { ...look, controlnet_module: '' });
  expect(blank.message).toContain('请选择构图控制模型');
});

test('a base picture of another shape is stretched, cropped, filled up at its sides or enlarged', async () => {
  // A green field between a red and a blue edge, twice as wide as high.
  const edge = (background: string) => ({
    create: { width: 160, height: 400, channels: 3 as const, background },
  });
  const field = sharp({ create: { width: 800, height: 400, channels: 3, background: '#16a34a' } });
  const data = await field
    .composite([
      { input: edge('#dc2626'), left: 0, top: 0 },
      { input: edge('#2563eb'), left: 640, top: 0 },
    ])
    .png()
    .toBuffer();
  const file = new Blob([new Uint8Array(data)], { type: 'image/png' });
  const { image } = await client.upload('uploadImage', file, 'a.png');
  const places = { left: [12, 256], middle: [256, 256], right: [500, 256], top: [12, 8] } as const;
  const coloursOf = async (resize_mode: number) => {
    const { message } = await paint(client, '草地', {
      task: 'img2img',
      image: { base_image: image.url, strength: 1, resize_mode, n: 1, size: 1 },
    });
    const [made] = replyOf(message).images;
    const answer = await fetch(server.baseURL + (made?.url ?? ''));
    const { data: rgb, info } = await sharp(await answer.arrayBuffer())
      .removeAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect([info.width, info.height]).toEqual([512, 512]);
    return Object.fromEntries(
      Object.entries(places).map(([name, [x, y]]) => {
        const [red = 0, green = 0, blue = 0] = rgb.subarray((y * info.width + x) * 3);
        const most = Math.max(red, green, blue);
        return [name, most === red ? 'red' : most === green ? 'green' : 'blue'];
      }),
    );
  };
  const whole = { left: 'red', middle: 'green', right: 'blue' };
  expect(await coloursOf(0)).toEqual({ ...whole, top: 'red' });
  const cropped = { left: 'green', middle: 'green', right: 'green', top: 'green' };
  expect(await coloursOf(1)).toEqual(cropped);
  // All of it in the middle, and above it what a crop shows, out of focus.
  expect(await coloursOf(2)).toEqual({ ...whole, top: 'green' });
  expect(await coloursOf(3)).toEqual({ ...whole, top: 'red' });
});

test('pictures that are not there, not public, or not one’s own are refused', async () => {
  const { uuid } = await newPictures(client);
  const send = (image: object, type = 'img2img') =>
    client.raw('sendMessage', {
      session_id: uuid,
      msg: JSON.stringify({ type, prompt: '一座小桥', image }),
      format: 1,
    });
  for (const base_image of [`/files/${'0'.repeat(40)}.png`, 'file:///etc/passwd', '/etc/passwd']) {
    expect((await send({ base_image })).status, base_image).toBe(422);
  }
  // Of the web: fetched when it is painted, by the guarded way alone.
  for (const base_image of ['http://127.0.0.1:9/a.png', 'http://169.254.169.254/latest/a.png']) {
    const { data } = (await send({ base_image })) as { data: { id: number } };
    const { uuid: job } = await generate(client, data.id);
    expect(await ended(client, job), base_image).toMatchObject({
      state: 'error',
      error_code: 1418,
      deduct_tokens: 0,
    });
    const look = await client.raw('interrogateImage', { image_url: base_image });
    expect(look.code).toBe(1418);
  }
  const other = await TestClient.register(server.baseURL);
  const { list } = await client.call('privateImages', {});
  const foreign = await other.raw('interrogateImage', { image_id: list[0]?.id });
  expect(foreign.status).toBe(404);
});

test('what a model cannot do is refused before anything begins', async () => {
  const sent = await sendPicture(client, '加上构图控制', {
    image: { controlnet_image: await upload(client), controlnet_module: '' },
  });
  const answer = await client.raw('generateImage', {
    history_id: sent.historyId,
    request_id: randomUUID(),
  });
  expect(answer.status).toBe(422);
  expect(answer.message).toContain('请选择构图控制模型');
  const tooShort = await client.raw('sendMessage', {
    session_id: sent.uuid,
    msg: JSON.stringify({
      type: 'edit',
      prompt: '改',
      image: { base_image: await upload(client) },
    }),
    format: 1,
  });
  expect(tooShort.code).toBe(1412);
  // A brush that no hand paints with: half a point, outside, more than there is room for.
  const mask = { left: 0, top: 0, width: 9, height: 9 };
  const line = (count: number) => Array.from({ length: count }, () => 1);
  for (const brush of [
    [{ size: 3, points: [1, 2, 3] }],
    [{ size: 3, points: [-1, 2] }],
    [{ size: '3"/><image href="x"', points: [1, 2] }],
    [
      { size: 3, points: line(4002) },
      { size: 3, points: line(4002) },
    ],
    [],
  ]) {
    const refused = await client.raw('sendMessage', {
      session_id: sent.uuid,
      msg: JSON.stringify({
        type: 'edit',
        prompt: '一朵花',
        image: { parameters: { mask, brush } },
      }),
      format: 1,
    });
    expect(refused.status).toBe(422);
  }
});

test('plain words are read with their syntax', async () => {
  const { uuid } = await newPictures(client);
  const { id } = await client.call('sendMessage', {
    session_id: uuid,
    msg: '荷塘月色 --strength 30 --foo bar',
  });
  const { uuid: job } = await generate(client, id, { n: 1, size: 0 });
  expect(await ended(client, job)).toMatchObject({ state: 'done' });
  expect(replyOf(await messageOf(client, { uuid, historyId: id })).prompt).toBe('荷塘月色');
  // The session is called by what was asked for, not by how.
  expect((await client.call('getSession', { uuid })).prompt).toBe('荷塘月色');
});

test('readers of a public session see the pictures and nothing of their cost', async () => {
  const { sent, message } = await paint(client, '公开的一幅画', { image: { n: 1, size: 0 } });
  await client.call('setSession', { session_id: sent.uuid, private: 0 }).catch(() => null);
  const other = await TestClient.register(server.baseURL);
  const session = await client.call('getSession', { uuid: sent.uuid });
  if (session.private === 0) {
    const seen = await messageOf(other, sent);
    expect(replyOf(seen).images).toEqual(replyOf(message).images);
    expect(seen).toMatchObject({ job: null, deduct_tokens: 0 });
    await other.call('historyLike', { session_id: sent.uuid, history_id: sent.historyId });
    await other.call('addToFavorites', { session_id: sent.uuid, history_id: sent.historyId });
  }
  const { key } = await client.call('shareSession', { session_id: sent.uuid });
  const shared = await new TestClient(server.baseURL).call('sharedSession', { key });
  expect(shared.list[0]).toMatchObject({ ai: message.ai, job: null, deduct_tokens: 0 });
});

test('a session of pictures is found by its words, not by what surrounds its pictures', async () => {
  const { sent } = await paint(client, '独一无二的琉璃塔', { image: { n: 1, size: 0 } });
  const search = (query: string) =>
    client.call('sessionList', { channel: 'private', query }).then(({ list }) => list);
  expect((await search('琉璃塔')).map(({ uuid }) => uuid)).toEqual([sent.uuid]);
  expect(await search('revised_prompt')).toEqual([]);
  const inside = await client.call('searchMessages', { session_id: sent.uuid, query: '琉璃塔' });
  expect(inside.list).toMatchObject([{ history_id: sent.historyId, part: 'human' }]);
});

test('exports show the pictures', async () => {
  const { sent, message } = await paint(client, '要打印的画', { image: { n: 1, size: 0 } });
  const file = await exported(client, sent.uuid, 'markdown');
  const [image] = replyOf(message).images;
  expect(file.data.toString()).toContain(`](${server.baseURL}${image?.url})`);
  expect(file.data.toString()).not.toContain('"images"');
  const pdf = await exported(client, sent.uuid, 'pdf');
  expect(pdf.failed).toEqual([]);
  expect(pdf.data.toString('latin1')).toContain('/Subtype /Image');
});

test('a guest’s pictures and jobs go along when the guest registers', async () => {
  const guest = new TestClient(server.baseURL);
  const { uuid } = await newPictures(guest);
  const { job } = await paint(guest, '访客的画', { uuid, image: { n: 1, size: 0 } });
  const account = `g${randomUUID().slice(0, 12)}`;
  const answer = await guest.call('register', {
    account,
    name: '从前的访客',
    password: 'password-1',
    password2: 'password-1',
  });
  guest.token = answer.token ?? '';
  expect((await guest.call('privateImages', {})).total).toBe(1);
  expect((await guest.call('jobList', {})).list[0]?.uuid).toBe(job.uuid);
});

test('a deleted message leaves the session’s card and takes its pictures along', async () => {
  const one = await paint(client, '第一幅小画', { image: { n: 1, size: 0 } });
  const two = await paint(client, '第二幅小画', {
    uuid: one.sent.uuid,
    image: { n: 1, size: 0 },
  });
  const before = (await client.call('privateImages', {})).total;
  await client.call('deleteHistory', { session_id: one.sent.uuid, id: two.sent.historyId });
  const session = await client.call('getSession', { uuid: one.sent.uuid });
  expect(session.images).toEqual(replyOf(one.message).images.map(({ url }) => url));
  expect(session).toMatchObject({ summary: '[图片] 1 张', reply_count: 1 });
  expect((await client.call('privateImages', {})).total).toBe(before - 1);
});

test('a picture of this site is found by its whole address, too; a deleted one is no base any more', async () => {
  const photo = await sharp({
    create: { width: 200, height: 120, channels: 3, background: '#884422' },
  })
    .png()
    .toBuffer();
  const upload = () =>
    client.upload('uploadImage', new Blob([new Uint8Array(photo)], { type: 'image/png' }), 'a.png');
  const { image } = await upload();
  for (const address of [image.url, `${server.baseURL}${image.url}`]) {
    const { uuid } = await newPictures(client);
    const { id } = await client.call('sendMessage', {
      session_id: uuid,
      msg: `${address} 一座小桥 --strength 30`,
    });
    const { uuid: job } = await generate(client, id);
    expect(await ended(client, job), address).toMatchObject({ state: 'done' });
    const { images } = replyOf(await messageOf(client, { uuid, historyId: id }));
    const { info } = await client.call('imageInfo', { image_id: images[0]!.id });
    expect(info.parents.map((parent) => parent.id)).toContain(image.id);
  }
  await client.call('deleteImage', { image_id: image.id });
  const { uuid } = await newPictures(client);
  for (const address of [image.url, `${server.baseURL}${image.url}`]) {
    const said = await client.raw('sendMessage', {
      session_id: uuid,
      msg: JSON.stringify({ type: 'img2img', prompt: '一座小桥', image: { base_image: address } }),
      format: 1,
    });
    expect(said, address).toMatchObject({ status: 422 });
    expect(said.message).toContain('图片不存在');
  }
});
