import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  BufferTarget,
  EncodedAudioPacketSource,
  EncodedPacket,
  MkvOutputFormat,
  Output,
} from 'mediabunny';
import OpenAI, { toFile } from 'openai';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiUser } from '../support/api-user.ts';
import { readSoundLabel } from '#server/labels/sound.ts';
import { TestClient } from '../support/client.ts';
import { startMediaService, type MediaService } from '../support/mock-media.ts';
import { oggOf } from '../support/sample-files.ts';
import { scratchFolder } from '../support/scratch.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { talk } from '../support/world.ts';

const tokens = 1_000_000;
const text = '您好，今天天气很好。';

let service: MediaService;
let server: TestServer;
let bare: TestServer;
let client: TestClient;
let recording: Buffer;

beforeAll(async () => {
  const text2wav = createRequire(import.meta.url)('text2wav') as (
    words: string,
    options: { voice: string },
  ) => Promise<Uint8Array>;
  recording = Buffer.from(await text2wav(text, { voice: 'zh' }));
  service = await startMediaService();
  const env = {
    OPENAI_BASE_URL: `${service.url}/v1`,
    OPENAI_API_KEY: 'sk-test',
    OPENAI_MODELS: 'gpt-4o-mini,whisper-1,tts-1',
    EMBEDDING_MODEL: 'embed-mock',
    SIGNUP_TOKENS: String(tokens),
    ASSISTANT_RATE: '0',
  };
  [server, bare] = await Promise.all([startServer({ env }), startServer()]);
  client = await TestClient.register(server.baseURL);
});
afterAll(async () => {
  await Promise.all([server.stop(), bare.stop()]);
  await service.close();
});

/** MP3 of 8 kHz in a file of Matroska. */
const inMatroska = async (packets: readonly Buffer[]): Promise<Buffer> => {
  const target = new BufferTarget();
  const output = new Output({ format: new MkvOutputFormat(), target });
  const source = new EncodedAudioPacketSource('mp3');
  output.addAudioTrack(source);
  await output.start();
  const decoderConfig = { codec: 'mp3', numberOfChannels: 1, sampleRate: 8000 };
  for (const [at, packet] of packets.entries())
    await source.add(new EncodedPacket(packet, 'key', at * 0.072, 0.072), { decoderConfig });
  await output.finalize();
  return Buffer.from(target.buffer!);
};

