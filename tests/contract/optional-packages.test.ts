import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { strToU8, zipSync } from 'fflate';
import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from 'mediabunny';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import { makeFilm } from '../support/films.ts';
import { houseApart } from '../support/house-without.ts';
import { onnxVoiceRate, writeOnnxVoice } from '../support/onnx-voice.ts';
import { rarOf } from '../support/sample-files.ts';
import { scratchFolder } from '../support/scratch.ts';
import { ADMIN_PASSWORD, startServer, type TestServer } from '../support/server.ts';

const words = '今天天气很好。';

/** No optional package with a strict licence; and one whose sounds are not encoded. */
let without: TestServer;
let unencoded: TestServer;
let main: string;

beforeAll(async () => {
  main = houseApart();
  const folder = scratchFolder('models');
  const [listening, speaking] = [path.join(folder, 'listening'), path.join(folder, 'speaking')];
  mkdirSync(listening);
  for (const name of ['model.onnx', 'tokens.txt']) writeFileSync(path.join(listening, name), 'x');
  writeOnnxVoice(speaking, '今天气很好');
  const models = { SPEECH_MODEL_DIR: listening, VOICE_MODEL_DIR: speaking };
  without = await startServer({
    main,
    env: { WITHOUT_PACKAGES: 'all', ...models },
  });
  unencoded = await startServer({
    main: houseApart(),
    env: { WITHOUT_PACKAGES: '@napi-rs/webcodecs', VOICE_MODEL_DIR: speaking },
  });
}, 180_000);
afterAll(async () => {
  await Promise.all([without.stop(), unencoded.stop()]);
});

