import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { speechText } from '#common/speech-text.ts';
import { expect, test } from '#tests/support/app.ts';
import { chromiumArgs, quickBrowser } from '#tests/support/browser.ts';
import { TestClient } from '#tests/support/client.ts';
import { fingers } from '#tests/support/fingers.ts';
import { startMediaService, type MediaService } from '#tests/support/mock-media.ts';
import { openLine } from '#tests/support/faulty-line.ts';
import { messageOf } from '#tests/support/images.ts';
import { keptIn, startPhone } from '#tests/support/phone.ts';
import { startServer, type TestServer } from '#tests/support/server.ts';
import { openRoughLine } from '#tests/load/lib/rough-line.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'queqiao-voice-'));
const recording = path.join(folder, 'zh.wav');
const text2wav = createRequire(import.meta.url)('text2wav') as (
  words: string,
  options: { voice: string },
) => Promise<Uint8Array>;

const microphone = [
  '--use-fake-device-for-media-stream',
  '--use-fake-ui-for-media-stream',
  `--use-file-for-fake-audio-capture=${recording}`,
  '--autoplay-policy=no-user-gesture-required',
];

test.use({
  permissions: ['microphone'],
  launchOptions: { ...quickBrowser, args: [...chromiumArgs, ...microphone] },
});
test.describe.configure({ mode: 'serial' });

let service: MediaService;
let server: TestServer;

test.beforeAll(async () => {
  writeFileSync(
    recording,
    await text2wav('您好，今天天气很好，我们去公园散步吧。', { voice: 'zh' }),
  );
  service = await startMediaService();
  server = await startServer({
    env: {
      OPENAI_BASE_URL: `${service.url}/v1`,
      OPENAI_API_KEY: 'sk-test',
      OPENAI_MODELS: 'whisper-1,tts-1',
      ASSISTANT_RATE: '0',
    },
  });
});
test.afterAll(async () => {
  await server.stop();
  await service.close();
  rmSync(folder, { recursive: true, force: true });
});

test('what is said into the microphone is written into the box, to be mended and sent', async ({
  app,
  page,
}) => {
  const client = await TestClient.register(server.baseURL);
  const { uuid } = await client.call('newSession', { type: 0, model: 'builtin-assistant' });
  await app.enterAs({ account: '', password: '', client });
  await page.goto(`${server.baseURL}/chat?uuid=${uuid}`);
  await page.getByRole('button', { name: '语音输入' }).click();
  const tool = page.getByRole('dialog', { name: '语音输入' });
  await tool.getByRole('radio', { name: /Whisper|whisper/ }).click();
  await tool.getByRole('button', { name: '开始录音' }).click();
  await expect(tool.getByText(/正在录音 [1-9] 秒/)).toBeVisible();
  await page.waitForTimeout(1200);
  await tool.getByRole('button', { name: '结束录音' }).click();
  await expect(tool.getByRole('textbox')).toHaveValue(service.words);
  const sound = service.asked.at(-1)?.file ?? Buffer.alloc(0);
  // RIFF of one channel at 44,100, with more than silence in it.
  expect(sound.subarray(0, 4).toString('latin1')).toBe('RIFF');
  expect([sound.readUInt16LE(22), sound.readUInt32LE(24)]).toEqual([1, 44_100]);
  let loudest = 0;
  for (let at = 44; at + 1 < sound.length; at += 2)
    loudest = Math.max(loudest, Math.abs(sound.readInt16LE(at)));
  expect(loudest).toBeGreaterThan(1000);
  // What was said is not lost with the network.
  await page.route('**/api/**speech_to_text*', (route) => route.abort());
  await tool.getByRole('button', { name: '开始录音' }).click();
  await expect(tool.getByText(/正在录音 [1-9] 秒/)).toBeVisible();
  await tool.getByRole('button', { name: '结束录音' }).click();
  await expect(tool.getByText('录音还在，还没有转成文字。')).toBeVisible();
  await expect(tool.getByRole('textbox')).toHaveValue(service.words);
  await page.unrouteAll({ behavior: 'wait' });
  await tool.getByRole('button', { name: '再转一次' }).click();
  await expect(tool.getByRole('textbox')).toHaveValue(service.words + service.words);
  await expect(tool.getByRole('button', { name: '再转一次' })).toHaveCount(0);
  // Nor is more recorded than can be put into words.
  await tool.getByRole('textbox').fill('');
  await tool.getByRole('button', { name: '开始录音' }).click();
  await expect(tool.getByText(/正在录音 [1-9] 秒/)).toBeVisible();
  await page.evaluate(() => {
    const now = performance.now.bind(performance);
    performance.now = () => now() + 300_000;
  });
  await expect(page.getByText(/一次最多录 29\d 秒/)).toBeVisible();
  await expect(tool.getByRole('textbox')).toHaveValue(service.words);
  await tool.getByRole('textbox').fill('今天天气真好');
  await tool.getByRole('button', { name: '放入输入框' }).click();
  await expect(app.question).toHaveValue('今天天气真好');
  await app.sendButton.click();
  await expect(app.log.getByText('今天天气真好').first()).toBeVisible();
});

