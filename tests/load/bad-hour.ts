import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { createRequire } from 'node:module';
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startMediaService } from '#tests/support/mock-media.ts';
import { startMockOpenAi } from '#tests/support/mock-openai.ts';
import { startPhone } from '#tests/support/phone.ts';
import { scratchFolder } from '#tests/support/scratch.ts';
import setUp from '#tests/support/shared-database.ts';
import { shellComplete } from '#tests/support/shell.ts';
import { startServer, type TestServer } from '#tests/support/server.ts';
import { TestClient } from '#tests/support/client.ts';
import { numbersOf } from './lib/measure.ts';
import { openRoughLine, type RoughLine } from './lib/rough-line.ts';
import { deeds, mostWait, type Stranger } from './lib/stranger.ts';

/**
 * Strangers with phones on bad lines, for as long as wanted: they ask, read, draft, draw, publish,
 * ask people, answer, write letters, change their profile, pay, upload, translate and speak, and
 * their browsers are killed. In the end each text stands on the server exactly once.
 * `npx tsx tests/load/bad-hour.ts [--minutes=10] [--phones=6] [--only=draw,pay]`, after `npm run
 * build`. Six at once: Pixel and iPhone, each on a line that breaks and hangs, flaps, or is slow; they
 * need a processor each, or all that is waited for is the machine.
 */
const minutes = numbersOf('minutes', [10])[0] ?? 10;
const phones = numbersOf('phones', [6])[0] ?? 6;
const only = process.argv
  .find((each) => each.startsWith('--only='))
  ?.slice(7)
  .split(',');
const began = performance.now();

const weathers = {
  /** Away for some seconds, in either way. */
  gaps: async (line: RoughLine) => {
    line.set('well');
    await sleep(4_000 + Math.random() * 8_000);
    line.set(Math.random() < 0.5 ? 'down' : 'silent');
    await sleep(3_000 + Math.random() * 20_000);
  },
  flaps: async (line: RoughLine) => {
    const away = Math.random() < 0.5 ? 'down' : 'silent';
    for (let times = 0; times < 6; times += 1) {
      line.set('well');
      await sleep(3_000);
      line.set(away);
      await sleep(2_000);
    }
  },
  slow: async (line: RoughLine) => {
    line.set('slow');
    await sleep(30_000);
    line.set('silent');
    await sleep(2_500);
  },
} as const;
type Weather = keyof typeof weathers;

/** What an iPhone's browser has not. */
const asOnIphone = `delete window.CloseWatcher; delete window.SyncManager;
  delete ServiceWorkerRegistration.prototype.sync;`;

