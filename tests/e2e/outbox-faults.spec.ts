import type { BrowserContext, Page } from '@playwright/test';
import { App, expect, foreignServer, test } from '../support/app.ts';
import { TestClient } from '../support/client.ts';
import { openLine, type LineState } from '../support/faulty-line.ts';
import { settleIn, startPhone } from '../support/phone.ts';

test.skip(foreignServer, 'needs a server whose line the tests may cut');

/** `HEAVY=1`: 100 messages against 50 faults; otherwise a few of each. */
const heavy = process.env['HEAVY'] !== undefined;
const messages = heavy ? 100 : 6;
const faults = heavy ? 50 : 6;

const spoilt: readonly LineState[] = ['down', 'busy', 'deaf', 'late'];
const kinds = ['crash', 'line', 'clock', 'tabs', 'full', 'offline', 'reload', 'line'] as const;
const day = 24 * 3_600_000;

/** Every page from now on has its clock so much off. */
const setClock = async (context: BrowserContext, page: Page, by: number) => {
  const shift = (ms: number) => {
    const real = Date.now.bind(Date);
    Date.now = () => real() + ms;
  };
  await context.addInitScript(shift, by);
  await page.evaluate(shift, by).catch(() => undefined);
};

/** For a moment nothing can be written. */
const fill = (page: Page) =>
  page
    .evaluate(() => {
      const writes = IDBObjectStore.prototype as unknown as Record<'add' | 'put', () => unknown>;
      const real = { add: writes.add, put: writes.put };
      writes.add = writes.put = () => {
        throw new DOMException('full', 'QuotaExceededError');
      };
      setTimeout(() => Object.assign(writes, real), 800);
    })
    .catch(() => undefined);

test('queued messages against random faults: each exactly once, in the order of its session @O3', async ({
  baseURL,
}) => {
  test.setTimeout(heavy ? 1_800_000 : 150_000);
  const client = await TestClient.register(baseURL ?? '');
  const sessions: string[] = [];
  for (let at = 0; at < (heavy ? 5 : 2); at++) {
    const { uuid, id } = await client.ask(`会话 ${at} 开始`, { model: 'mock-chat' });
    await client.read(uuid, id);
    sessions.push(uuid);
  }
  const line = await openLine(baseURL ?? '');
  const phone = await startPhone(client);
  const written = new Map(sessions.map((uuid) => [uuid, [] as string[]]));
  try {
    const go = (uuid: string) =>
      phone.page.goto(`${line.baseURL}/chat?uuid=${uuid}`).catch(() => undefined);
    // Every session is read, so that it opens without a server.
    for (const [at, uuid] of sessions.entries()) {
      await go(uuid);
      await settleIn(phone.page, at + 1);
    }
    let now = sessions[0] ?? '';
    await go(now);

    /** Writes until the box is empty: then the page has taken it. */
    const write = async (text: string) => {
      for (let tries = 0; tries < 20; tries++) {
        try {
          const app = new App(phone.page);
          await expect(app.question).toBeVisible({ timeout: 8_000 });
          if ((await app.question.inputValue()) !== text) await app.question.fill(text);
          await app.sendButton.click({ timeout: 8_000 });
          await expect(app.question).toHaveValue('', { timeout: 4_000 });
          // What was not taken comes back into the box.
          await phone.page.waitForTimeout(300);
          if ((await app.question.inputValue()) === '') return;
        } catch {
          await go(now);
          // It may have been taken at the last moment.
          const shown = phone.page.locator('[data-bubble=mine]', {
            hasText: new RegExp(`^${text}$`),
          });
          const taken = await shown.waitFor({ timeout: 4_000 }).then(
            () => true,
            () => false,
          );
          if (taken) return;
        }
      }
      throw new Error(`not taken: ${text}`);
    };

    const every = Math.max(1, Math.floor(messages / faults));
    for (let at = 0; at < messages; at++) {
      const uuid = sessions[Math.floor(at / 3) % sessions.length] ?? '';
      if (uuid !== now) {
        now = uuid;
        await go(uuid);
      }
      const text = `第 ${at} 条消息`;
      await write(text);
      written.get(uuid)?.push(text);
      if (at % every !== 0) continue;
      const kind = kinds[Math.floor(at / every) % kinds.length];
      switch (kind) {
        case 'crash':
          await phone.page.waitForTimeout(Math.random() * 300 + 200);
          await phone.crash();
          await go(now);
          break;
        case 'line':
          line.state = spoilt[Math.floor(Math.random() * spoilt.length)] ?? 'down';
          break;
        case 'clock':
          await setClock(phone.context, phone.page, Math.random() < 0.5 ? day : -day);
          break;
        case 'tabs': {
          const other = await phone.context.newPage();
          await other.goto(`${line.baseURL}/chat?uuid=${now}`).catch(() => undefined);
          break;
        }
        case 'full':
          await fill(phone.page);
          break;
        case 'offline':
          await phone.context.setOffline(true);
          await phone.page.waitForTimeout(500);
          await phone.context.setOffline(false);
          line.state = 'well';
          break;
        default:
          await phone.page.reload().catch(() => undefined);
      }
    }
    line.state = 'well';
    await go(now);
    await phone.page.evaluate(() => dispatchEvent(new Event('online')));
    for (const uuid of sessions)
      await expect
        .poll(
          async () => {
            const page = { session_id: uuid, newest: 0, page_size: 100 } as const;
            return (await client.call('historyList', page)).list.map(({ human }) => human).slice(1);
          },
          { timeout: heavy ? 300_000 : 60_000 },
        )
        .toEqual(written.get(uuid));
    await expect
      .poll(() => phone.page.evaluate(() => localStorage.getItem('queqiao.outbox')), {
        timeout: 20_000,
      })
      .toBeNull();
  } finally {
    await phone.end();
    await line.close();
  }
});
