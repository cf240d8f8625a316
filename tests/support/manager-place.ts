import type { Page } from '@playwright/test';
import { test as base } from './app.ts';
import { TestClient } from './client.ts';
import { ADMIN_PASSWORD, startServer } from './server.ts';
import { talk } from './world.ts';

export { expect, foreignServer } from './app.ts';

interface Place {
  url: string;
  databaseUrl: string;
  owner: TestClient;
  /** Of the lower rank. */
  lower: { account: string; id: number };
  person: { id: number; uuid: string; name: string };
}

/** A server with an owner, a manager and a person who did a little of everything. */
export const test = base.extend<object, { place: Place }>({
  place: [
    async ({ browser: _browser }, use) => {
      const server = await startServer({
        env: { TRUST_PROXY: 'loopback', ASSISTANT_RATE: '0', PAYMENT_CHECK_SECONDS: '1' },
      });
      const owner = new TestClient(server.baseURL);
      await owner.login('admin', ADMIN_PASSWORD);
      const manager = await TestClient.register(server.baseURL, 'lower-manager');
      const lowerId = (await manager.call('userInfo', {})).id;
      await owner.call('setManager', { user_id: lowerId, rank: 'manager' });
      const client = await TestClient.register(server.baseURL, 'busy-person');
      await client.call('saveUser', { user_name: '忙碌的人' });
      const { uuid } = await talk(client, '紫藤花几月开');
      await client.call('newTrainModel', { name: '园艺笔记', key: 'garden', type: 0 });
      const order = await client.call('recharge', { type: 'token', num: 1 });
      const key = new URL(order.url, server.baseURL).searchParams.get('key') ?? '';
      await client.call('sandboxSettle', { key, pay: 1 });
      await client.call('tradeStatus', { platform_order_id: order.trade_no });
      await use({
        url: server.baseURL,
        databaseUrl: server.databaseUrl,
        owner,
        lower: { account: 'lower-manager', id: lowerId },
        person: { id: (await client.call('userInfo', {})).id, uuid, name: '忙碌的人' },
      });
      await server.stop();
    },
    { scope: 'worker', timeout: 90_000 },
  ],
  baseURL: async ({ place }, use) => use(place.url),
});
export const signIn = async (page: Page, account: string, password: string) => {
  await page.goto('/login');
  await page.getByLabel('用户名').fill(account);
  await page.getByLabel('密码', { exact: true }).fill(password);
  await page.getByRole('button', { name: '登录', exact: true }).click();
};
export const asOwner = async (page: Page) => {
  await signIn(page, 'admin', ADMIN_PASSWORD);
  await page.waitForURL(/\/manager\//);
};
