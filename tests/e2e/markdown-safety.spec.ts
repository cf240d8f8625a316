import type { Message } from '#contract/chat.ts';
import type { Session } from '#contract/session.ts';
import type { Page } from '@playwright/test';
import { expect, test } from '../support/app.ts';
import { xssPayloads } from '../support/xss-payloads.ts';

declare global {
  interface Window {
    hacked?: number;
  }
}

/**
 * Several to a text, and of all places each has its share: what each payload does alone is tried where
 * Markdown is made. Each vector comes in thirteen surroundings one after the other: every fourth of
 * them has every vector, in other ones each time.
 */
const shares = 4;
let share = 0;
const groupsOf = (size: number): string[] => {
  share += 1;
  const some = xssPayloads.filter((_, index) => index % shares === share % shares);
  const count = Math.ceil(some.length / size);
  // Those next to each other are variants of one, which would all end in the same way.
  return Array.from({ length: count }, (_, at) =>
    some.filter((__, index) => index % count === at).join('\n\n'),
  );
};

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
  user_name: text,
  created_at: new Date(Date.UTC(2026, 0, 1)).toISOString(),
  prompt_tokens: 0,
  completion_tokens: 0,
  deduct_tokens: 0,
  like_count: 0,
  format: 0,
  title: '',
  content: '',
  made: null,
  edited: false,
  job: null,
  siblings: [],
  beside: null,
  liked: false,
  in_favorites: false,
});

const sessionOf = (text: string, at: number): Session => ({
  id: at + 1,
  uuid: '00000000-0000-4000-8000-000000000000',
  type: 0,
  model: text,
  user_id: 1,
  user_name: text,
  prompt: text,
  summary: text,
  private: 0,
  reply_count: 1,
  like_count: 1,
  images: [text],
  completion: '',
  deleted: 0,
  embedding_private: 0,
  favorite: false,
  on_top: false,
  unread: 0,
  scenario: null,
  scenario_id: null,
  embedding_key: '',
  embedding_name: text,
  match: { history_id: 1, snippet: text },
  group_id: 1,
  title: text,
  content: text,
  accepted_id: null,
  essence: false,
  pinned: false,
  closed: false,
  created_at: new Date(Date.UTC(2026, 0, 1)).toISOString(),
  updated_at: new Date(Date.UTC(2026, 0, 1)).toISOString(),
});

const envelopeOf = (list: unknown[], more: object = {}) => ({
  json: {
    code: 0,
    message: '',
    data: { list, page: 1, page_count: 1, page_size: list.length, total: list.length, ...more },
  },
});

/** What stands on the screen now and could run something. */
const dangers = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const bad: string[] = [];
    for (const element of document.querySelectorAll('#root *')) {
      if (/^(script|iframe|object|embed|link|meta|base)$/i.test(element.localName))
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
    return window.hacked === undefined ? bad : [...bad, 'something ran'];
  });

/** Looks at a list from its end to its beginning. */
const sweep = async (page: Page): Promise<string[]> => {
  const found = new Set<string>();
  for (let top = false; !top;) {
    for (const each of await dangers(page)) found.add(each);
    top = await page.evaluate(() => {
      const inner = document.querySelector('[data-virtuoso-scroller]');
      const scroller = inner ?? document.scrollingElement ?? document.body;
      const before = scroller.scrollTop;
      scroller.scrollBy(0, -(scroller.clientHeight * 0.9));
      return before <= 0;
    });
    await page.waitForTimeout(60);
  }
  return [...found];
};

