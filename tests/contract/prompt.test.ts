import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codes } from '#contract/errors.ts';
import { keywordType } from '#contract/image.ts';
import { onDatabase } from '../support/api-user.ts';
import { TestClient } from '../support/client.ts';
import { ended, generate, sendPicture } from '../support/images.ts';
import { type MockSdWebui, startMockSdWebui } from '../support/mock-sd-webui.ts';
import { stage, stageWithModels } from '../support/stage.ts';

/** What helps people to find the words for a picture: translation, expansion, the keyword library. */

const prompt = '一只猫坐在窗边看雪';

const guestOf = async (baseURL: string): Promise<TestClient> => {
  const guest = new TestClient(baseURL);
  await guest.call('newSession', { type: 0 });
  return guest;
};

describe('without a connected model', () => {
  const here = stage();
  let person: TestClient;
  beforeAll(async () => {
    person = await TestClient.register(here.server.baseURL);
  });

  test('a text comes back as it is and says so', async () => {
    for (const cn2en of [0, 1] as const)
      expect(await person.call('translate', { msg: prompt, cn2en })).toEqual({
        result: prompt,
        translated: false,
      });
    const named = await person.call('translate', { msg: prompt, model: 'builtin-assistant' });
    expect(named.translated).toBe(false);
  });

  test('a prompt is expanded by the library, in its own language, and says so', async () => {
    const chinese = await person.call('inscriptor', { msg: prompt });
    expect(chinese.library).toBe(true);
    expect(chinese.result.startsWith(`${prompt}，`)).toBe(true);
    expect(chinese.result).toMatch(/^[^a-z]+$/);
    expect(await person.call('inscriptor', { msg: prompt })).toEqual(chinese);
    // What is there already is not added again.
    const again = await person.call('inscriptor', { msg: chinese.result });
    const words = again.result.split('，');
    expect(new Set(words).size).toBe(words.length);
    const english = await person.call('inscriptor', { msg: 'a cat by the window' });
    expect(english.result).toMatch(/^a cat by the window, [\x20-\x7e]+$/);
    const guest = await guestOf(here.server.baseURL);
    expect((await guest.call('inscriptor', { msg: prompt })).result).toBe(chinese.result);
  });

  test('of what is saved at once no more than fits is taken', async () => {
    const writer = await TestClient.register(here.server.baseURL);
    const { id: userId } = await writer.call('userInfo', {});
    const taken = async (save: (at: number) => Promise<{ code: number }>) =>
      (await Promise.all(Array.from({ length: 20 }, (_, at) => save(at)))).filter(
        ({ code }) => code === 0,
      ).length;
    // Of 300 prompts two are free, and so are two of 20 scenarios that wait for a manager.
    await onDatabase(
      here.server,
      `INSERT INTO prompt_templates (user_id, type, title, content)
       SELECT $1, 0, 'n' || at, 'x' FROM generate_series(1, 298) at`,
      [userId],
    );
    const prompts = await taken((at) =>
      writer.raw('savePrompt', { type: 0, prompt_json: { act: `一起 ${at}`, prompt: '写诗' } }),
    );
    expect(prompts).toBe(2);
    const [first] = (await writer.call('scenarioCategory', {})).list;
    const category = first!.id;
    for (let at = 0; at < 18; at += 1)
      await writer.call('saveScenario', { name: `先 ${at}`, prompt: '写诗', category, publish: 1 });
    const scenarios = await taken((at) =>
      writer.raw('saveScenario', { name: `一起 ${at}`, prompt: '写诗', category, publish: 1 }),
    );
    expect(scenarios).toBe(2);
  });

  test('the library has its groups, in Chinese and English, for everybody', async () => {
    const visitor = new TestClient(here.server.baseURL);
    const { keywords: prompts } = await visitor.call('keywordList', {});
    expect(prompts.length).toBeGreaterThanOrEqual(600);
    expect(new Set(prompts.map(({ id }) => id)).size).toBe(prompts.length);
    expect(new Set(prompts.map(({ text }) => text)).size).toBe(prompts.length);
    for (const { text, lang_zh: chinese, dir, sub_dir: sub } of prompts) {
      expect(text).toMatch(/^[\x20-\x7e]+$/);
      expect(`${chinese}${dir}${sub}`).not.toBe(text);
      expect([chinese, dir, sub].every((each) => each !== '')).toBe(true);
    }
    expect(new Set(prompts.map((each) => `${each.sub_type}/${each.sub_dir}`))).toEqual(
      new Set([
        'quality/标准',
        'quality/图像质量',
        'composition/形式',
        'composition/镜头',
        'composition/视角',
        'looks/眼睛',
        'looks/头发',
        'looks/头饰',
        'looks/耳朵',
        'looks/表情',
        'effect/效果',
        'draw/风格',
        'command/画面比例',
        'command/风格化',
        'command/版本',
        'command/变化',
        'command/质量',
        'command/图片权重',
        'command/风格',
      ]),
    );
    for (const type of keywordType.options) {
      const some = (await visitor.call('keywordList', { type })).keywords;
      expect(some.length).toBeGreaterThan(20);
      expect(some.every((each) => each.sub_type === type)).toBe(true);
    }
  });

  test('what one puts first or hides is one’s own, and can be taken back', async () => {
    const list = async (who = person) =>
      (await who.call('keywordList', { type: 'looks' })).keywords;
    const usual = await list();
    const [first, second] = [usual[40], usual[90]];
    if (!first || !second) throw new Error('the library is too small');
    const type = 'looks' as const;
    expect(await person.call('topKeyword', { id: first.id, type })).toEqual({ set: true });
    expect(await person.call('topKeyword', { id: second.id, type })).toEqual({ set: true });
    expect(await person.call('hideKeyword', { id: first.id, type })).toEqual({ set: true });
    const marked = await list();
    expect(marked.slice(0, 2).map(({ id }) => id)).toEqual([second.id, first.id]);
    expect(marked[1]).toMatchObject({ top: true, hidden: true });
    expect(marked).toHaveLength(usual.length);
    expect(await list(await TestClient.register(here.server.baseURL))).toEqual(usual);
    expect(await person.call('topKeyword', { id: first.id, type })).toEqual({ set: false });
    expect(await person.call('topKeyword', { id: second.id, type })).toEqual({ set: false });
    expect(await person.call('hideKeyword', { id: first.id, type })).toEqual({ set: false });
    expect(await list()).toEqual(usual);
    for (const wrong of [
      { id: 999_999_999, type },
      { id: first.id, type: 'draw' as const },
    ])
      for (const name of ['topKeyword', 'hideKeyword'] as const)
        expect((await person.raw(name, wrong)).status).toBe(404);
  });
});

