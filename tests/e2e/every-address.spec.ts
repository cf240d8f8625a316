import type { AnyRouter } from '@tanstack/react-router';
import { addresses } from '../support/addresses.ts';
import type { App } from '../support/app.ts';
import { audit, dialogs, looks, openDialogs } from '../support/axe.ts';
import { TestClient } from '../support/client.ts';
import { asOwner, expect, foreignServer, test } from '../support/manager-place.ts';

test.skip(foreignServer, 'needs a server of its own');

/** Goes to a screen and waits until it, not the one before, is shown: its code may take its time. */
const arrive = async (app: App, address: string): Promise<void> => {
  await app.walk(address);
  await app.page.waitForFunction(() => {
    const { state } = (window as unknown as { __TSR_ROUTER__: AnyRouter }).__TSR_ROUTER__;
    return state.status === 'idle' && state.resolvedLocation?.pathname === location.pathname;
  });
};

/** What no screen says to anybody. */
const nonsense = /\bundefined\b|\bNaN\b|\[object |Invalid Date|没有加载成功/;

test('every address opens for a visitor, a person and a manager: nothing hangs, throws or talks nonsense @S1', async ({
  app,
  page,
  place,
}) => {
  test.setTimeout(180_000);
  expect(addresses.length).toBeGreaterThan(45);
  const main = page.locator('#root').getByRole('main').first();
  const visit = async (who: string) => {
    await expect(main).toBeVisible();
    for (const address of addresses) {
      await arrive(app, address);
      await expect(main, `${who} at ${address}`).toBeVisible();
      // Painted twice, and alive.
      await page.evaluate(
        () =>
          new Promise((resolve) => {
            requestAnimationFrame(() => requestAnimationFrame(resolve));
          }),
      );
      await expect(page.locator('#root .skeleton'), `${who} at ${address}`).toHaveCount(0);
      const shown = await page.locator('#root').innerText();
      expect(shown.trim(), `${who} at ${address}`).not.toBe('');
      expect(shown, `${who} at ${address}`).not.toMatch(nonsense);
      expect(app.problems, `${who} at ${address}`).toEqual([]);
    }
  };
  await page.goto('/');
  await visit('a visitor');
  const account = 'anybody';
  const client = await TestClient.register(place.url, account);
  await app.enterAs({ account, password: 'password-1', client });
  await page.goto('/');
  await visit('a person');
  await page.context().clearCookies();
  await page.evaluate(() => localStorage.clear());
  await asOwner(page);
  await visit('a manager');
});

test('axe finds nothing on any screen, in its dialogs, on a phone and wide, light and dark, in both themes; nor does 320 px or text of 200 % cut anything @S5', async ({
  app,
  page,
  place,
}) => {
  test.setTimeout(600_000);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await asOwner(page);
  const found: string[] = [];
  const pressed = new Set<string>();
  let states = 0;
  /** Words twice as large in a wide window, or a window of 320 px: nothing is cut off at its side. */
  const holdsMore = async (width: number): Promise<boolean> => {
    if (width === 390) await page.setViewportSize({ width: 320, height: 844 });
    const held = await page.evaluate((large) => {
      const { style } = document.documentElement;
      if (large) style.fontSize = '200%';
      const { scrollWidth, clientWidth } = document.documentElement;
      style.fontSize = '100%';
      return scrollWidth <= clientWidth;
    }, width > 390);
    if (width === 390) await page.setViewportSize({ width, height: 844 });
    return held;
  };
  for (const width of [390, 1680]) {
    await page.setViewportSize({ width, height: width === 390 ? 844 : 1050 });
    for (const [at, address] of [...addresses, `/chat?uuid=${place.person.uuid}`].entries()) {
      await arrive(app, address);
      await expect(page.locator('#root .skeleton')).toHaveCount(0);
      const where = `${width} ${address}`;
      // The colours of a screen are the same in a wide window; what stands beside it there is beside
      // all of them, and so is seen in every look when these take turns.
      const inLooks = looks.filter(
        (_, look) => width === 390 || look === 0 || look === (at % 3) + 1,
      );
      found.push(...(await audit(page, inLooks)).map((line) => `${where}: ${line}`));
      states += inLooks.length;
      if (!(await holdsMore(width)))
        found.push(`${where}: wider than a small window, or with large text`);
      // What is opened from many screens is opened once.
      await openDialogs(
        page,
        async (name) => {
          const lines = await audit(page, looks.slice(0, 2), dialogs);
          found.push(...lines.map((line) => `${where} “${name}”: ${line}`));
          states += 2;
        },
        { pressed, most: 6 },
      );
    }
  }
  expect(found).toEqual([]);
  expect(states).toBeGreaterThan(300);
});
