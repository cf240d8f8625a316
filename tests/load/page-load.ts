import { setTimeout as sleep } from 'node:timers/promises';
import { numbersOf } from './lib/measure.ts';
import {
  cpuSlowdown,
  median,
  openTab,
  round,
  slow4g,
  sum,
  withBrowser,
  withProfile,
} from './lib/page-browser.ts';
import { startFloor } from './lib/page-floor.ts';
import { startPageWorld } from './lib/page-world.ts';

/**
 * From the address to a box that takes text, on a phone with a slow line: first visit (nothing
 * cached) and second (browser started anew on the same profile), of home and chat.
 * `npx tsx tests/load/page-load.ts [--runs=3]`. Bytes are what went over the wire, headers included,
 * until the page was quiet for 2 s; `scriptBodies` are the compressed scripts alone. What is fetched
 * ahead for another screen comes later, with the first use or after 5 s.
 */
const runs = numbersOf('runs', [3])[0] ?? 3;

interface Visit {
  usable: number;
  scriptBytes: number;
  scriptBodies: number;
  bytes: number;
  requests: number;
  foreign: number;
}

const world = await startPageWorld();
const floor = await startFloor(world.mock.baseURL);
const { uuid } = await world.client.call('newSession', { type: 0, model: 'mock' });

const visit = (profile: string, url: string, box: string, signIn: boolean): Promise<Visit> =>
  withBrowser(profile, async (context) => {
    if (signIn) await world.signIn(context);
    const { page, devtools } = await openTab(context, { box, where: '[data-reply]' });
    const kinds = new Map<string, { script: boolean; foreign: boolean }>();
    const bodies = new Map<string, number>();
    const done: { script: boolean; foreign: boolean; bytes: number; body: number }[] = [];
    devtools.on('Network.requestWillBeSent', ({ requestId, request, type }) => {
      if (/^(data|blob):/.test(request.url)) return;
      const foreign = new URL(request.url).origin !== new URL(url).origin;
      kinds.set(requestId, { script: type === 'Script', foreign });
    });
    devtools.on('Network.responseReceived', ({ requestId, response }) => {
      const cached = response.fromDiskCache || response.fromPrefetchCache;
      const length = Object.entries(response.headers).find(([name]) =>
        /^content-length$/i.test(name),
      );
      bodies.set(requestId, cached ? 0 : Number(length?.[1] ?? 0));
    });
    devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      const kind = kinds.get(requestId);
      if (kind) {
        const body = Math.min(encodedDataLength, bodies.get(requestId) ?? 0);
        done.push({ ...kind, bytes: encodedDataLength, body });
      }
    });
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: cpuSlowdown });
    await devtools.send('Network.emulateNetworkConditions', slow4g);
    await page.goto(url, { waitUntil: 'commit' });
    for (let value = 0; value === 0;) {
      await sleep(100);
      const { result } = await devtools.send('Runtime.evaluate', {
        expression: 'window.notes?.usable ?? 0',
      });
      value = Number(result.value);
    }
    for (let quiet = 0, before = -1; quiet < 8; before = done.length) {
      await sleep(250);
      quiet = done.length === before ? quiet + 1 : 0;
    }
    return {
      usable: await page.evaluate(() => window.notes.usable),
      scriptBytes: sum(done.filter((each) => each.script).map((each) => each.bytes)),
      scriptBodies: sum(done.filter((each) => each.script).map((each) => each.body)),
      bytes: sum(done.map((each) => each.bytes)),
      requests: done.length,
      foreign: done.filter((each) => each.foreign).length,
    };
  });

const medians = (visits: Visit[]): Visit =>
  Object.fromEntries(
    Object.keys(visits[0] ?? {}).map((key) => [
      key,
      round(median(visits.map((each) => each[key as keyof Visit])), 0),
    ]),
  ) as unknown as Visit;

try {
  const places = [
    ['home', `${world.server.baseURL}/`, 'textarea', false],
    // The first HTML holds the home's box; here the chat's own counts.
    ['chat', `${world.server.baseURL}/chat?uuid=${uuid}`, 'textarea[aria-label="输入消息"]', true],
    ['floor', floor.baseURL, 'textarea', false],
  ] as const;
  for (const [name, url, box, signIn] of places) {
    const first: Visit[] = [];
    const second: Visit[] = [];
    for (let run = 0; run < runs; run++)
      await withProfile(async (profile) => {
        first.push(await visit(profile, url, box, signIn));
        second.push(await visit(profile, url, box, signIn));
      });
    console.log(name, 'first visit', JSON.stringify(medians(first)));
    console.log(name, 'second visit', JSON.stringify(medians(second)));
  }
} finally {
  await floor.close();
  await world.stop();
}
