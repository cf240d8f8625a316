import type { Page } from '@playwright/test';
import pg from 'pg';
import { expect, foreignServer, test } from '#tests/support/app.ts';
import { TestClient } from '#tests/support/client.ts';
import { fillTalk } from '#tests/support/fill-talk.ts';
import { startMcpBehindOAuth } from '#tests/support/mcp-oauth.ts';
import { startMcpServer } from '#tests/support/mcp-server.ts';
import {
  resultsIn,
  startScriptedModel,
  type Said,
  type SentBody,
} from '#tests/support/scripted-model.ts';
import { startServer, type TestServer } from '#tests/support/server.ts';

test.skip(foreignServer, 'needs a server of its own');
// Each has a server of its own.
test.describe.configure({ timeout: 150_000 });

const see = async (page: Page, name: string) => {
  const shot = process.env['SHOTS'];
  if (!shot) return;
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.waitForTimeout(300);
    const path = `${shot}-${name}-${colorScheme}.png`;
    await page.screenshot({ path, animations: 'disabled' });
  }
};

const serverWith = async (
  script: (body: SentBody) => Said,
  allowed = '',
  models = 'deepseek-scripted',
) => {
  const model = await startScriptedModel(script);
  const server = await startServer({
    env: {
      OPENAI_BASE_URL: model.baseURL,
      OPENAI_API_KEY: 'sk-test',
      OPENAI_MODELS: models,
      FETCH_ALLOWED: allowed,
    },
  });
  const end = async () => {
    await server.stop();
    await model.close();
  };
  return { server, end, bodies: model.bodies };
};

test('a picture is drawn, changed, filmed and words are read aloud, where it is spoken of', async ({
  app,
  page,
  person,
}) => {
  const { server, end } = await serverWith(() => ({ text: '好的' }));
  try {
    const client = await TestClient.register(server.baseURL);
    await app.enterAs({ ...person, client });
    const { uuid } = await client.call('newSession', { type: 0, model: 'builtin-assistant' });
    await page.goto(`${server.baseURL}/chat?uuid=${uuid}`);
    const card = (name: string) =>
      app.log.getByRole('listitem').filter({ has: page.getByRole('button', { name }) });
    await app.say('画一只在雪地里的猫');
    await expect(card('画图').getByRole('button', { name: /看第/ })).toBeVisible({
      timeout: 40_000,
    });
    await app.settled();
    await app.say('把它改成蓝色的猫');
    await expect(card('改图').getByRole('button', { name: /看第/ })).toBeVisible({
      timeout: 40_000,
    });
    await app.settled();
    await see(page, 'changed');
    await app.say('让它动起来');
    const film = card('做视频').getByLabel('视频.webm').or(card('做视频').getByLabel('视频.mp4'));
    await expect(film.first()).toBeVisible({ timeout: 60_000 });
    await app.settled();
    await app.say('朗读：桥的那头有人在等');
    await card('朗读').getByRole('button', { name: '听', exact: true }).click({ timeout: 40_000 });
    const sound = card('朗读').locator('audio');
    await expect(sound).toBeVisible();
    await expect
      .poll(() => sound.evaluate((each: HTMLAudioElement) => each.duration))
      .toBeGreaterThan(0.5);
    await app.settled();
    await see(page, 'read');
  } finally {
    await end();
  }
});