test('what was said outlasts a kill in mid-sentence, a closed tool, and a line that never answers; it is heard once @O3 @V3', async () => {
  // Three lives of a browser.
  test.setTimeout(120_000);
  const client = await TestClient.register(server.baseURL);
  const { uuid } = await client.call('newSession', { type: 0, model: 'builtin-assistant' });
  const line = await openLine(server.baseURL);
  const phone = await startPhone(client, { args: microphone, permissions: ['microphone'] });
  try {
    const tool = () => phone.page.getByRole('dialog', { name: '语音输入' });
    const enter = async () => {
      await phone.page.goto(`${line.baseURL}/chat?uuid=${uuid}`);
      await phone.page.getByRole('button', { name: '语音输入' }).click();
      await tool()
        .getByRole('radio', { name: /Whisper|whisper/ })
        .click();
    };
    const speak = async (seconds: number) => {
      await tool().getByRole('button', { name: '开始录音' }).click();
      await expect(tool().getByText(`正在录音 ${seconds} 秒`)).toBeVisible();
    };
    const again = () => tool().getByRole('button', { name: '再转一次' });
    const heard = () => service.asked.filter(({ path }) => path.endsWith('/transcriptions'));
    const before = heard().length;
    /** Bytes of the recording that are on the device; a busy machine hears less of each second. */
    const keptBytes = async () => {
      const rows = await keptIn(phone.page, 'queqiao-outbox', 'drafts');
      const drafts = JSON.parse(rows || '[]') as { key: string; text: string }[];
      const pieces = drafts.find(({ key }) => key === 'sound')?.text;
      const sizes = JSON.parse(pieces || '[]') as { size: number }[];
      return sizes.reduce((sum, { size }) => sum + size, 0);
    };
    await enter();
    await speak(4);
    await expect.poll(keptBytes, { timeout: 30_000 }).toBeGreaterThan(2.5 * 2 * 44_100);
    await phone.crash();
    await phone.page.goto(`${line.baseURL}/chat?uuid=${uuid}`);
    await expect(phone.page.getByText('您上次说的话还没有放进输入框')).toBeVisible();
    await enter();
    await again().click();
    await expect(tool().getByRole('textbox')).toHaveValue(service.words);
    expect(heard().length).toBe(before + 1);
    const sound = heard().at(-1)?.file ?? Buffer.alloc(0);
    // One sound of one head, its words within it: at least two of the four seconds.
    expect(sound.readUInt32LE(40)).toBe(sound.length - 44);
    expect(sound.length).toBeGreaterThan(2 * 2 * 44_100);
    await tool().getByRole('textbox').fill('');

    // Closed in mid-sentence, too; what is not wanted goes for good.
    await speak(2);
    await phone.page.keyboard.press('Escape');
    await expect(tool()).toBeHidden();
    await phone.page.getByRole('button', { name: '语音输入，上次说的话还在' }).click();
    await tool().getByRole('button', { name: '不要了' }).click();
    await expect(again()).toBeHidden();

    // The server hears it; its answer never comes, and the browser is killed while it waits.
    line.state = 'deaf';
    await speak(2);
    await tool().getByRole('button', { name: '结束录音' }).click();
    await expect.poll(() => heard().length).toBe(before + 2);
    await phone.crash();
    line.state = 'well';
    await enter();
    await again().click();
    await expect(tool().getByRole('textbox')).toHaveValue(service.words);
    expect(heard().length).toBe(before + 2);
    await expect(again()).toBeHidden();
    await tool().getByRole('textbox').fill('');

    // Another person signs in meanwhile: they are offered nothing of it, whoever spoke finds it again.
    const other = await TestClient.register(server.baseURL);
    const theirs = (await other.call('newSession', { type: 0 })).uuid;
    const tab = await phone.context.newPage();
    await tab.goto(`${line.baseURL}/api/health`);
    const signIn = async (person: TestClient, session: string) => {
      const profile = JSON.stringify(await person.call('userInfo', {}));
      await tab.evaluate(
        ([token, user]) => {
          localStorage.setItem('queqiao.user', user);
          localStorage.setItem('queqiao.token', token);
        },
        [person.token, profile] as const,
      );
      await expect(tool().getByText(/正在录音/)).toBeHidden();
      await phone.page.goto(`${line.baseURL}/chat?uuid=${session}`);
    };
    await speak(2);
    await signIn(other, theirs);
    await phone.page.getByRole('button', { name: '语音输入', exact: true }).click();
    await expect(tool().getByRole('button', { name: '开始录音' })).toBeVisible();
    await expect(again()).toBeHidden();
    await signIn(client, uuid);
    await phone.page.getByRole('button', { name: '语音输入，上次说的话还在' }).click();
    await expect(again()).toBeVisible();
  } finally {
    await phone.end();
    await line.close();
  }
});