const speak = async (who: TestClient, body: object) => {
  const answer = await fetch(`${who.baseURL}/api/text_to_speech`, {
    method: 'POST',
    headers: { ...who.headers(), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return {
    mime: answer.headers.get('content-type'),
    data: Buffer.from(await answer.arrayBuffer()),
  };
};

test('the start removes what is not wanted, and the server runs', async () => {
  expect(without.log()).toContain('按 WITHOUT_PACKAGES 删去了');
  const modules = path.join(main, '..', '..', 'node_modules');
  for (const name of ['text2wav', '7z-wasm', 'sherpa-onnx-node', '@napi-rs/webcodecs'])
    expect(existsSync(path.join(modules, name)), name).toBe(false);
  // Other packages with native code need theirs.
  for (const name of ['sharp', '@node-rs/argon2', '@libav.js/variant-webm-vp9'])
    expect(existsSync(path.join(modules, name)), name).toBe(true);
  expect(existsSync(path.join(process.cwd(), 'node_modules/text2wav'))).toBe(true);
  const { status } = await fetch(`${without.baseURL}/api/health`);
  expect(status).toBe(200);
});

test('a video is VP9 without any GPL code', async () => {
  const person = await TestClient.register(without.baseURL);
  const { job, films } = await makeFilm(person, { model: 'builtin-film' });
  expect(job).toMatchObject({ state: 'done' });
  const data = await (
    await fetch(without.baseURL + films[0]?.url, { headers: person.headers() })
  ).arrayBuffer();
  const input = new Input({ source: new BufferSource(data), formats: ALL_FORMATS });
  const track = await input.getPrimaryVideoTrack();
  expect(track).toMatchObject({ codec: 'vp9' });
  expect(await track?.computeDuration()).toBeCloseTo(1, 1);
  const packets = track ? new EncodedPacketSink(track).packets() : [];
  let count = 0;
  for await (const { type } of packets) {
    expect(type).toBe(count === 0 ? 'key' : 'delta');
    count += 1;
  }
  expect(count).toBe(24);
}, 120_000);

test('speech says which package is missing', async () => {
  const person = await TestClient.register(without.baseURL);
  const { models } = await person.call('models', {});
  const names = models.map(({ name }) => name);
  expect(names).not.toContain('builtin-voice');
  const refused = await speak(person, { model: 'local-voice', text: words });
  expect(JSON.parse(refused.data.toString())).toMatchObject({
    code: 1425,
    message: '本机的朗读还不能用：服务器上没有安装 sherpa-onnx-node',
  });
  const form = new FormData();
  form.set('model', 'local-speech');
  const sound = (
    await speak(await TestClient.register(unencoded.baseURL), { model: 'local-voice', text: words })
  ).data;
  form.set('file', new Blob([new Uint8Array(sound)], { type: 'audio/wav' }), 'audio.wav');
  const heard = await fetch(`${person.baseURL}/api/speech_to_text`, {
    method: 'POST',
    headers: person.headers(),
    body: form,
  });
  expect(await heard.json()).toMatchObject({
    code: 1425,
    message: '本机的语音识别还不能用：服务器上没有安装 sherpa-onnx-node',
  });
});

test('where nothing speaks, that is said', async () => {
  const silent = await startServer({ main });
  try {
    const person = await TestClient.register(silent.baseURL);
    const { data } = await speak(person, { model: 'builtin-voice', text: words });
    expect(data.toString()).toContain('服务器上没有安装朗读的声音');
  } finally {
    await silent.stop();
  }
});

test('without an encoder speech is WAV, by espeak-ng and by a voice of sherpa-onnx', async () => {
  const person = await TestClient.register(unencoded.baseURL);
  for (const [model, rate] of [
    ['builtin-voice', 22_050],
    ['local-voice', onnxVoiceRate],
  ] as const) {
    const { mime, data } = await speak(person, { model, text: words });
    expect(mime).toBe('audio/wav');
    const input = new Input({ source: new BufferSource(data), formats: ALL_FORMATS });
    const track = await input.getPrimaryAudioTrack();
    expect(track).toMatchObject({ sampleRate: rate, numberOfChannels: 1 });
    expect(await track?.computeDuration()).toBeGreaterThan(0.5);
  }
});

/** How loud a WAV is, for each 20 ms of it. */
const loudnessOf = (wav: Buffer): number[] => {
  const from = wav.indexOf('data', 12, 'latin1') + 8;
  const samples = new Int16Array(
    wav.buffer.slice(
      wav.byteOffset + from,
      wav.byteOffset + wav.length - ((wav.length - from) % 2),
    ),
  );
  const step = wav.readUInt32LE(24) / 50;
  return Array.from({ length: Math.floor(samples.length / step) }, (_, at) =>
    Math.sqrt(
      samples
        .subarray(at * step, (at + 1) * step)
        .reduce((sum, sample) => sum + (sample / 32_768) ** 2, 0) / step,
    ),
  );
};

/** How alike two of them are as far as the shorter goes: 1 is the same. */
const alike = (one: readonly number[], other: readonly number[]): number => {
  const length = Math.min(one.length, other.length);
  const dot = (a: readonly number[], b: readonly number[]) =>
    a.slice(0, length).reduce((sum, each, at) => sum + each * b[at]!, 0);
  return dot(one, other) / Math.sqrt(dot(one, one) * dot(other, other));
};

test('a reading that is heard while it is made begins with the spoken words where they are wanted', async () => {
  const manager = new TestClient(unencoded.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  const heard = async (text: string) => {
    const { data } = await speak(manager, { model: 'builtin-voice', text });
    return loudnessOf(data);
  };
  const said = await heard('由人工智能生成。');
  const plain = await heard(words);
  await manager.call('saveCompliance', { mark_sound: 1 });
  const marked = await heard(words);
  await manager.call('saveCompliance', { mark_sound: 0 });
  // Longer by what is said before it, and not by silence.
  expect(marked.length / (said.length + plain.length)).toBeCloseTo(1, 1);
  expect(Math.max(...said)).toBeGreaterThan(0.05);
  const beginning = said.length - 25;
  expect(alike(marked.slice(0, beginning), said)).toBeGreaterThan(0.9);
  expect(alike(marked.slice(-plain.length + 10), plain.slice(10))).toBeGreaterThan(0.9);
  expect(alike(plain, said)).toBeLessThan(0.9);
});

test('zip is learned from without 7-Zip, and rar says what is missing', async () => {
  const person = await TestClient.register(without.baseURL);
  const headers = person.headers();
  const made = await fetch(`${without.baseURL}/api/train/new_model`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ name: '资料', key: 'grain', type: 0 }),
  });
  const { data } = (await made.json()) as { data: { model: { id: number } } };
  for (const [name, file] of [
    ['谷.zip', zipSync({ '谷.txt': strToU8('谷子的事在这里。') })],
    ['豆.rar', rarOf({ '豆.txt': '豆子装在 rar 里。' })],
  ] as const) {
    const form = new FormData();
    form.set('model_id', String(data.model.id));
    form.set('file', new Blob([Buffer.from(file)]), name);
    await fetch(`${without.baseURL}/api/train/upload_file`, {
      method: 'POST',
      headers,
      body: form,
    });
  }
  const list = `${without.baseURL}/api/train/file_list?model_id=${data.model.id}&page=1&page_size=256`;
  const files = async () => {
    const answer = (await (await fetch(list, { headers })).json()) as {
      data: { list: { name: string; status: number; error: string }[] };
    };
    return answer.data.list.map(({ name, status, error }) => ({ name, status, error }));
  };
  await expect.poll(files, { timeout: 30_000 }).toEqual(
    expect.arrayContaining([
      { name: '谷.txt', status: 1, error: '' },
      {
        name: '豆.rar',
        status: 2,
        error: '服务器上没有安装 7z-wasm，打不开 rar、7z 和 xz，请换成 zip 再上传',
      },
    ]),
  );
});