test('a long conversation is condensed by itself, says so, and can be told not to; a temporary one says from where it is read', async ({
  app,
  page,
  person,
}) => {
  const { server, end } = await serverWith((body) =>
    JSON.stringify(body.messages[0]).includes('你在为一段对话')
      ? { text: '- 用户叫沈知微，住在第七条巷子。', pauseMs: 1500 }
      : { text: '记下了。' },
  );
  const database = new pg.Client({ connectionString: server.databaseUrl });
  try {
    await database.connect();
    const client = await TestClient.register(server.baseURL);
    await database.query('UPDATE wallets SET balance = 10000000');
    await app.enterAs({ ...person, client });
    const { uuid } = await client.call('newSession', { type: 0, model: 'deepseek-scripted' });
    const { id } = await client.call('sendMessage', { session_id: uuid, msg: '我们开始一段长谈' });
    await client.read(uuid, id);
    const words = '今天我们聊聊天气和路上的见闻，没有什么特别的。'.repeat(12);
    await fillTalk(
      database,
      uuid,
      Array.from({ length: 300 }, (_, at) => `第 ${at} 轮：${words}`),
    );
    await client.call('readEarlier', { session_id: uuid, on: 1 });
    await page.goto(`${server.baseURL}/chat?uuid=${uuid}`);
    await app.say(`再说一句：${words.repeat(3)}`);
    await expect(page.getByText('正在把较早的浓缩成摘要')).toBeVisible({ timeout: 20_000 });
    await see(page, 'condensing');
    await page.getByRole('button', { name: '怎样浓缩' }).click();
    const sheet = page.getByRole('dialog', { name: '模型读到哪里' });
    await expect(sheet.getByRole('textbox', { name: '摘要' })).toHaveValue(/沈知微/, {
      timeout: 30_000,
    });
    await expect(sheet).toContainText('自动写成');
    await see(page, 'gauge');
    await sheet.getByRole('switch', { name: '快满时自动浓缩' }).click();
    await expect
      .poll(async () => JSON.parse((await client.call('userInfo', {})).setting).condense)
      .toBe(0);
    await page.keyboard.press('Escape');
    await expect(page.getByText('正在把较早的浓缩成摘要')).toHaveCount(0);

    const other = await client.call('newSession', {
      type: 0,
      model: 'deepseek-scripted',
      temporary: 1,
    });
    await page.goto(`${server.baseURL}/chat?uuid=${other.uuid}`);
    for (let at = 1; at <= 5; at += 1) {
      await app.say(`这是第 ${at} 句话，请记下来`);
      await app.settled();
    }
    const line = app.log.getByRole('separator', { name: '模型从这里读起' });
    await expect(line).toContainText('更早的 2 轮没有读');
    await line.scrollIntoViewIfNeeded();
    await see(page, 'temporary');
  } finally {
    await database.end();
    await end();
  }
});

test('a server is signed in at, its resource goes along with a question, its prompt fills the box @wide', async ({
  app,
  page,
  person,
}) => {
  const oauth = await startMcpBehindOAuth();
  const { server, end } = await serverWith(
    (body) => ({
      text: ['轻声说话', '石头 青石'].every((words) =>
        JSON.stringify(body.messages).includes(words),
      )
        ? '要轻声。'
        : '不知道',
    }),
    oauth.host,
  );
  try {
    const client = await TestClient.register(server.baseURL);
    await app.enterAs({ ...person, client });
    await page.goto(`${server.baseURL}/tools`);
    await page.getByRole('button', { name: '添加', exact: true }).click();
    const form = page.getByRole('dialog', { name: '添加工具服务' });
    await form.getByLabel('名称').fill('山谷');
    await form.getByLabel('地址').fill(oauth.url);
    await form.getByRole('switch', { name: '资源与提示词' }).click();
    await see(page, 'form');
    await form.getByRole('button', { name: '添加并检查' }).click();
    const card = page.getByRole('region', { name: '山谷' });
    await expect(card.getByText('要授权', { exact: true })).toBeVisible();
    await see(page, 'wanted');
    await card.getByRole('button', { name: '授权', exact: true }).click();
    await page.getByRole('link', { name: '同意' }).click();
    await page.waitForURL(/\/tools$/);
    await expect(card.getByText('已授权', { exact: true })).toBeVisible();
    await expect(card.getByRole('button', { name: '重新授权' })).toBeVisible();
    await see(page, 'given');

    const { uuid } = await client.call('newSession', { type: 0, model: 'deepseek-scripted' });
    await page.goto(`${server.baseURL}/chat?uuid=${uuid}`);
    await page.getByRole('button', { name: '添加图片或文件' }).click();
    const add = page.getByRole('dialog', { name: '添加' });
    await add.getByRole('button', { name: '山谷' }).click();
    await expect(add).toContainText('<img src=x onerror=alert(1)>');
    await see(page, 'resources');
    await add.getByRole('button', { name: /山谷守则/ }).click();
    await expect(add).toBeHidden();
    // One whose address has a blank is asked for it.
    await page.getByRole('button', { name: '添加图片或文件' }).click();
    await add.getByRole('button', { name: '山谷' }).click();
    await add.getByRole('button', { name: /一块石头/ }).click();
    const stone = page.getByRole('dialog', { name: '一块石头' });
    await stone.getByLabel('name').fill('青石');
    await see(page, 'template');
    await stone.getByRole('button', { name: '放进消息' }).click();
    await expect(stone).toBeHidden();
    await app.question.fill('/');
    await page.getByRole('option', { name: /^山谷/ }).click();
    const prompts = page.getByRole('dialog', { name: '提示词', exact: true });
    await prompts.getByRole('button', { name: '写一首诗' }).scrollIntoViewIfNeeded();
    await see(page, 'prompts');
    await prompts.getByRole('button', { name: '写一首诗' }).click();
    const blanks = page.getByRole('dialog', { name: '写一首诗' });
    await blanks.getByLabel('topic').fill('山谷');
    await see(page, 'blanks');
    await blanks.getByRole('button', { name: '放进输入框' }).click();
    await expect(app.question).toHaveValue('写一首平静的诗，题目是山谷。');
    await see(page, 'filled');
    await app.sendButton.click();
    await expect(app.log).toContainText('要轻声。', { timeout: 30_000 });
  } finally {
    await end();
    oauth.close();
  }
});

