import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  type BrowserContext,
  type CDPSession,
  chromium,
  devices,
  type Page,
} from '@playwright/test';
import { chromiumArgs, chromiumPath } from '#tests/support/browser.ts';
import { numbersOf } from './measure.ts';

/** A middling phone on a slow line: what the goals are set for. */
export const phone = devices['Pixel 5'];
/**
 * The goals were set on a machine on which the floor page, at this slowdown, works so long for a
 * frame of a reply of so many tokens. A slower machine is as slow with a smaller `--slowdown`.
 */
export const goalMachine = { slowdown: 4, tokens: 8_000, floorFrameMs: 3 };
export const cpuSlowdown = numbersOf('slowdown', [goalMachine.slowdown])[0] ?? goalMachine.slowdown;
export const slow4g = {
  offline: false,
  latency: 150,
  downloadThroughput: 1_600_000 / 8,
  uploadThroughput: 750_000 / 8,
};

/** What the page itself notes from its first moment; times are ms since navigation. */
export interface Notes {
  frames: number;
  longTasks: number[];
  gaps: number[];
  /** First moment when the box can be typed into; 0: not yet. */
  usable: number;
  /** First moment when the wanted text is on the page; 0: not yet. */
  shown: number;
  /** The text waited for and where to look for it; empty: nothing. */
  marker: string;
}

declare global {
  interface Window {
    notes: Notes;
  }
}

/** Runs in the page before its own scripts. */
const takeNotes = ({ box, where }: { box: string; where: string }) => {
  const notes: Notes = { frames: 0, longTasks: [], gaps: [], usable: 0, shown: 0, marker: '' };
  window.notes = notes;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) notes.longTasks.push(entry.duration);
  }).observe({ type: 'longtask', buffered: true });
  let last = performance.now();
  const onFrame = () => {
    const now = performance.now();
    notes.frames += 1;
    if (now - last > 50) notes.gaps.push(now - last);
    last = now;
    requestAnimationFrame(onFrame);
  };
  requestAnimationFrame(onFrame);
  const afterPaint = (act: () => void) => {
    requestAnimationFrame(() => requestAnimationFrame(act));
  };
  const usable = setInterval(() => {
    const element = document.querySelector<HTMLTextAreaElement>(box);
    if (!element || element.disabled) return;
    // Before the style sheet is there a page can be measured that nobody sees.
    if (performance.getEntriesByName('first-paint').length === 0) return;
    const { left, top, width, height } = element.getBoundingClientRect();
    if (width < 20 || document.elementFromPoint(left + width / 2, top + height / 2) !== element)
      return;
    notes.usable = performance.now();
    clearInterval(usable);
  }, 25);
  setInterval(() => {
    if (notes.marker === '' || notes.shown !== 0) return;
    const text = [...document.querySelectorAll(where)]
      .slice(-3)
      .map((element) => element.textContent)
      .join('');
    if (!text.includes(notes.marker)) return;
    notes.marker = '';
    afterPaint(() => {
      notes.shown = performance.now();
    });
  }, 25);
};

export interface Tab {
  page: Page;
  devtools: CDPSession;
}

export const withProfile = async <T>(act: (folder: string) => Promise<T>): Promise<T> => {
  const folder = mkdtempSync(path.join(tmpdir(), 'queqiao-browser-'));
  try {
    return await act(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
};

/** A browser of its own on a profile folder: what it cached there is all that it remembers. */
export const withBrowser = async <T>(
  profile: string,
  act: (context: BrowserContext) => Promise<T>,
): Promise<T> => {
  const { defaultBrowserType: _, ...device } = phone;
  const context = await chromium.launchPersistentContext(profile, {
    ...device,
    ...(chromiumPath ? { executablePath: chromiumPath } : {}),
    args: chromiumArgs,
    locale: 'zh-CN',
  });
  try {
    return await act(context);
  } finally {
    await context.close();
  }
};

/** @param where The elements whose text is searched for `notes.marker`; the last three count. */
export const openTab = async (
  context: BrowserContext,
  { box, where }: { box: string; where: string },
): Promise<Tab> => {
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  // What tsx puts around named functions does not exist in the page.
  await page.addInitScript({ content: 'globalThis.__name = (act) => act;' });
  await page.addInitScript(takeNotes, { box, where });
  await devtools.send('Performance.enable');
  await devtools.send('Network.enable');
  return { page, devtools };
};

export interface Work {
  script: number;
  layout: number;
  style: number;
  total: number;
}

/** Main-thread work since the start of the page, ms. */
export const workOf = async (devtools: CDPSession): Promise<Work> => {
  const { metrics } = await devtools.send('Performance.getMetrics');
  const of = (name: string) => (metrics.find((each) => each.name === name)?.value ?? 0) * 1000;
  const script = of('ScriptDuration');
  const layout = of('LayoutDuration');
  const style = of('RecalcStyleDuration');
  return { script, layout, style, total: script + layout + style };
};

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  const upper = sorted[half] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? 0) + upper) / 2;
};

export const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);

export const round = (value: number, digits = 1): number => Number(value.toFixed(digits));