test('what is said while the line comes and goes is heard once, and until then it is said why not @O3 @V3', async () => {
  test.setTimeout(120_000);
  const client = await TestClient.register(server.baseURL);
  const { uuid } = await client.call('newSession', { type: 0, model: 'builtin-assistant' });
  const line = await openRoughLine(server.baseURL);
  const phone = await startPhone(client, { args: microphone, permissions: ['microphone'] });
  try {
    const { page } = phone;
    const tool = page.getByRole('dialog', { name: '语音输入' });
    const again = tool.getByRole('button', { name: '再转一次' });
    const words = tool.getByRole('textbox');
    const heard = () => service.asked.filter(({ path }) => path.endsWith('/transcriptions')).length;
    const before = heard();
    await page.goto(`${line.baseURL}/chat?uuid=${uuid}`);
    await page.getByRole('button', { name: '语音输入' }).click();
    await tool.getByRole('radio', { name: /whisper/i }).click();
    // Spoken on a line that flaps; at the end of the words it answers nothing.
    await tool.getByRole('button', { name: '开始录音' }).click();
    for (const [second, state] of (
      ['silent', 'well', 'down', 'well', 'silent'] as const
    ).entries()) {
      await expect(tool.getByText(`正在录音 ${second + 1} 秒`)).toBeVisible();
      line.set(state);
    }
    await tool.getByRole('button', { name: '结束录音' }).click();
    await expect(tool.getByText('正在转成文字…')).toBeVisible();
    await expect(page.getByRole('status').filter({ hasText: '网络没有回应' })).toBeVisible();
    // By itself, as soon as it answers, and not by the connection that went with it.
    line.set('well');
    await expect(words).toHaveValue(service.words, { timeout: 45_000 });
    expect(heard()).toBe(before + 1);

    // At the end of these there is no network at all.
    await tool.getByRole('button', { name: '开始录音' }).click();
    await expect(tool.getByText('正在录音 2 秒')).toBeVisible();
    line.set('down');
    await tool.getByRole('button', { name: '结束录音' }).click();
    await expect(page.getByText('网络不通，请检查网络后再试')).toBeVisible();
    await expect(tool.getByText('录音还在，还没有转成文字。')).toBeVisible();
    expect(heard()).toBe(before + 1);
    line.set('well');
    await again.click();
    await expect(words).toHaveValue(service.words + service.words, { timeout: 30_000 });
    expect(heard()).toBe(before + 2);
    await expect(again).toBeHidden();
  } finally {
    await phone.end();
    await line.close();
  }
});

test('a reply is read aloud while one reads on, faster when asked', async ({ app, page }) => {
  const client = await TestClient.register(server.baseURL);
  const { uuid, id } = await client.ask('请介绍一下鹊桥', { model: 'builtin-assistant' });
  await client.read(uuid, id);
  await app.enterAs({ account: '', password: '', client });
  await page.goto(`${server.baseURL}/chat?uuid=${uuid}`);
  await page.getByRole('button', { name: '更多操作' }).last().click();
  await page
    .getByRole('dialog', { name: '这条回复' })
    .getByRole('button', { name: '朗读' })
    .click();
  const player = page.getByRole('region', { name: '朗读' });
  const sound = player.locator('audio');
  await expect
    .poll(() => sound.evaluate((audio: HTMLAudioElement) => audio.currentTime), {
      timeout: 30_000,
    })
    .toBeGreaterThan(0.2);
  await player.getByRole('button', { name: '朗读设置' }).click();
  await page.getByRole('slider', { name: '语速' }).fill('1.5');
  await expect
    .poll(() => sound.evaluate((audio: HTMLAudioElement) => audio.playbackRate))
    .toBe(1.5);
  await page.getByRole('dialog', { name: '朗读' }).getByRole('button', { name: '关闭' }).click();
  await player.getByRole('button', { name: '暂停' }).click();
  expect(await sound.evaluate((audio: HTMLAudioElement) => audio.paused)).toBe(true);
  // When all was said it leaves by itself.
  await expect
    .poll(() => sound.evaluate((audio: HTMLAudioElement) => Number.isFinite(audio.duration)))
    .toBe(true);
  await sound.evaluate((audio: HTMLAudioElement) => {
    audio.currentTime = audio.duration - 0.1;
    void audio.play();
  });
  await expect(player).toHaveCount(0, { timeout: 20_000 });
});