test('a call that wants a sign-in waits for it, over a restart, and goes on by itself after it', async ({
  app,
  page,
  person,
}) => {
  const oauth = await startMcpBehindOAuth({ late: 'call' });
  const model = await startScriptedModel((body) => {
    const [echo] = (body.tools ?? []).filter(({ function: { name } }) => name.endsWith('_echo'));
    return resultsIn(body).length === 0
      ? { calls: [{ name: echo?.function.name ?? '', arguments: { text: '山谷里有人吗' } }] }
      : { text: `山谷答应了：${resultsIn(body)[0]?.includes('回声：山谷里有人吗')}` };
  });
  const env = {
    OPENAI_BASE_URL: model.baseURL,
    OPENAI_API_KEY: 'sk-test',
    OPENAI_MODELS: 'deepseek-scripted',
    FETCH_ALLOWED: oauth.host,
  };
  const server = await startServer({ env, alone: true });
  let again: TestServer | null = null;
  try {
    const client = await TestClient.register(server.baseURL);
    const { id } = await client.call('saveToolServer', { name: '山谷', url: oauth.url });
    await client.call('checkToolServer', { id });
    const { list } = await client.call('toolServers', {});
    const tools = list[0]!.tools.filter(({ name }) => name === 'echo');
    await client.call('chooseTools', { id, tools });
    await app.enterAs({ ...person, client });
    const { uuid } = await client.call('newSession', { type: 0, model: 'deepseek-scripted' });
    await page.goto(`${server.baseURL}/chat?uuid=${uuid}`);
    await app.say('请对山谷喊一声');
    const consent = page.getByRole('group', { name: '山谷 · echo：等您同意' });
    await consent.getByRole('button', { name: '这一次' }).click();
    const wanted = page.getByRole('group', { name: '山谷 · echo：等您授权' });
    await expect(wanted).toContainText('不用再问一次');
    await see(page, 'sign-in');

    await server.kill9();
    const { databaseUrl, dataDir, port } = server;
    again = await startServer({ env, databaseUrl, dataDir, port, alone: true });
    await page.reload();
    await wanted.getByRole('button', { name: '去授权' }).click();
    expect(oauth.called).toEqual([]);
    await page.getByRole('link', { name: '同意' }).click();
    await page.waitForURL((url) => url.searchParams.get('uuid') === uuid);
    await expect(app.log).toContainText('山谷答应了：true', { timeout: 40_000 });
    expect(oauth.called).toEqual(['山谷里有人吗']);
    await expect(wanted).toHaveCount(0);
    // What was sent stays sent, wherever one came back from.
    await expect(app.question).toHaveValue('');
    await see(page, 'signed-in');
  } finally {
    await again?.stop();
    await server.stop();
    await model.close();
    oauth.close();
  }
});

