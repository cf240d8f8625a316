import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from '@playwright/test';
import sharp from 'sharp';
import { App } from '#tests/support/app.ts';
import type { TestClient } from '#tests/support/client.ts';
import type { Phone } from '#tests/support/phone.ts';

/** Somebody with a phone on a bad line: what they do, and what must come of it. */
export interface Stranger {
  phone: Phone;
  client: TestClient;
  /** Another person, whom questions and letters reach. */
  other: TestClient;
  baseURL: string;
  /** A conversation that was opened here, and words of it. */
  known: { uuid: string; words: string };
  /** Another, in which everything is asked. */
  talk: string;
  /** What was sent, by its words. */
  sent: string[];
  note: (what: string) => void;
  /** Notes what took longer than it may, where all of it is on the device. */
  here: (what: string, work: () => Promise<unknown>) => Promise<void>;
}

/** What is on the device is shown within so long, on a busy machine, ms. */
export const mostWait = 4_000;
/** As long as somebody tries again what needs a line, ms. */
const patience = 120_000;

let count = 0;
const words = (what: string): string => {
  count += 1;
  return `${what}${count}号${randomBytes(3).toString('hex')}`;
};

const open = async ({ phone, baseURL, here }: Stranger, address: string): Promise<App> => {
  await here(`open ${address.split('?', 1)[0]}`, () =>
    phone.page.goto(baseURL + address, { waitUntil: 'commit', timeout: 60_000 }),
  );
  return new App(phone.page);
};

/** Presses until it is said that it is done: a person reads why it is not, and presses again. */
const insist = async (page: Page, press: () => Promise<unknown>, done: () => Promise<unknown>) => {
  const until = performance.now() + patience;
  for (;;) {
    await press().catch(() => undefined);
    const isDone = await done().then(
      () => true,
      () => false,
    );
    if (isDone) return;
    if (performance.now() > until)
      throw new Error(`not done: ${(await page.locator('body').innerText()).slice(0, 400)}`);
    await sleep(1_000);
  }
};

/** A press does nothing where a reply begins under it: the words still stand in the box, and are sent again. */
const press = async ({ question, sendButton, page }: App, text: string) => {
  let presses = 0;
  await insist(
    page,
    () => {
      presses += 1;
      return sendButton.click({ timeout: 20_000 });
    },
    async () => {
      const until = performance.now() + 5_000;
      while ((await question.inputValue()) === text) {
        if (performance.now() > until) throw new Error('still in its box');
        await sleep(50);
      }
    },
  );
  if (presses > 1) console.log(`${text}: pressed ${presses} times`);
};

const chats = {
  askAtHome: async (one) => {
    const app = await open(one, '/');
    const text = words('家里问');
    const box = app.page.getByRole('textbox', { name: '输入问题' });
    await one.here('home box', () => box.fill(text));
    await app.sendButton.click({ timeout: 20_000 });
    one.sent.push(text);
    // Not above a session that can not be opened yet: whoever leaves that has the words in a box.
    await one.here('asked at home is shown', () => app.log.getByText(text).first().waitFor());
  },
  askInChat: async (one) => {
    const app = await open(one, `/chat?uuid=${one.talk}`);
    const text = words('会话里问');
    await one.here('chat box', () => app.question.fill(text));
    await press(app, text);
    one.sent.push(text);
    await one.here('asked in chat is shown', () => app.log.getByText(text).first().waitFor());
  },
  read: async (one) => {
    const app = await open(one, `/chat?uuid=${one.known.uuid}`);
    await one.here('kept chat reads', () => app.log.getByText(one.known.words).first().waitFor());
  },
  draft: async (one) => {
    const app = await open(one, `/chat?uuid=${one.talk}`);
    const text = words('草稿');
    await one.here('chat box', () => app.question.fill(text));
    await sleep(600);
    await one.phone.crash();
    const after = await open(one, `/chat?uuid=${one.talk}`);
    await one.here('draft is back', async () => {
      const until = performance.now() + patience;
      while ((await after.question.inputValue()) !== text && performance.now() < until)
        await sleep(50);
    });
    await after.question.fill('');
  },
  askAndKill: async (one) => {
    const app = await open(one, `/chat?uuid=${one.talk}`);
    const text = words('问完就关机');
    await one.here('chat box', () => app.question.fill(text));
    await app.sendButton.click({ timeout: 20_000 });
    one.sent.push(text);
    await sleep(Math.random() * 1_500 + 100);
    await one.phone.crash();
    const after = await open(one, `/chat?uuid=${one.talk}`);
    await one.here('asked before a kill is there', async () => {
      const isThere = async () =>
        (await after.log.getByText(text).count()) > 0 ||
        (await after.question.inputValue()) === text;
      const until = performance.now() + patience;
      while (!(await isThere().catch(() => false)) && performance.now() < until) await sleep(50);
    });
    // It is on its way, or back in its box: never both, never neither.
    if ((await after.question.inputValue()) === text) await press(after, text);
  },
  twoTabs: async (one) => {
    const [near, far] = [words('左边'), words('右边')];
    const app = await open(one, `/chat?uuid=${one.talk}`);
    const second = new App(await one.phone.context.newPage());
    await second.page.goto(`${one.baseURL}/chat?uuid=${one.talk}`, { waitUntil: 'commit' });
    await one.here('first tab', () => app.question.fill(near));
    // The two share one draft: what is written in the other before would take its place.
    await press(app, near);
    await one.here('second tab', () => second.question.fill(far));
    await press(second, far);
    one.sent.push(near, far);
    await one.here('second tab shows its own', () => second.log.getByText(far).first().waitFor());
    await second.page.close();
  },
} satisfies Record<string, (one: Stranger) => Promise<void>>;