describe('with connected models', () => {
  const here = stageWithModels('mock-large,mock-mini');
  let person: TestClient;
  beforeAll(async () => {
    person = await TestClient.register(here.server.baseURL);
    await here.database.query(`UPDATE models SET factor = 5 WHERE name = 'mock-large'`);
  });
  const balance = async () => (await person.call('userInfo', {})).chatgpt_balance;
  const spends = async () => (await person.call('transactionList', {})).list;

  test('one person has no more written or translated in a minute than they may ask', async () => {
    const busy = await TestClient.register(here.server.baseURL);
    // English already: no model is asked.
    const asked = Array.from({ length: 100 }, () => busy.raw('translate', { msg: 'a ferry' }));
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(90);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
  });

  test('the cheapest translates and expands, and is paid like a reply', async () => {
    await expect
      .poll(
        async () => {
          const { models } = await person.call('models', {});
          return models.find(({ name }) => name === 'mock-large')?.factor;
        },
        { timeout: 10_000 },
      )
      .toBe(5);
    const before = await balance();
    const translated = await person.call('translate', { msg: prompt });
    expect(translated).toEqual({ result: here.mock.textFor(prompt), translated: true });
    expect(here.mock.lastRequest?.model).toBe('mock-mini');
    expect(await balance()).toBe(before - 18);
    const expanded = await person.call('inscriptor', { msg: prompt });
    expect(expanded).toEqual({ result: here.mock.textFor(prompt), library: false });
    expect(await balance()).toBe(before - 36);
    expect((await spends()).slice(0, 2)).toMatchObject([
      { model: 'mock-mini', human: `扩写提示词：${prompt}`, deduct_tokens: 18 },
      { model: 'mock-mini', human: `翻译提示词：${prompt}`, deduct_tokens: 18 },
    ]);
    await person.call('translate', { msg: prompt, model: 'mock-large' });
    expect(here.mock.lastRequest?.model).toBe('mock-large');
    expect(await balance()).toBe(before - 36 - 90);
  });

  test('what is not Chinese enough is not sent at all', async () => {
    const [before, calls] = [await balance(), here.mock.calls];
    for (const msg of ['a cat by the window', 'abcdefghijklm 猫', '', '！！！'])
      expect(await person.call('translate', { msg })).toEqual({ result: msg, translated: false });
    expect(await person.call('translate', { msg: prompt, cn2en: 0 })).toMatchObject({
      translated: false,
    });
    expect(await person.call('inscriptor', { msg: ' ' })).toMatchObject({ result: '' });
    expect([await balance(), here.mock.calls]).toEqual([before, calls]);
  });

  test('a failure says why and costs nothing', async () => {
    const before = await balance();
    for (const scenario of ['500', 'cut-middle', 'empty', '429'] as const) {
      here.mock.enqueue(scenario);
      const reply = await person.raw('translate', { msg: prompt });
      expect(reply.code).toBe(codes.engine_failed.code);
      expect(reply.message).not.toContain('SECRET');
      // A good answer in between keeps the channel in use.
      await person.call('translate', { msg: prompt });
    }
    expect(await balance()).toBe(before - 4 * 18);
    const { rows } = await here.database.query(`SELECT 1 FROM holds WHERE state = 'open'`);
    expect(rows).toEqual([]);
    expect((await person.raw('translate', { msg: prompt, model: 'nobody' })).code).toBe(
      codes.model_unavailable.code,
    );
  });

  test('an answer that is cut for its length costs nothing, and is not asked for without end', async () => {
    const before = await balance();
    here.mock.enqueue('length');
    const short = await person.raw('translate', { msg: prompt });
    expect(short).toMatchObject({ code: codes.engine_failed.code });
    expect(short.message).toContain('长度上限');
    const long = await person.raw('inscriptor', {
      msg: '[[bench tokens=30000 rate=0 id=long]] 写',
    });
    expect(long).toMatchObject({ code: codes.engine_failed.code });
    expect(long.message).toContain('长度上限');
    expect(await balance()).toBe(before);

    const poor = await TestClient.register(here.server.baseURL, `p${randomUUID().slice(0, 8)}`);
    const { id } = await poor.call('userInfo', {});
    await here.database.query('UPDATE wallets SET balance = 2000 WHERE user_id = $1', [id]);
    const cut = await poor.raw('inscriptor', { msg: '[[bench tokens=8000 rate=4000 id=poor]] 写' });
    expect(cut.code).toBe(codes.balance.code);
    expect((await poor.call('userInfo', {})).chatgpt_balance).toBe(2000);
    const { rows } = await here.database.query(`SELECT 1 FROM holds WHERE state = 'open'`);
    expect(rows).toEqual([]);

    // Nobody pays for what is written in vain but the house.
    here.mock.always('length');
    const tries = [];
    do tries.push(await person.raw('inscriptor', { msg: '写'.repeat(8000) }));
    while (tries.at(-1)?.status !== 429);
    here.mock.always('normal');
    expect(tries.length).toBeGreaterThan(2);
    expect(tries.at(-1)?.message).toContain('没有写出内容');
    expect(await balance()).toBe(before);
  });

  test('who has no tokens is told so; a guest keeps the words', async () => {
    const poor = await TestClient.register(here.server.baseURL, `p${randomUUID().slice(0, 8)}`);
    const { id } = await poor.call('userInfo', {});
    await here.database.query('UPDATE wallets SET balance = 0 WHERE user_id = $1', [id]);
    const calls = here.mock.calls;
    for (const name of ['translate', 'inscriptor'] as const)
      expect((await poor.raw(name, { msg: prompt })).code).toBe(codes.balance.code);
    const guest = await guestOf(here.server.baseURL);
    expect(await guest.call('translate', { msg: prompt })).toMatchObject({ translated: false });
    expect(await guest.call('inscriptor', { msg: prompt })).toMatchObject({ library: true });
    expect((await guest.raw('translate', { msg: prompt, model: 'mock-mini' })).code).toBe(
      codes.login_required.code,
    );
    expect(here.mock.calls).toBe(calls);
  });
});

