import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import pg from 'pg';
import sharp from 'sharp';
import type { CallSpec } from '#contract/call.ts';
import { calls } from '#contract/calls.ts';
import { TestClient } from '../support/client.ts';
import { ADMIN_PASSWORD, startServer, type TestServer } from '../support/server.ts';

/** A client that knows the three documents alone, by plain HTTP. */

let server: TestServer;
let person: TestClient;
beforeAll(async () => {
  server = await startServer();
  person = await TestClient.register(server.baseURL);
});
afterAll(() => server.stop());

/** A PNG of one pixel. */
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

type Fields = Record<string, unknown>;

const ask = async (
  method: string,
  path: string,
  body?: unknown,
  token = person.token,
): Promise<{ status: number; code: number; data: Fields }> => {
  const response = await fetch(`${server.baseURL}/api/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as { code: number; data: Fields };
  return { status: response.status, ...answer };
};
const data = async (...args: Parameters<typeof ask>): Promise<Fields> => {
  const answer = await ask(...args);
  expect(answer, args.slice(0, 3).join(' ')).toMatchObject({ status: 200, code: 0 });
  return answer.data;
};

describe('pictures', () => {
  test('flat fields, any request_id, a JSON list as the answer', async () => {
    const mine = `mine, at ${Date.now()}`;
    const session = await data('POST', 'new_session', { type: 1, scenario_id: 1 });
    const uuid = String(session['uuid']);
    expect(await data('GET', `get_session?uuid=${uuid}`)).toMatchObject({
      scenario_id: 1,
      type: 1,
    });
    const flat = { type: 'img2img', app: 'img-tool', strength: 60, resize_mode: 1, n: 2, size: 1 };
    const drawn = await data('POST', `send_message?session_id=${uuid}`, {
      msg: '一座桥',
      format: 0,
    });
    const first = { history_id: drawn['id'], request_id: mine, n: 1, size: 1 };
    expect(await data('POST', 'image/generate', first)).toMatchObject({ images: [] });
    let progress: Fields = {};
    const begun = Date.now();
    const previews: string[] = [];
    do {
      progress = await data('GET', `image/progress?request_id=${encodeURIComponent(mine)}`);
      previews.push(String((progress['result'] as Fields)['current_image']));
    } while (Number(progress['progress']) < 1 && Date.now() - begun < 20_000);
    expect(progress['result']).toEqual({ progress: 1, current_image: expect.any(String) });
    const pictures = previews.filter((text) => text !== '');
    expect(pictures.length).toBeGreaterThan(0);
    for (const text of pictures)
      expect((await sharp(Buffer.from(text, 'base64')).metadata()).width).toBeGreaterThan(0);
    const page = await data('GET', `history_list?session_id=${uuid}`);
    const [message] = page['list'] as Fields[];
    const images = JSON.parse(String(message?.['ai'])) as Fields[];
    expect(images).toEqual([
      expect.objectContaining({ url: expect.stringMatching(/^\/files\//), error: '' }),
    ]);
    const sent = await data('POST', `send_message?session_id=${uuid}`, {
      msg: JSON.stringify({ prompt: '再来', ...flat, base_image: images[0]?.['url'] }),
      format: 1,
    });
    expect(JSON.parse(String(sent['msg']))).toMatchObject({
      prompt: '再来',
      ...flat,
      base_image: images[0]?.['url'],
    });
    // The same name of somebody else's request is another request.
    const other = await TestClient.register(server.baseURL);
    const theirs = await ask(
      'GET',
      `image/progress?request_id=${encodeURIComponent(mine)}`,
      undefined,
      other.token,
    );
    expect(theirs.status).toBe(404);
    const view = await data('GET', `get_session?uuid=${uuid}`);
    const [{ uuid: made, url } = {}] = images;
    expect(JSON.parse(String(view['completion']))).toEqual([{ uuid: made, url, error: '' }]);
    const { list } = await data('GET', 'session_list?channel=private&scenario_id=1');
    const card = (list as Fields[]).find((row) => row['uuid'] === uuid);
    expect(card?.['scenario']).toEqual({
      id: 1,
      name: expect.stringMatching(/./),
      prompt: expect.stringMatching(/./),
    });
    expect(card?.['scenario']).toEqual(view['scenario']);
    expect(view).toMatchObject({ group_id: expect.any(Number), deleted: 0, embedding_private: 0 });
  });

  test('a size, a style and LoRAs among the parameters stay where none is chosen beside them', async () => {
    const session = await data('POST', 'new_session', { type: 1 });
    const { id } = await data('POST', `send_message?session_id=${String(session['uuid'])}`, {
      msg: '一座石桥',
    });
    const request_id = `style ${Date.now()}`;
    const begun = await data('POST', 'image/generate', {
      history_id: id,
      request_id,
      n: 1,
      size: 3,
      checkpoint: '',
      style: '',
      parameters: { style: 'raw', size: '1024x576', loras: [{ name: 'ink', weight: 70 }] },
    });
    expect(begun).toMatchObject({ size: '1024x576' });
    const progress = `image/progress?request_id=${encodeURIComponent(request_id)}`;
    const images = async () => (await data('GET', progress))['images'] as Fields[];
    await expect.poll(images, { timeout: 20_000 }).toHaveLength(1);
    const [image] = await images();
    const { info } = await data('GET', `image/info?image_id=${String(image?.['id'])}`);
    expect((info as Fields)['parameters']).toMatchObject({
      style: 'raw',
      lora: [{ key: 'ink', weight: 70 }],
    });
  });

  test('models and metadata by the documents’ names', async () => {
    const models = (await data('GET', 'models'))['models'] as Fields[];
    const canvas = models.find(({ name }) => name === 'builtin-canvas');
    // Names of voices and what people call them, of what speaks; nothing of what does not.
    expect(canvas?.['voice']).toBeNull();
    const voices = models.flatMap(({ voice }) => (voice ? [voice] : []));
    expect(voices.length).toBeGreaterThan(0);
    for (const label of voices.flatMap((each) => Object.values(each as Fields)))
      expect(label).toMatch(/./);
    expect(canvas).toMatchObject({
      unique_key: 'builtin-canvas',
      remarks: expect.stringContaining('内置'),
      factors: {},
      checkpoints: [],
      default_checkpoint: '',
      sizes: expect.any(Array),
      size_limit: expect.any(Array),
      size_rate: [0.7, 0.8, 0.9, 1],
      disable: 0,
      disable_api: 0,
      vip: 0,
      private: 0,
      status: 1,
    });
    // What a manager switched off keeps its name, and is not to be chosen.
    const database = new pg.Client({ connectionString: server.databaseUrl });
    await database.connect();
    const off = async (name: string) =>
      ((await data('GET', 'models'))['models'] as Fields[]).find((each) => each['name'] === name);
    try {
      await database.query(
        `UPDATE models SET enabled = name <> 'builtin-film', disable_api = name = 'builtin-canvas'`,
      );
      await expect
        .poll(() => off('builtin-film'), { timeout: 20_000 })
        .toMatchObject({ disable: 1, display: false, label: expect.any(String) });
      expect(await off('builtin-canvas')).toMatchObject({ disable: 0, disable_api: 1 });
    } finally {
      await database.query(`UPDATE models SET enabled = true, disable_api = false`);
      await database.end();
    }
    await expect.poll(() => off('builtin-film'), { timeout: 20_000 }).toMatchObject({ disable: 0 });
    const metadata = await data('GET', 'image/metadata?model=builtin-canvas');
    expect(metadata['controlnetModules']).toContain('canny');
  });
});

describe('sessions and messages', () => {
  test('uuid stands for session_id, in the query or the body', async () => {
    const { uuid } = await data('POST', 'new_session', { type: 0 });
    const sent = await data('POST', 'send_message', { uuid, msg: '鹊桥是什么？' });
    const again = await data('GET', `history_list?uuid=${String(uuid)}`);
    expect((again['list'] as Fields[])[0]).toMatchObject({ id: sent['id'], content: '' });
    // The greatest number of an empty list is none, which JSON writes as null.
    for (const maxHistoryId of [0, null]) {
      const all = await ask('POST', 'last_messages', { session_id: uuid, maxHistoryId });
      expect(all.data).toHaveLength(1);
    }
    await data('POST', `set_session?uuid=${String(uuid)}`, { private: 1 });
    await data('DELETE', `delete_session?uuid=${String(uuid)}`);
  });

  test('a question takes a group and is listed by channel=forum; a film’s session is made', async () => {
    // A group with any type, and a knowledge base by the name of its field.
    const talk = await data('POST', 'new_session', { type: 0, group_id: 1 });
    expect(await data('GET', `get_session?uuid=${String(talk['uuid'])}`)).toMatchObject({
      type: 0,
      group_id: 1,
    });
    const based = { type: 0, embedding_key: 'nobody-has-this' };
    expect((await ask('POST', 'new_session', based)).code).toBe(1415);
    const question = await data('POST', 'new_session', { type: 2, group_id: 1 });
    await data('POST', `send_message?session_id=${String(question['uuid'])}`, {
      msg: '怎样写得更好？',
    });
    const list = (await data('GET', 'session_list?channel=forum'))['list'] as Fields[];
    expect(list[0]).toMatchObject({ uuid: question['uuid'], group_id: 1, type: 2 });
    const { list: messages } = await data(
      'GET',
      `history_list?session_id=${String(question['uuid'])}`,
    );
    expect((messages as Fields[])[0]).toMatchObject({ content: '怎样写得更好？' });
    expect((await ask('POST', 'new_session', { type: 4 })).status).toBe(200);
  });

  test('an audio speed above 2 is saved as 1', async () => {
    for (const [given, kept] of [
      [2.5, 1],
      [1.5, 1.5],
      ['3', 1],
    ]) {
      const saved = await data('POST', 'save_settings', { audio_speed: given });
      expect(JSON.parse(String(saved['setting']))).toMatchObject({ audio_speed: kept });
    }
  });
});

test('a disabled account is answered 3001 everywhere but where it signs out or in', async () => {
  const gone = await TestClient.register(server.baseURL);
  const database = new pg.Client({ connectionString: server.databaseUrl });
  await database.connect();
  await database.query(
    'UPDATE users SET disabled = true FROM logins WHERE logins.user_id = users.id AND users.id = (SELECT max(id) FROM users)',
  );
  await database.end();
  const refused = (Object.values(calls) as CallSpec[]).filter(
    ({ kind, access, forDisabled }) =>
      kind === 'call' && ['public', 'guest', 'user'].includes(access) && !forDisabled,
  );
  expect(refused.length).toBeGreaterThan(100);
  for (const { method, path } of refused) {
    const { code } = await ask(
      method,
      path.slice('/api/'.length),
      method === 'GET' ? undefined : {},
      gone.token,
    );
    expect(code, `${method} ${path}`).toBe(3001);
  }
  expect((await ask('POST', 'logout', {}, gone.token)).code).toBe(0);
});

describe('what a form of the documents sends', () => {
  test('empty texts and null are what was not chosen; a switch sends true or false', async () => {
    const blank = { scenario_id: '', group_id: null, history_id: '', embedding: '' };
    const { uuid } = await data('POST', 'new_session', { type: 0, model: '', ...blank });
    const session = String(uuid);
    const sent = await data('POST', `send_message?session_id=${session}`, {
      msg: '鹊桥是什么？',
      with_template: false,
      ai: '',
    });
    await data('GET', `get_session?uuid=${session}&history_id=`);
    const history = await data('GET', `history_list?session_id=${session}&page=1&newest=0&id=`);
    expect((history['list'] as Fields[])[0]).toMatchObject({ id: sent['id'] });
    await data('POST', `set_session?session_id=${session}`, { private: true, model: '' });
    const question = await data('POST', 'new_session', { type: 2, group_id: 1 });
    await data('POST', 'send_message', { uuid: question['uuid'], msg: '为什么？', ai: true });
    const listed = await data(
      'GET',
      'session_list?channel=forum&page=1&user_id=&scenario_id=&query=&model=',
    );
    expect(listed['list']).toContainEqual(expect.objectContaining({ uuid: question['uuid'] }));
    await data('GET', 'image/explore?page=1&sort=');
    expect(await data('POST', 'translate', { msg: 'a dog', cn2en: false })).toHaveProperty(
      'result',
    );
    const { setting } = await data('POST', 'save_settings', {
      temperature: '',
      disable_enter: true,
      dark_style: 1,
      show_token_usage: false,
    });
    expect(JSON.parse(String(setting))).toMatchObject({
      disable_enter: 1,
      dark_style: 1,
      show_token_usage: 0,
    });
    // What is needed is still asked for, and nothing else is taken for a choice.
    for (const wrong of [{ friend_user_id: '' }, { friend_user_id: null }])
      expect((await ask('POST', 'new_friend', wrong)).status).toBe(422);
    expect((await ask('POST', 'new_session', { type: 0, scenario_id: 'x' })).status).toBe(422);
    // Nor does a blank reach further than was meant.
    const whole = `remove_from_favorites?session_id=${session}&history_id=`;
    expect((await ask('DELETE', whole)).status).toBe(422);
    expect((await ask('POST', 'sign_out_device', { id: '' })).status).toBe(422);
  });

  test('model_stat by a page’s clock', async () => {
    for (const state of ['fail', true])
      await data('POST', 'model_stat', { state, time: 900, model: 'x', request_time: 500 });
    const asked = { model: 'builtin-assistant', first_time: 120.25, time: 900.5 };
    await data('POST', 'model_stat', { ...asked, state: 'success', request_time: Date.now() });
    const failed = { ...asked, state: 0, first_time: null, request_time: new Date().toISOString() };
    await data('POST', 'model_stat', failed);
    await data('POST', 'model_stat', { ...failed, time: null, request_time: null });
    const never = { ...asked, state: 'success', request_time: -1 };
    expect((await ask('POST', 'model_stat', never)).status).toBe(422);
  });

  test('Midjourney’s parameters as document 2 §3 has them', async () => {
    const session = await data('POST', 'new_session', { type: 1 });
    const parameters = {
      aspect: { width: 16, height: 9 },
      version: { isNiji: true, value: 6 },
      quality: 0.5,
      cref: '',
      sref: [],
      tile: 0,
      random_style: false,
      logoAdd: true,
    };
    const preview = { model: 'builtin-canvas', prompt: 'a dog' };
    await data('POST', 'image/prompt_parameter', { ...preview, parameters });
    const odd = { ...parameters, aspect: { width: 0, height: 'wide' } };
    expect(
      (await ask('POST', 'image/prompt_parameter', { ...preview, parameters: odd })).status,
    ).toBe(422);
    const { msg } = await data('POST', `send_message?session_id=${String(session['uuid'])}`, {
      msg: JSON.stringify({ prompt: '一座桥', type: 'txt2img', parameters }),
      format: 1,
    });
    expect(JSON.parse(String(msg))['parameters']).toMatchObject({
      aspect: '16:9',
      version: '6',
      is_niji: true,
      quality: '.5',
      tile: false,
      logo_add: true,
    });
  });
});

describe('the login in the address', () => {
  test('uploads and streams take it; no other call does', async () => {
    const upload = (path: string) => {
      const form = new FormData();
      form.append('file', new Blob([pixel], { type: 'image/png' }), 'a.png');
      return fetch(`${server.baseURL}/api/${path}`, { method: 'POST', body: form });
    };
    const uploaded = await upload(`image/upload?token=${person.token}`);
    expect(await uploaded.json()).toMatchObject({
      code: 0,
      data: { image: { url: expect.stringMatching(/^\/files\//) } },
    });
    for (const token of ['', 'x.y.z'])
      expect((await upload(`image/upload?token=${token}`)).status).toBe(401);
    const { uuid } = await data('POST', 'new_session', { type: 0, private: 1 });
    const sent = await data('POST', 'send_message', { uuid, msg: '鹊桥是什么？' });
    const stream = (session: unknown, token: string) =>
      fetch(
        `${server.baseURL}/api/event_stream?history_id=${String(sent['id'])}` +
          `&session_id=${String(session)}&temperature=21&checkpoint=&strict_mode=x&at_ai=0` +
          `&model=builtin-assistant&token=${token}`,
      );
    const read = await (await stream(uuid, person.token)).text();
    expect(read).toContain('data: [DONE]');
    expect(read).not.toContain('1432');
    // A refusal is an event, too: an EventSource reads nothing else.
    const other = await TestClient.register(server.baseURL);
    const refused = await stream(uuid, other.token ?? '');
    expect(refused.headers.get('content-type')).toContain('text/event-stream');
    expect(await refused.text()).toMatch(/^data: \{"code":"1432","message":".+"\}\n\n$/);
    const bare = await fetch(`${server.baseURL}/api/user_info?token=${person.token}`);
    expect(bare.status).toBe(401);
  });
});

describe('fields of a POST in its address', () => {
  test('favourites, likes and notices take them there', async () => {
    const { uuid } = await data('POST', 'new_session', { type: 0 });
    const session = String(uuid);
    const { id } = await data('POST', 'send_message', { uuid, msg: '鹊桥是什么？' });
    const place = `session_id=${session}&history_id=${String(id)}`;
    expect(await data('POST', `history_like?${place}`)).toMatchObject({ liked: true });
    // A body without anything in it is the same.
    await data('POST', `add_to_favorites?${place}`, {});
    const { list } = await data('GET', `history_list?session_id=${session}`);
    expect((list as Fields[])[0]).toMatchObject({ id, liked: true, in_favorites: true });
    const database = new pg.Client({ connectionString: server.databaseUrl });
    await database.connect();
    const { rows } = await database.query<{ id: string }>(
      `INSERT INTO notices (content) VALUES ('新的公告') RETURNING id`,
    );
    await database.end();
    const unread = async () => (await data('GET', 'notice_info'))['unread'];
    expect(await unread()).toBe(1);
    await data('PUT', `update_notice?notice_id=${rows[0]?.id}`);
    expect(await unread()).toBe(0);
    expect((await ask('POST', 'history_like?session_id=0&history_id=x')).status).toBe(422);
    // What stands in the body is what counts.
    expect((await ask('POST', `history_like?${place}`, { history_id: 999_999 })).code).not.toBe(0);
  });
});

describe('what is refused is said in words of the documents', () => {
  const refusal = async (path: string, body: unknown) =>
    (await ask('POST', path, body)) as unknown as { status: number; message: string };

  test('in a structured message, in settings as JSON, in lists', async () => {
    const session = await data('POST', 'new_session', { type: 1 });
    const said = async (fields: Fields) =>
      (
        await refusal(`send_message?session_id=${String(session['id'])}`, {
          format: 1,
          msg: JSON.stringify({ prompt: '一座石桥', ...fields }),
        })
      ).message;
    const url = 'https://example.com/a.png';
    expect(await said({ images: Array(5).fill(url) })).toBe('msg.images：最多选择 4 张图片');
    const styles = [1, 2, 3, 4].map((at) => `https://example.com/${at}.png`);
    expect(await said({ parameters: { sref: styles } })).toContain('图片数量不能大于3张');
    // The same one twice counts once.
    expect(await said({ parameters: { sref: Array(4).fill(url), chaos: 101 } })).toBe(
      'msg.parameters.chaos：不能大于 100',
    );
    expect(await said({ strength: 0 })).toBe('msg.strength：不能小于 1');
    const project = { name: '画风', key: `limits_${Date.now()}`, type: 1 };
    const settings = async (given: Fields) =>
      (await refusal('train/new_model', { ...project, settings: JSON.stringify(given) })).message;
    expect(await settings({ batch_size: 65 })).toBe('settings.batch_size：不能大于 64');
    expect(await settings({ epoch: 0 })).toBe('settings.epoch：不能小于 1');
    expect((await refusal('request_invoice', { order_ids: [] })).message).toMatch(/至少 1 项/);
    expect((await refusal('recharge', { type: 'token', num: 'many' })).message).toMatch(/应为整数/);
  });

  test('a film’s form has its sliders beside the image, and they count', async () => {
    const file = await person.upload(
      'uploadImage',
      new Blob([pixel], { type: 'image/png' }),
      'film.png',
    );
    const session = await data('POST', 'new_session', { type: 4 });
    const form = { type: 'img2video', prompt: '慢慢推近', base_image: file.image.url };
    const send = (fields: Fields) =>
      refusal(`send_message?session_id=${String(session['id'])}`, {
        format: 1,
        msg: JSON.stringify({ ...form, ...fields }),
      });
    expect((await send({ cfg_scale: 11 })).message).toMatch(/cfg_scale：不能大于 10/);
    expect((await send({ motion_bucket_id: 256 })).message).toMatch(/不能大于 255/);
    expect(await send({ cfg_model: '', cfg_scale: 3, motion_bucket_id: 200 })).toMatchObject({
      code: 0,
    });
    const page = await data('GET', `history_list?session_id=${String(session['id'])}`);
    const [message] = page['list'] as Fields[];
    expect(JSON.parse(String(message?.['human']))).toMatchObject({
      parameters: { cfg_scale: 3, motion_bucket_id: 200 },
    });
    // No model was chosen there, either.
    const begun = await data('POST', 'video/generate_video', {
      history_id: message?.['id'],
      request_id: `film ${Date.now()}`,
      model: '',
      parameters: { cfg_model: '' },
    });
    expect(begun).toMatchObject({ videos: [] });
  });
});