test.describe('nothing that people or models write runs', () => {
  test.beforeEach(async ({ page }) => {
    test.setTimeout(120_000);
    // A tall window shows many at once.
    await page.setViewportSize({ width: 412, height: 4000 });
    // Addresses that would leave the machine are answered with nothing.
    await page.route(/^https?:\/\/(?!127\.0\.0\.1|localhost)/, (route) => route.abort());
  });

  test('in a conversation @R @C8', async ({ app, page, person }) => {
    const { uuid } = await person.client.call('newSession', { type: 0 });
    await app.enterAs(person);
    const list = groupsOf(6).map(messageOf).reverse();
    await page.route('**/api/history_list?*', (route) => route.fulfill(envelopeOf(list)));
    await page.goto(`/chat?uuid=${uuid}`);
    await expect(app.log).toBeVisible();
    expect(await sweep(page)).toEqual([]);
  });

  test('in titles, summaries and names @R @H1', async ({ app, page, person }) => {
    await app.enterAs(person);
    const list = groupsOf(10).map(sessionOf);
    await page.route('**/api/session_list?*', (route) =>
      route.fulfill(envelopeOf(list, { models: [] })),
    );
    await page.goto('/?channel=public');
    await expect(page.getByText('window.hacked=1').last()).toBeAttached({ timeout: 60_000 });
    expect(await dangers(page)).toEqual([]);
  });

  test('in a question, its answers, the cards of the forum, the news and notices @R @F1', async ({
    app,
    page,
    person,
  }) => {
    const { uuid } = await person.client.call('newSession', { type: 2, private: 0 });
    await person.client.call('sendMessage', { session_id: uuid, title: '安全', msg: '问' });
    await app.enterAs(person);
    const messages = groupsOf(6).map((text, at) => ({
      ...messageOf(text, at),
      ai: '',
      reasoning: '',
      title: text,
      content: text,
    }));
    await page.route('**/api/history_list?*', (route) => {
      const newest = new URL(route.request().url()).searchParams.get('newest') === '1';
      return route.fulfill(envelopeOf(newest ? messages.toReversed() : messages));
    });
    await page.goto(`/chat?uuid=${uuid}`);
    await expect(app.log).toBeVisible();
    // What is drawn late makes the list longer while it scrolls.
    const down = page.getByRole('button', { name: '回到底部' });
    await expect(async () => {
      if (await down.isVisible()) await down.click({ timeout: 2_000 });
      const last = page.locator(`[data-message="${messages.length}"]`);
      await expect(last).toBeAttached({ timeout: 2_000 });
    }).toPass({ timeout: 30_000 });
    expect(await sweep(page)).toEqual([]);

    const questions = groupsOf(10).map((text, at) => ({ ...sessionOf(text, at), type: 2 }));
    await page.route('**/api/session_list?*', (route) =>
      route.fulfill(envelopeOf(questions, { models: [] })),
    );
    const news = groupsOf(10).map((text, at) => ({
      id: at + 1,
      kind: 'reply',
      uuid,
      history_id: 1,
      title: text,
      actor_id: 1,
      actor_name: text,
      count: 1,
      excerpt: text,
      text,
      read: false,
      created_at: new Date(Date.UTC(2026, 0, 1)).toISOString(),
    }));
    await page.route('**/api/news_list?*', (route) =>
      route.fulfill(envelopeOf(news, { unread: 9 })),
    );
    const notices = groupsOf(6).map((content, at) => ({
      id: at + 1,
      content,
      user_id: 1,
      created_at: new Date(Date.UTC(2026, 0, 1)).toISOString(),
    }));
    await page.route('**/api/notice_list?*', (route) => route.fulfill(envelopeOf(notices)));
    for (const place of ['/forum', '/forum/news', '/notice']) {
      await page.goto(place);
      await expect(page.getByText('window.hacked=1').last()).toBeAttached({ timeout: 60_000 });
      expect(await dangers(page)).toEqual([]);
    }
  });

  test('on a shared page @R @C8', async ({ page }) => {
    const list = groupsOf(6).map(messageOf);
    await page.route('**/api/shared_session?*', (route) =>
      route.fulfill(
        envelopeOf(list, {
          title: xssPayloads[0],
          user_name: xssPayloads[1],
          model: 'builtin-assistant',
          created_at: '2026-01-01T00:00:00.000Z',
        }),
      ),
    );
    await page.goto('/share?key=0123456789abcdef0123');
    await expect(page.getByText('window.hacked=1').last()).toBeAttached({ timeout: 60_000 });
    expect(await dangers(page)).toEqual([]);
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    await page.waitForTimeout(300);
    expect(await dangers(page)).toEqual([]);
  });
});
