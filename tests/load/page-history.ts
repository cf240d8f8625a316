import { setTimeout as sleep } from 'node:timers/promises';
import {
  cpuSlowdown,
  median,
  numbersOf,
  openTab,
  round,
  sum,
  withBrowser,
  withProfile,
  workOf,
} from './lib/page-browser.ts';
import { startPageWorld } from './lib/page-world.ts';

/**
 * Opening a long conversation and scrolling up in it (phone, CPU slowed four times), against a short
 * one: `npx tsx tests/load/page-history.ts [--runs=3] [--messages=100,10000]`.
 * `newest` is from the address to the newest message on the page, with everything cached.
 */
const runs = numbersOf('runs', [3])[0] ?? 3;
const sizes = numbersOf('messages', [100, 10_000]);
const steps = 120;

const reply = (at: number): string =>
  [
    `第 ${at} 条回复：先量后改，每次只改一处。`,
    `- 第一点：**记录**当前数值\n- 第二点：改动之后 \`再量一次\``,
    at % 3 === 0 ? '```ts\nconst delta = after - before;\nconsole.log(delta);\n```' : '',
    at % 5 === 0 ? '| 项目 | 之前 | 之后 |\n| --- | ---: | ---: |\n| 甲 | 12 | 7 |' : '',
    `（回复-${at}-完）`,
  ]
    .filter((part) => part !== '')
    .join('\n\n');

interface Opened {
  newest: number;
  heapMb: number;
  elements: number;
  gaps: number;
  gapMost: number;
  /** Script, layout and style of all steps, ms. */
  work: number;
}

const world = await startPageWorld();

/** The messages of a long session as the server gives them, without writing each through a model. */
const pageOf = (count: number, url: URL) => {
  const before = Number(url.searchParams.get('before') ?? count + 1);
  const size = Number(url.searchParams.get('page_size') ?? 30);
  const first = Math.max(1, before - size);
  const list = Array.from({ length: before - first }, (_, at) => {
    const id = before - 1 - at;
    return {
      id,
      human: `第 ${id} 个问题：下一步怎么办？`,
      ai: reply(id),
      reasoning: '',
      type: 0,
      model: 'mock',
      state: 'done',
      error_code: '',
      error_message: '',
      user_id: 1,
      user_name: '测试',
      created_at: new Date(Date.UTC(2026, 0, 1) + id * 60_000).toISOString(),
      prompt_tokens: 10,
      completion_tokens: 90,
      deduct_tokens: 100,
      like_count: 0,
      liked: false,
      in_favorites: false,
      format: 0,
      title: '',
      edited: false,
      siblings: [],
      beside: null,
    };
  });
  const paging = { page: 1, page_count: Math.ceil(count / size), page_size: size, total: count };
  return { code: 0, message: '', data: { list, ...paging } };
};

const open = (count: number): Promise<Opened> =>
  withProfile((profile) =>
    withBrowser(profile, async (context) => {
      await world.signIn(context);
      await context.route('**/api/history_list?*', (route) =>
        route.fulfill({ json: pageOf(count, new URL(route.request().url())) }),
      );
      const { uuid } = await world.client.call('newSession', { type: 0, model: 'mock' });
      const url = `${world.server.baseURL}/chat?uuid=${uuid}`;
      const warm = await context.newPage();
      await warm.goto(url);
      await sleep(3_000);
      await warm.close();
      const { page, devtools } = await openTab(context, { box: 'textarea', where: '.reply' });
      await page.addInitScript((marker) => {
        window.notes.marker = marker;
      }, `（回复-${count}-完）`);
      await devtools.send('Emulation.setCPUThrottlingRate', { rate: cpuSlowdown });
      await page.goto(url, { waitUntil: 'commit' });
      await page.waitForFunction(() => window.notes.shown > 0, null, { polling: 100 });
      await sleep(2_000);
      await devtools.send('HeapProfiler.collectGarbage');
      const newest = await page.evaluate(() => {
        window.notes.gaps = [];
        return window.notes.shown;
      });
      const before = await workOf(devtools);
      await page.evaluate(async (count) => {
        const scroller = document.querySelector('.list-scroller');
        for (let step = 0; step < count; step++) {
          scroller?.scrollBy(0, -scroller.clientHeight * 0.8);
          await new Promise((resolve) => {
            setTimeout(resolve, 100);
          });
        }
      }, steps);
      const { gaps, elements } = await page.evaluate(() => ({
        gaps: window.notes.gaps,
        elements: document.querySelectorAll('*').length,
      }));
      const after = await workOf(devtools);
      await devtools.send('HeapProfiler.collectGarbage');
      const { usedSize } = await devtools.send('Runtime.getHeapUsage');
      return {
        newest,
        heapMb: usedSize / 2 ** 20,
        elements,
        gaps: sum(gaps),
        gapMost: Math.max(0, ...gaps),
        work: after.total - before.total,
      };
    }),
  );

try {
  for (const count of sizes) {
    const list: Opened[] = [];
    for (let run = 0; run < runs; run++) list.push(await open(count));
    const result = Object.fromEntries(
      Object.keys(list[0] ?? {}).map((key) => [
        key,
        round(median(list.map((each) => each[key as keyof Opened]))),
      ]),
    );
    console.log(`${count} messages`, JSON.stringify(result));
  }
} finally {
  await world.stop();
}