test('a reading leads from the lock screen, is made by the service once for a voice, and anew when asked', async ({
  app,
  page,
}) => {
  const client = await TestClient.register(server.baseURL);
  await client.call('saveSettings', { default_audio_model: 'builtin-voice' });
  const { uuid, id } = await client.ask('请介绍一下鹊桥', { model: 'builtin-assistant' });
  await client.read(uuid, id);
  const { ai } = await messageOf(client, { uuid, historyId: id });
  // The service of the tests speaks with what the built-in voice said.
  const spoken = await fetch(`${server.baseURL}/api/text_to_speech`, {
    method: 'POST',
    headers: { ...client.headers(), 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'builtin-voice', text: '你好。'.repeat(20) }),
  });
  service.speech = Buffer.from(await spoken.arrayBuffer());
  await client.call('saveSettings', { default_audio_model: 'tts-1' });
  await app.enterAs({ account: '', password: '', client });
  await page.addInitScript(() => {
    const acts: Record<string, MediaSessionActionHandler | null> = {};
    const set = navigator.mediaSession.setActionHandler.bind(navigator.mediaSession);
    navigator.mediaSession.setActionHandler = (action, act) => {
      acts[action] = act;
      set(action, act);
    };
    Object.assign(window, { acts });
  });
  const session = (action: string) =>
    page.evaluate((name) => {
      const { acts } = window as unknown as {
        acts: Record<string, ((details: object) => void) | null>;
      };
      acts[name]?.({ action: name });
    }, action);
  const handled = () =>
    page.evaluate(() => {
      const { acts } = window as unknown as { acts: Record<string, unknown> };
      return Object.keys(acts)
        .filter((name) => typeof acts[name] === 'function')
        .toSorted();
    });
  const made = () => service.asked.filter(({ path }) => path === 'POST /v1/audio/speech').length;
  const before = made();
  await page.goto(`${server.baseURL}/chat?uuid=${uuid}`);
  const player = page.getByRole('region', { name: '朗读' });
  const sound = player.locator('audio');
  const listen = async () => {
    await page.getByRole('button', { name: '更多操作' }).last().click();
    await page
      .getByRole('dialog', { name: '这条回复' })
      .getByRole('button', { name: '朗读' })
      .click();
    // Its price is seen before.
    await expect(player.getByText(/tokens，点播放开始/)).toBeVisible();
    await player.getByRole('button', { name: '播放', exact: true }).click();
    await expect
      .poll(() => sound.evaluate((audio: HTMLAudioElement) => audio.currentTime))
      .toBeGreaterThan(0.1);
  };
  const balance = async () => (await client.call('userInfo', {})).chatgpt_balance;
  await listen();
  expect(made()).toBe(before + 1);
  const paid = await balance();
  const told = await page.evaluate(() => navigator.mediaSession.metadata?.title);
  expect(told).toBe(speechText(ai).slice(0, 80));
  expect(await page.evaluate(() => navigator.mediaSession.metadata?.artist)).toBe('鹊桥');
  expect(await handled()).toEqual(['pause', 'play', 'seekbackward', 'seekforward', 'stop']);
  const paused = () => sound.evaluate((audio: HTMLAudioElement) => audio.paused);
  const at = () => sound.evaluate((audio: HTMLAudioElement) => audio.currentTime);
  await session('pause');
  await expect.poll(paused).toBe(true);
  const here = await at();
  await session('seekforward');
  expect(await at()).toBeGreaterThan(here + 5);
  await session('seekbackward');
  expect(await at()).toBeLessThan(here + 1);
  await session('play');
  await expect.poll(paused).toBe(false);
  await session('stop');
  await expect(player).toHaveCount(0);
  expect(await handled()).toEqual([]);
  expect(await page.evaluate(() => navigator.mediaSession.metadata)).toBeNull();

  // Again, by the same voice: nothing is made, and nothing paid.
  await listen();
  expect(made()).toBe(before + 1);
  expect(await balance()).toBe(paid);
  const first = await sound.getAttribute('src');
  await player.getByRole('button', { name: '朗读设置' }).click();
  await page
    .getByRole('dialog', { name: '朗读' })
    .getByRole('button', { name: /^重新生成 · \d+ tokens$/ })
    .click();
  await expect.poll(() => sound.getAttribute('src')).not.toBe(first);
  expect(made()).toBe(before + 2);
  expect(await balance()).toBeLessThan(paid);
});