const making = {
  draw: async (one) => {
    const app = await open(one, '/?tab=imagine');
    const text = words('画雪山');
    const box = app.page.getByRole('textbox', { name: '输入问题' });
    await one.here('studio box', () => box.fill(text));
    await app.page.getByRole('button', { name: /^发送/ }).click({ timeout: 20_000 });
    one.sent.push(text);
    await one.here('drawing is shown', () => app.log.getByText(text).first().waitFor());
  },
  knowledge: async (one) => {
    const name = words('游记');
    const { model } = await one.client.call('newTrainModel', {
      type: 0,
      name,
      key: `k${randomBytes(6).toString('hex')}`,
    });
    await open(one, `/train?model_id=${model.id}`);
    const { page } = one.phone;
    await page.getByRole('heading', { name }).first().waitFor({ timeout: patience });
    const file = {
      name: `${name}.txt`,
      mimeType: 'text/plain',
      buffer: Buffer.from(`${name}：桥上看水，水里看云。\n`.repeat(2_000)),
    };
    await page.locator('main input[type=file]').first().setInputFiles(file);
    const stored = async () =>
      (await one.client.call('trainFileList', { model_id: model.id })).list.length;
    const until = performance.now() + patience;
    while ((await stored()) === 0 && performance.now() < until) await sleep(500);
    await sleep(3_000);
    if ((await stored()) !== 1) one.note(`knowledge file stored ${await stored()} times`);
  },
  translate: async (one) => {
    await open(one, '/translate');
    const { page } = one.phone;
    const pane = page.getByRole('region', { name: '翻译文字' });
    const text = words('桥上有风');
    await pane.getByRole('textbox', { name: '原文' }).fill(text, { timeout: patience });
    await insist(
      page,
      () => pane.getByRole('button', { name: /^翻译/ }).click({ timeout: 5_000 }),
      () => pane.getByText(`您说：${text}`).waitFor({ timeout: 15_000 }),
    );
  },
  speak: async (one) => {
    const app = await open(one, `/chat?uuid=${one.talk}`);
    const { page } = app;
    await app.question.fill('');
    await page.getByRole('button', { name: '语音输入' }).click({ timeout: 20_000 });
    const tool = page.getByRole('dialog', { name: '语音输入' });
    await tool.getByRole('radio', { name: /Whisper/ }).click({ timeout: 30_000 });
    const begin = tool.getByRole('button', { name: '开始录音' });
    // An iPhone gives the microphone on the first press and records on the next; a press that a busy
    // machine makes long is one that is held, and ends with the finger.
    await insist(
      page,
      () => begin.click({ timeout: 1_000 }),
      () => tool.getByText(/正在录音 [1-9] 秒/).waitFor({ timeout: 4_000 }),
    );
    await tool.getByRole('button', { name: '结束录音' }).click();
    await insist(
      page,
      () => tool.getByRole('button', { name: '再转一次' }).click({ timeout: 2_000 }),
      async () => {
        const until = performance.now() + 10_000;
        while ((await tool.getByRole('textbox').inputValue()) === '') {
          if (performance.now() > until) throw new Error('no words');
          await sleep(200);
        }
      },
    );
  },
} satisfies Record<string, (one: Stranger) => Promise<void>>;