/** Chat and speech come from one address. */
const startServices = async () => {
  const [chat, media] = [await startMockOpenAi(), await startMediaService()];
  const server = createServer((request, response) => {
    const isSpeech = request.url?.includes('/audio/') === true;
    const base = isSpeech ? media.url : new URL(chat.baseURL).origin;
    void (async () => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const { authorization = '', 'content-type': type = '' } = request.headers;
      const answer = await fetch(base + (request.url ?? ''), {
        method: request.method ?? 'GET',
        headers: { authorization, 'content-type': type },
        ...(parts.length > 0 ? { body: new Uint8Array(Buffer.concat(parts)) } : {}),
      });
      response.writeHead(answer.status, {
        'content-type': answer.headers.get('content-type') ?? 'application/json',
      });
      for await (const part of answer.body ?? []) response.write(part);
      response.end();
    })().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
};

const problems: string[] = [];

const query = async <Row extends pg.QueryResultRow>(
  server: TestServer,
  sql: string,
  values: readonly unknown[],
): Promise<Row[]> => {
  const db = new pg.Client({ connectionString: server.databaseUrl });
  await db.connect();
  const { rows } = await db.query<Row>(sql, [...values]);
  await db.end();
  return rows;
};

/** How often each of the texts stands on the server. */
const timesOf = async (server: TestServer, text: string): Promise<number> => {
  const [row] = await query<{ count: string }>(
    server,
    `SELECT count(*) FROM history WHERE human LIKE '%' || $1 || '%'`,
    [text],
  );
  return Number(row?.count ?? 0);
};

const live = async (server: TestServer, device: string, weather: Weather, sound: string) => {
  const name = `${device === 'Pixel 7' ? 'pixel' : 'iphone'}/${weather}`;
  const say = (what: string) => {
    const at = ((performance.now() - began) / 1_000).toFixed(0);
    console.log(`${at} s ${name}: ${what}`);
  };
  const note = (what: string) => {
    problems.push(`${name}: ${what}`);
    say(`!! ${what}`);
  };
  const line = await openRoughLine(server.baseURL);
  const client = await TestClient.register(server.baseURL);
  const other = await TestClient.register(server.baseURL);
  const { id: me } = await client.call('userInfo', {});
  // In an hour more is begun and written than who pays nothing, or is not accepted, may.
  await query(server, `UPDATE users SET vip_expired_at = now() + interval '1 day' WHERE id = $1`, [
    me,
  ]);
  const { id: them } = await other.call('userInfo', {});
  const { uuid: letters } = await client.call('newFriend', { friend_user_id: them });
  await client.call('sendMessage', { session_id: letters, msg: '你好' });
  await other.call('answerFriend', { session_id: letters, act: 'accept' });
  const { uuid, id } = await client.ask('还记得这句话吗', { model: 'mock-chat' });
  await client.read(uuid, id);
  const talk = await client.ask('这里一直聊', { model: 'mock-chat' });
  await client.read(talk.uuid, talk.id);
  const phone = await startPhone(client, {
    device,
    permissions: ['microphone'],
    args: [
      '--use-fake-device-for-media-stream',
      '--use-fake-ui-for-media-stream',
      `--use-file-for-fake-audio-capture=${sound}`,
    ],
  });
  const dress = async () => {
    await phone.context.addInitScript({ content: 'globalThis.__name = (act) => act;' });
    if (device !== 'Pixel 7') await phone.context.addInitScript({ content: asOnIphone });
  };
  const { crash } = phone;
  phone.crash = async () => {
    await crash();
    await dress();
  };
  await dress();
  const waits: number[] = [];
  const stranger: Stranger = {
    phone,
    client,
    other,
    baseURL: line.baseURL,
    known: { uuid, words: '您说：还记得这句话吗' },
    talk: talk.uuid,
    sent: [],
    note,
    here: async (what, work) => {
      const at = performance.now();
      // What the screen shows instead tells more than how long it took.
      const looking = setTimeout(() => {
        const at = performance.now().toFixed(0);
        const file = `${name.replace('/', '-')}-${what.replaceAll(/[ /]/g, '-')}-${at}.png`;
        phone.page.screenshot({ path: `test-results/hour/${file}` }).catch(() => undefined);
      }, mostWait);
      await work().finally(() => clearTimeout(looking));
      const took = performance.now() - at;
      waits.push(took);
      if (took > mostWait) note(`${what} took ${(took / 1_000).toFixed(1)} s (${line.get()})`);
    },
  };
  await phone.page.goto(line.baseURL);
  await shellComplete(phone.page);
  for (const address of [
    `/chat?uuid=${uuid}`,
    `/chat?uuid=${talk.uuid}`,
    '/forum',
    '/translate',
    '/account?tab=recharge',
  ]) {
    await phone.page.goto(line.baseURL + address);
    await sleep(2_500);
  }
  const course = { isOver: false };
  const sky = (async () => {
    while (!course.isOver) await weathers[weather](line);
    line.set('well');
  })();
  const names = Object.keys(deeds).filter((each) => only?.includes(each) ?? true);
  const used = new Map<string, number>();
  for (let at = 0; performance.now() - began < minutes * 60_000; at += 1) {
    // Each in turn from a place of its own, so that six phones are not at the same at once.
    const deed = names[(at + name.length) % names.length] ?? '';
    used.set(deed, (used.get(deed) ?? 0) + 1);
    const start = performance.now();
    try {
      await deeds[deed]?.(stranger);
      say(`${deed} ${((performance.now() - start) / 1_000).toFixed(1)} s`);
    } catch (error) {
      note(`${deed} failed: ${String(error).slice(0, 700)}`);
      await phone.page
        .screenshot({ path: `test-results/hour/${name.replace('/', '-')}-${deed}-${at}.png` })
        .catch(() => undefined);
    }
  }
  course.isOver = true;
  line.set('well');
  await sky;
  line.set('well');
  await phone.page.goto(`${line.baseURL}/`);
  for (const text of stranger.sent) {
    const until = performance.now() + 60_000;
    while ((await timesOf(server, text)) === 0 && performance.now() < until) await sleep(500);
    const times = await timesOf(server, text);
    if (times !== 1) note(`「${text}」 stands ${times} times on the server`);
  }
  say(
    `${stranger.sent.length} texts sent; ${[...used].map(([deed, times]) => `${deed} ${times}`).join(', ')}; longest wait for what is here ${(Math.max(...waits) / 1_000).toFixed(1)} s`,
  );
  await phone.end();
  await line.close();
};

const end = await setUp();
const sound = path.join(scratchFolder('voice'), 'zh.wav');
const text2wav = createRequire(import.meta.url)('text2wav') as (
  words: string,
  options: { voice: string },
) => Promise<Uint8Array>;
writeFileSync(sound, await text2wav('您好，今天天气很好。', { voice: 'zh' }));
const server = await startServer({
  alone: true,
  env: {
    OPENAI_BASE_URL: await startServices(),
    OPENAI_API_KEY: 'sk-test',
    OPENAI_MODELS: 'mock-chat,whisper-1',
    CANVAS_SECONDS: '2',
    PAYMENT_CHECK_SECONDS: '2',
  },
});
try {
  const strangers = (Object.keys(weathers) as Weather[]).flatMap((weather) =>
    ['Pixel 7', 'iPhone 14'].map((device) => () => live(server, device, weather, sound)),
  );
  const lived = await Promise.allSettled(strangers.slice(0, phones).map((each) => each()));
  for (const each of lived)
    if (each.status === 'rejected')
      problems.push(`ended early: ${String(each.reason).slice(0, 400)}`);
} finally {
  await server.stop();
  await end();
}
console.log(problems.length === 0 ? 'nothing lost, doubled or waited for' : problems.join('\n'));
process.exit(problems.length === 0 ? 0 : 1);
