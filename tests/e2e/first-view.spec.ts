import { App, expect, test } from '../support/app.ts';

test('before the app is there the last conversation can be read and written in; a logout takes that away @C11 @O3', async ({
  browser,
  person,
}) => {
  const { uuid, id } = await person.client.ask('(128 + 36) × 2.5 等于多少？');
  await person.client.read(uuid, id);
  // The fixtures' own context leaves no picture of a screen behind.
  const context = await browser.newContext({ serviceWorkers: 'block' });
  const page = await context.newPage();
  await new App(page).enterAs(person);
  await page.goto(`/chat?uuid=${uuid}`);
  const picture = () => page.evaluate(() => localStorage.getItem('queqiao.picture.chat'));
  await expect.poll(picture, { timeout: 20_000 }).toContain('(128 + 36)');

  const first = page.locator('#first');
  /** Opens an address anew, without the app until the returned function is called. */
  const openHeld = async (path: string) => {
    let free = () => {};
    const held = new Promise<void>((resolve) => {
      free = resolve;
    });
    await page.route('**/assets/*.js', async (route) => {
      await held;
      await route.continue();
    });
    await page.goto(path, { waitUntil: 'commit' });
    return free;
  };
  let free = await openHeld(`/chat?uuid=${uuid}`);
  await expect(first.getByRole('log')).toContainText('(128 + 36)');
  await first.getByRole('textbox', { name: '输入消息' }).fill('写在前面的话');
  free();
  await expect(first).toHaveCount(0);
  await page.keyboard.insertText('，接着写');
  await expect(page.getByRole('log')).toContainText('(128 + 36)');
  await expect(page.getByRole('textbox', { name: '输入消息' })).toHaveValue('写在前面的话，接着写');

  // Enter is no new line here either: what it ends is sent by the app, unless one writes on.
  free = await openHeld(`/chat?uuid=${uuid}`);
  const early = first.getByRole('textbox', { name: '输入消息' });
  await early.fill('12 × 12');
  await early.press('Enter');
  await early.pressSequentially(' 等于多少？');
  await expect(early).toHaveValue('12 × 12 等于多少？');
  await early.press('Enter');
  free();
  await expect(first).toHaveCount(0);
  await expect(page.getByRole('log')).toContainText('您说：12 × 12 等于多少？');
  await expect(page.getByRole('textbox', { name: '输入消息' })).toHaveValue('');

  // Who chose Enter for a new line gets one here, too.
  await person.client.call('saveSettings', { disable_enter: 1 });
  await page.reload();
  await expect(page.getByRole('log')).toContainText('(128 + 36)');
  const chosen = () => page.evaluate(() => localStorage.getItem('queqiao.user'));
  await expect.poll(chosen).toContain('disable_enter');
  free = await openHeld(`/chat?uuid=${uuid}`);
  await early.fill('第一行');
  await early.press('Enter');
  await early.pressSequentially('第二行');
  await expect(early).toHaveValue('第一行\n第二行');
  await early.fill('');
  free();
  await expect(first).toHaveCount(0);
  await person.client.call('saveSettings', { disable_enter: 0 });
  await page.reload();
  await expect.poll(chosen).toContain('disable_enter\\":0');

  // Nor is lost what is written into the picture while the screen's own box is behind it already:
  // the picture ends with a frame, and there is none here until it is let go.
  await page.addInitScript(() => {
    if (sessionStorage.getItem('hold') === null) return;
    const real = requestAnimationFrame.bind(globalThis);
    const held: FrameRequestCallback[] = [];
    globalThis.requestAnimationFrame = (act) => held.push(act);
    addEventListener('let-go', () => {
      globalThis.requestAnimationFrame = real;
      for (const act of held) real(act);
    });
  });
  await page.evaluate(() => sessionStorage.setItem('hold', '1'));
  await page.goto(`/chat?uuid=${uuid}`, { waitUntil: 'commit' });
  await expect(page.locator('#root textarea')).toBeAttached();
  await first.locator('[data-send-box] textarea').fill('写在交接的时候');
  await page.evaluate(() => {
    sessionStorage.removeItem('hold');
    dispatchEvent(new Event('let-go'));
  });
  await expect(first).toHaveCount(0);
  await expect(page.getByRole('textbox', { name: '输入消息' })).toHaveValue('写在交接的时候');
  await page.getByRole('textbox', { name: '输入消息' }).fill('');

  // A link of the picture leads on within the page, once the app is there.
  await page.goto('/');
  const home = () => page.evaluate(() => localStorage.getItem('queqiao.picture.home'));
  await expect.poll(home, { timeout: 20_000 }).toContain('(128 + 36)');
  free = await openHeld('/');
  await expect(first).toContainText('(128 + 36)');
  await page.evaluate(() => {
    addEventListener('pagehide', () => sessionStorage.setItem('left', '1'));
  });
  await first.locator('a[href="/account"]:visible').first().click();
  free();
  await expect(page.getByRole('heading', { level: 1, name: '我的' })).toBeVisible();
  await expect(first).toHaveCount(0);
  expect(await page.evaluate(() => sessionStorage.getItem('left'))).toBeNull();

  // Where a reply is being written just then, it waits in the conversation and is sent after that.
  const slow = await person.client.ask('[[bench tokens=100 rate=10 id=slow]]', {
    model: 'mock-chat',
  });
  free = await openHeld(`/chat?uuid=${slow.uuid}`);
  await early.fill('等上一条说完');
  await early.press('Enter');
  free();
  await expect(first).toHaveCount(0);
  await expect(page.getByRole('log')).toContainText('等上一条说完');
  await expect(page.getByRole('textbox', { name: '输入消息' })).toHaveValue('');
  await expect(page.getByRole('log')).not.toContainText('您说：等上一条说完');
  await person.client.read(slow.uuid, slow.id);
  await expect(page.getByRole('log')).toContainText('您说：等上一条说完');

  await page.goto('/account');
  await page.getByRole('button', { name: '退出登录' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: '退出', exact: true }).click();
  await page.waitForURL((url) => url.pathname === '/');
  expect(await picture()).toBeNull();
  await context.close();
});

