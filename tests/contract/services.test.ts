import { createRequire } from 'node:module';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { In } from '#contract/calls.ts';
import type { AdminChannel } from '#contract/manage-model.ts';
import { TestClient } from '../support/client.ts';
import { makeFilm } from '../support/films.ts';
import { freePort } from '../support/free-port.ts';
import { startMediaService, type MediaService } from '../support/mock-media.ts';
import { startMockMidjourney } from '../support/mock-midjourney.ts';
import { startMockOpenAi } from '../support/mock-openai.ts';
import { startMockSdWebui } from '../support/mock-sd-webui.ts';
import { startMockTraining } from '../support/mock-training.ts';
import { onePixel } from '../support/world.ts';
import { paint } from '../support/images.ts';
import { ADMIN_PASSWORD, startServer, type TestServer } from '../support/server.ts';

/**
 * Every kind of service as a manager connects it: tried before it is kept, its models fetched, used
 * by a person, and seen in the list with how it does. Each is faked at its wire.
 */
let server: TestServer;
let manager: TestClient;
let person: TestClient;
let media: MediaService;
let nowhere: string;

beforeAll(async () => {
  media = await startMediaService();
  nowhere = `http://127.0.0.1:${await freePort()}`;
  server = await startServer({
    env: { ASSISTANT_RATE: '0', SIGNUP_TOKENS: '100000000', FILM_POLL_SECONDS: '0' },
  });
  manager = new TestClient(server.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  person = await TestClient.register(server.baseURL);
});
afterAll(async () => {
  await server?.stop();
  await media?.close();
});

const rowOf = async (id: number): Promise<AdminChannel> => {
  const { list } = await manager.call('channelList', {});
  const found = list.find((each) => each.id === id);
  if (!found) throw new Error('the service is not listed');
  return found;
};

/** Waits until it is so. Tests run beside each other here, where `expect.poll` cannot be used. */
const eventually = (check: () => Promise<void>, timeout = 15_000) =>
  vi.waitFor(check, { timeout, interval: 200 });

/** What a manager sees of it once what happened was written down. */
const seen = (id: number, what: object) =>
  eventually(async () => expect(await rowOf(id)).toMatchObject(what));

/** Tries it at a dead address, with a wrong key, and as it is; connects it, and gives its number. */
const connect = async (
  service: Omit<In<'saveChannel'>, 'label'> & { model?: string },
  said: RegExp,
  fetched: readonly string[] = [],
): Promise<number> => {
  const { model, ...saved } = service;
  const { kind, base_url, api_key } = saved;
  const dead = base_url.replace(/^http:\/\/127\.0\.0\.1:\d+/, nowhere);
  expect(await manager.call('testChannel', { kind, base_url: dead, api_key, model })).toMatchObject(
    {
      ok: false,
      message: expect.stringMatching(/连不上/),
    },
  );
  const wrong = { kind, base_url, api_key: 'wrong:key', model };
  expect(await manager.call('testChannel', wrong)).toMatchObject({
    ok: false,
    message: expect.stringMatching(/密钥不对/),
  });
  const trial = await manager.call('testChannel', { kind, base_url, api_key, model });
  expect(trial).toMatchObject({ ok: true, message: expect.stringMatching(said) });
  expect(trial.models.map(({ name }) => name)).toEqual(fetched);
  const { id } = await manager.call('saveChannel', { ...saved, label: `试用 ${kind}` });
  // Tried from the list: by the key that is kept, and what came of it stands there.
  expect(await manager.call('testChannel', { id, kind, base_url, model })).toMatchObject({
    ok: true,
  });
  expect(await rowOf(id)).toMatchObject({ last_success_at: expect.any(String), last_error: '' });
  return id;
};

test.concurrent('stable-diffusion-webui is connected by form and draws; what it has and why it failed is seen', async () => {
  const webui = await startMockSdWebui({ auth: 'me:secret' });
  try {
    const id = await connect(
      { kind: 'stable-diffusion-webui', base_url: webui.url, api_key: 'me:secret' },
      /1 个大模型/,
    );
    // Told by the service itself, so that a manager can choose and price them.
    await eventually(async () => {
      const { list } = await manager.call('adminModelList', { unique_key: 'stable-diffusion' });
      expect(list[0]?.checkpoints).toHaveLength(1);
    });
    const { job } = await paint(person, '山间的月亮', { model: 'stable-diffusion' });
    expect(job).toMatchObject({ state: 'done' });
    await seen(id, { successes: 1, failures: 0, latency: expect.any(Number) });
    await eventually(async () => expect((await rowOf(id)).spent).toBeGreaterThan(0));
    webui.scenario = '500';
    const second = await paint(person, '山间的月亮', { model: 'stable-diffusion' });
    expect(second.job).toMatchObject({ state: 'error' });
    await seen(id, { last_error: '画图服务出错', last_failure_at: expect.any(String) });
    await manager.call('delChannel', { id });
  } finally {
    await webui.close();
  }
});

test.concurrent('a Midjourney proxy is connected by form and draws', async () => {
  const proxy = await startMockMidjourney({ secret: 'mj-secret' });
  try {
    const id = await connect(
      { kind: 'midjourney', base_url: proxy.url, api_key: 'mj-secret' },
      /密钥没有被拒绝/,
    );
    const { job } = await paint(person, 'a moon over hills', { model: 'midjourney' });
    expect(job).toMatchObject({ state: 'done' });
    expect(proxy.faults).toEqual([]);
    await seen(id, { successes: 1, models: ['midjourney'] });
    await eventually(async () => expect((await rowOf(id)).spent).toBeGreaterThan(0));
    await manager.call('delChannel', { id });
  } finally {
    await proxy.close();
  }
});

const post = async (path: string, body: FormData | object) =>
  fetch(`${server.baseURL}/api/${path}`, {
    method: 'POST',
    headers: {
      ...person.headers(),
      ...(body instanceof FormData ? {} : { 'content-type': 'application/json' }),
    },
    body: body instanceof FormData ? body : JSON.stringify(body),
  });

test('a service that speaks and listens is connected by form, its keys take turns', async () => {
  const text2wav = createRequire(import.meta.url)('text2wav') as (
    words: string,
    options: { voice: string },
  ) => Promise<Uint8Array>;
  const recording = await text2wav('您好，今天天气很好。', { voice: 'zh' });
  const builtIn = await post('text_to_speech', { model: 'builtin-voice', text: '您好' });
  media.speech = Buffer.from(await builtIn.arrayBuffer());
  media.keys = ['sk-voice-1', 'sk-voice-2'];
  media.models = ['tts-1', 'whisper-1', 'tts-of-no-use'];
  const service = {
    kind: 'openai-compatible' as const,
    base_url: `${media.url}/v1`,
    api_key: 'sk-voice-1\nsk-voice-2',
    models: [{ name: 'tts-1' }, { name: 'whisper-1' }],
  };
  expect(
    await manager.call('testChannel', {
      ...service,
      models: undefined,
      model: 'whisper-1',
    } as never),
  ).toMatchObject({ ok: true, message: expect.stringContaining('今天天气很好') });
  const id = await connect({ ...service, model: 'tts-1' }, /tts-1 读出了/, media.models);
  media.asked.length = 0;
  for (const text of ['第一句话。', '第二句话。'])
    expect((await post('text_to_speech', { model: 'tts-1', text, voice: 'nova' })).status).toBe(
      200,
    );
  const form = new FormData();
  form.set('model', 'whisper-1');
  form.set('file', new Blob([new Uint8Array(recording)], { type: 'audio/wav' }), 'audio.wav');
  const heard = (await (await post('speech_to_text', form)).json()) as { data: { text: string } };
  expect(heard.data.text).toBe(media.words);
  expect(
    media.asked
      .slice(0, 2)
      .map(({ authorization }) => authorization)
      .sort(),
  ).toEqual(['Bearer sk-voice-1', 'Bearer sk-voice-2']);
  await seen(id, { successes: 3, failures: 0, key_count: 2 });
  await eventually(async () => expect((await rowOf(id)).spent).toBeGreaterThan(0));
  media.keys = ['sk-another'];
  await post('text_to_speech', { model: 'tts-1', text: '第三句话。', voice: 'nova' });
  await seen(id, { last_error: '语音服务没有接受本站的密钥' });
  await manager.call('delChannel', { id });
});

test('services that film are connected by form, by OpenAI’s shape and by Stability’s', async () => {
  media.keys = ['sk-film'];
  media.models = ['sora-2'];
  media.film = Buffer.from(
    await (async () => {
      const { films } = await makeFilm(person, { model: 'builtin-film' });
      return (
        await fetch(server.baseURL + films[0]!.url, { headers: person.headers() })
      ).arrayBuffer();
    })(),
  );
  const openAi = await connect(
    {
      kind: 'openai-compatible',
      base_url: `${media.url}/v1`,
      api_key: 'sk-film',
      model: 'sora-2',
      models: [{ name: 'sora-2' }],
    },
    /没有试做/,
    ['sora-2'],
  );
  const stability = await connect(
    { kind: 'stability', base_url: media.url, api_key: 'sk-film' },
    /密钥可以用/,
  );
  // Nothing that costs was asked for by trials alone.
  expect(media.asked.filter(({ path }) => /POST .*(?:videos|image-to-video)/.test(path))).toEqual(
    [],
  );
  for (const [id, model] of [
    [openAi, 'sora-2'],
    [stability, 'stable-video-diffusion'],
  ] as const) {
    expect((await makeFilm(person, { model })).job, model).toMatchObject({ state: 'done' });
    await seen(id, { successes: 1, models: [model] });
    await eventually(async () => expect((await rowOf(id)).spent).toBeGreaterThan(0));
    await manager.call('delChannel', { id });
  }
});

const project = async (type: number, key: string, settings: object = {}) =>
  (
    await person.call('newTrainModel', {
      name: '资料',
      key,
      type,
      settings: JSON.stringify(settings),
    })
  ).model.id;

const trained = (id: number) =>
  eventually(async () => {
    const { list } = await person.call('trainFileList', { model_id: id });
    expect(list.map(({ status }) => status)).toEqual([1]);
  }, 40_000);

test('a service that embeds is connected by form, its keys take turns', async () => {
  media.keys = ['sk-vector-1', 'sk-vector-2'];
  media.models = ['bge-m3', 'gpt-4o-mini'];
  const id = await connect(
    {
      kind: 'embedding',
      base_url: `${media.url}/v1`,
      api_key: 'sk-vector-1\nsk-vector-2',
      models: [{ name: 'bge-m3' }],
    },
    /bge-m3 给出 2 维向量/,
    ['bge-m3'],
  );
  await eventually(async () =>
    expect((await person.call('trainEngines', {})).embedding).toEqual(['bge-m3']),
  );
  media.asked.length = 0;
  const model = await project(0, 'of_service');
  const form = new FormData();
  form.set('model_id', String(model));
  form.set('file', new Blob(['紫藤在四月到五月开花。']), '花.md');
  await post('train/upload_file', form);
  await trained(model);
  await person.call('askKnowledge', { embedding_key: 'of_service', question: '紫藤几月开花' });
  const used = media.asked.filter(({ path }) => path.endsWith('/embeddings'));
  expect(new Set(used.map(({ authorization }) => authorization)).size).toBe(2);
  await seen(id, { successes: used.length, key_count: 2 });
  await eventually(async () => expect((await rowOf(id)).spent).toBeGreaterThan(0));

  // Visitors ask at the house's cost: some in a day, then they find by words alone.
  await person.call('setTrainModel', { model_id: model, private: 0 });
  media.asked.length = 0;
  const visitor = new TestClient(server.baseURL);
  for (let at = 0; at < 230; at += 1) {
    const question = `紫藤第 ${at} 次几月开花`;
    const { list } = await visitor.call('askKnowledge', { embedding_key: 'of_service', question });
    expect(list.length).toBeGreaterThan(0);
  }
  const asked = media.asked.filter(({ path }) => path.endsWith('/embeddings'));
  expect(asked.length).toBeGreaterThan(0);
  expect(asked.length).toBeLessThanOrEqual(200);
  media.keys = ['sk-another'];
  await person.call('askKnowledge', { embedding_key: 'of_service', question: '什么时候开' });
  await seen(id, { last_error: '向量服务没有接受本站的密钥' });
  await manager.call('delChannel', { id });
});

test.concurrent('a service that trains styles is connected by form and trains', async () => {
  const service = await startMockTraining();
  try {
    const id = await connect(
      {
        kind: 'replicate',
        base_url: `${service.url}/replicate`,
        api_key: 'r8_test',
        trainer: 'someone/lora:v1',
        destination: 'me/style',
      },
      /密钥可以用/,
    );
    await eventually(async () =>
      expect((await person.call('trainEngines', {})).lora).toContain('someone/lora'),
    );
    const model = await project(1, 'of_replicate');
    const { image } = await person.upload(
      'uploadImage',
      new Blob([new Uint8Array(onePixel)], { type: 'image/png' }),
      'a.png',
    );
    await person.call('setLoraImages', {
      model_id: model,
      images: [{ url: image.url, txt: '点' }],
    });
    await trained(model);
    await seen(id, { successes: 1, spent: 100_000 });
    await manager.call('delChannel', { id });
  } finally {
    await service.stop();
  }
});

test.concurrent('two services share a model by weight, the second by priority only when the first fails', async () => {
  const [one, two] = [await startMockOpenAi(), await startMockOpenAi()];
  try {
    const both: number[] = [];
    for (const [service, weight] of [
      [one, 1000],
      [two, 1],
    ] as const) {
      const { id } = await manager.call('saveChannel', {
        kind: 'openai-compatible',
        label: `权重 ${weight}`,
        base_url: service.baseURL,
        api_key: `sk-of-${weight}-a\nsk-of-${weight}-b`,
        weight,
        models: [{ name: 'twin-model' }],
      });
      both.push(id);
    }
    const [first = 0, second = 0] = both;
    const asks = async (times: number) => {
      const before = [one.calls, two.calls] as const;
      const keys = new Set<string | undefined>();
      for (let at = 0; at < times; at += 1) {
        const { uuid, id } = await person.ask('请介绍一下西湖', { model: 'twin-model' });
        await person.read(uuid, id);
        keys.add(one.lastAuthorization);
      }
      return { one: one.calls - before[0], two: two.calls - before[1], keys };
    };
    const heavy = await asks(6);
    expect(heavy.one).toBeGreaterThan(heavy.two);
    expect(heavy.keys).toEqual(new Set(['Bearer sk-of-1000-a', 'Bearer sk-of-1000-b']));
    await manager.call('setChannel', { id: first, weight: 1 });
    await manager.call('setChannel', { id: second, weight: 1000 });
    const light = await asks(6);
    expect(light.two).toBeGreaterThan(light.one);
    await manager.call('setChannel', { id: second, priority: 5 });
    expect(await asks(3)).toMatchObject({ one: 3, two: 0 });
    one.always('401');
    expect(await asks(1)).toMatchObject({ two: 1 });
    await seen(first, { last_error: '模型服务没有接受本站的密钥' });
    await manager.call('setChannel', { id: first, enabled: 0 });
    expect(await asks(2)).toMatchObject({ one: 0, two: 2 });
    for (const id of both) await manager.call('delChannel', { id });
  } finally {
    await one.close();
    await two.close();
  }
});

test.concurrent('what was found on this machine is shown, tried, and stays off once it is switched off', async () => {
  const found = await startMockOpenAi();
  const alone = await startServer({ env: { LOCAL_MODELS: `${found.baseURL},${nowhere}/v1` } });
  try {
    const owner = new TestClient(alone.baseURL);
    await owner.login('admin', ADMIN_PASSWORD);
    const visitor = await TestClient.register(alone.baseURL);
    const local = async () =>
      (await owner.call('channelList', {})).list.filter(({ source }) => source === 'local');
    await eventually(async () => expect(await local()).toHaveLength(1));
    const [{ id, base_url, label, models }] = (await local()) as [AdminChannel];
    expect(label).toContain('本机');
    expect(models).toContain('mock-chat');
    const usable = async () =>
      (await visitor.call('models', {})).models.find(({ name }) => name === 'mock-chat');
    expect(await usable()).toMatchObject({ factor: 0, disable: 0 });
    const trial = await owner.call('testChannel', { id, kind: 'openai-compatible', base_url });
    expect(trial).toMatchObject({ ok: true });
    const { uuid, id: message } = await visitor.ask('请介绍一下西湖', { model: 'mock-chat' });
    await visitor.read(uuid, message);
    await eventually(async () =>
      expect((await local())[0]).toMatchObject({ successes: 1, spent: 0 }),
    );
    // It would be found again: it is switched off instead.
    expect((await owner.raw('delChannel', { id })).message).toContain('停用');
    await owner.call('setChannel', { id, enabled: 0 });
    expect(await usable()).toMatchObject({ disable: 1 });
    await owner.call('setChannel', { id, enabled: 1 });
    expect(await usable()).toMatchObject({ disable: 0 });
  } finally {
    await alone.stop();
    await found.close();
  }
});

test('models for those who paid, the default model and prices of sizes: as the manager says, wherever a model is used', async () => {
  media.keys = ['sk-all'];
  media.models = ['gpt-4', 'gpt-4o-mini', 'dall-e-2', 'sora-2'];
  const id = (
    await manager.call('saveChannel', {
      kind: 'openai-compatible',
      base_url: `${media.url}/v1`,
      api_key: 'sk-all',
      label: '付费的',
      models: media.models.map((name) => ({ name })),
    })
  ).id;
  try {
    const newcomer = await TestClient.register(server.baseURL);
    const guest = new TestClient(server.baseURL);
    await guest.call('newSession', { type: 0 });
    const rowOfModel = async (name: string) => {
      const { list } = await manager.call('adminModelList', { unique_key: name });
      const found = list.find((each) => each.unique_key === name);
      if (!found) throw new Error(`there is no ${name}`);
      return found;
    };
    const listed = async (client: TestClient, name: string) =>
      (await client.call('models', {})).models.find((each) => each.name === name);
    const begin = (client: TestClient, type: number, model: string) =>
      client.raw<{ uuid: string }>('newSession', { type, model });

    // GPT-4 by its name: for those who paid, and not part of the membership.
    expect(await listed(newcomer, 'gpt-4')).toMatchObject({
      vip: 1,
      vip_excluded: true,
      locked: 1,
    });
    expect(await listed(newcomer, 'gpt-4o-mini')).toMatchObject({ vip: 0, locked: 0 });
    expect(await begin(newcomer, 0, 'gpt-4')).toMatchObject({
      code: 1027,
      message: expect.stringContaining('充值'),
    });
    expect((await begin(guest, 0, 'gpt-4')).code).toBe(1001);

    // The cheapest that the person may use, in every place that names none.
    expect((await newcomer.call('models', {})).default_model).toBe('gpt-4o-mini');
    const { uuid } = await newcomer.call('newSession', { type: 0 });
    const sessions = await newcomer.call('sessionList', { channel: 'private' });
    expect(sessions.list.find((each) => each.uuid === uuid)?.model).toBe('gpt-4o-mini');
    expect((await guest.call('models', {})).default_model).toBe('builtin-assistant');
    expect((await new TestClient(server.baseURL).call('models', {})).default_model).toBe(
      'builtin-assistant',
    );
    const mini = (await rowOfModel('gpt-4o-mini')).id;
    await manager.call('setModel', { id: mini, disable: 1 });
    expect((await newcomer.call('models', {})).default_model).toBe('builtin-assistant');
    await manager.call('setModel', { id: mini, disable: 0, factor: 2 });

    // What was begun before it was closed is refused, too: in chat, of images, of films.
    const before = {
      chat: (await begin(newcomer, 0, 'gpt-4o-mini')).data.uuid,
      image: (await begin(newcomer, 1, 'dall-e-2')).data.uuid,
      film: (await begin(newcomer, 4, 'sora-2')).data.uuid,
    };
    for (const name of ['gpt-4o-mini', 'dall-e-2', 'sora-2'])
      await manager.call('setModel', { id: (await rowOfModel(name)).id, vip: 1 });
    expect(await rowOfModel('gpt-4o-mini')).toMatchObject({ vip: 1, vip_excluded: 0 });
    const send = (uuid: string, msg: string) =>
      newcomer.raw('sendMessage', { session_id: uuid, msg }).then(({ code }) => code);
    expect(await send(before.chat, '你好，鹊桥')).toBe(1027);
    expect(await send(before.image, '山间的月亮')).toBe(1027);
    expect(await send(before.film, 'https://example.com/a.png 动起来')).toBe(1027);
    expect((await begin(newcomer, 1, 'dall-e-2')).code).toBe(1027);

    // Paying once opens them for good.
    const order = await newcomer.call('recharge', { type: 'token', num: 1 });
    const key = new URL(order.url, server.baseURL).searchParams.get('key') ?? '';
    await newcomer.call('sandboxSettle', { key, pay: 1 });
    await eventually(async () =>
      expect(
        (await newcomer.call('tradeStatus', { platform_order_id: order.trade_no })).status,
      ).toBe(1),
    );
    expect(await listed(newcomer, 'gpt-4')).toMatchObject({ vip: 1, locked: 0 });
    expect((await begin(newcomer, 0, 'gpt-4')).code).toBe(0);
    expect((await begin(newcomer, 1, 'dall-e-2')).code).toBe(0);

    // Only for managers: nobody else knows of it.
    const gpt = (await rowOfModel('gpt-4')).id;
    await manager.call('setModel', { id: gpt, private: 1, logo: '/logo.png' });
    expect(await rowOfModel('gpt-4')).toMatchObject({ private: 1, logo: '/logo.png' });
    expect(await listed(newcomer, 'gpt-4')).toBeUndefined();
    expect((await begin(newcomer, 0, 'gpt-4')).code).toBe(1413);
    expect(await listed(manager, 'gpt-4')).toMatchObject({ private: 1, logo: '/logo.png' });

    // A size costs as its row says.
    const dalle = (await rowOfModel('dall-e-2')).id;
    await manager.call('setModel', { id: dalle, size_rate: [0.5, 1, 1, 2], factor: 100 });
    expect(await listed(newcomer, 'dall-e-2')).toMatchObject({ size_rate: [0.5, 1, 1, 2] });
    for (const [size, tokens] of [
      [0, 50],
      [3, 200],
    ] as const) {
      const made = (await begin(newcomer, 1, 'dall-e-2')).data.uuid;
      const sent = await newcomer.call('sendMessage', {
        session_id: made,
        msg: JSON.stringify({ prompt: '山间的月亮', n: 1, size }),
        format: 1,
      });
      const { job } = await newcomer.call('generateImage', {
        history_id: sent.id,
        request_id: crypto.randomUUID(),
      });
      expect(job.held_tokens).toBe(tokens);
      await newcomer.call('cancelJob', { request_id: job.uuid });
    }
  } finally {
    await manager.call('delChannel', { id });
  }
});

test('size code 0 makes the small image and costs 0.7 where a model lists no sizes', async () => {
  const webui = await startMockSdWebui({ auth: 'me:secret' });
  const { id } = await manager.call('saveChannel', {
    kind: 'stable-diffusion-webui',
    base_url: webui.url,
    api_key: 'me:secret',
    label: '尺寸',
  });
  try {
    const { job } = await paint(person, '山间的月亮', {
      model: 'stable-diffusion',
      image: { n: 1, size: 0 },
    });
    expect(job).toMatchObject({ state: 'done', deduct_tokens: 700 });
  } finally {
    await manager.call('delChannel', { id });
    await webui.close();
  }
});