test('a question is posted with its title as msg and its text as ai', async () => {
  const { uuid, id } = await data('POST', 'new_session', { type: 2, group_id: 1 });
  const title = `怎样学编程 ${Date.now()}`;
  const sent = await data('POST', 'send_message', { uuid, msg: title, ai: '从哪里开始**最好**？' });
  const listed = await data('GET', `session_list?channel=forum&query=${encodeURIComponent(title)}`);
  expect(listed['list']).toEqual([
    expect.objectContaining({ uuid, title, content: expect.stringContaining('从哪里开始') }),
  ]);
  const other = await TestClient.register(server.baseURL);
  // Nobody is named by a switch, and a reply still names a model that is none.
  await data('POST', 'send_message', { uuid, msg: '从桥开始', ai: 0 }, other.token);
  expect(
    (await ask('POST', 'send_message', { uuid, msg: '谁来答', ai: '没有的模型' }, other.token))
      .code,
  ).toBe(1413);
  // A switch asks the model that is written behind an @, or says that none is.
  for (const ai of [1, '1', true]) {
    const asked = await data('POST', 'send_message', { uuid, msg: '@内置助手 你说呢', ai });
    await expect
      .poll(async () => {
        const here = `session_id=${String(uuid)}&id=${String(asked['id'])}`;
        return ((await data('GET', `history_list?${here}`))['list'] as Fields[])[0];
      })
      .toMatchObject({ model: 'builtin-assistant', state: 'done' });
    expect(await ask('POST', 'send_message', { uuid, msg: '你说呢', ai })).toMatchObject({
      code: 1413,
      message: expect.stringContaining('请在 @ 后面写上'),
    });
  }
  const blank = { id: sent['id'], session_id: id, group_id: 1, title: '', content: '新的内容' };
  expect(await ask('POST', 'update_message', blank)).toMatchObject({
    status: 422,
    message: '请输入内容和标题',
  });
});