const among = {
  askPeople: async (one) => {
    await open(one, '/forum?show-create-dialog=1');
    const { page } = one.phone;
    const title = words('怎样过桥');
    const box = page.getByRole('textbox', { name: '标题' });
    await one.here('editor', () => box.fill(title));
    await page.getByRole('textbox', { name: '内容' }).fill(`${title}：桥上有没有栏杆？`);
    await page.getByRole('button', { name: '发表', exact: true }).click({ timeout: 20_000 });
    one.sent.push(`${title}：桥上有没有栏杆？`);
    await one.here('question left its editor', () => page.waitForURL(/\/chat\?/));
  },
  answer: async (one) => {
    const { uuid } = await one.other.call('newSession', { type: 2, private: 0 });
    const asked = words('别人问');
    await one.other.call('sendMessage', { session_id: uuid, title: asked, msg: asked });
    const app = await open(one, `/chat?uuid=${uuid}`);
    await app.log
      .getByText(asked)
      .first()
      .waitFor({ timeout: patience })
      .catch(() => undefined);
    const text = words('回答');
    const box = app.page.getByRole('textbox').last();
    await box.fill(text, { timeout: patience });
    await app.page
      .getByRole('button', { name: /^(发送|回答|发表)/ })
      .last()
      .click({ timeout: 20_000 });
    one.sent.push(text);
    await one.here('answer is shown', () => app.page.getByText(text).first().waitFor());
  },
  letter: async (one) => {
    const { id } = await one.other.call('userInfo', {});
    const { uuid } = await one.client.call('newFriend', { friend_user_id: id });
    const app = await open(one, `/chat?uuid=${uuid}`);
    const text = words('私信');
    await app.question.fill(text, { timeout: patience });
    await app.sendButton.click({ timeout: 20_000 });
    one.sent.push(text);
    await one.here('letter is shown', () => app.log.getByText(text).first().waitFor());
  },
  publish: async (one) => {
    const { uuid, id } = await one.client.ask(words('要公开'), { model: 'mock-chat' });
    await one.client.call('setSession', { session_id: uuid, private: 1 });
    await one.client.read(uuid, id);
    const app = await open(one, `/chat?uuid=${uuid}`);
    const { page } = app;
    await app.log.getByText('您说').first().waitFor({ timeout: patience });
    await page
      .getByRole('button', { name: '更多', exact: true })
      .first()
      .click({ timeout: 20_000 });
    await page.getByRole('button', { name: '设置', exact: true }).click({ timeout: 20_000 });
    const own = page.getByRole('switch', { name: /这个会话设为私有/ });
    await own.waitFor({ timeout: patience });
    const sheet = page.getByRole('dialog', { name: '公开这个会话' });
    await insist(
      page,
      async () => {
        if (!(await sheet.isVisible())) await own.click({ timeout: 5_000 });
        await sheet.getByRole('button', { name: '公开', exact: true }).click({ timeout: 15_000 });
      },
      async () => {
        const until = performance.now() + 10_000;
        for (;;) {
          const session = await one.client.call('getSession', { uuid });
          if (session.private === 0) return;
          if (performance.now() > until) throw new Error('still private');
          await sleep(500);
        }
      },
    );
  },
} satisfies Record<string, (one: Stranger) => Promise<void>>;

const account = {
  profile: async (one) => {
    await open(one, '/account?tab=profile');
    const { page } = one.phone;
    const name = words('鹊');
    const box = page.getByRole('textbox', { name: '名称', exact: true });
    await box.fill(name, { timeout: patience });
    await insist(
      page,
      () => page.getByRole('button', { name: /^保存/ }).first().click({ timeout: 5_000 }),
      async () => {
        const until = performance.now() + 10_000;
        while ((await one.client.call('userInfo', {})).user_name !== name) {
          if (performance.now() > until) throw new Error('not saved');
          await sleep(500);
        }
      },
    );
  },
  avatar: async (one) => {
    await open(one, '/account?tab=profile');
    const { page } = one.phone;
    const noise = { width: 300, height: 200, channels: 3 as const };
    const buffer = await sharp(randomBytes(300 * 200 * 3), { raw: noise })
      .jpeg()
      .toBuffer();
    const before = (await one.client.call('userInfo', {})).avatar;
    const picker = page.getByLabel('选择头像');
    await picker.waitFor({ state: 'attached', timeout: patience });
    await picker.setInputFiles({ name: 'a.jpg', mimeType: 'image/jpeg', buffer });
    const sheet = page.getByRole('dialog', { name: '选取头像' });
    await insist(
      page,
      // It is sent again by itself; only where that was given up it stands there to be pressed.
      () => sheet.getByRole('button', { name: '使用这张' }).click({ timeout: 5_000 }),
      async () => {
        const until = performance.now() + 20_000;
        while ((await one.client.call('userInfo', {})).avatar === before) {
          if (performance.now() > until) throw new Error('not there');
          await sleep(500);
        }
      },
    );
  },
  pay: async (one) => {
    const orders = async () => (await one.client.call('tradeList', {})).total;
    const before = await orders();
    await open(one, '/account?tab=recharge');
    const { page } = one.phone;
    const pay = page.getByRole('button', { name: /^支付 ￥/ });
    await pay.waitFor({ timeout: patience });
    const link = page.getByRole('link', { name: '打开收银台' });
    await insist(
      page,
      async () => {
        if (!(await link.isVisible())) await pay.click({ timeout: 5_000 });
      },
      () => link.waitFor({ timeout: 20_000 }),
    );
    const made = (await orders()) - before;
    if (made !== 1) one.note(`${made} orders for one payment`);
    const cashier = new URL((await link.getAttribute('href')) ?? '', one.baseURL);
    await one.other.call('sandboxSettle', { key: cashier.searchParams.get('key') ?? '', pay: 1 });
    await page
      .getByText(/充值成功|已付款/)
      .first()
      .waitFor({ timeout: 60_000 })
      .catch(() => one.note('a payment that was made is not told within a minute'));
  },
} satisfies Record<string, (one: Stranger) => Promise<void>>;

export const deeds: Record<string, (one: Stranger) => Promise<void>> = {
  ...chats,
  ...making,
  ...among,
  ...account,
};
