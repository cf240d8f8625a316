import { setTimeout as sleep } from 'node:timers/promises';
import { TestClient } from '#tests/support/client.ts';
import { engines, type Driven } from '#tests/support/engines.ts';
import setUp from '#tests/support/shared-database.ts';
import { startServer } from '#tests/support/server.ts';
import { addresses as all } from '#tests/support/addresses.ts';
import { openRoughLine } from './lib/rough-line.ts';

/**
 * WebKit and Firefox on a bad line: after one visit of home every address opens without a network; a
 * reply that is cut and reloaded reads on; a draft outlasts the page; what is asked on a line that
 * comes and goes is asked once. `npx tsx tests/load/engines-offline.ts [--only=WebKit]`, after
 * `npm run build`.
 */
const only = process.argv.find((each) => each.startsWith('--only='))?.slice(7);
/** What needs words in its address, or is for managers alone, is not among them. */
const addresses = all.filter((each) => !/manager|error|reports|\$|\*/.test(each));
const problems: string[] = [];

const until = async (what: string, look: () => Promise<boolean>, ms = 40_000): Promise<boolean> => {
  const end = performance.now() + ms;
  while (!(await look().catch(() => false)))
    if (performance.now() > end) {
      problems.push(what);
      console.log(`!! ${what}`);
      return false;
    } else await sleep(200);
  return true;
};

const isShellWhole = `(async () => {
  const worker = await (await fetch('/sw.js')).text();
  const wanted = [...worker.matchAll(/"url":"([^"]+)"/g)].map(([, url]) => url);
  const missing = [];
  for (const url of wanted) if (!(await caches.match(url, { ignoreSearch: true }))) missing.push(url);
  return navigator.serviceWorker.controller !== null && wanted.length > 20 && missing.length === 0;
})()`;
/** What the app shows, once it has taken the place of what stands before it. */
const shown = `document.documentElement.dataset.first && document.querySelector('#first') ? '' : document.querySelector('#root').innerText`;
const typeInto = (name: string, text: string) => `(() => {
  const box = document.querySelector('#root textarea[aria-label="${name}"]');
  box.focus();
  box.select();
  return document.execCommand('insertText', false, ${JSON.stringify(text)});
})()`;
const pressSend = `(() => {
  const button = [...document.querySelectorAll('#root button')].find((each) =>
    (each.getAttribute('aria-label') ?? '') === '发送' && !each.disabled);
  button.click();
  return true;
})()`;

const tryEngine = async (name: string, browser: Driven, base: string): Promise<void> => {
  const line = await openRoughLine(base);
  const client = await TestClient.register(base);
  const user = JSON.stringify(await client.call('userInfo', {}));
  const question = '怎样安装到手机上？没有网络的时候能做什么？怎样付款？';
  const { uuid, id } = await client.ask('26.2 英里是多少公里？');
  await client.read(uuid, id);
  const has = (words: string) => async () => (await browser.read<string>(shown)).includes(words);
  try {
    await browser.goto(`${line.baseURL}/robots.txt`);
    await browser.read(`(localStorage.setItem('queqiao.token', ${JSON.stringify(client.token)}),
      localStorage.setItem('queqiao.user', ${JSON.stringify(user)}))`);
    await browser.goto(`${line.baseURL}/`);
    await until(`${name}: the shell is whole`, () => browser.read<boolean>(isShellWhole), 120_000);
    await browser.goto(`${line.baseURL}/chat?uuid=${uuid}`);
    await until(`${name}: the conversation`, has('42.16'));
    await sleep(3_000);
    await browser.goto(`${line.baseURL}/`);
    await sleep(1_500);
    line.set('down');
    const closed: string[] = [];
    for (const address of addresses) {
      await browser.goto(line.baseURL + address).catch(() => undefined);
      const opens = await until(
        `${name}: ${address} opens without a network`,
        async () => {
          const text = await browser.read<string>(shown);
          return (
            text.trim().length > 10 && !text.includes('没有取到') && !text.includes('还没有存到')
          );
        },
        8_000,
      );
      if (!opens) closed.push(address);
      if (!opens) console.log(JSON.stringify((await browser.read<string>(shown)).slice(0, 200)));
    }
    console.log(
      `${name}: ${addresses.length - closed.length} of ${addresses.length} addresses open`,
    );
    line.set('well');

    await browser.goto(`${line.baseURL}/chat?uuid=${uuid}`);
    await until(`${name}: the box`, () => browser.read<boolean>(typeInto('输入消息', question)));
    const before = (await browser.read<string>(shown)).length + question.length;
    await browser.read(pressSend);
    await until(
      `${name}: it is being written`,
      async () => (await browser.read<string>(shown)).length > before + 60,
    );
    line.set('down');
    await browser.goto(`${line.baseURL}/chat?uuid=${uuid}`);
    await until(`${name}: cut and loaded anew, the question is there`, has('怎样安装到手机上'));
    line.set('well');
    const newest = async () =>
      (await client.call('historyList', { session_id: uuid, newest: 0 })).list.at(-1);
    await until(
      `${name}: the server has the answer`,
      async () => (await newest())?.state === 'done',
    );
    const last = ((await newest())?.ai ?? '').match(/[\u4e00-\u9fff]{6,}/g)?.at(-1) ?? '?';
    await until(`${name}: its end is read`, has(last));

    await browser.read(typeInto('输入消息', '写到一半的话'));
    await sleep(1_500);
    await browser.restart();
    await browser.goto(`${line.baseURL}/chat?uuid=${uuid}`);
    await until(`${name}: the draft is back`, () =>
      browser.read<boolean>(
        `document.querySelector('#root textarea[aria-label="输入消息"]').value === '写到一半的话'`,
      ),
    );

    const course = { isOver: false };
    const flapping = (async () => {
      for (let times = 0; !course.isOver; times += 1) {
        line.set('well');
        await sleep(3_000);
        line.set(times % 2 === 0 ? 'silent' : 'down');
        await sleep(2_000);
      }
      line.set('well');
    })();
    const asked = [1, 2, 3].map((at) => `第 ${at} 次路过隧道`);
    for (const text of asked) {
      await until(`${name}: the box`, () => browser.read<boolean>(typeInto('输入消息', text)));
      // While a reply is written there is nothing to press.
      await until(`${name}: ${text} is sent`, async () => {
        await browser.read(pressSend).catch(() => undefined);
        await sleep(300);
        return browser.read<boolean>(
          `document.querySelector('#root textarea[aria-label="输入消息"]').value === ''`,
        );
      });
      await until(`${name}: ${text} is shown`, has(text), 8_000);
      await sleep(4_000);
    }
    const humans = async () =>
      (await client.call('historyList', { session_id: uuid, newest: 0 })).list.map(
        ({ human }) => human,
      );
    const once = async () => {
      const all = await humans();
      return asked.every((text) => all.filter((each) => each === text).length === 1);
    };
    await until(`${name}: each asked once on a line that comes and goes`, once, 60_000);
    course.isOver = true;
    await flapping;
  } finally {
    await browser.end();
    await line.close();
  }
};

const end = await setUp();
const server = await startServer({ alone: true, env: { ASSISTANT_RATE: '60' } });
for (const { name, missing, start } of engines) {
  if (only !== undefined && only !== name) continue;
  if (missing === '')
    await tryEngine(name, await start(), server.baseURL).catch((error: unknown) => {
      problems.push(`${name}: ${String(error)}`);
    });
  else console.log(`${name}: ${missing}`);
}
await server.stop();
await end();
console.log(problems.length === 0 ? 'all as it should be' : problems.join('\n'));
process.exit(problems.length === 0 ? 0 : 1);
