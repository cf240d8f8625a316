import type { Message } from '../../contract/chat.ts';
import { expect, test } from '../support/app.ts';
import { xssPayloads } from '../support/xss-payloads.ts';

declare global {
  interface Window {
    hacked?: number;
  }
}

const messageOf = (text: string, at: number): Message => ({
  id: at + 1,
  human: text,
  ai: text,
  reasoning: text,
  type: 0,
  model: 'builtin-assistant',
  state: 'done',
  error_code: '',
  error_message: '',
  user_id: 1,
  user_name: '<img src=x onerror="window.hacked=1">',
  created_at: new Date(Date.UTC(2026, 0, 1)).toISOString(),
  prompt_tokens: 0,
  completion_tokens: 0,
  deduct_tokens: 0,
  like_count: 0,
  format: 0,
  title: '',
  edited: false,
  siblings: [],
  beside: null,
  liked: false,
  in_favorites: false,
});

test('nothing that people or models write runs @R', async ({ app, page, person }, { project }) => {
  test.skip(project.name !== 'pixel', 'the same code on every device');
  test.setTimeout(240_000);
  const { uuid } = await person.client.call('newSession', { type: 0 });
  await app.enterAs(person);
  const list = xssPayloads.map(messageOf).reverse();
  await page.route('**/api/history_list?*', (route) =>
    route.fulfill({
      json: {
        code: 0,
        message: '',
        data: { list, page: 1, page_count: 1, page_size: list.length, total: list.length },
      },
    }),
  );
  // Addresses that would leave the machine are answered with nothing.
  await page.route(/^https?:\/\/(?!127\.0\.0\.1|localhost)/, (route) => route.abort());
  await page.goto(`/chat?uuid=${uuid}`);
  await expect(app.log).toBeVisible();

  const found = new Set<string>();
  let top = false;
  while (!top) {
    const seen = await page.evaluate(() => {
      const bad: string[] = [];
      const log = document.querySelector('[role="log"]');
      for (const element of log?.querySelectorAll('*') ?? []) {
        if (/^(script|iframe|object|embed|link|meta|base|form)$/i.test(element.localName))
          bad.push(element.outerHTML);
        for (const { name, value } of element.attributes) {
          if (name.startsWith('on')) bad.push(element.outerHTML);
          if (name === 'title' || name === 'alt' || name === 'aria-label') continue;
          // A browser drops what stands before a scheme; so does this.
          const scheme = value.replace(/[^!-~]/g, '').toLowerCase();
          if (/^(javascript|vbscript|data:text|data:image\/svg)/.test(scheme))
            bad.push(element.outerHTML);
        }
      }
      const scroller = log?.matches('.list-scroller') ? log : log?.querySelector('.list-scroller');
      const before = scroller?.scrollTop ?? 0;
      scroller?.scrollBy(0, -(scroller.clientHeight * 0.9));
      return { bad, before, hacked: window.hacked };
    });
    for (const each of seen.bad) found.add(each);
    expect(seen.hacked).toBeUndefined();
    top = seen.before <= 0;
    await page.waitForTimeout(40);
  }
  expect([...found]).toEqual([]);
  expect(await page.evaluate(() => window.hacked)).toBeUndefined();
});
