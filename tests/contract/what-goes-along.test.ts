import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import type { StructuredMessage } from '#contract/chat.ts';
import { limits } from '#contract/limits.ts';
import { estimateTokens } from '#contract/price.ts';
import { TestClient } from '../support/client.ts';
import { stageWithModels } from '../support/stage.ts';
import { onePixel } from '../support/world.ts';

/** Pictures, files, scenarios and knowledge bases: what a model gets beside the question. */

const here = stageWithModels('gpt-4o-mock,mock-blind');
let person: TestClient;

beforeAll(async () => {
  person = await TestClient.register(here.server.baseURL);
});

const picture = async (client = person) =>
  (await client.upload('uploadImage', new Blob([onePixel], { type: 'image/png' }), 'a.png')).image;
const textFile = async (text: string, client = person) =>
  (await client.upload('uploadFile', new Blob([text], { type: 'text/plain' }), '笔记.txt')).file;
const start = async (input: Record<string, unknown> = {}) =>
  (await person.call('newSession', { type: 0, model: 'gpt-4o-mock', ...input })).uuid;
const ask = async (uuid: string, message: Partial<StructuredMessage>, more = {}) => {
  const input = { session_id: uuid, format: 1 as const, msg: JSON.stringify(message), ...more };
  const sent = await person.call('sendMessage', input);
  await person.read(uuid, sent.id);
  return sent;
};
const last = () => here.mock.lastRequest?.messages.at(-1)?.content;
const rows = async (uuid: string) => (await person.call('historyList', { session_id: uuid })).list;

test('pictures go to a model that sees, cost their tokens, and stay with the conversation', async () => {
  const uuid = await start();
  const { url } = await picture();
  await ask(uuid, {
    prompt: '[[mock no-usage]] 这是什么',
    images: [url, url, 'https://example.com/b.png'],
    image_detail: 'high',
  });
  expect(last()).toEqual([
    // No service is sent an address: what this server cannot read is told in words.
    { type: 'text', text: '[[mock no-usage]] 这是什么\n\n（这里有一张读不到的图片）' },
    ...[url, url].map(() => ({
      type: 'image_url',
      image_url: { url: expect.stringMatching(/^data:image\/\w+;base64,/), detail: 'high' },
    })),
  ]);
  const [row] = await rows(uuid);
  expect(JSON.parse(row?.human ?? '')).toMatchObject({
    type: 'chat-vision',
    images: [url, url, 'https://example.com/b.png'],
  });
  expect(row?.prompt_tokens).toBeGreaterThan(2 * limits.imageTokens.high);
  await person
    .call('sendMessage', { session_id: uuid, msg: '左边呢' })
    .then(({ id }) => person.read(uuid, id));
  const earlier = here.mock.lastRequest?.messages[0]?.content;
  expect(Array.isArray(earlier) && earlier).toHaveLength(3);
});

test('a picture alone is a question, also the first; a blind model refuses it', async () => {
  const { url } = await picture();
  const uuid = await start();
  await ask(uuid, { prompt: '', images: [url] });
  expect((await person.call('getSession', { uuid })).prompt).toBe('[图片或文件]');
  const blind = await start({ model: 'mock-blind' });
  const msg = JSON.stringify({ prompt: '这是什么呢', images: [url] });
  const input = { session_id: blind, format: 1, msg };
  expect((await person.raw('sendMessage', input)).code).toBe(1421);
  const beside = { ...input, session_id: uuid, beside: 'mock-blind' };
  expect((await person.raw('sendMessage', beside)).code).toBe(1421);
  expect(await rows(blind)).toEqual([]);
});

test('only pictures and files that are there, and are one’s own, go along', async () => {
  const uuid = await start();
  const other = await TestClient.register(here.server.baseURL);
  const { uuid: foreign } = await textFile('别人的文字', other);
  for (const message of [
    { images: [`/files/${'0'.repeat(40)}.png`] },
    { images: ['/files/../../etc/passwd'] },
    { images: ['http://example.com/a.png'] },
    { images: ['javascript:alert(1)'] },
    { files: [{ uuid: foreign }] },
    { files: [{ uuid: randomUUID() }] },
  ]) {
    const msg = JSON.stringify({ prompt: '看看这个', ...message });
    const answer = await person.raw('sendMessage', { session_id: uuid, format: 1, msg });
    expect(answer.status, msg).toBe(422);
  }
  expect(await rows(uuid)).toEqual([]);
});