const speak = (who: TestClient, body: object) =>
  fetch(`${who.baseURL}/api/text_to_speech`, {
    method: 'POST',
    headers: { ...who.headers(), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** As a client of the specification sends it: everything in the form. */
const hear = async (who: TestClient, data: Buffer, model?: string) => {
  const form = new FormData();
  if (model !== undefined) form.set('model', model);
  form.set('file', new Blob([new Uint8Array(data)], { type: 'audio/wav' }), 'audio.wav');
  const answer = await fetch(`${who.baseURL}/api/speech_to_text`, {
    method: 'POST',
    headers: who.headers(),
    body: form,
  });
  return (await answer.json()) as {
    code: number;
    message: string;
    data: { text: string; duration: number; deduct_tokens: number } | null;
  };
};

/** Seconds of an MP3 by its frames: 576 samples each at 22,050 a second. */
const framesOf = (mp3: Buffer): number => {
  let frames = 0;
  for (let at = 0; at + 1 < mp3.length; at += 1)
    if (mp3[at] === 0xff && ((mp3[at + 1] ?? 0) & 0xfe) === 0xf2) frames += 1;
  return frames;
};

test('the built-in voice reads aloud for free, faster when asked, and only what can be read', async () => {
  const usual = { model: 'builtin-voice', text, voice: 'cmn+f2', speed: 1 };
  const answer = await speak(client, usual);
  expect(answer.headers.get('content-type')).toBe('audio/mpeg');
  // It leaves before its length is known.
  expect(answer.headers.get('content-length')).toBeNull();
  const sound = Buffer.from(await answer.arrayBuffer());
  expect(framesOf(sound)).toBeGreaterThan(40);
  const quick = Buffer.from(await (await speak(client, { ...usual, speed: 2 })).arrayBuffer());
  expect(framesOf(quick)).toBeLessThan(framesOf(sound) * 0.8);
  // Above 2 is the usual speed.
  const reset = Buffer.from(await (await speak(client, { ...usual, speed: 2.5 })).arrayBuffer());
  expect(framesOf(reset)).toBe(framesOf(sound));
  for (const bad of ['。。。', '字'.repeat(5001)]) {
    const refused = (await (await speak(client, { ...usual, text: bad })).json()) as {
      code: number;
      message: string;
    };
    expect(refused.code).toBeGreaterThan(0);
    expect(refused.message).toMatch(/\p{Script=Han}/u);
  }
  expect((await client.call('userInfo', {})).chatgpt_balance).toBe(tokens);
});

test('a reply is read by a service once, paid by the character, anew only when asked', async () => {
  service.speech = Buffer.from(
    await (await speak(client, { model: 'builtin-voice', text })).arrayBuffer(),
  );
  const own = await TestClient.register(server.baseURL);
  const { historyId } = await talk(own, '一加一等于几');
  service.asked.length = 0;
  const asked = { model: 'tts-1', text, voice: 'nova', history_id: historyId, speed: 1 };
  for (let times = 0; times < 2; times += 1) {
    const answer = await speak(own, asked);
    const sound = Buffer.from(await answer.arrayBuffer());
    expect(soundIn(sound)).toEqual(soundIn(service.speech));
    expect(readSoundLabel(sound)).toMatchObject({
      Label: '1',
      ProduceID: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
  }
  const price = 6 * text.length;
  const balance = async () => (await own.call('userInfo', {})).chatgpt_balance;
  expect(service.asked).toHaveLength(1);
  expect(service.asked[0]).toMatchObject({
    path: 'POST /v1/audio/speech',
    fields: { model: 'tts-1', input: text, voice: 'nova', speed: '1' },
  });
  expect(await balance()).toBe(tokens - price);
  await speak(own, { ...asked, refresh: 1 });
  expect(service.asked).toHaveLength(2);
  expect(await balance()).toBe(tokens - 2 * price);
  // Others do not hear what they may not read.
  const other = await TestClient.register(server.baseURL);
  const stolen = (await (await speak(other, asked)).json()) as { code: number };
  expect([404, 1432]).toContain(stolen.code);
  expect(service.asked).toHaveLength(2);
});

/** What is heard of an MP3, behind the tag with its label. */
const soundIn = (mp3: Buffer): Buffer =>
  mp3.toString('latin1', 0, 3) === 'ID3'
    ? mp3.subarray(10 + mp3.subarray(6, 10).reduce((all, each) => all * 128 + each, 0))
    : mp3;

/** A service that gives the second half of its sound only when it is told. */
const inHalves = (): { halves: [Buffer, Buffer]; goOn: (end: 'well' | 'badly') => void } => {
  const halves: [Buffer, Buffer] = [Buffer.alloc(3000, 0xa1), Buffer.alloc(2000, 0xa2)];
  let goOn: (end: 'well' | 'badly') => void = () => {};
  const told = new Promise<'well' | 'badly'>((resolve) => {
    goOn = resolve;
  });
  service.behave(async (response) => {
    response.writeHead(200, { 'content-type': 'audio/mpeg' });
    response.write(halves[0]);
    if ((await told) === 'well') response.end(halves[1]);
    else response.destroy();
    return true;
  });
  return { halves, goOn };
};

/** Reads so many bytes of an answer whose end is not there yet. */
const readSome = async (answer: Response, bytes: number) => {
  const reader = answer.body?.getReader();
  if (!reader) throw new Error('no body');
  let read = Buffer.alloc(0);
  while (soundIn(read).length < bytes) {
    const { value, done } = await reader.read();
    if (done) break;
    read = Buffer.concat([read, value]);
  }
  return { read, reader };
};

test('a reading is heard before all of it is made, and is kept and paid once it is', async () => {
  const own = await TestClient.register(server.baseURL);
  const { historyId } = await talk(own, '一加一等于几');
  const asked = { model: 'tts-1', text, voice: 'nova', history_id: historyId, speed: 1 };
  const price = 6 * text.length;
  const balance = async () => (await own.call('userInfo', {})).chatgpt_balance;
  const paidFor = async () => (await own.call('transactionList', {})).list.length;
  service.asked.length = 0;
  const { halves, goOn } = inHalves();
  const answer = await speak(own, asked);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'audio/mpeg']);
  const { read, reader } = await readSome(answer, halves[0].length);
  expect(soundIn(read)).toEqual(halves[0]);
  expect(readSoundLabel(read)?.Label).toBe('1');
  expect(await paidFor()).toBe(0);
  goOn('well');
  const second = await reader.read();
  expect(Buffer.from(second.value ?? [])).toEqual(halves[1]);
  expect((await reader.read()).done).toBe(true);
  expect([await balance(), await paidFor()]).toEqual([tokens - price, 1]);
  // What is kept says how long it is.
  const again = await speak(own, asked);
  const whole = Buffer.from(await again.arrayBuffer());
  expect(again.headers.get('content-length')).toBe(String(whole.length));
  expect(soundIn(whole)).toEqual(Buffer.concat(halves));
  expect(readSoundLabel(whole)).toEqual(readSoundLabel(read));
  expect(service.asked).toHaveLength(1);
  expect(await balance()).toBe(tokens - price);
  service.behave(null);
});

test('a reading that breaks off costs nothing, is not kept, and is made when asked again', async () => {
  const own = await TestClient.register(server.baseURL);
  const { historyId } = await talk(own, '一加一等于几');
  const asked = { model: 'tts-1', text, voice: 'nova', history_id: historyId, speed: 1 };
  const balance = async () => (await own.call('userInfo', {})).chatgpt_balance;
  const broken = inHalves();
  const answer = await speak(own, asked);
  const { reader } = await readSome(answer, broken.halves[0].length);
  broken.goOn('badly');
  await expect(reader.read()).rejects.toThrow();
  expect(await balance()).toBe(tokens);
  expect((await own.call('transactionList', {})).list).toEqual([]);

  // Who leaves meanwhile has it made all the same, and paid once.
  service.asked.length = 0;
  const left = inHalves();
  const leaving = await speak(own, asked);
  const some = await readSome(leaving, left.halves[0].length);
  await some.reader.cancel();
  left.goOn('well');
  // What is held is gone from the balance already; it is listed once it is paid.
  await expect.poll(async () => (await own.call('transactionList', {})).list.length).toBe(1);
  const kept = await speak(own, asked);
  expect(soundIn(Buffer.from(await kept.arrayBuffer()))).toEqual(Buffer.concat(left.halves));
  expect(service.asked).toHaveLength(1);
  expect(await balance()).toBe(tokens - 6 * text.length);
  service.behave(null);
});

test('a recording is written down, paid by the second, for nothing when that fails', async () => {
  const own = await TestClient.register(server.baseURL);
  const balance = async () => (await own.call('userInfo', {})).chatgpt_balance;
  service.asked.length = 0;
  const heard = await hear(own, recording, 'whisper-1');
  expect(heard).toMatchObject({ code: 0, data: { text: service.words } });
  const [asked] = service.asked;
  expect(asked).toMatchObject({
    path: 'POST /v1/audio/transcriptions',
    fields: { model: 'whisper-1' },
  });
  expect(asked?.file).toEqual(recording);
  const price = 40 * Math.ceil(heard.data?.duration ?? 0);
  expect(price).toBeGreaterThan(0);
  expect(heard.data?.deduct_tokens).toBe(price);
  expect(await balance()).toBe(tokens - price);
  service.behave(async (response) => {
    response.writeHead(500).end('{}');
    return true;
  });
  expect(await hear(own, recording, 'whisper-1')).toMatchObject({ code: 1425 });
  service.behave(null);
  expect(await hear(own, Buffer.from('no sound at all'), 'whisper-1')).toMatchObject({
    code: 1417,
  });
  expect(await balance()).toBe(tokens - price);
  const { list } = await own.call('transactionList', {});
  expect(list).toMatchObject([{ model: 'whisper-1', deduct_tokens: price }]);
});

test('a recording behind whose end another one goes on is sent nowhere, as nobody can count it', async () => {
  const own = await TestClient.register(server.baseURL);
  service.asked.length = 0;
  const one = await hear(own, oggOf(2, 1), 'whisper-1');
  expect(one).toMatchObject({ code: 0, data: { deduct_tokens: 80 } });
  expect(service.asked).toHaveLength(1);
  const chained = Buffer.concat([oggOf(2, 1), oggOf(300, 2)]);
  expect(await hear(own, chained, 'whisper-1')).toMatchObject({ code: 1417 });
  const beside = Buffer.concat([oggOf(2, 1).subarray(0, 47), oggOf(300, 2)]);
  expect(await hear(own, beside, 'whisper-1')).toMatchObject({ code: 1417 });
  const lasting = Buffer.concat([oggOf(2, 1), oggOf(300, 1)]);
  expect(await hear(own, lasting, 'whisper-1')).toMatchObject({ code: 1417 });
  expect(service.asked).toHaveLength(1);
  expect((await own.call('userInfo', {})).chatgpt_balance).toBe(tokens - 80);
});

test('a recording with more sound than its head tells is sent nowhere', async () => {
  const own = await TestClient.register(server.baseURL);
  service.asked.length = 0;
  const chunk = (name: string, data: Buffer) => {
    const size = Buffer.alloc(4);
    size.writeUInt32LE(data.length);
    return Buffer.concat([Buffer.from(name), size, data]);
  };
  const wave = (...parts: Buffer[]) =>
    chunk('RIFF', Buffer.concat([Buffer.from('WAVE'), chunk('fmt ', form), ...parts]));
  const form = Buffer.from('01000100401f0000803e000002001000', 'hex');
  const sound = (seconds: number) => chunk('data', Buffer.alloc(16_000 * seconds));
  const tags = chunk('id3 ', Buffer.alloc(100_000));
  expect(await hear(own, wave(sound(2), tags), 'whisper-1')).toMatchObject({
    code: 0,
    data: { deduct_tokens: 80 },
  });
  const short = wave(sound(200));
  short.writeUInt32LE(32_036, 4);
  const endless = wave(chunk('data', Buffer.alloc(0)), Buffer.alloc(400_000));
  const parted = wave(sound(2), chunk('junk', Buffer.alloc(20_000)), sound(200));
  const otherForm = Buffer.from('0100080000ee02000070530020002000', 'hex');
  const twice = wave(chunk('fmt ', otherForm), sound(60));
  for (const more of [wave(sound(2), sound(200)), short, endless, parted, twice])
    expect(await hear(own, more, 'whisper-1')).toMatchObject({ code: 1417 });
  expect(service.asked).toHaveLength(1);
  // Frames of 24 ms at 48 kHz, then of 72 ms at 8 kHz.
  const frame = (head: string, size: number) =>
    Buffer.concat([Buffer.from(head, 'hex'), Buffer.alloc(size - 4)]);
  const mixed = Buffer.concat([
    ...Array.from({ length: 10 }, () => frame('fffb14c4', 96)),
    ...Array.from({ length: 300 }, () => frame('ffe318c4', 72)),
  ]);
  expect(await hear(own, mixed, 'whisper-1')).toMatchObject({ code: 1417 });
  const slow = Buffer.concat(Array.from({ length: 300 }, () => frame('ffe318c4', 72)));
  const twoFilms = Buffer.concat([
    await inMatroska([slow.subarray(0, 720)]),
    await inMatroska([slow]),
  ]);
  expect(await hear(own, twoFilms, 'whisper-1')).toMatchObject({ code: 1417 });
  // Many frames in one packet of a container are as many.
  for (const whole of [slow, await inMatroska([slow])])
    expect(await hear(own, whole, 'whisper-1')).toMatchObject({
      code: 0,
      data: { deduct_tokens: 22 * 40 },
    });
});

test('a recording that a service has is paid though its person hung up', async () => {
  const own = await TestClient.register(server.baseURL);
  const stop = new AbortController();
  service.behave(async () => {
    stop.abort();
    await sleep(200);
    return false;
  });
  try {
    const form = new FormData();
    form.set('model', 'whisper-1');
    form.set('file', new Blob([new Uint8Array(recording)], { type: 'audio/wav' }), 'audio.wav');
    const asked = fetch(`${own.baseURL}/api/speech_to_text`, {
      method: 'POST',
      headers: own.headers(),
      body: form,
      signal: stop.signal,
    });
    await expect(asked).rejects.toThrow('abort');
    await expect
      .poll(async () => (await own.call('transactionList', {})).list, { timeout: 5000 })
      .toMatchObject([{ model: 'whisper-1' }]);
    const [paid] = (await own.call('transactionList', {})).list;
    expect(paid?.deduct_tokens).toBeGreaterThan(0);
    expect((await own.call('userInfo', {})).chatgpt_balance).toBe(
      tokens - (paid?.deduct_tokens ?? 0),
    );
  } finally {
    service.behave(null);
  }
});

test('the voice is made ready without reading anything', async () => {
  const ready = await speak(client, { model: 'builtin-voice', prepare: 1 });
  expect([ready.status, (await ready.arrayBuffer()).byteLength]).toEqual([200, 0]);
  service.asked.length = 0;
  // A service's voice costs money and has nothing to load.
  expect((await speak(client, { model: 'tts-1', prepare: 1 })).status).toBe(200);
  expect(service.asked).toEqual([]);
});

test('a model of the machine itself says plainly what of it is missing', async () => {
  const folder = scratchFolder('hearing');
  for (const [file, said] of [
    ['', /没有模型（\.onnx 文件）/],
    ['model.int8.onnx', /没有 tokens\.txt/],
  ] as const) {
    if (file !== '') writeFileSync(path.join(folder, file), 'x');
    const local = await startServer({ env: { SPEECH_MODEL_DIR: folder } });
    const person = await TestClient.register(local.baseURL);
    const refused = await hear(person, recording, 'local-speech');
    await local.stop();
    expect(refused.code).toBe(1425);
    expect(refused.message).toMatch(said);
    expect(refused.message).not.toContain(folder);
  }
});

test('where nothing recognises speech, that is said', async () => {
  const guest = new TestClient(bare.baseURL);
  await guest.call('newSession', { type: 0 });
  const refused = await hear(guest, recording);
  expect(refused.code).toBe(1428);
  expect(refused.message).toContain('没有连接语音识别');
});

test('what is read in a public session is kept within its owner’s room, and no words of strangers', async () => {
  const small = await startServer({ env: { FILE_QUOTA_MB: '4' } });
  const pool = new pg.Pool({ connectionString: small.databaseUrl });
  try {
    const owner = await TestClient.register(small.baseURL);
    const { uuid, historyId } = await talk(owner, '一加一等于几');
    await owner.call('setSession', { session_id: uuid, private: 0 });
    const stranger = await TestClient.register(small.baseURL);
    const kept = async () => {
      const { rows } = await pool.query<{ size: number; count: number }>(
        `SELECT coalesce(sum(size), 0)::int AS size, count(*)::int AS count FROM speeches`,
      );
      return rows[0] ?? { size: 0, count: 0 };
    };
    const read = async (who: TestClient, words: string, speed = 1) => {
      const asked = { model: 'builtin-voice', text: words, history_id: historyId, speed };
      return (await (await speak(who, asked)).arrayBuffer()).byteLength;
    };
    expect(await read(stranger, '这里没有人说过这句话。')).toBeGreaterThan(1000);
    expect((await kept()).count).toBe(0);
    expect(await read(stranger, '')).toBeGreaterThan(1000);
    expect((await kept()).count).toBe(1);
    let made = 0;
    for (let times = 0; times < 4; times += 1)
      made += await read(owner, `${'今天天气很好。'.repeat(20)}${times}`);
    expect(made).toBeGreaterThan(0.4 * 1024 * 1024);
    expect((await kept()).size).toBeLessThanOrEqual(0.4 * 1024 * 1024);
    expect((await kept()).count).toBeGreaterThan(0);
    // What the owner had read is pushed out by no one else, at whatever speed.
    const own = async () => (await pool.query('SELECT key FROM speeches WHERE own')).rows;
    const before = await own();
    for (let at = 0; at < 6; at += 1) await read(stranger, '', 0.5 + at / 100);
    expect(await own()).toEqual(before);
  } finally {
    await pool.end();
    await small.stop();
  }
});

test('deleted replies are read to nobody, and their sound goes', async () => {
  const own = await TestClient.register(server.baseURL);
  const { uuid, id: historyId } = await own.ask('请介绍一下鹊桥', { model: 'builtin-assistant' });
  await own.read(uuid, historyId);
  const asked = { model: 'builtin-voice', text: '', history_id: historyId };
  expect((await speak(own, asked)).headers.get('content-type')).toBe('audio/mpeg');
  await own.call('deleteHistory', { session_id: uuid, id: historyId });
  const gone = await speak(own, asked);
  expect(gone.status).toBe(404);
});

test('what a service does for a program is paid though the program hung up', async () => {
  const user = await apiUser(server);
  const balance = async () => (await user.person.call('userInfo', {})).chatgpt_balance;
  const form = new FormData();
  form.set('model', 'whisper-1');
  form.set('file', new Blob([new Uint8Array(recording)]), 'a.wav');
  const json = (body: object) => JSON.stringify(body);
  const requests: [string, string | FormData, number][] = [
    ['audio/speech', json({ model: 'tts-1', input: text }), 1],
    ['audio/transcriptions', form, 1],
    ['embeddings', json({ model: 'embed-mock', input: '月'.repeat(200) }), 1],
  ];
  for (const [path, body, least] of requests) {
    const before = await balance();
    const stop = new AbortController();
    service.behave(async () => {
      stop.abort();
      await sleep(200);
      return false;
    });
    const headers = {
      authorization: `Bearer ${user.key}`,
      ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
    };
    const asked = fetch(`${server.baseURL}/v1/${path}`, {
      method: 'POST',
      headers,
      body,
      signal: stop.signal,
    });
    await expect(asked).rejects.toThrow('abort');
    await expect
      .poll(async () => before - (await balance()), { timeout: 3000 })
      .toBeGreaterThanOrEqual(least);
    service.behave(null);
  }
});

test('a program has a recording written down and a text made a vector by a service @D2', async () => {
  const user = await apiUser(server);
  const openai = new OpenAI({ apiKey: user.key, baseURL: `${server.baseURL}/v1`, maxRetries: 0 });
  const balance = async () => (await user.person.call('userInfo', {})).chatgpt_balance;
  service.asked.length = 0;
  const file = await toFile(recording, 'a.wav', { type: 'audio/wav' });
  const heard = await openai.audio.transcriptions.create({
    model: 'whisper-1',
    file,
    language: 'zh',
    prompt: '鹊桥',
  });
  expect(heard.text).toBe(service.words);
  expect(service.asked[0]).toMatchObject({
    path: 'POST /v1/audio/transcriptions',
    fields: { language: 'zh', prompt: '鹊桥' },
  });
  expect(service.asked[0]?.file).toEqual(recording);
  const price = tokens - (await balance());
  expect(price).toBeGreaterThan(0);
  expect(price % 40).toBe(0);

  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(recording)]), 'a.wav');
  const own = await fetch(`${server.baseURL}/v1/transcribe`, {
    method: 'POST',
    headers: { authorization: `Bearer ${user.key}` },
    body: form,
  });
  expect(await own.json()).toEqual({ result: true, text: service.words });
  expect(await balance()).toBe(tokens - 2 * price);

  service.behave(async (response) => {
    response.writeHead(500).end('{}');
    return true;
  });
  await expect(openai.audio.transcriptions.create({ model: 'whisper-1', file })).rejects.toThrow(
    OpenAI.InternalServerError,
  );
  service.behave(null);
  expect(await balance()).toBe(tokens - 2 * price);

  const made = await openai.embeddings.create({
    model: 'embed-mock',
    input: '山间的月亮',
    encoding_format: 'float',
  });
  expect(made).toMatchObject({
    model: 'embed-mock',
    data: [{ embedding: [0.6, 0.8] }],
    usage: { prompt_tokens: 40 },
  });
  // 40 tokens at the twentieth part of one.
  expect(await balance()).toBe(tokens - 2 * price - 2);
  const { list } = await user.person.call('apiUsage', {});
  expect(new Map(list.map((row) => [row.model, [row.count, row.deduct_tokens]]))).toEqual(
    new Map([
      ['embed-mock', [1, 2]],
      ['whisper-1', [2, 2 * price]],
    ]),
  );
});