test('a reading sounds before all of it is made, and goes on from where it broke off', async ({
  app,
  page,
}) => {
  const client = await TestClient.register(server.baseURL);
  const { uuid, id } = await client.ask('请介绍一下鹊桥', { model: 'builtin-assistant' });
  await client.read(uuid, id);
  const spoken = await fetch(`${server.baseURL}/api/text_to_speech`, {
    method: 'POST',
    headers: { ...client.headers(), 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'builtin-voice', text: '你好。'.repeat(20) }),
  });
  const whole = Buffer.from(await spoken.arrayBuffer());
  const middle = whole.length >> 1;
  /** The service gives the first half, and the second when it is told. */
  const inHalves = () => {
    let goOn: (end: 'well' | 'badly') => void = () => {};
    const told = new Promise<'well' | 'badly'>((resolve) => {
      goOn = resolve;
    });
    service.behave(async (response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' });
      response.write(whole.subarray(0, middle));
      if ((await told) === 'well') response.end(whole.subarray(middle));
      else response.destroy();
      return true;
    });
    return goOn;
  };
  await client.call('saveSettings', { default_audio_model: 'tts-1' });
  const balance = async () => (await client.call('userInfo', {})).chatgpt_balance;
  const before = await balance();
  await app.enterAs({ account: '', password: '', client });
  await page.goto(`${server.baseURL}/chat?uuid=${uuid}`);
  await page.getByRole('button', { name: '更多操作' }).last().click();
  await page
    .getByRole('dialog', { name: '这条回复' })
    .getByRole('button', { name: '朗读' })
    .click();
  const player = page.getByRole('region', { name: '朗读' });
  const sound = player.locator('audio');
  const at = () => sound.evaluate((audio: HTMLAudioElement) => audio.currentTime);
  const length = () => sound.evaluate((audio: HTMLAudioElement) => audio.duration);
  const play = player.getByRole('button', { name: '播放', exact: true });
  const breakOff = inHalves();
  await expect(player.getByText(/tokens，点播放开始/)).toBeVisible();
  await play.click();
  await expect.poll(at).toBeGreaterThan(0.5);
  expect(await length()).toBe(Infinity);
  breakOff('badly');
  await expect(page.getByText('声音没有传完，点播放从断的地方接着听')).toBeVisible();
  await player.getByRole('button', { name: '暂停' }).click();
  const here = await at();
  expect(await balance()).toBe(before);

  const goOn = inHalves();
  await play.click();
  await expect.poll(at).toBeGreaterThan(here + 0.3);
  expect(await length()).toBe(Infinity);
  goOn('well');
  await expect.poll(length).toBeLessThan(1000);
  await expect.poll(balance).toBeLessThan(before);
  // Any place of it can be gone to.
  await player.getByRole('slider', { name: '播放进度' }).fill('900');
  await expect.poll(at).toBeGreaterThan((await length()) * 0.85);
  service.behave(null);
});

