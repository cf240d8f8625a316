import { type Page } from '@playwright/test';
import { TestClient } from '../support/client.ts';
import { startServer } from '../support/server.ts';
import { bringTalks } from '../support/talks.ts';
import { median, numbersOf, quantile } from './lib/measure.ts';
import { withBrowser, withProfile } from './lib/page-browser.ts';

/**
 * From the tap on 朗读 to the first sound of 100 characters by the built-in voice, and what it is
 * made of. Beside it the floor of the same run: a bare button that plays a whole sound which is in
 * the page already.
 */
const [rounds = 9] = numbersOf('rounds', [9]);

const sentences = [
  '鹊桥通向许多模型，打开就能问，不注册也能用。',
  '今天天气很好，我们去公园里散步吧。',
  '走在湖边，看见许多人在放风筝，孩子们跑来跑去。',
  '老人坐在长椅上晒太阳，远处的山顶还有一点雪。',
  '春天真的来了，大家都很高兴，说好明天早晨再来。',
];
/** 100 characters, each time others first. */
const words = (round: number): string => {
  const text = sentences.map((_, at) => sentences[(at + round) % sentences.length]).join('');
  return `${round + 1}号${text}`.slice(0, 100);
};

const server = await startServer({ embedded: true });
const client = await TestClient.register(server.baseURL);
await client.call('saveSettings', { default_audio_model: 'builtin-voice' });

const speak = async (text: string) => {
  const from = performance.now();
  const answer = await fetch(`${server.baseURL}/api/text_to_speech`, {
    method: 'POST',
    headers: { ...client.headers(), 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'builtin-voice', text }),
  });
  let first = 0;
  const parts: Uint8Array[] = [];
  for await (const part of answer.body ?? []) {
    if (first === 0) first = performance.now() - from;
    parts.push(part);
  }
  return { first, whole: performance.now() - from, sound: Buffer.concat(parts) };
};

type Steps = Record<'asked' | 'head' | 'whole' | 'source' | 'known' | 'heard', number>;

/** Notes when each step comes, ms after the tap. */
const listen = (page: Page) =>
  page.addInitScript(() => {
    const steps: Record<string, number> = {};
    let tapped = 0;
    const note = (name: string) => {
      steps[name] ??= performance.now() - tapped;
    };
    document.addEventListener(
      'click',
      ({ target }) => {
        const button = (target as Element).closest('button');
        if (!button?.textContent?.includes('朗读')) return;
        for (const name of Object.keys(steps)) delete steps[name];
        tapped = performance.now();
      },
      true,
    );
    const plain = window.fetch.bind(window);
    window.fetch = async (...asked) => {
      const about = typeof asked[0] === 'string' && asked[0].includes('text_to_speech');
      if (about) note('asked');
      const answer = await plain(...asked);
      if (about) {
        note('head');
        void answer
          .clone()
          .arrayBuffer()
          .then(() => note('whole'));
      }
      return answer;
    };
    document.addEventListener('loadstart', () => note('source'), true);
    document.addEventListener('loadedmetadata', () => note('known'), true);
    document.addEventListener('playing', () => note('heard'), true);
    Object.assign(window, { steps });
  });

const stepsOf = async (page: Page): Promise<Steps> => {
  await page.waitForFunction(
    () =>
      'heard' in (window as unknown as { steps: Steps }).steps &&
      'whole' in (window as unknown as { steps: Steps }).steps,
  );
  return page.evaluate(() => ({ ...(window as unknown as { steps: Steps }).steps }));
};

/** A bare button that plays what is in the page. */
const floorOf = async (page: Page, sound: Buffer): Promise<number> =>
  page.evaluate(async (text) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const audio = new Audio();
    const from = performance.now();
    const heard = new Promise((resolve) => audio.addEventListener('playing', resolve));
    audio.src = URL.createObjectURL(new Blob([bytes], { type: 'audio/mpeg' }));
    await audio.play();
    await heard;
    const waited = performance.now() - from;
    audio.pause();
    URL.revokeObjectURL(audio.src);
    return waited;
  }, sound.toString('base64'));

const show = (name: string, values: readonly number[]) =>
  console.log(
    `${name.padEnd(34)} median ${median(values).toFixed(0).padStart(5)} ms   worst ${quantile(values, 1).toFixed(0).padStart(5)} ms`,
  );

try {
  await speak(words(0));
  const made: Awaited<ReturnType<typeof speak>>[] = [];
  for (let round = 0; round < rounds; round += 1) made.push(await speak(words(round)));
  show(
    'server: first bytes',
    made.map(({ first }) => first),
  );
  show(
    'server: the whole',
    made.map(({ whole }) => whole),
  );

  const talks: string[] = [];
  for (let round = 0; round <= rounds; round += 1)
    talks.push(await bringTalks(client, [{ title: '朗读', exchanges: [['请念', words(round)]] }]));
  await withProfile((profile) =>
    withBrowser(profile, async (context) => {
      const page = await context.newPage();
      await page.addInitScript({ content: 'globalThis.__name = (act) => act;' });
      await page.addInitScript(
        ([token]) => localStorage.setItem('queqiao.token', token ?? ''),
        [client.token],
      );
      await listen(page);
      const ready = page.waitForResponse((answer) => answer.url().includes('text_to_speech'));
      await page.goto(`${server.baseURL}/chat?uuid=${talks[0]}`);
      await ready;
      const all: Steps[] = [];
      const floors: number[] = [];
      for (const [round, uuid] of talks.entries()) {
        await page.evaluate((to) => history.pushState(null, '', to), `/chat?uuid=${uuid}`);
        await page.getByText(words(round).slice(0, 12)).waitFor();
        await page.getByRole('button', { name: '更多操作' }).last().click();
        const menu = page.getByRole('dialog', { name: '这条回复' });
        await menu.getByRole('button', { name: '朗读' }).click();
        const steps = await stepsOf(page);
        if (round > 0) all.push(steps);
        await page.getByRole('button', { name: '关闭朗读' }).click();
        floors.push(await floorOf(page, made[0]?.sound ?? Buffer.alloc(0)));
      }
      const names: Record<keyof Steps, string> = {
        asked: 'page: the call leaves',
        head: 'page: the answer begins',
        whole: 'page: the whole answer',
        source: 'page: the player has a source',
        known: 'page: the player knows the sound',
        heard: 'page: the first sound',
      };
      for (const [step, name] of Object.entries(names) as [keyof Steps, string][])
        show(
          name,
          all.map((steps) => steps[step]),
        );
      show('floor: a sound that is in the page', floors);
    }),
  );
} finally {
  await server.stop();
}