test('a question as JSON keeps its text by each of its names, and a model is mentioned by name', async () => {
  const said = '从哪里开始**最好**？';
  for (const names of [
    ['prompt', 'completion'],
    ['prompt', 'content'],
    ['title', 'content'],
    ['title', 'completion'],
  ] as const) {
    const { uuid } = await data('POST', 'new_session', { type: 2, group_id: 1 });
    const title = `${names.join('与')} ${Date.now()}`;
    const msg = JSON.stringify({ [names[0]]: title, [names[1]]: said });
    await data('POST', 'send_message', { uuid, msg, format: 1 });
    const { list } = await data('GET', `history_list?session_id=${String(uuid)}`);
    expect((list as Fields[])[0]).toMatchObject({ title, content: said });
    const found = await data(
      'GET',
      `session_list?channel=forum&query=${encodeURIComponent(title)}`,
    );
    expect(found['list']).toEqual([expect.objectContaining({ uuid, title })]);
    // A reply has no title of its own: nothing of it is lost.
    await data('POST', 'send_message', { uuid, msg, format: 1 });
    const whole = await data('GET', `history_list?session_id=${String(uuid)}`);
    expect((whole['list'] as Fields[])[1]).toMatchObject({ content: `${title}\n\n${said}` });
  }
  const { uuid } = await data('POST', 'new_session', { type: 2 });
  const halves = [
    { prompt: '', completion: '只有内容' },
    { prompt: '只有标题', completion: ' ' },
    { completion: '只有内容' },
    { prompt: '只有标题' },
    { title: '只有标题' },
  ].map((half) => ({ msg: JSON.stringify(half), format: 1 }));
  const asText = [
    { msg: '只有标题', ai: '' },
    { msg: '', ai: '只有内容' },
    { msg: '只有内容', title: ' ' },
  ];
  for (const half of [...halves, ...asText])
    expect(await ask('POST', 'send_message', { uuid, ...half })).toMatchObject({
      status: 422,
      message: '请输入内容和标题',
    });
  await data('POST', 'send_message', { uuid, msg: '怎样开始？' });
  const asked = { prompt: '你说呢？', at_user: '内置助手' };
  const { id } = await data('POST', 'send_message', {
    uuid,
    msg: JSON.stringify(asked),
    format: 1,
  });
  await expect
    .poll(async () => {
      const { list } = await data(
        'GET',
        `history_list?session_id=${String(uuid)}&id=${String(id)}`,
      );
      return (list as Fields[])[0];
    })
    .toMatchObject({ model: 'builtin-assistant', ai: expect.stringMatching(/./) });
});

