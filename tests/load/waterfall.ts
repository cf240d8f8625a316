import { setTimeout as sleep } from 'node:timers/promises';
import type { CDPSession, Page } from '@playwright/test';
import sharp from 'sharp';
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
 * 我的图片 with ten thousand pictures on a phone (CPU slowed four times), flung from top to bottom:
 * `npx tsx tests/load/waterfall.ts [--pictures=10000] [--speed=20000] [--runs=1]`. Speed is in px/s.
 * The floor puts empty tiles at the same places without any framework: in every frame what left the
 * window is taken out and what came is put in. It goes a tenth of the way.
 */
const count = numbersOf('pictures', [10_000])[0] ?? 10_000;
const speed = numbersOf('speed', [20_000])[0] ?? 20_000;
const runs = numbersOf('runs', [1])[0] ?? 1;
/** Pictures of a page of the list; more than in life, so that all of it is read before the fling. */
const pageSize = 1_000;

const shapes = [
  [1024, 1024],
  [768, 1024],
  [1024, 768],
  [576, 1024],
  [1024, 576],
] as const;

const thumbnails = await Promise.all(
  shapes.flatMap(([width, height]) =>
    ['#7795b0', '#b08d77', '#7fae8b'].map((background) =>
      sharp({
        create: {
          width: Math.round(width * 0.3),
          height: Math.round(height * 0.3),
          channels: 3,
          background,
          noise: { type: 'gaussian', mean: 128, sigma: 20 },
        },
      })
        .webp({ quality: 60 })
        .toBuffer(),
    ),
  ),
);

const picture = (at: number) => {
  const [width, height] = shapes[(at * 7) % shapes.length] ?? shapes[0];
  return {
    id: count - at,
    uuid: `picture-${at}`,
    url: `/files/${String(at).padStart(6, '0')}.png`,
    size: `${width}x${height}`,
    prompt: `第 ${at + 1} 张：雪山下的湖`,
    liked_count: at % 50,
    disliked_count: 0,
    like: 0,
    hidden: false,
    created_at: new Date(Date.UTC(2026, 0, 1)).toISOString(),
  };
};

interface Flung {
  /** Frames a second while it moves, and the longest that none came, ms. */
  frames: number;
  gapMost: number;
  /** Script, layout and style per frame, ms. */
  workPerFrame: number;
  /** Most tiles that were in the page at once. */
  tiles: number;
  /** Of the moments looked at, those when the middle of the window had no tile, percent. */
  bare: number;
  /** Sum of all layout shifts. */
  shift: number;
  longTasks: number;
}

declare global {
  interface Window {
    flung: { tiles: number; looks: number; bare: number; shift: number };
  }
}

