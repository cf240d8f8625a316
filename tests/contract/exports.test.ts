import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requestOf, TestClient } from '../support/client.ts';
import { exported, exportEvents, pdfText } from '../support/exports.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { onePixel } from '../support/world.ts';

/** Somebody's pictures on the web; what was asked of them. */
let elsewhere: Server;
let host: string;
const asked: string[] = [];
let server: TestServer;
let database: pg.Client;
let author: TestClient;
let session: { id: number; uuid: string };
beforeAll(async () => {
  elsewhere = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(200, { 'content-type': 'image/png' });
    response.end(onePixel);
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', () => resolve()));
  host = `127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
  server = await startServer({ env: { FETCH_ALLOWED: host } });
  database = new pg.Client({ connectionString: server.databaseUrl });
  await database.connect();
  author = await TestClient.register(server.baseURL);
  session = await author.call('newSession', { type: 0, private: 1 });
  await database.query('UPDATE sessions SET prompt = $2 WHERE id = $1', [
    session.id,
    '牛郎/织女：“一次”谈话',
  ]);
});
afterAll(async () => {
  await database.end();
  await server.stop();
  elsewhere.close();
});

const answer = `# 天河的**宽度**

银河横跨夜空，看[这里](https://example.com/yinhe?a=1)与 \`ls -la 代码\`，还有 $E=mc^2$。

- 第一项
  1. 里层
- [x] 做完了

> 引用的话

| 星 | 距离 |
|---|---:|
| 织女一 | 25 光年 |

\`\`\`python
print("你好，世界")  # 注释
\`\`\`

$$\\int_0^1 x\\,dx=\\frac12$$

![看不到的图](https://127.0.0.1:9/missing.png)

最后一句话 🎉。`;

interface Row {
  prev?: number;
  shown?: boolean;
  rank?: number;
  group?: number;
  place?: number;
  human: string;
  ai: string;
  request?: object;
}

const add = async (row: Row): Promise<number> => {
  const { rows } = await database.query<{ id: string }>(
    `INSERT INTO history (session_id, user_id, prev_id, shown, branch_rank, beside_group, place,
       human, ai, reasoning, parts, request, model, state, created_at, answered_at)
     SELECT $1, user_id, $2, $3, $4, $5, $6, $7, $8, '想一想', $9, $10, 'some-model', 'done',
       '2024-02-03T04:05:06Z', '2024-02-03T04:05:09Z' FROM sessions WHERE id = $1
     RETURNING id`,
    [
      session.id,
      row.prev ?? 0,
      row.shown ?? true,
      row.rank ?? 0,
      row.group ?? 0,
      row.place ?? 0,
      row.human,
      row.ai,
      JSON.stringify([3, row.ai.length]),
      row.request ? JSON.stringify(row.request) : null,
    ],
  );
  return Number(rows[0]?.id);
};

beforeAll(async () => {
  const first = await add({ human: '第一问：银河有多宽？', ai: answer });
  await add({ prev: first, shown: false, human: '藏起来的问', ai: '藏起来的答' });
  const pair = await add({
    prev: first,
    rank: 2,
    human: '第二问，带一个文件',
    ai: '并排的第一个答',
    request: {
      type: 'chat',
      images: [],
      image_detail: 'low',
      files: [{ uuid: randomUUID(), name: '笔记.txt', size: 12 }],
      at_user: null,
      at_ai: '',
    },
  });
  const partner = await add({
    prev: first,
    shown: false,
    place: 1,
    group: pair,
    human: '第二问，带一个文件',
    ai: '并排的第二个答',
  });
  await database.query('UPDATE history SET beside_group = $1 WHERE id IN ($1, $2)', [
    pair,
    partner,
  ]);
  await add({ prev: pair, human: '第三问', ai: '第三答 𠮷' });
});

test('a PDF holds real text in reading order, links, and names the picture that failed', async () => {
  const file = await exported(author, session.uuid, 'pdf');
  expect(file.headers.get('content-type')).toBe('application/pdf');
  expect(file.headers.get('x-content-type-options')).toBe('nosniff');
  expect(file.headers.get('content-disposition')).toMatch(/^attachment; filename="[^"]*\.pdf"; /);
  expect(decodeURIComponent(file.headers.get('content-disposition') ?? '')).toMatch(
    /filename\*=UTF-8''牛郎 织女：“一次”谈话 \d{4}-\d\d-\d\d\.pdf$/,
  );
  expect(file.failed).toEqual(['https://127.0.0.1:9/missing.png']);
  const progress = file.events.flatMap((event) => ('progress' in event ? [event.progress] : []));
  expect(progress).toEqual([...progress].sort((a, b) => a - b));
  expect(progress[0]).toBe(0);

  const { text, links } = await pdfText(file.data);
  const order = [
    '第一问：银河有多宽？',
    'some-model',
    '天河的宽度',
    '银河横跨夜空，看这里与ls-la代码',
    'E=mc^2',
    '第一项',
    '里层',
    '做完了',
    '引用的话',
    '织女一',
    '25光年',
    'print("你好，世界")#注释',
    '\\int_0^1',
    '看不到的图',
    'https://127.0.0.1:9/missing.png',
    '最后一句话',
    '第二问，带一个文件',
    '笔记.txt',
    '并排的第一个答',
    '并排的第二个答',
    '第三问',
    '第三答',
  ];
  let at = 0;
  for (const part of order) {
    const found = text.indexOf(part, at);
    expect(found, part).toBeGreaterThanOrEqual(at);
    at = found;
  }
  expect(text).not.toContain('藏起来');
  expect(links).toContain('https://example.com/yinhe?a=1');
});

/** A session of one exchange, by whichever model. */
const talkOf = async (ai: string, more: Record<string, unknown> = {}): Promise<string> => {
  const message = {
    id: 1,
    prev: 0,
    shown: true,
    human: '请看',
    ai,
    model: 'builtin-assistant',
    state: 'done',
    created_at: '2024-02-03T04:05:06Z',
    ...more,
  };
  const data = {
    queqiao: 1,
    sessions: [{ title: '一谈', model: 'builtin-assistant', messages: [message] }],
  };
  return (await author.call('importSessions', { data })).uuid ?? '';
};

test('no file asks another server for a picture: its owner would learn who reads, and the network lies open', async () => {
  const { image } = await author.upload(
    'uploadImage',
    new Blob([onePixel], { type: 'image/png' }),
    'a.png',
  );
  const foreign = `http://${host}/who-reads.png`;
  const secure = 'https://127.0.0.1:9/inside.png';
  const request = {
    type: 'chat-vision',
    images: [secure],
    image_detail: 'low',
    files: [],
    at_user: null,
    at_ai: '',
  };
  const uuid = await talkOf(
    `![甲](${foreign}) ![乙](${secure}) ![自己](${image.url}) ![全](${server.baseURL}${image.url})`,
    { request },
  );
  for (const format of ['pdf', 'markdown', 'json'] as const) {
    const { failed } = await exported(author, uuid, format);
    if (format === 'pdf') expect([...failed].sort()).toEqual([secure]);
  }
  expect(asked).toEqual([]);
  // What stands here is in it, whichever way it is named.
  const { data } = await exported(author, uuid, 'pdf');
  expect((await pdfText(data)).text).toContain('甲');
});

test('files tell times where their reader lives, and models by their names', async () => {
  const uuid = await talkOf('一句回答');
  for (const [time_zone, told] of [
    ['America/New_York', ['2024-02-02 23:05', '北美']],
    ['Asia/Shanghai', ['2024-02-03 12:05', '中国标准时间']],
    // Nothing named, or nonsense: the service is China's.
    ['', ['2024-02-03 12:05', '中国标准时间']],
    ['Mars/Base', ['2024-02-03 12:05', '中国标准时间']],
  ] as const) {
    const markdown = (await exported(author, uuid, 'markdown', { time_zone })).data.toString();
    const pdf = (await pdfText((await exported(author, uuid, 'pdf', { time_zone })).data)).text;
    for (const part of [...told, '内置助手']) {
      expect(markdown).toContain(part);
      expect(pdf).toContain(part.replaceAll(' ', ''));
    }
    expect(markdown + pdf).not.toContain('builtin-assistant');
  }
});

test('605 characters of nested groups stand in the files as their source', async () => {
  const nested = `${'x^{'.repeat(150)}x${'}'.repeat(150)}`.padEnd(605, 'y');
  const { uuid } = await author.call('importSessions', {
    data: {
      queqiao: 1,
      sessions: [
        {
          title: '深',
          messages: [
            {
              id: 1,
              prev: 0,
              shown: true,
              human: `问 $${nested}$`,
              ai: `前\n\n$$\n${nested}\n$$\n\n\\(${nested}\\)\n\n后面的话`,
              state: 'done',
              model: '',
            },
          ],
        },
      ],
    },
  });
  for (const format of ['pdf', 'markdown'] as const) {
    const { data } = await exported(author, uuid ?? '', format);
    const text = format === 'pdf' ? (await pdfText(data)).text : data.toString();
    expect(text.replaceAll(/\s/g, ''), format).toContain(nested);
    expect(text, format).toContain('后面的话');
  }
});

test('a diagram that the page has drawn stands in the PDF, instead of its source', async () => {
  const source = 'graph TD\n  A[出发] --> B[到达]';
  const uuid = await talkOf(`看图：\n\n\`\`\`mermaid\n${source}\n\`\`\`\n\n图后面的话。`);
  expect(await author.call('exportDiagrams', { session_id: uuid })).toEqual({ list: [source] });
  const stranger = await TestClient.register(server.baseURL);
  expect((await stranger.raw('exportDiagrams', { session_id: uuid })).code).toBe(1432);
  const image = `data:image/png;base64,${(
    await sharp({ create: { width: 400, height: 300, channels: 3, background: '#f00' } })
      .png()
      .toBuffer()
  ).toString('base64')}`;
  const without = await pdfText((await exported(author, uuid, 'pdf')).data);
  expect(without.text).toContain('graphTD');
  const diagrams = [{ source, image }];
  const drawn = await exported(author, uuid, 'pdf', { diagrams });
  const { text } = await pdfText(drawn.data);
  expect(text).not.toContain('graphTD');
  expect(text).toContain('图后面的话');
  expect(drawn.data.includes('/DCTDecode')).toBe(true);
  // What is no picture leaves the source; nothing is fetched for it.
  for (const wrong of [
    'https://127.0.0.1:9/a.png',
    `http://${host}/b.png`,
    'data:image/png;base64,x',
  ]) {
    const odd = await exported(author, uuid, 'pdf', { diagrams: [{ source, image: wrong }] });
    expect((await pdfText(odd.data)).text).toContain('graphTD');
    expect(odd.failed).toEqual([]);
  }
  expect(asked).toEqual([]);
});

test('Markdown holds the shown branch as it was written', async () => {
  const file = await exported(author, session.uuid, 'markdown');
  const text = file.data.toString();
  expect(file.name).toMatch(/\.md$/);
  expect(text).toContain(answer);
  expect(text).toContain('附件：笔记.txt');
  expect(text.indexOf('并排的第一个答')).toBeLessThan(text.indexOf('并排的第二个答'));
  expect(text).not.toContain('藏起来');
});

/** What an import must bring back; numbers are told by their place. */
const storedOf = async (sessionId: number) => {
  const { rows } = await database.query<Record<string, unknown> & { id: string }>(
    `SELECT id, prev_id, shown, branch_rank, beside_group, place, human, ai, reasoning, parts,
       request, title, model, state, created_at, answered_at FROM history
     WHERE session_id = $1 ORDER BY id`,
    [sessionId],
  );
  const place = new Map<unknown, number>(rows.map((row, at) => [row.id, at]));
  return rows.map((row) => ({
    ...row,
    id: place.get(row.id),
    prev_id: place.get(row['prev_id']) ?? -1,
    beside_group: place.get(row['beside_group']) ?? -1,
  }));
};

test('JSON comes in again without loss, private, and does not count for the month', async () => {
  const file = await exported(author, session.uuid, 'json');
  const reader = await TestClient.register(server.baseURL);
  const result = await reader.call('importSessions', { data: JSON.parse(file.data.toString()) });
  expect(result).toMatchObject({ sessions: 1, messages: 5, skipped: [] });
  const own = await reader.call('getSession', { uuid: result.uuid ?? '' });
  expect(own).toMatchObject({ prompt: '牛郎/织女：“一次”谈话', private: 1, owner: true });
  // An id of a file opens it for its owner alone; others keep its name.
  const withoutIds = (stored: unknown): unknown =>
    JSON.parse(
      JSON.stringify(stored).replace(
        /("uuid":")[0-9a-f-]{36}/g,
        '$100000000-0000-0000-0000-000000000000',
      ),
    );
  const expected = withoutIds(await storedOf(session.id));
  expect(JSON.parse(JSON.stringify(await storedOf(own.id)))).toEqual(expected);
  const { rows } = await database.query('SELECT imported FROM sessions WHERE id = $1', [own.id]);
  expect(rows).toEqual([{ imported: true }]);
  // Out and in once more, it is still the same.
  const again = await exported(reader, result.uuid ?? '', 'json');
  const twice = await reader.call('importSessions', { data: JSON.parse(again.data.toString()) });
  const third = await reader.call('getSession', { uuid: twice.uuid ?? '' });
  expect(JSON.parse(JSON.stringify(await storedOf(third.id)))).toEqual(expected);
});

test('a session of pictures comes in as a chat that shows them', async () => {
  const client = await TestClient.register(server.baseURL);
  const urls = ['/files/abc.png', 'javascript:alert(1)', '', 'https://example.com/b.png'];
  const messages = [
    {
      id: 1,
      prev: 0,
      shown: true,
      type: 1,
      human: '两座山',
      request: { type: 'txt2img', image: { n: 2 } },
      ai: JSON.stringify({ images: urls.map((url) => ({ url })) }),
      model: 'builtin-canvas',
      state: 'done',
    },
    { id: 2, prev: 1, shown: true, type: 1, human: '坏的', ai: '{', state: 'done' },
  ];
  const data = { queqiao: 1, sessions: [{ title: '画', type: 1, messages }] };
  const { uuid } = await client.call('importSessions', { data });
  const { list } = await client.call('historyList', { session_id: uuid ?? '' });
  expect(list.map(({ human, ai, format, type }) => [human, ai, format, type])).toEqual([
    ['两座山', '![第 1 张](/files/abc.png)\n\n![第 2 张](https://example.com/b.png)', 0, 0],
    ['坏的', '', 0, 0],
  ]);
});

test('only who may read a session exports it, and others never see hidden branches', async () => {
  const other = await TestClient.register(server.baseURL);
  const [refused] = await exportEvents(other, session.uuid, 'json');
  expect(refused).toMatchObject({ code: 1432 });
  await database.query('UPDATE sessions SET private = false WHERE id = $1', [session.id]);
  const file = await exported(other, session.uuid, 'json');
  expect(file.data.toString()).not.toContain('藏起来');
  expect(file.data.toString()).toContain('并排的第二个答');
  await database.query('UPDATE sessions SET private = true WHERE id = $1', [session.id]);
});

test('a file is gone after its hour, and an unknown key was never there', async () => {
  const file = await exported(author, session.uuid, 'markdown');
  const get = async (key: string) =>
    (await fetch(`${server.baseURL}/api/export_file?key=${key}`)).status;
  expect(await get(file.key)).toBe(200);
  await database.query(`UPDATE downloads SET expires_at = now() - interval '1 second'`);
  expect(await get(file.key)).toBe(404);
  expect(await get('x'.repeat(40))).toBe(404);
});

test('a reader who leaves ends the work: the next PDF does not wait for it', async () => {
  const long = Array.from({ length: 3_000 }, (_, at) => `第 ${at} 段，$x_{${at}}$ 很长的文字。`);
  const { uuid, id } = await author.call('newSession', { type: 0, private: 1 });
  for (let at = 0; at < 20; at++)
    await database.query(
      `INSERT INTO history (session_id, user_id, human, ai, model, state)
       SELECT id, user_id, 'q', $2, 'm', 'done' FROM sessions WHERE id = $1`,
      [id, long.join('\n\n')],
    );
  const { url } = requestOf('exportSession', { session_id: uuid, format: 'pdf' });
  for (let at = 0; at < 2; at++) {
    const leave = new AbortController();
    const response = await fetch(server.baseURL + url, {
      headers: author.headers(),
      signal: leave.signal,
    });
    await response.body?.getReader().read();
    await sleep(300);
    leave.abort();
  }
  const started = performance.now();
  await exported(author, session.uuid, 'pdf');
  expect(performance.now() - started).toBeLessThan(10_000);
});

test('many files at once are made one after the other, and so many bytes in an hour', async () => {
  const small = await startServer({ env: { FILE_QUOTA_MB: '4' } });
  const own = new pg.Client({ connectionString: small.databaseUrl });
  await own.connect();
  try {
    const person = await TestClient.register(small.baseURL);
    const { id, uuid } = await person.call('newSession', { type: 0 });
    const { id: userId } = await person.call('userInfo', {});
    await own.query(
      `INSERT INTO history (session_id, user_id, human, ai, model, state)
       VALUES ($1, $2, $3, 'done', '', 'done')`,
      [id, userId, 'long '.repeat(140_000)],
    );
    const ended = async (client: TestClient) => {
      const events = await Promise.all(
        Array.from({ length: 5 }, () => exportEvents(client, uuid, 'json')),
      );
      return events.map((each) => each.at(-1) ?? { progress: 0 });
    };
    const made = await ended(person);
    expect(made.filter((last) => 'key' in last)).toHaveLength(2);
    expect(made.filter((last) => 'code' in last && last.code === '429')).toHaveLength(3);
    // It is one's own hour that is over.
    await person.call('setSession', { session_id: uuid, private: 0 });
    const [first] = await ended(await TestClient.register(small.baseURL));
    expect(first).toHaveProperty('key');
    // Visitors have a quarter, and what is refused is not made at all.
    const files = async () => (await own.query('SELECT FROM downloads')).rows.length;
    const before = await files();
    const [refused] = await ended(new TestClient(small.baseURL));
    expect(refused).toMatchObject({ code: '429' });
    expect(await files()).toBe(before);
  } finally {
    await own.end();
    await small.stop();
  }
});