describe('with a service of pictures as well', () => {
  const env: Record<string, string> = {};
  let service: MockSdWebui;
  beforeAll(async () => {
    service = await startMockSdWebui();
    env['SD_WEBUI_URL'] = service.url;
  });
  const here = stageWithModels('mock-mini', env);
  afterAll(() => service?.close());
  const register = async (): Promise<TestClient> => {
    const person = await TestClient.register(here.server.baseURL);
    await expect
      .poll(async () => (await person.call('models', {})).models.map(({ name }) => name), {
        timeout: 10_000,
      })
      .toContain('stable-diffusion');
    return person;
  };
  const draw = async (client: TestClient, historyId: number) =>
    ended(client, (await generate(client, historyId)).uuid);
  const balanceOf = async (client: TestClient) =>
    (await client.call('userInfo', {})).chatgpt_balance;

  test('words of a picture that fails are paid once, and it says so', async () => {
    const person = await register();
    const begun = await balanceOf(person);
    const { historyId } = await sendPicture(person, prompt, { model: 'stable-diffusion' });
    service.scenario = '500';
    const calls = here.mock.calls;
    const failed = await draw(person, historyId);
    expect(failed.state).toBe('error');
    const took = '图片没有扣费，翻译用了 18 tokens，译文已保留，重试不再收翻译费';
    expect(failed.error_message).toContain(took);
    expect(await balanceOf(person)).toBe(begun - 18);
    service.scenario = 'normal';
    const { state, deduct_tokens: price } = await draw(person, historyId);
    expect(state).toBe('done');
    expect(await balanceOf(person)).toBe(begun - 18 - price);
    expect(here.mock.calls).toBe(calls + 1);
    expect(service.asked.at(-1)?.body['prompt']).toBe(here.mock.textFor(prompt));
  });

  test('a picture that is cancelled after its words were paid says so', async () => {
    const person = await register();
    const begun = await balanceOf(person);
    const { uuid, historyId } = await sendPicture(person, prompt, { model: 'stable-diffusion' });
    service.scenario = 'endless';
    const before = service.asked.length;
    const { uuid: request_id } = await generate(person, historyId);
    await expect.poll(() => service.asked.length, { timeout: 10_000 }).toBeGreaterThan(before);
    await person.call('cancelJob', { request_id });
    const told = (await ended(person, request_id)).error_message;
    service.scenario = 'normal';
    expect(told).toContain('翻译用了 18 tokens');
    expect(await balanceOf(person)).toBe(begun - 18);
    const { list } = await person.call('historyList', { session_id: uuid });
    expect(list.at(-1)).toMatchObject({ state: 'stopped', error_message: told });
  });

  test('a picture whose time is over after its words were paid says so', async () => {
    const person = await register();
    const { historyId } = await sendPicture(person, prompt, { model: 'stable-diffusion' });
    service.scenario = 'endless';
    await here.database.query(`
      CREATE FUNCTION soon_over() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN NEW.deadline := now() + interval '3 seconds'; RETURN NEW; END $$;
      CREATE TRIGGER soon_over BEFORE INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION soon_over()`);
    try {
      const told = (await draw(person, historyId)).error_message;
      expect(told).toContain('等得太久，已经停止，图片没有扣费，翻译用了 18 tokens，译文已保留');
    } finally {
      service.scenario = 'normal';
      await here.database.query('DROP FUNCTION soon_over CASCADE');
    }
  });

  test('a member without tokens draws from the words as they are', async () => {
    const member = await register();
    const { id } = await member.call('userInfo', {});
    await here.database.query(
      `UPDATE users SET vip_activated_at = now(), vip_expired_at = now() + interval '30 days'
       WHERE id = $1`,
      [id],
    );
    await member.call('userInfo', {});
    await here.database.query(
      `UPDATE wallets SET balance = 0, vip_balance = 0 WHERE user_id = $1`,
      [id],
    );
    const { historyId } = await sendPicture(member, prompt, { model: 'stable-diffusion' });
    expect(await draw(member, historyId)).toMatchObject({ state: 'done', deduct_tokens: 0 });
    expect(service.asked.at(-1)?.body['prompt']).toBe(prompt);
  });
});