/** Types a letter into whatever has the keyboard, whenever the page's code lets go of it, until the screen's own box has had some. */
const typeInEachGap = () => {
  const seen = { typed: '', own: 0, nowhere: 0 };
  Object.assign(window, { seen });
  const gaps = new MessageChannel();
  let last = 0;
  gaps.port1.addEventListener('message', () => {
    const first = document.querySelector<HTMLTextAreaElement>('#first textarea[data-draft]');
    const own = document.querySelector('#root [data-writer] textarea');
    if (seen.typed === '') first?.focus();
    const at = document.activeElement;
    if (performance.now() - last > 3 && (seen.typed !== '' || (first !== null && at === first))) {
      last = performance.now();
      if (at instanceof HTMLTextAreaElement) {
        if (at === own) seen.own += 1;
        const letter = String.fromCodePoint(97 + (seen.typed.length % 26));
        seen.typed += letter;
        document.execCommand('insertText', false, letter);
      } else seen.nowhere += 1;
    }
    if (seen.own < 40) gaps.port2.postMessage(0);
  });
  gaps.port1.start();
  gaps.port2.postMessage(0);
};

/** How often; how much slower the processor is, one after the other. */
const [rounds, rates] = process.env['HEAVY'] === undefined ? [1, [1, 4]] : [10, [1, 6, 12]];

test('not a letter is lost of what is typed while the app takes the place of what stands before it @C11 @O3', async ({
  browser,
  person,
}) => {
  test.setTimeout(60_000 + rounds * 120_000);
  const { uuid, id } = await person.client.ask('12 × 12 等于多少？');
  await person.client.read(uuid, id);
  for (let round = 0; round < rounds; round += 1)
    for (const rate of rates)
      for (const address of ['/', `/chat?uuid=${uuid}`]) {
        const context = await browser.newContext({ serviceWorkers: 'block' });
        const page = await context.newPage();
        await new App(page).enterAs(person);
        await page.addInitScript(typeInEachGap);
        const slower = await context.newCDPSession(page);
        await slower.send('Emulation.setCPUThrottlingRate', { rate });
        await page.goto(address, { waitUntil: 'commit' });
        const seen = () =>
          page.evaluate('window.seen') as Promise<{ typed: string; own: number; nowhere: number }>;
        await expect.poll(async () => (await seen()).own, { timeout: 60_000 }).toBe(40);
        const { typed, nowhere } = await seen();
        expect(nowhere, `${address} at a ${rate}th`).toBe(0);
        await expect(page.locator('#root [data-writer] textarea')).toHaveValue(typed);
        await context.close();
      }
});

test('what is asked to be sent before the app is there is sent by it, whatever takes the place of what stands before it @C11 @O3', async ({
  browser,
  person,
}) => {
  const { uuid, id } = await person.client.ask('12 × 12 等于多少？', { model: 'mock-chat' });
  await person.client.read(uuid, id);
  const context = await browser.newContext({ serviceWorkers: 'block' });
  const page = await context.newPage();
  await new App(page).enterAs(person);
  const first = page.locator('#first');
  const early = first.locator('textarea[data-draft]');
  const sender = first.locator('[data-writer=chat] [data-sender]');
  const hold = async (files: string) => {
    let free = () => {};
    const held = new Promise<void>((resolve) => {
      free = resolve;
    });
    await page.route(files, async (route) => {
      await held;
      await route.continue();
    });
    return free;
  };
  // Nothing is answered: what stands before the app goes, as the screen has that to say.
  const answer = await hold('**/api/**');
  let free = await hold('**/assets/*.js');
  await page.goto(`/chat?uuid=${uuid}`, { waitUntil: 'commit' });
  await early.fill('在电梯里问的');
  await sender.click({ timeout: 20_000 });
  free();
  await expect(first).toHaveCount(0);
  await expect(page.locator('#root [data-writer]')).toHaveCount(0);
  answer();
  await expect(page.getByRole('log')).toContainText('您说：在电梯里问的');
  await expect(page.getByRole('textbox', { name: '输入消息' })).toHaveValue('');

  // It would go in the midst of a click.
  const picture = () => page.evaluate(() => localStorage.getItem('queqiao.picture.chat'));
  await expect.poll(picture, { timeout: 20_000 }).toContain('在电梯里问的');
  free = await hold('**/assets/*.js');
  await page.goto(`/chat?uuid=${uuid}`, { waitUntil: 'commit' });
  await early.fill('按到一半');
  await sender.hover();
  await page.mouse.down();
  free();
  await expect(page.locator('#root [data-writer] textarea')).toHaveValue('按到一半');
  await expect(page.locator('#root [role=log]')).toBeAttached();
  await page.waitForTimeout(1_000);
  await page.mouse.up();
  await expect(first).toHaveCount(0);
  await expect(page.getByRole('log')).toContainText('您说：按到一半');
  await context.close();
});