/** Flings the page from its head through a share of it (1: all) and tells how that went. */
const fling = async (page: Page, devtools: CDPSession, share: number): Promise<Flung> => {
  const all = await page.evaluate(() => {
    scrollTo(0, 0);
    return document.documentElement.scrollHeight - innerHeight;
  });
  const distance = Math.floor(all * share);
  await sleep(1_500);
  await devtools.send('HeapProfiler.collectGarbage');
  await page.evaluate(() => {
    const flung = { tiles: 0, looks: 0, bare: 0, shift: 0 };
    window.flung = flung;
    window.notes.longTasks = [];
    window.notes.gaps = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        flung.shift += (entry as PerformanceEntry & { value: number }).value;
    }).observe({ type: 'layout-shift' });
    const list = document.querySelector('[data-waterfall]');
    let frame = 0;
    const look = () => {
      flung.tiles = Math.max(flung.tiles, list?.children.length ?? 0);
      frame += 1;
      if (frame % 10 === 0) {
        flung.looks += 1;
        // Between two columns or rows there is nothing either: some of these points meet a tile.
        const met = [0.25, 0.5, 0.75].some((down) =>
          [0.25, 0.75].some((across) =>
            document
              .elementFromPoint(innerWidth * across, innerHeight * down)
              ?.closest('[data-waterfall] > *'),
          ),
        );
        if (!met) flung.bare += 1;
      }
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  const framesBefore = await page.evaluate(() => window.notes.frames);
  const before = await workOf(devtools);
  const begun = performance.now();
  await devtools.send('Input.synthesizeScrollGesture', {
    x: 196,
    y: 400,
    yDistance: -distance,
    speed,
    preventFling: true,
    gestureSourceType: 'mouse',
  });
  const seconds = (performance.now() - begun) / 1000;
  const after = await workOf(devtools);
  const noted = await page.evaluate(() => ({
    ...window.flung,
    frames: window.notes.frames,
    gapMost: Math.max(0, ...window.notes.gaps),
    longTasks: window.notes.longTasks,
    at: scrollY,
  }));
  if (noted.at < distance - 10) throw new Error(`it stopped at ${noted.at} of ${distance} px`);
  const frames = noted.frames - framesBefore;
  return {
    frames: frames / seconds,
    gapMost: noted.gapMost,
    workPerFrame: (after.total - before.total) / frames,
    tiles: noted.tiles,
    bare: (noted.bare / Math.max(1, noted.looks)) * 100,
    shift: noted.shift,
    longTasks: sum(noted.longTasks),
  };
};

/** From the click on a tile until the viewer shows its picture, ms: of so many tiles. */
const openings = async (page: Page, count: number): Promise<number[]> => {
  await page.evaluate(() => scrollTo(0, 0));
  await page.waitForSelector('[data-waterfall] > li img');
  await sleep(500);
  const took: number[] = [];
  for (let at = 0; at < count; at += 1) {
    took.push(
      await page.evaluate(
        (nth) =>
          new Promise<number>((resolve) => {
            const tiles = document.querySelectorAll<HTMLElement>(
              '[data-waterfall] > li button:has(img)',
            );
            const from = performance.now();
            const look = () => {
              const shown = [...document.querySelectorAll<HTMLImageElement>('[role=dialog] img')];
              if (shown.some(({ naturalWidth }) => naturalWidth > 0))
                requestAnimationFrame(() => resolve(performance.now() - from));
              else requestAnimationFrame(look);
            };
            tiles[nth % tiles.length]?.click();
            look();
          }),
        at % 2,
      ),
    );
    await page.keyboard.press('Escape');
    await page.waitForSelector('[role=dialog]', { state: 'detached' });
    await sleep(300);
  }
  return took;
};

/** Puts the least in the list's place that can show the same. */
const layPlain = (page: Page) =>
  page.evaluate(
    ([all, sizes]) => {
      const old = document.querySelector<HTMLElement>('[data-waterfall]');
      if (!old) throw new Error('there is no list');
      const list = document.createElement('ul');
      list.className = old.className;
      list.dataset['waterfall'] = '';
      const gap = 8;
      const width = (old.clientWidth - gap) / 2;
      const ends = [0, 0];
      const places = Array.from({ length: all }, (_, at) => {
        const [wide, high] = sizes[(at * 7) % sizes.length] ?? [1, 1];
        const column = ends[0]! <= ends[1]! ? 0 : 1;
        const top = ends[column]!;
        const height = (width * high) / wide;
        ends[column] = top + height + gap;
        return { left: column * (width + gap), top, height };
      });
      list.style.height = `${Math.max(...ends)}px`;
      old.replaceWith(list);
      const shown = new Map<number, HTMLElement>();
      const head = list.getBoundingClientRect().top + scrollY;
      let first = 0;
      const show = () => {
        const from = scrollY - head;
        const to = from + innerHeight;
        for (const [at, tile] of shown) {
          const place = places[at]!;
          if (place.top + place.height >= from && place.top <= to) continue;
          tile.remove();
          shown.delete(at);
        }
        while (first > 0 && places[first]!.top > from - width * 2) first -= 1;
        while (first < all - 1 && places[first]!.top < from - width * 2) first += 1;
        for (let at = first; at < all && places[at]!.top <= to; at++) {
          const { left, top, height } = places[at]!;
          if (top + height < from || shown.has(at)) continue;
          const tile = document.createElement('li');
          tile.style.cssText = `width:${width}px;height:${height}px;transform:translate(${left}px,${top}px)`;
          list.append(tile);
          shown.set(at, tile);
        }
      };
      addEventListener('scroll', show, { passive: true });
      show();
    },
    [count, shapes] as const,
  );

const world = await startPageWorld();

type Which = 'ours' | 'floor';

const open = (): Promise<Record<Which, Flung>> =>
  withProfile((profile) =>
    withBrowser(profile, async (context) => {
      await world.signIn(context);
      await context.route('**/api/image/index?*', (route) => {
        const at = Number(new URL(route.request().url()).searchParams.get('page') ?? 1);
        const first = (at - 1) * pageSize;
        const list = Array.from({ length: Math.min(pageSize, count - first) }, (_, place) =>
          picture(first + place),
        );
        const page_count = Math.ceil(count / pageSize);
        const data = { list, page: at, page_count, page_size: pageSize, total: count };
        return route.fulfill({ json: { code: 0, message: '', data } });
      });
      await context.route('**/files/*', (route) => {
        const at = Number(/(\d{6})\.png/.exec(route.request().url())?.[1] ?? 0);
        const body = thumbnails[((at * 7) % shapes.length) * 3 + (at % 3)];
        return route.fulfill({ body, contentType: 'image/webp' });
      });
      const { page, devtools } = await openTab(context, { box: 'button', where: 'h1' });
      await page.goto(`${world.server.baseURL}/image/private`);
      await page.waitForSelector('[data-waterfall] > li');
      // All of it is read before it is flung.
      for (let high = 0; ;) {
        await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
        await sleep(700);
        const now = await page.evaluate(() => document.documentElement.scrollHeight);
        if (now === high) break;
        high = now;
      }
      await devtools.send('Emulation.setCPUThrottlingRate', { rate: cpuSlowdown });
      const opened = await openings(page, 11);
      await devtools.send('Emulation.setCPUThrottlingRate', { rate: 1 });
      const atEase = await openings(page, 11);
      await devtools.send('Emulation.setCPUThrottlingRate', { rate: cpuSlowdown });
      // The first one loads the viewer itself.
      const told = ([first = 0, ...rest]: number[]) =>
        `first ${round(first, 0)} ms, then a median of ${round(median(rest), 0)} ms`;
      console.log(`the viewer opens: ${told(opened)}; on a quick machine ${told(atEase)}`);
      const ours = await fling(page, devtools, 1);
      console.log('a run', JSON.stringify(ours));
      await layPlain(page);
      const floor = await fling(page, devtools, 0.1);
      return { ours, floor };
    }),
  );

try {
  const all: Record<Which, Flung>[] = [];
  for (let run = 0; run < runs; run++) all.push(await open());
  for (const which of ['ours', 'floor'] as const) {
    const keys = Object.keys(all[0]?.[which] ?? {}) as (keyof Flung)[];
    const told = keys.map((key) => [key, round(median(all.map((each) => each[which][key])), 2)]);
    console.log(which, JSON.stringify(Object.fromEntries(told)));
  }
} finally {
  await world.stop();
}
