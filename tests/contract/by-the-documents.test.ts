import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import pg from 'pg';
import sharp from 'sharp';
import { TestClient } from '../support/client.ts';
import { startServer, type TestServer } from '../support/server.ts';

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
    expect(JSON.parse(String(view['completion']))).toEqual([{ url: images[0]?.['url'] }]);
    expect(view).toMatchObject({ group_id: expect.any(Number), deleted: 0, embedding_private: 0 });
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
    await data('POST', 'last_messages', { session_id: uuid, maxHistoryId: 0 });
    await data('POST', `set_session?uuid=${String(uuid)}`, { private: 1 });
    await data('DELETE', `delete_session?uuid=${String(uuid)}`);
  });

  test('a question takes a group and is listed by channel=forum; a film’s session is made', async () => {
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
  for (const [method, path, body] of [
    ['GET', 'models'],
    ['GET', 'scenario_list'],
    ['GET', 'session_list?channel=public'],
    ['GET', 'user_info'],
    ['POST', 'new_session', { type: 0 }],
  ] as const)
    expect((await ask(method, path, body, gone.token)).code, path).toBe(3001);
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
    await data('POST', `set_session?session_id=${session}`, { private: true });
    const question = await data('POST', 'new_session', { type: 2, group_id: 1 });
    await data('POST', 'send_message', { uuid: question['uuid'], msg: '为什么？', ai: '' });
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
      dark_style: 'dark',
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
          `&session_id=${String(session)}&temperature=&checkpoint=&strict_mode=&at_ai=0` +
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
    expect(await said({ parameters: { sref: Array(4).fill(url) } })).toContain(
      '图片数量不能大于3张',
    );
    expect(await said({ parameters: { chaos: 101 } })).toBe('msg.parameters.chaos：不能大于 100');
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
  const blank = { id: sent['id'], session_id: id, group_id: 1, title: '', content: '新的内容' };
  expect(await ask('POST', 'update_message', blank)).toMatchObject({
    status: 422,
    message: '请输入内容和标题',
  });
});

test('sizes as models list them, JSON as text, no id by 0', async () => {
  const session = await data('POST', 'new_session', { type: 1 });
  const drawn = await data('POST', `send_message?session_id=${String(session['id'])}`, {
    msg: '一座石桥',
    format: 0,
  });
  const request_id = `wide ${Date.now()}`;
  await data('POST', 'image/generate', {
    history_id: drawn['id'],
    request_id,
    n: 1,
    size: '1024x576',
  });
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