test('sizes as models list them, JSON as text, no id by 0', async () => {
  const session = await data('POST', 'new_session', { type: 1 });
  const drawn = await data('POST', `send_message?session_id=${String(session['id'])}`, {
    msg: '一座石桥',
    format: 0,
  });
  const request_id = `wide ${Date.now()}`;
  const begun = await data('POST', 'image/generate', {
    history_id: drawn['id'],
    request_id,
    n: 1,
    size: '1024x576',
  });
  expect(begun).toMatchObject({ size: '1024x576' });
  expect(begun).not.toHaveProperty('notice');
  // What is not made in the size that was asked for says so.
  const odd = await data('POST', `send_message?session_id=${String(session['id'])}`, {
    msg: '一座木桥',
  });
  const wish = { history_id: odd['id'], request_id: `odd ${Date.now()}`, n: 1, size: '1000x600' };
  const made = await data('POST', 'image/generate', wish);
  expect(made['notice']).toBe(`没有 1000x600 这个尺寸，画的是 ${String(made['size'])}`);
  // So does a size within the message, before anything is drawn.
  for (const [size, notice] of [
    ['1000x600', made['notice']],
    ['1024×576', undefined],
  ] as const) {
    const told = await data('POST', `send_message?session_id=${String(session['id'])}`, {
      msg: JSON.stringify({ prompt: '一座铁桥', size }),
      format: 1,
    });
    expect(told['notice']).toBe(notice);
    const going = { history_id: told['id'], request_id: `in ${size} ${Date.now()}`, n: 1 };
    expect((await data('POST', 'image/generate', going))['size']).toBe(told['size']);
  }
  const { models } = await data('GET', 'models');
  const canvas = (models as Fields[]).find(({ name }) => name === 'builtin-canvas');
  expect(canvas?.['sizes']).toContain(made['size']);
  expect(canvas?.['size_limit']).toEqual(canvas?.['sizes']);
  const { progress: _, job } = await data(
    'GET',
    `image/progress?request_id=${encodeURIComponent(request_id)}`,
  );
  expect(job).toMatchObject({ kind: 'image' });
  await expect
    .poll(
      async () =>
        (
          (await data('GET', `image/progress?request_id=${encodeURIComponent(request_id)}`))[
            'images'
          ] as Fields[]
        ).map(({ size }) => size),
      { timeout: 20_000 },
    )
    .toEqual(['1024x576']);
  const template = {
    id: 0,
    type: 1,
    attrs: JSON.stringify({ include: [], exclude: [] }),
    prompt_json: JSON.stringify({ title: '石桥', content: '一座石桥' }),
  };
  expect(await data('POST', 'save_prompt', template)).toMatchObject({ id: expect.any(Number) });
  expect(await data('POST', 'translate', { msg: '石桥', cn2en: 1, model: '' })).toHaveProperty(
    'result',
  );
});