test('the built-in voice is made ready before anybody asks it to read, and costs nothing', async ({
  app,
  page,
}, testInfo) => {
  const client = await TestClient.register(server.baseURL);
  await client.call('saveSettings', { default_audio_model: 'builtin-voice' });
  const { uuid, id } = await client.ask('请介绍一下鹊桥', { model: 'builtin-assistant' });
  await client.read(uuid, id);
  const before = (await client.call('userInfo', {})).chatgpt_balance;
  await app.enterAs({ account: '', password: '', client });
  const spoken: boolean[] = [];
  page.on('request', (request) => {
    if (new URL(request.url()).pathname !== '/api/text_to_speech') return;
    const asked = request.postDataJSON() as { model: string; prepare?: number };
    expect(asked.model).toBe('builtin-voice');
    spoken.push(asked.prepare !== 1);
  });
  const ready = page.waitForResponse((answer) => answer.url().includes('text_to_speech'));
  await page.goto(`${server.baseURL}/chat?uuid=${uuid}`);
  const prepared = await ready;
  expect(prepared.status()).toBe(200);
  expect(prepared.headers()['content-length'] ?? '0').toBe('0');
  expect(spoken).toEqual([false]);
  await page.getByRole('button', { name: '更多操作' }).last().click();
  const read = page.getByRole('dialog', { name: '这条回复' }).getByRole('button', { name: '朗读' });
  await read.evaluate((button) => {
    button.addEventListener('click', () => performance.mark('tapped'));
    document.addEventListener('playing', () => performance.mark('heard'), true);
  });
  await read.click();
  await expect
    .poll(() => page.evaluate(() => performance.getEntriesByName('heard').length))
    .toBe(1);
  const waited = await page.evaluate(
    () => performance.measure('waited', 'tapped', 'heard').duration,
  );
  testInfo.annotations.push({ type: 'first sound, ms', description: waited.toFixed(0) });
  expect(spoken).toEqual([false, true]);
  expect((await client.call('userInfo', {})).chatgpt_balance).toBe(before);
});

test('a finger that holds talks until it leaves, and one that slides away calls it off', async ({
  app,
  page,
}) => {
  const client = await TestClient.register(server.baseURL);
  const { uuid } = await client.call('newSession', { type: 0, model: 'builtin-assistant' });
  await app.enterAs({ account: '', password: '', client });
  await page.goto(`${server.baseURL}/chat?uuid=${uuid}`);
  await page.getByRole('button', { name: '语音输入' }).click();
  const tool = page.getByRole('dialog', { name: '语音输入' });
  await tool.getByRole('radio', { name: /Whisper|whisper/ }).click();
  const button = tool.getByRole('button', { name: /录音/ });
  await expect
    .poll(async () => {
      const before = await button.boundingBox();
      await page.waitForTimeout(100);
      return JSON.stringify(before) === JSON.stringify(await button.boundingBox());
    })
    .toBe(true);
  const place = await button.boundingBox();
  if (!place) throw new Error('the button has no place');
  const middle: [number, number] = [place.x + place.width / 2, place.y + place.height / 2];
  const hand = await fingers(page);

  service.asked.length = 0;
  await hand.press(middle);
  await expect(tool.getByText(/正在录音 [1-9] 秒/)).toBeVisible();
  await hand.slide([middle[0] - 60, middle[1] - 30]);
  await hand.slide([middle[0] - 130, middle[1] - 40]);
  await expect(tool.getByText('松开取消')).toBeVisible();
  await hand.lift();
  await expect(page.getByText('已取消')).toBeVisible();
  await expect(tool.getByText('轻点开始，再点结束；或按住说话')).toBeVisible();
  await expect(tool.getByRole('textbox')).toHaveValue('');
  expect(service.asked).toEqual([]);

  await hand.press(middle);
  await expect(tool.getByText(/正在录音 [1-9] 秒/)).toBeVisible();
  // Away and back again is not called off.
  await hand.slide([middle[0] - 130, middle[1] - 40]);
  await expect(tool.getByText('松开取消')).toBeVisible();
  await hand.slide(middle);
  await expect(tool.getByText('松开取消')).toBeHidden();
  await hand.lift();
  await expect(tool.getByRole('textbox')).toHaveValue(service.words);
});

test('held on the microphone of the box one talks and what was said is sent; a tap records at once', async ({
  app,
  page,
}) => {
  const client = await TestClient.register(server.baseURL);
  const { uuid } = await client.call('newSession', { type: 0, model: 'builtin-assistant' });
  await app.enterAs({ account: '', password: '', client });
  // The server alone hears.
  await page.addInitScript(() =>
    Object.assign(window, { SpeechRecognition: undefined, webkitSpeechRecognition: undefined }),
  );
  const button = page.getByRole('button', { name: '语音输入' });
  const middleOf = async (): Promise<[number, number]> => {
    await expect(button).toBeVisible();
    const place = (await button.boundingBox())!;
    return [place.x + place.width / 2, place.y + place.height / 2];
  };
  const hand = await fingers(page);
  // At home it begins a session.
  await page.goto(server.baseURL);
  await hand.press(await middleOf());
  await expect(page.getByText(/正在听 [1-9] 秒/)).toBeVisible();
  await hand.lift();
  await page.waitForURL(/\/chat\?/);
  await expect(page.getByRole('log')).toContainText(service.words);
  await page.goto(`${server.baseURL}/chat?uuid=${uuid}`);
  const middle = await middleOf();
  service.asked.length = 0;
  await hand.press(middle);
  await expect(page.getByText(/正在听 [1-9] 秒/)).toBeVisible();
  await hand.slide([middle[0], middle[1] - 120]);
  await expect(page.getByText('松开取消')).toBeVisible();
  await hand.lift();
  await expect(page.getByText('已取消')).toBeVisible();
  expect(service.asked).toEqual([]);
  await hand.press(middle);
  await expect(page.getByText(/正在听 [1-9] 秒/)).toBeVisible();
  await hand.lift();
  await expect(page.getByRole('log')).toContainText(service.words);
  await button.click();
  const tool = page.getByRole('dialog', { name: '语音输入' });
  await expect(tool.getByText(/正在录音 [1-9] 秒/)).toBeVisible();
  await tool.getByRole('button', { name: '结束录音' }).click();
  await expect(tool.getByRole('textbox')).toHaveValue(service.words);
});

