import { setTimeout as sleep } from 'node:timers/promises';
import { numbersOf } from './lib/measure.ts';
import {
  cpuSlowdown,
  goalMachine,
  median,
  openTab,
  round,
  sum,
  withBrowser,
  withProfile,
  workOf,
} from './lib/page-browser.ts';
import { startFloor } from './lib/page-floor.ts';
import { benchLog, startPageWorld } from './lib/page-world.ts';

/**
 * What a reply costs the page while it is written (phone, CPU slowed four times unless told):
 * `npx tsx tests/load/page-stream.ts [--runs=3] [--tokens=2000,8000,16000] [--rate=200] [--floor=1]
 * [--burst=1] [--slowdown=4]`. With the floor it says which slowdown makes this machine as slow as the
 * one that the goals were set on was at 4.
 * Work is script + layout + style. The floor page runs beside it in the same browser settings.
 */
const runs = numbersOf('runs', [3])[0] ?? 3;
const sizes = numbersOf('tokens', [2_000, 8_000, 16_000]);
const rate = numbersOf('rate', [200])[0] ?? 200;
const withFloor = (numbersOf('floor', [1])[0] ?? 1) === 1;
const withBurst = (numbersOf('burst', [1])[0] ?? 1) === 1;

interface Measured {
  fps: number;
  workAFrame: number;
  work: number;
  script: number;
  layout: number;
  style: number;
  longTotal: number;
  longMost: number;
  gapMost: number;
  /** Last byte from the service to last word on the page, ms. */
  lag: number;
}

const world = await startPageWorld();
const floor = await startFloor(world.mock.baseURL);
let made = 0;

const measure = (kind: 'app' | 'floor', tokens: number, tokensASecond: number): Promise<Measured> =>
  withProfile((profile) =>
    withBrowser(profile, async (context) => {
      if (kind === 'app') await world.signIn(context);
      const { page, devtools } = await openTab(context, { box: 'textarea', where: '[data-reply]' });
      const session =
        kind === 'app' ? await world.client.call('newSession', { type: 0, model: 'mock' }) : null;
      await page.goto(
        session ? `${world.server.baseURL}/chat?uuid=${session.uuid}` : floor.baseURL,
      );
      await page.waitForFunction(() => window.notes.usable > 0);
      await sleep(1_500);
      await devtools.send('Emulation.setCPUThrottlingRate', { rate: cpuSlowdown });
      const id = `p${process.pid}x${++made}`;
      await page.evaluate((marker) => {
        Object.assign(window.notes, { frames: 0, longTasks: [], gaps: [], shown: 0, marker });
      }, `END-${id}-DONE`);
      const before = await workOf(devtools);
      const start = Date.now();
      await page.fill('textarea', `[[bench tokens=${tokens} rate=${tokensASecond} id=${id}]]`);
      await page.press('textarea', 'Enter');
      await page.waitForFunction(() => window.notes.shown > 0, null, {
        timeout: 240_000,
        polling: 250,
      });
      // What the page still does for the reply afterwards (colours, the server's figures) counts.
      await sleep(1_500);
      const after = await workOf(devtools);
      const wall = Date.now() - start;
      const { notes, origin } = await page.evaluate(() => ({
        notes: window.notes,
        origin: performance.timeOrigin,
      }));
      const log = await benchLog(world.mock, id);
      const work = after.total - before.total;
      return {
        fps: (notes.frames / wall) * 1000,
        workAFrame: work / notes.frames,
        work,
        script: after.script - before.script,
        layout: after.layout - before.layout,
        style: after.style - before.style,
        longTotal: sum(notes.longTasks),
        longMost: Math.max(0, ...notes.longTasks),
        gapMost: Math.max(0, ...notes.gaps),
        lag: origin + notes.shown - log.lastByte,
      };
    }),
  );

const medians = (list: Measured[]): Measured =>
  Object.fromEntries(
    Object.keys(list[0] ?? {}).map((key) => [
      key,
      round(median(list.map((each) => each[key as keyof Measured])), 2),
    ]),
  ) as unknown as Measured;

try {
  const kinds = withFloor ? (['floor', 'app'] as const) : (['app'] as const);
  for (const kind of kinds) {
    const perFrame: [number, number][] = [];
    for (const tokens of sizes) {
      const list: Measured[] = [];
      for (let run = 0; run < runs; run++) list.push(await measure(kind, tokens, rate));
      const result = medians(list);
      perFrame.push([tokens, result.workAFrame]);
      console.log(kind, `${tokens} tokens at ${rate}/s`, JSON.stringify(result));
    }
    const [first, last] = [perFrame[0], perFrame.at(-1)];
    if (first && last && first !== last)
      console.log(
        kind,
        'growth of work per frame, exponent:',
        round(Math.log(last[1] / first[1]) / Math.log(last[0] / first[0]), 3),
      );
    const goalSize = perFrame.find(([tokens]) => tokens === goalMachine.tokens);
    if (kind === 'floor' && goalSize) {
      const alike = (cpuSlowdown * goalMachine.floorFrameMs) / goalSize[1];
      console.log(`as slow as the machine of the goals: --slowdown=${round(alike, 2)}`);
    }
    if (!withBurst) continue;
    const burst: Measured[] = [];
    for (let run = 0; run < runs; run++) burst.push(await measure(kind, 16_000, 0));
    console.log(kind, '16000 tokens at once', JSON.stringify(medians(burst)));
  }
} finally {
  await floor.close();
  await world.stop();
}
