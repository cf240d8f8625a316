import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import { engines, type Driven } from '../support/engines.ts';
import { openLine, type FaultyLine } from '../support/faulty-line.ts';
import { handOn } from '../support/hand.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** What people do most, once in each engine that phones run beside Chromium's. */

let server: TestServer;
beforeAll(async () => {
  // Slow enough to be cut in the middle of an answer.
  server = await startServer({
    env: {
      ASSISTANT_RATE: '60',
      PAYMENT_CHECK_SECONDS: '1',
      // Somebody who would recognise speech; nothing is ever sent there.
      OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
      OPENAI_API_KEY: 'sk-test',
      OPENAI_MODELS: 'whisper-1',
    },
  });
});
afterAll(() => server?.stop());

describe.each(engines)('$name', ({ name, missing, start }) => {
  // A suite that had to do without says so in its list of tests.
  if (missing !== '') {
    test.skip(`${name} is left out: ${missing}`, () => {});
    return;
  }
  let browser: Driven;
  let line: FaultyLine;
  let hand: ReturnType<typeof handOn>;
  let client: TestClient;
  /** The conversation in which is asked. */
  let chat = '';
  /** Opens an address anew, and waits for the app to take the place of what stands before it. */
  const go = async (address: string) => {
    await hand.goto(line.baseURL + address);
    await hand
      .poll(
        () =>
          hand.inside(
            '!document.documentElement.dataset.first || !document.querySelector("#first")',
          ),
        'the app',
      )
      .toBe(true);
  };
  const kept = (store: string) =>
    hand.inside<string>(`new Promise((resolve) => {
      const asked = indexedDB.open('${store === 'messages' ? 'queqiao-cache' : 'queqiao-outbox'}');
      asked.onsuccess = () => {
        const all = asked.result.transaction('${store}').objectStore('${store}').getAll();
        all.onsuccess = () => { asked.result.close(); resolve(JSON.stringify(all.result)); };
      };
    })`);

  beforeAll(async () => {
    line = await openLine(server.baseURL);
    browser = await start();
    hand = handOn(browser);
  });
  beforeEach(() => {
    line.state = 'well';
  });
  afterAll(async () => {
    await browser?.end();
    await line?.close();
  });

  test('signs up @A2', async () => {
    await go('/register');
    await hand.write('名称', '江南');
    await hand.write('用户名', `wk${randomUUID().slice(0, 10)}`);
    await hand.write('密码', 'mima-12345');
    await hand.write('再次输入密码', 'mima-12345');
    await hand.press('button', '注册');
    await hand.poll(() => hand.inside('location.pathname'), 'signed up').not.toBe('/register');
    client = new TestClient(server.baseURL);
    client.token = await hand.inside('localStorage.getItem("queqiao.token")');
  });

  test('asks, and reads on where the line was cut @C3 @C4', async () => {
    await go('/');
    await hand.write('输入问题', '26.2 英里是多少公里？');
    await hand.press('button', '发送');
    await hand.reads('log', '消息', '42.16');
    chat = await hand.inside('new URL(location.href).searchParams.get("uuid")');
    const shown = () => hand.inside<string>('document.querySelector("#root [role=log]").innerText');
    const length = async () => (await shown()).length;
    const question = '怎样安装到手机上？没有网络的时候能做什么？怎样付款？';
    const before = (await length()) + question.length;
    await hand.write('输入消息', question);
    await hand.press('button', '发送');
    await hand.poll(async () => (await length()) > before + 60, 'it is being written').toBe(true);
    line.cut();
    await hand
      .poll(
        () => hand.inside('document.querySelector("[data-banner]") !== null'),
        'the line is gone',
      )
      .toBe(true);
    line.state = 'well';
    const newest = async () =>
      (await client.call('historyList', { session_id: chat, newest: 1 })).list[0];
    await hand
      .poll(async () => (await newest())?.state, 'the server has written it', 30_000)
      .toBe('done');
    const whole = (await newest())?.ai ?? '';
    expect(whole.length).toBeGreaterThan(100);
    // While it is written it stands in several rows.
    const reply = () =>
      hand.inside<string>(
        '[...document.querySelectorAll("[data-reply]")].map((each) => each.innerText).join("")',
      );
    const phrases = whole.match(/[\u4e00-\u9fff]{6,}/g) ?? [];
    for (const words of [phrases[0] ?? '', phrases.at(-1) ?? '']) {
      await hand.poll(reply, 'all of it').toContain(words);
      expect((await reply()).split(words).length - 1, words).toBe(whole.split(words).length - 1);
    }
  });

  test('draws, and looks at it in gallery and viewer @I1 @I12', async () => {
    await go('/?tab=imagine');
    await hand.write('输入问题', '黄昏的雪山，湖面倒影');
    await hand.press('button', '发送');
    await hand.see('button', '查看第 1 张', 30_000);
    await go('/image/private');
    await hand.press('button', '黄昏的雪山，湖面倒影');
    await hand.see('dialog', '修改图片');
    await hand
      .poll(
        () =>
          hand.inside(
            `[...document.querySelectorAll('[role=dialog] img')].some((each) => each.naturalWidth > 0)`,
          ),
        'the image',
      )
      .toBe(true);
    await hand.inside('history.back()');
    await hand.see_not('dialog', '修改图片');
    expect(await hand.inside('location.pathname')).toBe('/image/private');
  });

  test('asks people @F1 @F2', async () => {
    await go('/forum?show-create-dialog');
    await hand.write('标题', `${name} 里怎样过桥`);
    await hand.write('内容', '桥上有没有**栏杆**？');
    await hand.press('button', '发表');
    await hand.poll(() => hand.inside('location.pathname'), 'asked').toBe('/chat');
    await hand.reads('main', '', '栏杆');
    await go('/forum');
    await hand.see('link', `${name} 里怎样过桥`);
  });

  test('pays @P2', async () => {
    await go('/account?tab=recharge');
    await hand.press('button', '支付 ￥');
    await hand.see('dialog', '沙箱收银台');
    const { list } = await client.call('tradeList', {});
    const { url } = await client.call('tradeStatus', {
      platform_order_id: list[0]?.trade_no ?? '',
    });
    const { pathname, search } = new URL(url, line.baseURL);
    await go(`${pathname}${search}`);
    await hand.press('button', '确认付款');
    await hand.see('any', '付款成功，请回到鹊桥');
    const status = { platform_order_id: list[0]?.trade_no ?? '' };
    await hand
      .poll(async () => (await client.call('tradeStatus', status)).state, 'the order')
      .toBe('paid');
    await go('/account?tab=order');
    await hand.reads('main', '', '已付款');
  });

  test('reads without a network @O2', async () => {
    await go(`/chat?uuid=${chat}`);
    await hand.reads('log', '消息', '42.16');
    await hand
      .poll(
        () =>
          hand.inside(
            '(async () => (await caches.keys()).length > 0 && navigator.serviceWorker.controller !== null)()',
          ),
        'the worker',
      )
      .toBe(true);
    // What was read is on its way to the device when the page is left; then there is no network.
    await go('/');
    line.cut();
    // By an address in the open page: in WebKit a page that is left in the middle of a transaction may
    // still hold the database, whatever src/platform/let-go.ts ends.
    if (name === 'Firefox') {
      await go(`/chat?uuid=${chat}`);
      await hand.reads('log', '消息', '42.16');
    }
    // Closed and opened anew.
    await browser.restart();
    await go(`/chat?uuid=${chat}`);
    await hand.reads('log', '消息', '42.16');
    line.state = 'well';
  });

  test('says why it can not record @V3', async () => {
    await go(`/chat?uuid=${chat}`);
    await hand.press('button', '语音输入');
    await hand.see('dialog', '语音输入');
    await hand.press('button', '开始录音');
    await hand.see('any', '无法捕获您的麦克风');
  });

  test('keeps what was typed over a restart @O3', async () => {
    await go(`/chat?uuid=${chat}`);
    await hand.write('输入消息', '写到一半的话');
    await hand.poll(() => kept('drafts'), 'kept').toContain('写到一半的话');
    await browser.restart();
    await go(`/chat?uuid=${chat}`);
    await hand.poll(() => hand.valueOf('输入消息'), 'the draft').toBe('写到一半的话');
  });
});
