import { chromium, type Page } from '@playwright/test';
import { addresses } from '#tests/support/addresses.ts';
import { audit, looks, openDialogs } from '#tests/support/axe.ts';
import { chromiumArgs, chromiumPath } from '#tests/support/browser.ts';
import { enterAs } from '#tests/support/enter-as.ts';
import { TestClient } from '#tests/support/client.ts';

/**
 * `npx tsx scripts/accessibility.ts <address of a server> <account:password> …`: looks with axe at every
 * screen and every dialog that a press opens, 390 and 1680 px wide, in each theme, light and dark, as
 * each of these people, and prints what it finds. It presses buttons: not for a server that is in use.
 */
const [url = '', ...people] = process.argv.slice(2);
if (url === '' || people.length === 0) {
  console.error('npx tsx scripts/accessibility.ts http://127.0.0.1:3000 account:password …');
  process.exit(1);
}

let states = 0;
const found = new Map<string, string[]>();
const look = async (page: Page, where: string) => {
  states += looks.length;
  for (const line of await audit(page)) found.set(line, [...(found.get(line) ?? []), where]);
};

const settle = async (page: Page) => {
  await page.waitForTimeout(250);
  await page.waitForFunction(() => !document.querySelector('#root .skeleton'), null, {
    timeout: 8000,
  });
};

const browser = await chromium.launch({
  args: chromiumArgs,
  ...(chromiumPath ? { executablePath: chromiumPath } : {}),
});
try {
  for (const person of people) {
    const [account = '', password = ''] = person.split(':');
    const client = new TestClient(url);
    await client.login(account, password);
    for (const width of [390, 1680]) {
      const context = await browser.newContext({
        viewport: { width, height: width === 390 ? 844 : 1050 },
        hasTouch: width === 390,
        isMobile: width === 390,
        reducedMotion: 'reduce',
        locale: 'zh-CN',
        timezoneId: 'Asia/Shanghai',
        serviceWorkers: 'block',
      });
      await enterAs(context, client);
      const page = await context.newPage();
      await page.goto(url);
      const { list } = await client.call('sessionList', { channel: 'private', page: 1 });
      const chats = list.slice(0, 3).map(({ uuid }) => `/chat?uuid=${uuid}`);
      for (const address of [...addresses, ...chats]) {
        const where = `${account} ${width} ${address}`;
        try {
          await page.evaluate((to) => history.pushState(null, '', to), address);
          await settle(page);
          await look(page, where);
          await openDialogs(page, (name) => look(page, `${where} “${name}”`));
        } catch (error) {
          console.error(where, error instanceof Error ? error.message.split('\n')[0] : error);
          await page.goto(url);
        }
        process.stderr.write('.');
      }
      await context.close();
    }
  }
} finally {
  await browser.close();
}
for (const [line, places] of found)
  console.log(`${places.length}× ${line}\n   ${places.slice(0, 4).join('; ')}`);
console.log(`${states} states, ${found.size} findings`);
if (found.size > 0) process.exitCode = 1;
