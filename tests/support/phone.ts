import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium, devices, expect, type BrowserContext, type Page } from '@playwright/test';
import { wholeBrowser } from './browser.ts';
import type { TestClient } from './client.ts';

/** A browser of its own whose storage outlives its process, as on a phone. */
export interface Phone {
  context: BrowserContext;
  page: Page;
  /** Kills the browser's process at once, and starts it again on the same storage. */
  crash: () => Promise<void>;
  /** Closes the browser, and starts it again on the same storage when told to. */
  closed: () => Promise<() => Promise<void>>;
  end: () => Promise<void>;
}

/** Main processes of the browser that works in this folder. */
const processesOf = (folder: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return line.includes(`--user-data-dir=${folder}`) && !line.includes('--type=');
      } catch {
        return false;
      }
    });

/**
 * @param person whose login the phone has from the start
 * @param options how its browser is made, such as a microphone
 */
export const startPhone = async (
  person?: TestClient,
  options: {
    args?: string[];
    permissions?: string[];
    device?: string;
    /** Where its storage lies; left out: in a new folder. */
    folder?: string;
  } = {},
): Promise<Phone> => {
  const folder = options.folder ?? mkdtempSync(path.join(tmpdir(), 'queqiao-phone-'));
  const user = person ? JSON.stringify(await person.call('userInfo', {})) : '';
  const open = async () => {
    const { defaultBrowserType: _, ...pixel } = devices[options.device ?? 'Pixel 7'] ?? {};
    const context = await chromium.launchPersistentContext(folder, {
      ...pixel,
      deviceScaleFactor: 1,
      ...wholeBrowser,
      args: [...wholeBrowser.args, ...(options.args ?? [])],
      ...(options.permissions && { permissions: options.permissions }),
      locale: 'zh-CN',
      timezoneId: 'Asia/Shanghai',
      serviceWorkers: 'allow',
    });
    await context.addInitScript(
      ([token, profile]) => {
        if (!token || localStorage.getItem('phone.entered')) return;
        localStorage.setItem('phone.entered', '1');
        localStorage.setItem('queqiao.token', token);
        localStorage.setItem('queqiao.user', profile ?? '');
      },
      [person?.token ?? '', user],
    );
    phone.context = context;
    phone.page = context.pages()[0] ?? (await context.newPage());
  };
  const phone = {
    crash: async () => {
      for (const pid of processesOf(folder)) process.kill(pid, 'SIGKILL');
      // Its end is seen by the processes: the event of a browser that was just ending never comes.
      while (processesOf(folder).length > 0) await sleep(20);
      await open();
    },
    closed: async () => {
      await phone.context.close();
      return open;
    },
    end: async () => {
      await phone.context.close();
      if (options.folder === undefined)
        rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  } as Phone;
  await open();
  return phone;
};

/** What a store of one of the page's databases holds, as text. */
export const keptIn = (page: Page, database: string, store: string): Promise<string> =>
  page.evaluate(
    async ([database, store]) => {
      const said = <T>(request: IDBRequest<T>) =>
        new Promise<T>((resolve, reject) => {
          request.addEventListener('success', () => resolve(request.result));
          request.addEventListener('error', () => reject(request.error));
        });
      // Opened before the page does, it would be made, and empty.
      const known = await indexedDB.databases();
      if (!known.some(({ name }) => name === database)) return '';
      const opened = await said(indexedDB.open(database));
      const all = opened.transaction(store).objectStore(store).getAll();
      const texts = JSON.stringify(await said(all));
      opened.close();
      return texts;
    },
    [database, store] as const,
  );

/** The page, its outbox and so many messages are there without a network. */
export const settleIn = async (page: Page, messages: number) => {
  const isThere = async () => {
    const names = (await indexedDB.databases()).map(({ name }) => name);
    if (!names.includes('queqiao-outbox') || !navigator.serviceWorker.controller) return 0;
    const db = await new Promise<IDBDatabase>((resolve) => {
      const asked = indexedDB.open('queqiao-cache');
      asked.addEventListener('success', () => resolve(asked.result));
    });
    const asked = db.transaction('messages').objectStore('messages').count();
    const count = await new Promise<number>((resolve) => {
      asked.addEventListener('success', () => resolve(asked.result));
    });
    db.close();
    return count;
  };
  await expect
    .poll(() => page.evaluate(isThere).catch(() => 0), { timeout: 30_000 })
    .toBe(messages);
};
