import { type Browser, type BrowserContextOptions, type Page } from '@playwright/test';
import { App, test as base } from './app.ts';
import { TestClient } from './client.ts';
import { startAlipay } from './fake-alipay.ts';
import { startWechatPay } from './fake-wechat-pay.ts';
import { freePort } from './free-port.ts';
import { startMockOpenAi } from './mock-openai.ts';
import { startMockSdWebui } from './mock-sd-webui.ts';
import { ADMIN_PASSWORD, startServer } from './server.ts';

interface MoneyPlace {
  url: string;
  wechat: Awaited<ReturnType<typeof startWechatPay>>;
  alipay: Awaited<ReturnType<typeof startAlipay>>;
  manager: TestClient;
  /** Hands the server what a payment service sends. */
  notify: (name: 'wechat' | 'alipay', notice: { body: string; headers: object }) => Promise<number>;
}

/** A server that can be paid by WeChat Pay, Alipay and the sandbox, with a model and a painter that cost. */
export const test = base.extend<
  { enter: (client?: TestClient) => Promise<Page> },
  { place: MoneyPlace }
>({
  place: [
    async ({ browser: _browser }, use) => {
      const chat = await startMockOpenAi();
      const painter = await startMockSdWebui();
      const wechat = await startWechatPay();
      const alipay = await startAlipay();
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const server = await startServer({
        port,
        env: {
          ...wechat.env(url),
          ...alipay.env(url),
          PAYMENT: 'wechat,alipay,sandbox',
          // Whoever looks, and notices, are quicker.
          PAYMENT_CHECK_SECONDS: '3600',
          OPENAI_BASE_URL: chat.baseURL,
          OPENAI_API_KEY: 'sk-test',
          OPENAI_MODELS: 'mock-chat',
          SD_WEBUI_URL: painter.url,
          TRUST_PROXY: 'loopback',
          OFFICIAL_SITE: 'https://queqiao.example',
          WECHAT_ACCOUNT: 'http://weixin.qq.com/r/queqiao',
        },
      });
      const manager = new TestClient(server.baseURL);
      await manager.login('admin', ADMIN_PASSWORD);
      await use({
        url,
        wechat,
        alipay,
        manager,
        notify: async (name, { body, headers }) => {
          const address = `${url}/api/pay/${name}/notice`;
          const sent = { method: 'POST', headers: headers as Record<string, string>, body };
          return (await fetch(address, sent)).status;
        },
      });
      await server.stop();
      for (const each of [alipay, wechat, painter, chat]) await each.close();
    },
    { scope: 'worker', timeout: 90_000 },
  ],
  baseURL: async ({ place }, use) => use(place.url),
  // Another person, or a visitor, beside the one of the test: in a browser of their own.
  enter: async ({ browser, baseURL }, use) => {
    const contexts: Awaited<ReturnType<Browser['newContext']>>[] = [];
    await use(async (client) => {
      const options: BrowserContextOptions = {
        ...base.info().project.use,
        ...(baseURL ? { baseURL } : {}),
        serviceWorkers: 'block',
        // From another network than the person of the test.
        extraHTTPHeaders: { 'x-forwarded-for': `172.20.${contexts.length}.1` },
      };
      const context = await browser.newContext(options);
      contexts.push(context);
      const page = await context.newPage();
      if (client) await new App(page).enterAs({ account: '', password: '', client });
      return page;
    });
    for (const context of contexts) await context.close();
  },
});