test('a microphone that is denied is told of, and may be tried again', async ({ app, page }) => {
  const client = await TestClient.register(server.baseURL);
  const { uuid } = await client.call('newSession', { type: 0, model: 'builtin-assistant' });
  await app.enterAs({ account: '', password: '', client });
  await page.addInitScript(() => {
    const { mediaDevices } = navigator;
    const open = mediaDevices.getUserMedia.bind(mediaDevices);
    let asked = 0;
    mediaDevices.getUserMedia = async (wanted) => {
      asked += 1;
      if (asked === 1) throw new DOMException('Permission denied', 'NotAllowedError');
      const stream = await open(wanted);
      await new Promise<void>((resolve) => {
        Object.assign(window, { stream, give: resolve });
      });
      return stream;
    };
  });
  await page.goto(`${server.baseURL}/chat?uuid=${uuid}`);
  await page.getByRole('button', { name: '语音输入' }).click();
  const tool = page.getByRole('dialog', { name: '语音输入' });
  await tool.getByRole('radio', { name: /Whisper|whisper/ }).click();
  await tool.getByRole('button', { name: '开始录音' }).click();
  await expect(page.getByText('无法捕获您的麦克风。请检查控制台日志。')).toBeVisible();
  await expect(tool.getByRole('button', { name: '开始录音' })).toBeEnabled();
  // Who leaves while the browser still asks leaves no microphone open.
  await tool.getByRole('button', { name: '开始录音' }).click();
  await expect(tool.getByText('正在打开麦克风…')).toBeVisible();
  await page.waitForFunction(() => 'give' in window);
  await page.keyboard.press('Escape');
  await expect(tool).toBeHidden();
  await page.evaluate(() => (window as unknown as { give: () => void }).give());
  await expect
    .poll(() =>
      page.evaluate(() =>
        (window as unknown as { stream: MediaStream }).stream
          .getTracks()
          .map(({ readyState }) => readyState),
      ),
    )
    .toEqual(['ended']);
});

test('where nothing hears it is said how that is changed, and what cannot work is not shown', async ({
  app,
  page,
}) => {
  const client = await TestClient.register(server.baseURL);
  const { uuid } = await client.call('newSession', { type: 0, model: 'builtin-assistant' });
  await app.enterAs({ account: '', password: '', client });
  await page.route('**/api/models', async (route) => {
    const answer = await route.fetch();
    const json = (await answer.json()) as { data: { models: { type: number }[] } };
    json.data.models = json.data.models.filter(({ type }) => type !== 2);
    await route.fulfill({ response: answer, json });
  });
  // A recogniser whose service is out of reach, as in browsers built without one.
  await page.addInitScript(() => {
    class Deaf extends EventTarget {
      start() {
        setTimeout(() => {
          this.dispatchEvent(Object.assign(new Event('error'), { error: 'network' }));
          this.dispatchEvent(new Event('end'));
        });
      }
      stop() {}
      abort() {}
    }
    Object.assign(window, { SpeechRecognition: Deaf, webkitSpeechRecognition: Deaf });
  });
  await page.goto(`${server.baseURL}/chat?uuid=${uuid}`);
  await page.getByRole('button', { name: '语音输入' }).click();
  const tool = page.getByRole('dialog', { name: '语音输入' });
  await expect(tool.getByRole('radio', { name: /浏览器自带/ })).toBeVisible();
  const mic = tool.getByRole('button', { name: '开始录音' });
  await mic.click();
  await expect(tool.getByText('这里还没有语音识别')).toBeVisible();
  await expect(mic).toHaveCount(0);
  await expect(tool.getByRole('radio')).toHaveCount(0);
  await tool.getByRole('link', { name: '怎么下载一个' }).click();
  await expect(page.getByRole('heading', { name: '没有语音识别时怎么办' })).toBeVisible();
});

