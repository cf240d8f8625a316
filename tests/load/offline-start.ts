import { setTimeout as sleep } from 'node:timers/promises';
import { numbersOf } from './lib/measure.ts';
import {
  cpuSlowdown,
  median,
  openTab,
  round,
  withBrowser,
  withProfile,
} from './lib/page-browser.ts';
import { startPageWorld } from './lib/page-world.ts';

/**
 * From the icon to yesterday's conversation without a network, on a slow phone: the browser is
 * started anew on the profile of a former visit, the server is gone.
 * `npx tsx tests/load/offline-start.ts [--runs=5] [--messages=40]`. `chat`: opened at the
 * conversation, until its newest reply can be read. `home`: opened at the start, until the newest
 * session is listed; `tapped`: from the tap on it until its newest reply can be read.
 */
const runs = numbersOf('runs', [5])[0] ?? 5;
const messages = numbersOf('messages', [40])[0] ?? 40;

const world = await startPageWorld();
const { uuid } = await world.client.call('newSession', { type: 0, model: 'mock' });
const say = async (msg: string) => {
  const { id } = await world.client.call('sendMessage', { session_id: uuid, msg });
  await world.client.read(uuid, id);
};
for (let at = 0; at < messages; at++) await say(`第 ${at} 个问题，请回答得短一些`);
await say('[[bench tokens=120 rate=2000 id=last]]');

const marker = 'END-last-DONE';
const chat = `${world.server.baseURL}/chat?uuid=${uuid}`;
const home = `${world.server.baseURL}/`;
const shown = { chat: [] as number[], home: [] as number[], tapped: [] as number[] };
let running = true;

try {
  await withProfile(async (profile) => {
    await withBrowser(profile, async (context) => {
      await world.signIn(context);
      const { page } = await openTab(context, { box: 'textarea', where: '[data-reply]' });
      await page.goto(home);
      await page.locator('[data-sessions] a').first().waitFor();
      await sleep(9_000);
      await page.goto(chat);
      await page.getByText(marker).waitFor();
      await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
      // What was read is written down a few seconds later.
      await sleep(12_000);
    });
    await world.server.stop();
    running = false;
    for (let run = 0; run < runs; run++)
      for (const place of ['chat', 'home'] as const)
        await withBrowser(profile, async (context) => {
          const where = place === 'chat' ? '[role=log]' : '[data-sessions]';
          const { page, devtools } = await openTab(context, { box: 'textarea', where });
          await devtools.send('Emulation.setCPUThrottlingRate', { rate: cpuSlowdown });
          await page.addInitScript(
            (text) => {
              window.notes.marker = text;
            },
            place === 'chat' ? marker : '第 0 个问题',
          );
          const wait = async () => {
            await page.waitForFunction(() => window.notes.shown > 0, null, {
              timeout: 60_000,
              polling: 50,
            });
            return page.evaluate(() => window.notes.shown);
          };
          await page.goto(place === 'chat' ? chat : home, { waitUntil: 'commit' });
          shown[place].push(await wait());
          if (place === 'chat') return;
          const began = performance.now();
          await page.locator('[data-sessions] a').first().tap();
          await page.getByText(marker).waitFor();
          shown.tapped.push(performance.now() - began);
        });
  });
  for (const [name, values] of Object.entries(shown))
    console.log(
      name,
      `median ${round(median(values), 0)} ms`,
      JSON.stringify(values.map((each) => round(each, 0))),
    );
} finally {
  if (running) await world.server.stop();
  await world.mock.close();
}