test('an attached text is given with its name, as far as the model takes it', async () => {
  const uuid = await start();
  const file = await textFile(`开头${'正文'.repeat(60_000)}结尾`);
  await ask(uuid, {
    prompt: '[[mock context]] 总结一下',
    files: [{ uuid: file.uuid, name: '假名', size: 1 }],
  });
  const text = JSON.stringify(last());
  expect(text).toContain('笔记.txt');
  expect(text).toContain('开头正文');
  expect(text).not.toContain('结尾');
  expect(text.length).toBeLessThan(limits.defaultMaxPrompt + 500);
  const [row] = await rows(uuid);
  const { files } = JSON.parse(row?.human ?? '{}') as StructuredMessage;
  expect(files).toEqual([
    {
      uuid: file.uuid,
      name: '笔记.txt',
      size: file.size,
      chars: file.chars,
      tokens: file.tokens,
    },
  ]);
});

test('what is said to be taken for an attached text before it is sent is what is taken', async () => {
  const chinese = '鹊桥每年七月初七才有一次，喜鹊们从各地飞来，把桥搭到天亮。'.repeat(100);
  await person.call('saveSettings', { tools: 0 });
  const english = 'The magpies come from far away to build the bridge for one night. '.repeat(50);
  for (const text of [chinese, english]) {
    const file = await textFile(text);
    const prompt = '[[mock no-usage]] 总结一下';
    const told = (file.tokens ?? 0) + estimateTokens(prompt);
    const uuid = await start();
    await ask(uuid, { prompt, files: [{ uuid: file.uuid, name: '', size: 0 }] });
    const [row] = await rows(uuid);
    expect(row?.prompt_tokens).toBeGreaterThan(told * 0.95);
    expect(row?.prompt_tokens).toBeLessThan(told * 1.05);
    expect(row?.deduct_tokens).toBeGreaterThan(told);
  }
});

test('a scenario’s text is put around the question, and again when it is answered anew', async () => {
  const { list } = await person.call('scenarioList', {});
  const scenario = list.find(({ prompt }) => prompt.includes('{{input}}')) ?? list[0];
  const uuid = await start({ scenario_id: scenario?.id });
  const question = { session_id: uuid, msg: '今天天气很好', with_template: 1 } as const;
  const { id } = await person.call('sendMessage', question);
  await person.read(uuid, id);
  const filled = last();
  expect(filled).toContain('今天天气很好');
  expect(filled?.length).toBeGreaterThan('今天天气很好'.length + 5);
  const again = await person.call('regenerateMessage', { session_id: uuid, history_id: id });
  await person.read(uuid, again.id);
  expect(last()).toBe(filled);
  expect(await rows(uuid)).toMatchObject([{ human: '今天天气很好' }]);
  await ask(uuid, { prompt: '不用模板' });
  expect(last()).toBe('不用模板');
});

test('a scenario does not make more of a question than a model takes', async () => {
  const { id } = await person.call('saveScenario', {
    name: '说很多遍',
    prompt: '{{input}}'.repeat(50),
    category: 1,
  });
  const uuid = await start({ scenario_id: id });
  const send = (msg: string) =>
    person.raw('sendMessage', { session_id: uuid, msg, with_template: 1 });
  expect(await send('鹊桥'.repeat(4_500))).toMatchObject({ code: 1411 });
  const { data } = await send('鹊桥');
  await person.read(uuid, (data as { id: number }).id);
  expect(last()).toBe('鹊桥'.repeat(50));
});

test('of a knowledge base the fitting passages go along, and of what was said before one pair', async () => {
  const uuid = await start({ embedding: 'help' });
  for (const msg of ['怎样充值余额', '怎样导出会话', '怎样分享会话'])
    await person
      .call('sendMessage', { session_id: uuid, msg, strict_mode: 1 })
      .then(({ id }) => person.read(uuid, id));
  const messages = here.mock.lastRequest?.messages ?? [];
  expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
  expect(messages[0]?.content).toMatch(/只能依据[^]*【资料 1】/);
  // The model says the question again: numbers of no source are not kept.
  const cited = await person.call('sendMessage', { session_id: uuid, msg: '怎样充值余额【1】[9]' });
  await person.read(uuid, cited.id);
  expect((await rows(uuid)).at(-1)?.ai).toMatch(/^您说：怎样充值余额\[1\]\n/);
  const { id } = await person.call('sendMessage', { session_id: uuid, msg: '讲个笑话吧' });
  await person.read(uuid, id);
  expect(here.mock.lastRequest?.messages[0]?.content).not.toContain('只能依据');
});

test('what devices saw of requests is kept, and nothing senseless', async () => {
  const stat = {
    state: 'success',
    first_time: 300,
    time: 1200,
    model: 'mock-blind',
    request_time: new Date().toISOString(),
  } as const;
  expect(await person.call('modelStat', stat)).toEqual({});
  for (const request_time of ['', 'gestern', '+275760-09-13T00:00:00.001Z', '0001-01-01T00:00:00Z'])
    expect((await person.raw('modelStat', { ...stat, request_time })).status).toBe(422);
  expect((await person.raw('modelStat', { ...stat, time: -1 })).status).toBe(422);
});