test('a browser without a microphone says so', async ({ app, page }) => {
  const client = await TestClient.register(server.baseURL);
  const { uuid } = await client.call('newSession', { type: 0, model: 'builtin-assistant' });
  await app.enterAs({ account: '', password: '', client });
  await page.addInitScript(() =>
    Object.defineProperty(navigator, 'mediaDevices', { value: undefined }),
  );
  await page.goto(`${server.baseURL}/chat?uuid=${uuid}`);
  await page.getByRole('button', { name: '语音输入' }).click();
  const tool = page.getByRole('dialog', { name: '语音输入' });
  await tool.getByRole('radio', { name: /Whisper|whisper/ }).click();
  await tool.getByRole('button', { name: '开始录音' }).click();
  await expect(page.getByText('此浏览器不支持 WebRTC getUserMedia API。')).toBeVisible();
});

test('Safari gives the microphone on the first press and records on the next; a press stops', async ({
  app,
  page,
}) => {
  const client = await TestClient.register(server.baseURL);
  const { uuid } = await client.call('newSession', { type: 0, model: 'builtin-assistant' });
  await app.enterAs({ account: '', password: '', client });
  await page.addInitScript(() => {
    Object.defineProperty(navigator, 'userAgent', {
      get: () =>
        'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1',
    });
    const seen = { streams: [] as MediaStream[], buffers: [] as (number | undefined)[] };
    const { mediaDevices } = navigator;
    const open = mediaDevices.getUserMedia.bind(mediaDevices);
    mediaDevices.getUserMedia = async (wanted) => {
      const stream = await open(wanted);
      seen.streams.push(stream);
      return stream;
    };
    const plain = Object.getOwnPropertyDescriptor(
      BaseAudioContext.prototype,
      'createScriptProcessor',
    )?.value as (this: BaseAudioContext, ...sizes: (number | undefined)[]) => ScriptProcessorNode;
    BaseAudioContext.prototype.createScriptProcessor = function create(...sizes) {
      seen.buffers.push(sizes[0]);
      return plain.apply(this, sizes);
    };
    Object.assign(window, { seen });
  });
  const seen = () =>
    page.evaluate(() => {
      const { streams, buffers } = (
        window as unknown as { seen: { streams: MediaStream[]; buffers: number[] } }
      ).seen;
      const live = streams.filter((stream) =>
        stream.getTracks().some(({ readyState }) => readyState === 'live'),
      ).length;
      return { opened: streams.length, live, buffers };
    });
  await page.goto(`${server.baseURL}/chat?uuid=${uuid}`);
  await page.getByRole('button', { name: '语音输入' }).click();
  const tool = page.getByRole('dialog', { name: '语音输入' });
  await tool.getByRole('radio', { name: /Whisper|whisper/ }).click();
  const start = tool.getByRole('button', { name: '开始录音' });
  await start.click();
  await expect(tool.getByText('已得到麦克风，请再点一次开始录音')).toBeVisible();
  expect(await seen()).toEqual({ opened: 1, live: 1, buffers: [] });
  // Who leaves between the two presses lets the microphone go.
  await page.keyboard.press('Escape');
  await expect(tool).toBeHidden();
  expect(await seen()).toMatchObject({ opened: 1, live: 0 });
  await page.getByRole('button', { name: '语音输入' }).click();
  await tool.getByRole('radio', { name: /Whisper|whisper/ }).click();
  await start.click();
  await expect(tool.getByText('已得到麦克风，请再点一次开始录音')).toBeVisible();
  await start.click();
  await expect(tool.getByText(/正在录音 [1-9] 秒/)).toBeVisible();
  expect(await seen()).toEqual({ opened: 2, live: 1, buffers: [4096] });
  await tool.getByRole('button', { name: '结束录音' }).click();
  await expect(tool.getByRole('textbox')).toHaveValue(service.words);
  expect((await seen()).live).toBe(0);
  // From then on a press begins, and the second stops.
  await start.click();
  await expect(tool.getByText(/正在录音 [1-9] 秒/)).toBeVisible();
  expect(await seen()).toEqual({ opened: 3, live: 1, buffers: [4096, 4096] });
  await tool.getByRole('button', { name: '结束录音' }).click();
  await expect(tool.getByRole('textbox')).toHaveValue(service.words.repeat(2));
  expect((await seen()).live).toBe(0);
});
