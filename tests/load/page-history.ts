import { setTimeout as sleep } from 'node:timers/promises';
import type { CDPSession, Page } from '@playwright/test';
import { numbersOf } from './lib/measure.ts';
import {
  cpuSlowdown,
  median,
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
  /** Number of the topmost message that the steps led to. */
  reached: number;
  /** The same way through the same rows as plain HTML, without the list: what no page goes below. */
  floorGaps: number;
  floorWork: number;
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

/** Scrolls up step by step; gaps over 50 ms, work in ms. */
const stepUp = async (page: Page, devtools: CDPSession) => {
  const before = await workOf(devtools);
  const gaps = await page.evaluate(async (count) => {
    window.notes.gaps = [];
    const scroller = document.querySelector('[data-virtuoso-scroller]');
    for (let step = 0; step < count; step++) {
      scroller?.scrollBy(0, -scroller.clientHeight * 0.8);
      await new Promise((resolve) => {
        setTimeout(resolve, 100);
      });
    }
    return window.notes.gaps;
  }, steps);
  const after = await workOf(devtools);
  return {
    gaps: sum(gaps),
    gapMost: Math.max(0, ...gaps),
    work: after.total - before.total,
  };
};

/** Puts as many messages as were passed there as they are, each drawn when it comes into view. */
const layPlain = async (page: Page, html: string, passed: number) => {
  await page.evaluate(
    ([rows, count]) => {
      const scroller = document.querySelector('[data-virtuoso-scroller]');
      if (!scroller) return;
      const plain = document.createElement('div');
      plain.className = scroller.className;
      plain.style.overflowY = 'auto';
      const shown = Math.max(1, rows.split('data-first').length - 1);
      for (let at = 0; at < count; at += shown) {
        const part = document.createElement('div');
        part.style.contentVisibility = 'auto';
        part.style.containIntrinsicSize = 'auto 1200px';
        part.innerHTML = rows;
        plain.append(part);
      }
      scroller.replaceWith(plain);
      plain.scrollTop = plain.scrollHeight;
    },
    [html, Math.max(1, passed)] as const,
  );
  await sleep(2_000);
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
      const { page, devtools } = await openTab(context, { box: 'textarea', where: '[data-reply]' });
      await page.addInitScript((marker) => {
        window.notes.marker = marker;
      }, `（回复-${count}-完）`);
      await devtools.send('Emulation.setCPUThrottlingRate', { rate: cpuSlowdown });
      await page.goto(url, { waitUntil: 'commit' });
      await page.waitForFunction(() => window.notes.shown > 0, null, { polling: 100 });
      await sleep(2_000);
      await devtools.send('HeapProfiler.collectGarbage');
      const newest = await page.evaluate(() => window.notes.shown);
      const steppedUp = await stepUp(page, devtools);
      const { elements, reached, html } = await page.evaluate(() => ({
        elements: document.querySelectorAll('*').length,
        reached: Number(
          [...document.querySelectorAll<HTMLElement>('[role=log] [data-message]')].find(
            (element) => element.getBoundingClientRect().bottom > 60,
          )?.dataset['message'],
        ),
        html: document.querySelector('[data-testid="virtuoso-item-list"]')?.innerHTML ?? '',
      }));
      await devtools.send('HeapProfiler.collectGarbage');
      const { usedSize } = await devtools.send('Runtime.getHeapUsage');
      await layPlain(page, html, count - reached);
      const floor = await stepUp(page, devtools);
      return {
        newest,
        heapMb: usedSize / 2 ** 20,
        elements,
        ...steppedUp,
        reached,
        floorGaps: floor.gaps,
        floorWork: floor.work,
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
