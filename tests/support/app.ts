import { randomUUID } from 'node:crypto';
import { test as base, expect, type Locator, type Page } from '@playwright/test';
import { TestClient } from './client.ts';

/** True when the tests run against somebody's address, where no service of the tests is connected. */
export const foreignServer = process.env['E2E_BASE_URL'] !== undefined;

export interface Person {
  account: string;
  password: string;
  client: TestClient;
}

/** What a person does with the app, in the app's own words. */
export class App {
  readonly page: Page;
  /** What the page threw, and what its content policy had to block. */
  readonly problems: string[] = [];

  constructor(page: Page) {
    this.page = page;
    page.on('pageerror', (error) => this.problems.push(error.message));
    page.on('console', (message) => {
      if (message.text().includes('Content Security Policy')) this.problems.push(message.text());
    });
  }

  get question(): Locator {
    return this.page.getByRole('textbox', { name: '输入消息' });
  }

  get sendButton(): Locator {
    return this.page.getByRole('button', { name: '发送', exact: true });
  }

  get stopButton(): Locator {
    return this.page.getByRole('button', { name: '停止', exact: true });
  }

  /** The conversation. */
  get log(): Locator {
    return this.page.locator('#root').getByRole('log');
  }

  /** Leads on within the page, as its links do: loading it anew takes several times as long. */
  walk(address: string): Promise<void> {
    return this.page.evaluate((to) => history.pushState(null, '', to), address);
  }

  async startFromHome(text: string): Promise<string> {
    await this.page.goto('/');
    await this.page.getByRole('textbox', { name: '输入问题' }).fill(text);
    await this.sendButton.click();
    await this.page.waitForURL(/\/chat\?/);
    return this.uuid();
  }

  uuid(): string {
    const value = new URL(this.page.url()).searchParams.get('uuid') ?? '';
    return value.replaceAll('"', '');
  }

  async say(text: string): Promise<void> {
    await this.question.fill(text);
    await this.sendButton.click();
  }

  /** Waits until no reply is being written. */
  async settled(): Promise<void> {
    await expect(this.page.getByRole('img', { name: '正在发送' })).toHaveCount(0, {
      timeout: 45_000,
    });
    await expect(this.stopButton).toBeHidden({ timeout: 45_000 });
    await expect(this.page.getByRole('status', { name: '正在回复' })).toHaveCount(0, {
      timeout: 45_000,
    });
  }

  async register(
    name = '小鹊',
    address = '/register',
  ): Promise<{ account: string; password: string }> {
    const account = `e2e${randomUUID().slice(0, 10)}`;
    const password = 'mima-12345';
    await this.page.goto(address);
    await this.page.getByRole('textbox', { name: '名称' }).fill(name);
    await this.page.getByRole('textbox', { name: '用户名' }).fill(account);
    await this.page.getByLabel('密码', { exact: true }).fill(password);
    await this.page.getByLabel('再次输入密码', { exact: true }).fill(password);
    await this.page.getByRole('button', { name: '注册', exact: true }).click();
    await this.page.waitForURL((url) => url.pathname !== '/register');
    return { account, password };
  }

  async login(account: string, password: string): Promise<void> {
    await this.page.goto('/login');
    await this.page.getByRole('textbox', { name: '用户名' }).fill(account);
    await this.page.getByLabel('密码', { exact: true }).fill(password);
    await this.page.getByRole('button', { name: '登录', exact: true }).click();
    await this.page.waitForURL((url) => url.pathname !== '/login');
  }

  /** Puts an account made over HTTP into the page, as if it had logged in here. */
  async enterAs(person: Person): Promise<void> {
    const user = await person.client.call('userInfo', {});
    await this.page.addInitScript(
      ([token, profile]) => {
        if (sessionStorage.getItem('entered')) return;
        sessionStorage.setItem('entered', '1');
        localStorage.setItem('queqiao.token', token ?? '');
        localStorage.setItem('queqiao.user', profile ?? '');
      },
      [person.client.token, JSON.stringify(user)],
    );
  }

  /** Opens a new session of somebody's with a model. Gives its uuid. */
  async openNew(person: Person, model: string): Promise<string> {
    await this.enterAs(person);
    const { uuid } = await person.client.call('newSession', { type: 0, model });
    await this.page.goto(`/chat?uuid=${uuid}`);
    return uuid;
  }
}

const part = () => Math.floor(Math.random() * 256);

export const test = base.extend<{ app: App; person: Person }>({
  // Each test comes from an address of its own, so that one's wrong passwords cost no other a captcha.
  extraHTTPHeaders: async ({ extraHTTPHeaders }, use) => {
    await use({
      ...extraHTTPHeaders,
      'x-forwarded-for': `10.${part()}.${part()}.${part()}`,
    });
  },
  // Tests meet the screens themselves, not the pictures of them that stand there before.
  context: async ({ context }, use) => {
    await context.addInitScript(() => {
      for (const key of Object.keys(localStorage))
        if (key.startsWith('queqiao.picture.')) localStorage.removeItem(key);
    });
    await use(context);
  },
  app: async ({ page }, use) => {
    const app = new App(page);
    await use(app);
    expect(app.problems, 'the page threw or broke its content policy').toEqual([]);
  },
  person: async ({ baseURL }, use) => {
    const account = `e2e${randomUUID().slice(0, 10)}`;
    const client = await TestClient.register(baseURL ?? '', account);
    await use({ account, password: 'password-1', client });
  },
});

export { expect };
