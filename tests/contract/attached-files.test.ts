import { expect, test } from 'vitest';
import type { StructuredMessage } from '#contract/chat.ts';
import { TestClient } from '../support/client.ts';
import { docxOf, pdfOf, wordXml, xlsxOf } from '../support/sample-files.ts';
import { stage } from '../support/stage.ts';

/** Files that are attached to a question, and 内置助手, which answers where no model is connected. */

const here = stage({ env: { ASSISTANT_RATE: '0' } });

const talk = async (client: TestClient) => {
  const { uuid } = await client.call('newSession', { type: 0, model: 'builtin-assistant' });
  const ask = async (prompt: string, files: Record<string, Buffer> = {}) => {
    const attached: StructuredMessage['files'] = [];
    for (const [name, data] of Object.entries(files))
      attached.push(
        (await client.upload('uploadFile', new Blob([new Uint8Array(data)]), name)).file,
      );
    const msg = JSON.stringify({ prompt, files: attached });
    const { id } = await client.call('sendMessage', { session_id: uuid, format: 1, msg });
    await client.read(uuid, id);
    const { list } = await client.call('historyList', { session_id: uuid, id });
    return list[0]?.ai ?? '';
  };
  return { uuid, ask };
};

const documents = async () => ({
  '合同.docx': docxOf(
    wordXml([
      '甲方出租位于兰州的仓库，租期三年。',
      '租金每月一万二千元。押金为两个月租金。',
      '乙方提前退租的，应当提前六十天书面通知甲方。',
    ]),
  ),
  '价目.xlsx': xlsxOf('茶叶', [
    ['茶', '每斤', '产地'],
    ['龙井', 800, '杭州'],
    ['毛峰', 450, '黄山'],
    ['瓜片', 380, '六安'],
  ]),
  '食堂.pdf': await pdfOf(['食堂早上七点开门。', '食堂中午供应三菜一汤。']),
});

test('a question about attached files is answered by their sentences with their places, now and later', async () => {
  const person = await TestClient.register(here.server.baseURL);
  const { ask } = await talk(person);
  expect(await ask('毛峰每斤多少钱？', await documents())).toMatch(
    /^> 茶：毛峰；每斤：450；产地：黄山\n>\n> —— 《价目\.xlsx》 · 表“茶叶” · 第 3 行\n\n以上是附件的原文/,
  );
  const deposit = await ask('押金是多少？');
  expect(deposit).toMatch(/^> 押金为两个月租金。\n>\n> —— 《合同\.docx》/);
  expect(deposit).not.toContain('毛峰');
  expect(await ask('食堂中午供应什么')).toContain('—— 《食堂.pdf》 · 第 2 页');
  expect(await ask('怎样给摩托车换轮胎？')).toMatch(/^附件里没有能回答这个问题的内容/);
  // Longer ago than a model reads, and what rules answer is answered by them.
  expect(await ask('3+5等于几')).toContain('**8**');
  expect(await ask('谢谢')).toContain('不客气');
  expect(await ask('提前退租要提前多少天通知？')).toContain('六十天');
  expect(await ask('这些文件有多少字？')).toContain('| 汉字 |');
});

test('of a long file all that is kept is looked through, and its end is found', async () => {
  const person = new TestClient(here.server.baseURL);
  const { ask } = await talk(person);
  const filler = Array.from({ length: 6000 }, (_, at) => `第${at}天记下了天气和路上的见闻。`);
  const text = [...filler, '仓库的备用钥匙放在门卫室的红色铁盒里。'].join('\n');
  expect(text.length).toBeGreaterThan(90_000);
  expect(await ask('备用钥匙放在哪里？', { '日记.txt': Buffer.from(text) })).toMatch(
    /红色铁盒.*\n>\n> —— 《日记\.txt》 · 第 6001 行/,
  );
});

test('nobody is quoted what another one attached', async () => {
  const person = await TestClient.register(here.server.baseURL);
  const { uuid, ask } = await talk(person);
  expect(await ask('押金是多少？', await documents())).toContain('两个月租金');
  await person.call('setSession', { session_id: uuid, private: 0 });
  const stranger = await TestClient.register(here.server.baseURL);
  const [row] = (await stranger.call('historyList', { session_id: uuid })).list;
  const taken = await stranger.call('newSession', { history_id: row?.id ?? 0 });
  const input = { session_id: taken.uuid, msg: '提前退租要提前多少天通知？' };
  const { id } = await stranger.call('sendMessage', input);
  await stranger.read(taken.uuid, id);
  const { list } = await stranger.call('historyList', { session_id: taken.uuid, id });
  expect(list[0]?.ai).not.toContain('六十天');
  expect(list[0]?.ai).not.toBe('');
});

test('the knowledge bases of a conversation are other ones from one question to the next', async () => {
  const person = await TestClient.register(here.server.baseURL);
  const { uuid, ask } = await talk(person);
  expect(await ask('怎么连接 DeepSeek？')).not.toContain('以上是知识库');
  await person.call('setSession', { session_id: uuid, embeddings: ['help'] });
  expect((await person.call('getSession', { uuid })).bases).toMatchObject([{ key: 'help' }]);
  expect(await ask('怎么连接 DeepSeek？')).toContain('以上是知识库');
  const other = await TestClient.register(here.server.baseURL);
  await other.call('newTrainModel', { name: '私房', key: 'own_recipes', type: 0 });
  for (const embeddings of [['nowhere'], ['help', 'own_recipes']])
    expect((await person.raw('setSession', { session_id: uuid, embeddings })).code).toBe(1415);
  expect((await other.raw('setSession', { session_id: uuid, embeddings: [] })).code).not.toBe(0);
  await person.call('setSession', { session_id: uuid, embeddings: [] });
  expect((await person.call('getSession', { uuid })).embedding_key).toBe('');
  expect(await ask('怎么连接 DeepSeek？')).not.toContain('以上是知识库');
  const pictures = await person.call('newSession', { type: 1 });
  const wrong = { session_id: pictures.uuid, embeddings: ['help'] };
  expect((await person.raw('setSession', wrong)).message).toContain('知识库');
});
