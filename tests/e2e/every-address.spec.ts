import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { TestClient } from '../support/client.ts';
import { asOwner, expect, foreignServer, test } from '../support/manager-place.ts';

test.skip(foreignServer, 'needs a server of its own');

const src = fileURLToPath(new URL('../../src', import.meta.url));

/** What a file of routes hangs its own below. */
const below = (file: string): string => {
  if (!/manage-routes|stats\/routes/.test(file)) return '';
  return file.includes('/market/') ? '/market/manager' : '/manager';
};

const filesOfRoutes = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('routes.ts'),
);

/** The addresses of all screens, as the files of routes name them. */
const addresses = [
  ...new Set(
    filesOfRoutes.flatMap((file) =>
      [...readFileSync(path.join(src, file), 'utf8').matchAll(/\bpath: '([^'$]+)'/g)].map(
        ([, found = '']) => path.posix.join('/', below(file), found),
      ),
    ),
  ),
].filter((address) => address !== '/_ui');

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
      await app.walk(address);
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