test('what a server asks in a call is answered in its card, over a restart, and the call goes on @wide', async ({
  app,
  page,
  person,
}) => {
  const theatre = await startMcpServer();
  const model = await startScriptedModel((body) => {
    const [order] = (body.tools ?? []).filter(({ function: { name } }) => name.endsWith('_order'));
    const [result] = resultsIn(body);
    return result === undefined
      ? { calls: [{ name: order?.function.name ?? '', arguments: {} }] }
      : { text: `订好了：${result.split('\n').at(-1)}` };
  });
  const env = {
    OPENAI_BASE_URL: model.baseURL,
    OPENAI_API_KEY: 'sk-test',
    OPENAI_MODELS: 'deepseek-scripted',
    FETCH_ALLOWED: theatre.host,
  };
  const server = await startServer({ env, alone: true });
  let again: TestServer | null = null;
  try {
    const client = await TestClient.register(server.baseURL);
    const { id } = await client.call('saveToolServer', { name: '剧院', url: theatre.url });
    await client.call('checkToolServer', { id });
    const { list } = await client.call('toolServers', {});
    const tools = list[0]!.tools.filter(({ name }) => name === 'order');
    await client.call('chooseTools', { id, tools });
    await app.enterAs({ ...person, client });
    const { uuid } = await client.call('newSession', { type: 0, model: 'deepseek-scripted' });
    await page.goto(`${server.baseURL}/chat?uuid=${uuid}`);
    await app.say('请订一张票');
    const consent = page.getByRole('group', { name: '剧院 · order：等您同意' });
    await consent.getByRole('button', { name: '这一次' }).click();
    const form = page.getByRole('group', { name: '剧院 · order：等您回答' });
    await expect(page.getByRole('heading', { name: '剧院 问您' })).toBeVisible();
    // What it says is no link.
    await expect(form).toContainText('[点这里](http://evil.example.com)');
    await expect(form.getByRole('link')).toHaveCount(0);
    await expect(form.getByLabel('张数')).toHaveValue('1');
    await see(page, 'question');
    await form.getByRole('button', { name: '提交' }).click();
    await expect(form.getByRole('alert')).toHaveText('请填写姓名');
    await form.getByLabel('姓名').fill('李四');
    await see(page, 'question-typed');

    await server.kill9();
    const { databaseUrl, dataDir, port } = server;
    again = await startServer({ env, databaseUrl, dataDir, port, alone: true });
    await page.reload();
    await expect(form.getByLabel('姓名')).toHaveValue('李四');
    await form.getByLabel('张数').fill('2');
    await form.getByText('过道').click();
    expect(theatre.called).toEqual([]);
    await form.getByRole('button', { name: '提交' }).click();
    await expect(app.log).toContainText('订好了：accept', { timeout: 40_000 });
    expect(theatre.called).toEqual(['accept {"name":"李四","seats":2,"class":"b","meal":true}']);
    await expect(form).toHaveCount(0);
  } finally {
    await again?.stop();
    await server.stop();
    await model.close();
    theatre.close();
  }
});

test('how long a model thinks is chosen in the box and kept by model; earlier turns are read at a press @wide', async ({
  app,
  page,
  person,
}) => {
  const { server, bodies, end } = await serverWith(
    () => ({ reasoning: '先想一想。', thoughtMs: 200, text: '想好了。' }),
    '',
    'qwen3-scripted,deepseek-scripted',
  );
  const database = new pg.Client({ connectionString: server.databaseUrl });
  try {
    await database.connect();
    const client = await TestClient.register(server.baseURL);
    await database.query('UPDATE wallets SET balance = 10000000');
    await app.enterAs({ ...person, client });
    const open = async (model: string) => {
      const { uuid } = await client.call('newSession', { type: 0, model });
      await page.goto(`${server.baseURL}/chat?uuid=${uuid}`);
      return uuid;
    };
    const uuid = await open('qwen3-scripted');
    await page.getByRole('button', { name: '思考：自动' }).click();
    const deep = page.getByRole('radio', { name: /^深/ });
    await expect(deep).toContainText(/发送时多占 .* tokens，没用到的退还/);
    await see(page, 'thinking');
    await deep.click();
    await app.say('这道题难，请多想一想');
    await expect(app.log).toContainText('想好了。', { timeout: 30_000 });
    await app.settled();
    expect(bodies.at(-1)).toMatchObject({ enable_thinking: true, thinking_budget: 16_384 });
    await open('deepseek-scripted');
    await expect(app.question).toBeVisible();
    await expect(page.getByRole('button', { name: /^思考：/ })).toHaveCount(0);
    await open('qwen3-scripted');
    await expect(page.getByRole('button', { name: '思考：深' })).toBeVisible();

    const turns = Array.from({ length: 20 }, (_, at) => `第 ${at} 轮，说一句话`);
    await fillTalk(database, uuid, turns);
    await page.goto(`${server.baseURL}/chat?uuid=${uuid}`);
    const line = app.log.getByRole('separator', { name: '模型从这里读起' });
    await expect(line).toContainText('更早的 18 轮没有读');
    await line.scrollIntoViewIfNeeded();
    await see(page, 'unread');
    await line.getByRole('button', { name: /^接着读更早的（约 .* tokens）/ }).click();
    await expect(app.log).not.toContainText('轮没有读');
    await app.say('现在都读到了吗');
    await app.settled();
    expect(JSON.stringify(bodies.at(-1)?.messages)).toContain('第 0 轮');
  } finally {
    await database.end();
    await end();
  }
});
