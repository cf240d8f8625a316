import { setTimeout as sleep } from 'node:timers/promises';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Message } from '#contract/chat.ts';
import { readDocxLabel } from '#server/labels/docx.ts';
import { TestClient } from '../support/client.ts';
import { docxOf, wordXml } from '../support/sample-files.ts';
import { resultsIn, startScriptedModel, type Said } from '../support/scripted-model.ts';
import { ADMIN_PASSWORD, makeDatabase, startServer, type TestServer } from '../support/server.ts';
import { freePort } from '../support/free-port.ts';
import { scratchFolder } from '../support/scratch.ts';
import { rmSync } from 'node:fs';

let wanted: { name: string; arguments: object }[] = [];
/** Before a translation is answered, ms. */
let slow = 0;
let translations = 0;
let model: Awaited<ReturnType<typeof startScriptedModel>>;
let server: TestServer;
let start: () => Promise<TestServer>;
const dataDir = scratchFolder('translate-tool');
let person: TestClient;

beforeAll(async () => {
  model = await startScriptedModel((body): Said => {
    const [system, asked] = body.messages;
    if (typeof system?.content === 'string' && system.content.startsWith('你是专业译者')) {
      translations += 1;
      const lines = (typeof asked?.content === 'string' ? asked.content : '').split('\n');
      return { text: lines.map((line) => `${line}〔译〕`).join('\n'), pauseMs: slow };
    }
    return resultsIn(body).length === 0 && body.tools
      ? { calls: wanted }
      : { text: `给您：${resultsIn(body).join('\n')}` };
  });
  const databaseUrl = await makeDatabase();
  const port = await freePort();
  start = () =>
    startServer({
      databaseUrl,
      dataDir,
      port,
      env: {
        OPENAI_BASE_URL: model.baseURL,
        OPENAI_API_KEY: 'sk-test',
        OPENAI_MODELS: 'deepseek-scripted',
      },
    });
  server = await start();
  person = await TestClient.register(server.baseURL);
  const manager = new TestClient(server.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  const { id } = await person.call('userInfo', {});
  await manager.call('updateTokens', { user_id: id, tokens: 900_000, remarks: '试', add: 1 });
});
afterAll(async () => {
  await server.stop();
  await model.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const ended = async (uuid: string, id: number, client = person): Promise<Message> => {
  for (;;) {
    const { list } = await client.call('historyList', { session_id: uuid });
    const message = list.find((each) => each.id === id);
    if (!message) throw new Error('the message is gone');
    if (message.state !== 'streaming') return message;
    await sleep(50);
  }
};

const attach = async (name: string, data: Buffer, client = person) => {
  const blob = new Blob([new Uint8Array(data)]);
  const { file } = await client.upload('uploadFile', blob, name);
  const { uuid, size, chars } = file;
  return { uuid, name, size, chars };
};

const ask = async (
  uuid: string,
  prompt: string,
  files: Awaited<ReturnType<typeof attach>>[] = [],
) => {
  const msg = JSON.stringify({ prompt, files });
  const { id } = await person.call('sendMessage', { session_id: uuid, msg, format: 1 });
  return ended(uuid, id);
};

const answer = async (uuid: string, waits: Message, given: 'once' | 'no') => {
  const call_id = waits.tools![0]!.id;
  const asked = { session_id: uuid, history_id: waits.id, call_id };
  await person.call('answerTool', { ...asked, answer: given });
};

const english = ['The bridge is old.', 'Magpies built it in one night.', 'It stands still.'];
const translate = (given: object = {}) => [{ name: 'translate_file', arguments: given }];

test('a file of the talk is translated in its form, after its price was agreed to, by the work of the page', async () => {
  const { uuid } = await person.call('newSession', { type: 0, model: 'deepseek-scripted' });
  const word = await attach('桥.docx', docxOf(wordXml(english)));
  wanted = translate({ file: '桥.docx', to: 'zh' });
  const waits = await ask(uuid, '请把它译成中文', [word]);
  expect(waits.state, JSON.stringify(waits.tools)).toBe('waiting');
  const { ask: asked } = waits.tools![0]!;
  expect(asked).toMatch(/^用「.+」把“桥\.docx”译成中文，约 \d+ tokens$/);
  // To be asked takes nothing and begins nothing.
  expect(translations).toBe(0);
  expect((await person.call('translateModelList', { page: 1 })).total).toBe(0);

  const before = (await person.call('userInfo', {})).chatgpt_balance;
  await answer(uuid, waits, 'once');
  const done = await ended(uuid, waits.id);
  const [call] = done.tools!;
  expect(call, call?.result).toMatchObject({ state: 'done', label: '翻译文件' });
  const [file] = call!.files!;
  expect(file?.name).toBe('桥.docx');
  const fetched = await fetch(server.baseURL + file!.url);
  const data = Buffer.from(await fetched.arrayBuffer());
  expect(data.length).toBe(file!.size);
  const words = Buffer.from(unzipSync(new Uint8Array(data))['word/document.xml']!).toString();
  for (const sentence of english) expect(words).toContain(`${sentence}〔译〕`);
  expect(readDocxLabel(data)).toMatchObject({ Label: '1' });
  // What it took is what the work took and the rounds did, and stands in the list of translations.
  const { list } = await person.call('translateModelList', { page: 1 });
  expect(list).toMatchObject([{ name: '桥.docx', private: 1, over_num: 1 }]);
  expect(before - (await person.call('userInfo', {})).chatgpt_balance).toBe(
    done.deduct_tokens - waits.deduct_tokens + list[0]!.token,
  );
  expect(call!.result).toContain(`花了 ${list[0]!.token} tokens`);
  expect(call!.result).toContain(`/translate?model_id=${list[0]!.id}`);

  // Others who read along neither see nor reach it, and nobody names another's file.
  await person.call('setSession', { session_id: uuid, private: 0 });
  const stranger = await TestClient.register(server.baseURL);
  const seen = await ended(uuid, waits.id, stranger);
  expect(JSON.stringify(seen.tools)).not.toContain(file!.url);
  await expect(stranger.call('trainModel', { model_id: list[0]!.id })).rejects.toThrow();
}, 90_000);

test('what cannot be translated is said in words, and nothing is begun', async () => {
  const { total } = await person.call('translateModelList', { page: 1 });
  const said = async (given: object, files: Awaited<ReturnType<typeof attach>>[] = []) => {
    const { uuid } = await person.call('newSession', { type: 0, model: 'deepseek-scripted' });
    wanted = translate(given);
    const { tools, state } = await ask(uuid, '请翻译', files);
    expect(state).toBe('done');
    return `${tools![0]!.state}：${tools![0]!.result}`;
  };
  const text = await attach('话.txt', Buffer.from('今天天气很好，我们去看桥。'));
  const table = await attach('表.csv', Buffer.from('a,b\n1,2\n'));
  expect(await said({})).toBe('failed：这次对话里还没有可以翻译的文件，请用户上传');
  expect(await said({}, [table])).toContain('还没有可以翻译的文件');
  expect(await said({ file: '别的.docx' }, [text])).toBe(
    'failed：这次对话里没有文件“别的.docx”，有：话.txt',
  );
  expect(await said({ to: 'fr' }, [text])).toContain('to 应是 zh 或 en');
  expect(await said({ to: 'zh' }, [text])).toContain('没有要译的英文');
  expect((await person.call('translateModelList', { page: 1 })).total).toBe(total);
}, 90_000);

test('a stop ends the translation, and a server that dies in the middle goes on with the same one', async () => {
  const long = Array.from({ length: 90 }, (_, at) => `Sentence number ${at} tells of a bridge.`);
  const file = await attach('长.txt', Buffer.from(long.join('\n\n')));
  wanted = translate();
  slow = 1500;
  const begun = async () => {
    const { uuid } = await person.call('newSession', { type: 0, model: 'deepseek-scripted' });
    const before = translations;
    const waits = await ask(uuid, '请翻译', [file]);
    await answer(uuid, waits, 'once');
    await expect.poll(() => translations, { timeout: 20_000 }).toBeGreaterThan(before);
    return { uuid, id: waits.id };
  };
  const stopped = await begun();
  await person.call('stopStream', { history_id: stopped.id });
  const over = await ended(stopped.uuid, stopped.id);
  expect(over.tools?.map(({ state }) => state)).toEqual(['stopped']);
  await expect
    .poll(async () => (await person.call('jobList', { page: 1, running: 1 })).total, {
      timeout: 20_000,
    })
    .toBe(0);

  const lost = await begun();
  await server.kill9();
  server = await start();
  slow = 0;
  const taken = await ended(lost.uuid, lost.id);
  expect(taken.tools?.[0], taken.tools?.[0]?.result).toMatchObject({ state: 'done' });
  const { list } = await person.call('translateModelList', { page: 1 });
  expect(list.filter(({ name }) => name === '长.txt')).toHaveLength(2);
  const [made] = taken.tools![0]!.files!;
  const words = await (await fetch(server.baseURL + made!.url)).text();
  for (const sentence of long) expect(words).toContain(`${sentence}〔译〕`);
}, 150_000);
