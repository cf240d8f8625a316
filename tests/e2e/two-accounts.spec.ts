import { randomUUID } from 'node:crypto';
import { expect, test } from '@playwright/test';
import { App } from '#tests/support/app.ts';
import { TestClient } from '#tests/support/client.ts';

const password = 'password-1';

test('what one account had asked for is not kept for the next one on the device @O3', async ({
  context,
  page,
  baseURL,
}) => {
  const person = async () => {
    const account = `u${randomUUID().slice(0, 12)}`;
    return { account, client: await TestClient.register(baseURL ?? '', account) };
  };
  const [first, second] = [await person(), await person()];
  const secret = `秘密${randomUUID().slice(0, 8)}`;
  const { uuid, id } = await first.client.ask(secret);
  await first.client.read(uuid, id);

  await new App(page).login(first.account, password);
  const other = await context.newPage();
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let held = 0;
  await other.route(
    /\/api\/(history_list|get_session|session_list|last_messages)/,
    async (route) => {
      const response = await route.fetch().catch(() => null);
      held += 1;
      await opened;
      if (response) await route.fulfill({ response }).catch(() => undefined);
    },
  );
  await other.goto(`/chat?uuid=${uuid}`);
  await expect.poll(() => held).toBeGreaterThan(0);

  await page.goto('/account');
  await page.getByRole('button', { name: '退出登录' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: '退出', exact: true }).click();
  await new App(page).login(second.account, password);
  await expect(page).not.toHaveURL(/login/);
  const arrived = other.waitForResponse(/\/api\//).catch(() => null);
  open();
  await arrived;
  // Longer than a store rests before it writes.
  await page.waitForTimeout(4000);
  const kept = await page.evaluate(async () => {
    const all: unknown[] = [JSON.stringify(localStorage)];
    for (const { name = '' } of await indexedDB.databases()) {
      const database = await new Promise<IDBDatabase>((resolve, reject) => {
        const asked = indexedDB.open(name);
        asked.addEventListener('success', () => resolve(asked.result));
        asked.addEventListener('error', () => reject(asked.error ?? new Error(name)));
      });
      for (const store of database.objectStoreNames)
        all.push(
          await new Promise((resolve) => {
            const asked = database.transaction(store).objectStore(store).getAll();
            asked.addEventListener('success', () => resolve(asked.result));
          }),
        );
      database.close();
    }
    return JSON.stringify(all);
  });
  expect(kept).not.toContain(secret);
});