test('a form’s 0, empty text or empty list speaks of nothing and of nobody', async () => {
  for (const none of [{ scenario_id: 0 }, { group_id: 0 }, { history_id: '0' }])
    await data('POST', 'new_session', { type: 0, ...none });
  await data('GET', 'session_list?channel=private&user_id=0&scenario_id=0');
  const { uuid } = await data('POST', 'new_session', { type: 2, group_id: 1 });
  for (const nobody of ['', 0, '0', [], { id: '', name: '' }, null]) {
    const msg = JSON.stringify({ prompt: '鹊桥是什么？', at_user: nobody });
    await data('POST', 'send_message', { uuid, msg, format: 1 });
  }
  for (const somebody of [{ id: -1 }, [1]])
    expect(
      (
        await ask('POST', 'send_message', {
          uuid,
          msg: JSON.stringify({ prompt: '鹊桥是什么？', at_user: somebody }),
          format: 1,
        })
      ).status,
    ).toBe(422);
});

test('what was read of a film’s message is sent again with its documented fields changed', async () => {
  const file = new Blob([pixel], { type: 'image/png' });
  const { image } = await person.upload('uploadImage', file, 'again.png');
  expect(image).toMatchObject({ size: '1x1', bytes: expect.any(Number) });
  const again = async (first: Fields, change: Fields): Promise<Fields> => {
    const { uuid } = await data('POST', 'new_session', { type: 4 });
    const send = (fields: Fields) =>
      data('POST', 'send_message', { uuid, format: 1, msg: JSON.stringify(fields) });
    await send({ prompt: '一座桥', base_image: image.url, ...first });
    const { list } = await data('GET', `history_list?session_id=${String(uuid)}`);
    const read = JSON.parse(String((list as Fields[])[0]?.['human'])) as Fields;
    expect(read).toMatchObject(first);
    return JSON.parse(String((await send({ ...read, ...change }))['msg'])) as Fields;
  };
  const film = { type: 'img2video', cfg_scale: 3.5, motion_bucket_id: 200 };
  expect(await again(film, { cfg_scale: '1.5' })).toMatchObject({
    cfg_scale: 1.5,
    motion_bucket_id: 200,
  });
});

