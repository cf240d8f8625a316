import sharp from 'sharp';
import { beforeAll, expect, test } from 'vitest';
import { joined, TestClient } from '../support/client.ts';
import { noise } from '../support/sample-files.ts';
import { stageWithModels } from '../support/stage.ts';

/** What pictures and attached files are when they reach a model. */

const here = stageWithModels('gpt-4o,deepseek-chat');
let client: TestClient;

beforeAll(async () => {
  client = await TestClient.register(here.server.baseURL);
});

const send = async (model: string, message: Record<string, unknown>): Promise<string> => {
  const { uuid } = await client.call('newSession', { type: 0, model });
  const { id } = await client.call('sendMessage', {
    session_id: uuid,
    msg: JSON.stringify(message),
    format: 1,
  });
  return joined(await client.read(uuid, id)).text;
};

const picture = async () => {
  const data = await noise(1600, 1200);
  const { image } = await client.upload('uploadImage', new Blob([new Uint8Array(data)]), 'a.jpg');
  return image;
};

test('a model that sees gets the pictures themselves, smaller where less detail is wanted', async () => {
  const { url } = await picture();
  for (const [detail, side] of [
    ['high', 1600],
    ['low', 768],
  ] as const) {
    await send('gpt-4o', {
      type: 'chat-vision',
      prompt: '这张图片里有什么？',
      images: [url, 'https://example.com/b.png'],
      image_detail: detail,
    });
    const [own, ...others] = here.mock.lastPictures;
    expect(own).toMatchObject({ mime: 'image/jpeg', detail });
    expect((await sharp(own?.data).metadata()).width).toBe(side);
    // Whatever lies at an address is fetched by this server, or not at all.
    expect(others).toEqual([]);
    const told = JSON.stringify(here.mock.lastRequest);
    expect(told).not.toContain('example.com');
    expect(told).toContain('读不到的图片');
  }
});

test('a picture of this server is meant by its whole address, too; others must be public', async () => {
  const { url } = await picture();
  const whole = `${here.server.baseURL}${url}?x=1`;
  await send('gpt-4o', { type: 'chat-vision', prompt: '这是什么？', images: [whole] });
  expect(here.mock.lastPictures).toEqual([expect.objectContaining({ mime: 'image/jpeg' })]);
  const { uuid } = await client.call('newSession', { type: 0, model: 'gpt-4o' });
  const images = ['http://example.com/a.png'];
  const msg = JSON.stringify({ type: 'chat-vision', prompt: '这是什么？', images });
  const refused = await client.raw('sendMessage', { session_id: uuid, msg, format: 1 });
  expect(refused.message).toContain('图片地址要能公开访问（https）');
});

test('a text reaches a model as text, with its name', async () => {
  const { file } = await client.upload('uploadFile', new Blob(['芝麻开门']), '口令.txt');
  await send('deepseek-chat', { prompt: '口令是什么？', files: [{ uuid: file.uuid }] });
  const content = here.mock.lastRequest?.messages.at(-1)?.content;
  expect(content).toEqual(expect.any(String));
  expect(content).toContain('口令是什么？');
  expect(content).toContain('附件《口令.txt》的内容：\n\n芝麻开门');
});

test('the built-in assistant reads the text and says that it cannot see', async () => {
  const { file } = await client.upload('uploadFile', new Blob(['第一行\n第二行']), '笔记.txt');
  const said = await send('builtin-assistant', {
    prompt: '有多少行？',
    files: [{ uuid: file.uuid }],
  });
  expect(said).toContain('| 行 | 2 |');
});

test.each([
  ['a picture that is not there', { images: [`/files/${'0'.repeat(40)}.png`] }],
  ['a picture by another way', { images: ['file:///etc/passwd'] }],
  ['a picture of the inside', { images: ['http://127.0.0.1/a.png'] }],
  ['a text that is not there', { files: [{ uuid: '00000000-0000-4000-8000-000000000000' }] }],
])('%s is refused', async (_what, more) => {
  await expect(send('gpt-4o', { prompt: '看看这个', ...more })).rejects.toThrow('422');
});

test('a text of somebody else is as if missing', async () => {
  const other = await TestClient.register(here.server.baseURL);
  const { file } = await other.upload('uploadFile', new Blob(['秘密']), 'a.txt');
  await expect(
    send('gpt-4o', { prompt: '看看这个', files: [{ uuid: file.uuid }] }),
  ).rejects.toThrow('422');
});