test('an image guides without one to start from', async () => {
  const file = await sharp({ create: { width: 64, height: 64, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
  const { image } = await person.upload('uploadImage', new Blob([new Uint8Array(file)]), 'g.png');
  const control = { controlnet_image: image.url, controlnet_module: 'Canny' };
  const draw = async (fields: Fields) => {
    const { uuid } = await data('POST', 'new_session', { type: 1 });
    const { id } = await data('POST', 'send_message', {
      uuid,
      format: 1,
      msg: JSON.stringify({ prompt: '一座石桥', type: 'img2img', base_image: '', ...fields }),
    });
    return ask('POST', 'image/generate', { history_id: id, request_id: `g ${String(id)}`, n: 1 });
  };
  expect(await draw(control)).toMatchObject({ status: 200, code: 0 });
  expect(await draw({})).toMatchObject({ status: 422 });
});

test('a session by its group alone, or by the key of a knowledge base', async () => {
  const question = await data('POST', 'new_session', { group_id: 1 });
  expect(await data('GET', `get_session?uuid=${String(question['uuid'])}`)).toMatchObject({
    type: 2,
    group_id: 1,
  });
  const key = `tea_${Date.now()}`;
  await data('POST', 'train/new_model', { name: '茶经', key, type: 0, settings: '{"model":null}' });
  const { uuid } = await data('POST', 'new_session', { type: 0, model: key });
  expect(await data('GET', `get_session?uuid=${String(uuid)}`)).toMatchObject({
    embedding_key: key,
    embedding_name: '茶经',
    model: expect.stringMatching(/./),
  });
  const other = await TestClient.register(server.baseURL);
  const theirs = await ask('POST', 'new_session', { type: 0, model: key }, other.token);
  expect(theirs.code).toBe(1413);
  // A style that is not trained yet says so (document 3 §8), to those alone who may know of it.
  const style = `style_${Date.now()}`;
  await data('POST', 'train/new_model', { name: '画风', key: style, type: 1, settings: '{}' });
  for (const [who, code] of [
    [person, 1470],
    [other, 1413],
  ] as const)
    expect((await ask('POST', 'new_session', { type: 1, model: style }, who.token)).code).toBe(
      code,
    );
});

test('a manager’s list of orders is filtered by each type of document 3 §3', async () => {
  await data('POST', 'recharge', { type: 'token', num: 1 });
  await data('POST', 'recharge', { type: 'vip', num: '1' });
  const manager = new TestClient(server.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  for (const type of [1, '2', 3]) {
    const { list } = await data('POST', 'admin/order_list', { page: 1, type }, manager.token);
    const kinds = new Set((list as Fields[]).map((order) => order['type']));
    expect([...kinds], String(type)).toEqual(type === 3 ? [] : [Number(type)]);
  }
  // What no type is chosen of, and what pickers of times send.
  const day = 86_400_000;
  const today = new Date(Date.now() + 8 * 3_600_000).toISOString().slice(0, 10);
  for (const [range, found] of [
    [[Date.now() - day, Date.now() + day], true],
    [[String(Date.now() - day), String(Date.now() + day)], true],
    [[Date.now() - 9 * day, Date.now() - 8 * day], false],
    // Both days of a range are whole ones, in Asia/Shanghai.
    [[today, today], true],
  ] as const) {
    const filter = { page: 1, orderId: '', type: 0, timeRange: range };
    const { list } = await data('POST', 'admin/order_list', filter, manager.token);
    expect((list as Fields[]).length > 1, String(range)).toBe(found);
  }
});

test('a manager saves two templates of one name, and another of one that came with the program', async () => {
  const manager = new TestClient(server.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  const { list } = await data('GET', 'admin/prompt_list?page=1&type=0', undefined, manager.token);
  const { act } = (list as { prompt_json: { act: string } }[])[0]!.prompt_json;
  const attrs = { include: [], exclude: [] };
  for (const name of ['同名的', '同名的', act]) {
    const words = { type: 0, attrs, prompt_json: { act: name, prompt: '写一首诗' } };
    expect(await data('POST', 'admin/save_prompt', words, manager.token)).toMatchObject({
      id: expect.any(Number),
    });
  }
});

test('text_to_speech reads a text for no message by history_id 0', async () => {
  const speak = (body: Fields) =>
    fetch(`${server.baseURL}/api/text_to_speech`, {
      method: 'POST',
      headers: { authorization: `Bearer ${person.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const spoken = await speak({ model: '', text: '你好', voice: '', history_id: 0, speed: 1 });
  expect(spoken.headers.get('content-type')).toMatch(/^audio\//);
  expect((await spoken.arrayBuffer()).byteLength).toBeGreaterThan(1000);
  // As a form has it.
  const slow = await speak({ text: '你好', history_id: '', speed: '0.5' });
  expect(slow.headers.get('content-type')).toMatch(/^audio\//);
  const nothing = await speak({ text: '', history_id: 0, refresh: false });
  expect(await nothing.json()).toMatchObject({ message: expect.stringMatching(/./) });
});

test('whoever is signed in no longer is told the same, and not refused', async () => {
  const gone = await TestClient.register(server.baseURL);
  const { token } = gone;
  await gone.call('logout', {});
  for (const stale of [token, 'x.y.z', 'no token at all'])
    expect(await data('GET', 'auth_check', undefined, stale)).toMatchObject({ admin: false });
});

test('a visitor is told that they are no administrator', async () => {
  const response = await fetch(`${server.baseURL}/api/auth_check`);
  expect(await response.json()).toMatchObject({ code: 0, data: { admin: false } });
});

test('a switch in an address says 0, 1, true or false', async () => {
  for (const value of ['0', '1', 'true', 'false']) {
    await data('GET', `train/model_list?page=1&public=${value}&query=`);
    await data('GET', `image/index?page=1&private=${value}`);
    await data('GET', `video/index?page=1&private=${value}`);
    await data('GET', `job_list?running=${value}`);
    expect((await ask('GET', `image/info?image_id=999999&explore=${value}`)).status).toBe(404);
    const { uuid } = await data('POST', 'new_session', { type: 0 });
    const { id } = await data('POST', 'send_message', { uuid, msg: '鹊桥是什么？' });
    const stream = await fetch(
      `${server.baseURL}/api/event_stream?history_id=${String(id)}&session_id=${String(uuid)}` +
        `&strict_mode=${value}&at_ai=${value}`,
      { headers: { authorization: `Bearer ${person.token}` } },
    );
    expect(stream.headers.get('content-type'), value).toContain('text/event-stream');
    await stream.text();
  }
  expect((await ask('GET', 'image/index?page=1&private=maybe')).status).toBe(422);
});

test('a payment’s address can be opened from anywhere', async () => {
  const order = await data('POST', 'recharge', { type: 'token', num: 1 });
  const { trade_no: number, url } = order;
  expect(url).toMatch(new RegExp(`^${server.baseURL}/cashier\\?key=`));
  expect((await data('POST', `trade_status?platform_order_id=${String(number)}`))['url']).toBe(url);
  const [first] = (await data('GET', 'trade_list?page=1'))['list'] as Fields[];
  expect(first).toMatchObject({ trade_no: number, url });
});

test('a project’s row has its file', async () => {
  const project = { name: '手册', key: `handbook_${Date.now()}`, type: 0 };
  const made = (await data('POST', 'train/new_model', project))['model'] as Fields;
  expect(made).toMatchObject({ file: null });
  const form = new FormData();
  form.append('file', new Blob(['鹊桥是一座桥。']), '手册.txt');
  const sent = await fetch(
    `${server.baseURL}/api/train/upload_file?token=${person.token}&model_id=${String(made['id'])}`,
    { method: 'POST', body: form },
  );
  expect(await sent.json()).toMatchObject({ code: 0 });
  const [row] = (await data('GET', 'train/model_list?page=1&public=0'))['list'] as Fields[];
  const { url } = row!['file'] as Fields;
  expect(row).toMatchObject({ id: made['id'], file: { name: '手册.txt' } });
  const file = await fetch(`${server.baseURL}${String(url)}`, {
    headers: { authorization: `Bearer ${person.token}` },
  });
  expect(await file.text()).toContain('鹊桥');
});

test('a name like a telephone number goes out to others with its middle hidden', async () => {
  const called = await TestClient.register(server.baseURL);
  await called.call('saveUser', { user_name: '13812345678' });
  const { uuid } = await data('POST', 'new_session', { type: 2 }, called.token);
  await data('POST', 'send_message', { uuid, msg: '谁知道？' }, called.token);
  const mine = await data('GET', 'user_info', undefined, called.token);
  expect(mine['user_name']).toBe('13812345678');
  const at = { prompt: '您好', at_user: mine['id'] };
  await data('POST', 'send_message', { uuid, msg: JSON.stringify(at), format: 1 });
  const { uuid: friend } = await data('POST', 'new_friend', { friend_user_id: mine['id'] });
  for (const path of [
    `history_list?session_id=${String(uuid)}`,
    `get_session?uuid=${String(uuid)}`,
    `get_session?uuid=${String(friend)}`,
    'session_list?channel=forum',
    'session_list?channel=private',
  ]) {
    const told = JSON.stringify(await data('GET', path));
    expect(told, path).toContain('138****5678');
    expect(told, path).not.toContain('13812345678');
  }
});

test('lists of administration are as long as document 3 §9 says', async () => {
  const manager = new TestClient(server.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  const sizes = { session: 10, user: 10, model: 10, prompt: 15, notice: 15 };
  for (const [name, size] of Object.entries(sizes)) {
    const list = await data('GET', `admin/${name}_list?page=1&type=0`, undefined, manager.token);
    expect(list['page_size'], name).toBe(size);
  }
  const orders = await data('POST', 'admin/order_list', { page: 1 }, manager.token);
  expect(orders['page_size']).toBe(20);
});

test('what is no translation is not packed, and its owner is told why', async () => {
  const form = { name: '笔记', key: 'notes_to_pack', type: 0, settings: '{}' };
  const { model } = (await data('POST', 'train/new_model', form)) as { model: Fields };
  const packed = await ask('GET', `train/pack_model?model_id=${String(model['id'])}`);
  expect(packed).toMatchObject({ status: 422, message: expect.stringContaining('翻译项目') });
});

test('half of a character within JSON that travels as text is taken as elsewhere', async () => {
  const { uuid } = await data('POST', 'new_session', { type: 1 });
  const half = '尾\ud83d';
  const made = { type: 1, name: '画风', title: half, desc: half };
  for (const broken of [half, '尾\0']) {
    const sent = await data('POST', `send_message?session_id=${String(uuid)}`, {
      format: 1,
      msg: JSON.stringify({ prompt: '推近', app: broken, controlnet_module: broken }),
    });
    expect(JSON.parse(String(sent['msg']))).toMatchObject({ app: '尾\ufffd' });
    const key = `half_${Date.now()}`;
    const settings = JSON.stringify({ desc: broken, checkpoint: broken });
    const { model } = await data('POST', 'train/new_model', { ...made, key, settings });
    expect(String((model as Fields)['settings'])).toContain('尾\ufffd');
  }
});

test('administration refuses days that are none, kinds that are none and notices of nothing', async () => {
  const manager = new TestClient(server.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  const statusOf = async (path: string, body: unknown) =>
    (await ask('POST', `admin/${path}`, body, manager.token)).status;
  const { id } = await person.call('userInfo', {});
  const until = (day: string | null) =>
    statusOf('activated_ability', { user_id: id, vip_expired_at: day });
  for (const day of ['2026-02-30', '2026-13-01', '1', '-0', '2026-02-30T00:00:00Z'])
    expect(await until(day), day).toBe(422);
  for (const day of ['2099-02-28', '2099/2/28', '2099-02-28T16:00:00.000Z', null])
    expect(await until(day), String(day)).toBe(200);
  const list = await data('GET', 'admin/model_list?page=1&type=0', undefined, manager.token);
  const [model] = list['list'] as Fields[];
  const set = (fields: Fields) => statusOf('set_model', { id: model?.['id'], ...fields });
  expect(await set({ factor: '0', type: 0 })).toBe(200);
  expect(await set({ factor: 'one' })).toBe(422);
  expect(await set({ type: 9 })).toBe(422);
  const form = new FormData();
  form.set('notice', '  ');
  const blank = await fetch(`${server.baseURL}/api/admin/save_notice`, {
    method: 'POST',
    headers: { authorization: `Bearer ${manager.token}` },
    body: form,
  });
  expect(blank.status).toBe(422);
});

test('a file is known by its ending however long its name is', async () => {
  const made = { name: '长', key: `long_${Date.now()}`, type: 0, settings: '{}' };
  const { model } = (await data('POST', 'train/new_model', made)) as { model: Fields };
  const form = new FormData();
  form.set('file', new Blob(['一座石桥。']), `${'名'.repeat(250)}.txt`);
  const response = await fetch(
    `${server.baseURL}/api/train/upload_file?model_id=${String(model['id'])}`,
    { method: 'POST', headers: { authorization: `Bearer ${person.token}` }, body: form },
  );
  expect(await response.json()).toMatchObject({ code: 0 });
});

test('a private base of another is no key that a reader could use', async () => {
  const key = `mine_${Date.now()}`;
  await data('POST', 'train/new_model', { name: '私', key, type: 0, private: 1, settings: '{}' });
  const session = await data('POST', 'new_session', { type: 0, embedding_key: key });
  const path = `get_session?uuid=${String(session['uuid'])}`;
  await data('POST', 'send_message', { uuid: session['uuid'], msg: '鹊桥是什么？' });
  await data('POST', `set_session?uuid=${String(session['uuid'])}`, { private: 0 });
  expect(await data('GET', path)).toMatchObject({ embedding_key: key });
  const other = await TestClient.register(server.baseURL);
  const read = await data('GET', path, undefined, other.token);
  expect(read).toMatchObject({ embedding_key: '', embedding_name: '' });
});
