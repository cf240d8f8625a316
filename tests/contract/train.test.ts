import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { strToU8, unzipSync, zipSync } from 'fflate';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codes } from '#contract/errors.ts';
import { trainLimits } from '#contract/train-limits.ts';
import { type MockTraining, startMockTraining } from '../support/mock-training.ts';
import { apiUser, onDatabase } from '../support/api-user.ts';
import { readDocxLabel } from '#server/labels/docx.ts';
import { readTextLabel } from '#server/labels/text.ts';
import { TestClient } from '../support/client.ts';
import { followJobs } from '../support/images.ts';
import { docOf, docxOf, packedAs, pdfOf, rarOf, scanOf, wordXml } from '../support/sample-files.ts';
import { ADMIN_PASSWORD, startServer, type TestServer } from '../support/server.ts';

let service: MockTraining;
let plain: TestServer;
let server: TestServer;
let person: TestClient;
let owner: TestClient;
let stranger: TestClient;

/** Takes connections, and says nothing. */
const silent = createServer(() => undefined);
let silentHost: string;

beforeAll(async () => {
  service = await startMockTraining();
  await new Promise<void>((resolve) => {
    silent.listen(0, '127.0.0.1', resolve);
  });
  silentHost = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
  // One server without any service, and one with all of them.
  [plain, server] = await Promise.all([
    startServer({
      env: { ASSISTANT_RATE: '0', CANVAS_SECONDS: '0', FETCH_ALLOWED: silentHost },
    }),
    startServer({
      env: {
        ASSISTANT_RATE: '0',
        CANVAS_SECONDS: '0',
        OPENAI_BASE_URL: `${service.url}/v1`,
        OPENAI_API_KEY: 'key',
        REPLICATE_BASE_URL: `${service.url}/replicate`,
        REPLICATE_API_TOKEN: 'r8_test',
        REPLICATE_TRAINER: 'ostris/trainer:abc123',
        REPLICATE_DESTINATION: 'me/style',
        SIGNUP_TOKENS: '1000000',
      },
    }),
  ]);
  person = await TestClient.register(plain.baseURL);
  stranger = await TestClient.register(plain.baseURL);
  owner = await TestClient.register(server.baseURL);
});
afterAll(async () => {
  await plain.stop();
  await server.stop();
  await service.stop();
  silent.closeAllConnections();
  silent.close();
});

/** As a client writes it that knows the specification alone: a token, paths, and fields in a form. */
interface Answer {
  code: number;
  message: string;
  data: Record<string, unknown> & { list?: Record<string, unknown>[] };
}
const get = async (client: TestClient, path: string): Promise<Answer> =>
  (await fetch(`${client.baseURL}/api/${path}`, { headers: client.headers() })).json() as never;
const post = async (client: TestClient, path: string, body: unknown): Promise<Answer> =>
  (
    await fetch(`${client.baseURL}/api/${path}`, {
      method: 'POST',
      headers: { ...client.headers(), 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  ).json() as never;
const send = async (
  client: TestClient,
  name: string,
  data: string | Uint8Array,
  modelId?: number,
): Promise<Answer> => {
  const form = new FormData();
  if (modelId !== undefined) form.set('model_id', String(modelId));
  form.set('file', new Blob([typeof data === 'string' ? data : Buffer.from(data)]), name);
  return (
    await fetch(`${client.baseURL}/api/train/upload_file`, {
      method: 'POST',
      headers: client.headers(),
      body: form,
    })
  ).json() as never;
};

const filesOf = async (client: TestClient, modelId: number) =>
  (await get(client, `train/file_list?model_id=${modelId}&page=1&page_size=256`)).data.list as {
    id: number;
    name: string;
    status: number;
    error: string;
    token: number;
    output_url: string;
    updated_at: string;
  }[];

const settled = async (client: TestClient, modelId: number) => {
  for (let tries = 0; tries < 900; tries += 1) {
    const files = await filesOf(client, modelId);
    if (files.length > 0 && files.every(({ status }) => status !== 0)) return files;
    await sleep(200);
  }
  throw new Error('the training does not end');
};

let keys = 0;
const make = async (client: TestClient, type: number, settings: unknown = {}) => {
  keys += 1;
  const { code, message, data } = await post(client, 'train/new_model', {
    name: '我的资料',
    key: `key_${keys}`,
    type,
    desc: '试一试',
    settings: JSON.stringify(settings),
  });
  expect([code, message]).toEqual([0, '']);
  return data['model'] as { id: number; key: string; private: number; status: number };
};

test('a client of the specification makes a knowledge base, follows its log, and asks it', async () => {
  for (const [body, words] of [
    [{ name: '', key: 'abc', type: 0 }, '请输入模型名称'],
    [{ name: '资料', key: '', type: 0 }, '请输入模型唯一Key'],
    [{ name: '资料', key: '有-横线', type: 0 }, '字母'],
  ] as const)
    expect((await post(person, 'train/new_model', body)).message).toContain(words);
  // Without a key it is made from the name; another one of the same name has another.
  const named = () => person.call('newTrainModel', { name: '我的笔记 2', type: 0 });
  const [one, two] = [(await named()).model, (await named()).model];
  expect([one.key, two.key]).toEqual([
    'wo_de_bi_ji_2',
    expect.stringMatching(/^wo_de_bi_ji_2_\w{6}$/),
  ]);
  for (const { id } of [one, two]) await person.call('delTrainModel', { id });
  const model = await make(person, 0, { separator: '', chunk_size: 200 });
  expect(model).toMatchObject({ private: 1, status: 0 });
  const again = await post(person, 'train/new_model', {
    name: '又一个',
    key: model.key.toUpperCase(),
    type: 0,
  });
  expect(again.code).toBeGreaterThan(0);

  const moon =
    '# 诗\n\n## 静夜思\n\n床前明月光，疑是地上霜。\n\n## 登鹳雀楼\n\n白日依山尽，黄河入海流。欲穷千里目，更上一层楼。\n';
  const kept = await send(person, '唐诗.md', moon, model.id);
  expect(kept.message).toBe('');
  expect(kept.data).toMatchObject({
    message: '文件上传成功，正在训练······',
    file: { name: '唐诗.md', status: 0 },
  });
  const [file] = await settled(person, model.id);
  expect(file).toMatchObject({ status: 1, token: 0 });
  const log = await get(person, `train/log?file_id=${file?.id}&end_id=0`);
  expect(log.data['status']).toBe(1);
  const lines = log.data.list as { id: number; content: string; created_at: string }[];
  expect(lines.at(-1)?.content).toContain('训练完成');
  const rest = await get(person, `train/log?file_id=${file?.id}&end_id=${lines.at(-2)?.id}`);
  expect(rest.data.list?.map(({ id }) => id)).toEqual([lines.at(-1)?.id]);

  const list = await get(person, 'train/model_list?page=1&public=0&query=');
  expect(list.data.list?.[0]).toMatchObject({ key: model.key, type: 0, status: 1, over_num: 1 });
  expect(JSON.parse(String(list.data.list?.[0]?.['settings']))).toMatchObject({ chunk_size: 200 });

  const tried = await person.call('askKnowledge', {
    embedding_key: model.key,
    question: '怎样才能看得更远，更上一层楼？',
  });
  expect(tried.list[0]).toMatchObject({ title: '唐诗.md · 诗 › 登鹳雀楼', used: true });
  const passage = await person.call('knowledgePassage', { id: tried.list[0]?.id ?? 0 });
  expect(passage).toMatchObject({ file: '唐诗.md', before: expect.stringContaining('床前') });

  const session = await person.call('newSession', { type: 0, embedding: model.key });
  const detail = await person.call('getSession', { uuid: session.uuid });
  expect(detail).toMatchObject({ embedding_key: model.key, embedding_name: '我的资料' });

  // To others it is as if it were not there, until it is opened.
  for (const path of [
    `train/file_list?model_id=${model.id}`,
    `train/log?file_id=${file?.id}`,
    `train/passage?id=${tried.list[0]?.id}`,
    `train/model?model_id=${model.id}`,
  ])
    expect((await get(stranger, path)).code, path).toBe(404);
  for (const [path, body] of [
    ['train/del_model', { id: model.id }],
    ['train/set_model', { model_id: model.id, private: 0 }],
    ['train/retry', { fileId: file?.id }],
    ['train/del_file', { file_id: file?.id }],
  ] as const)
    expect((await post(stranger, path, body)).code, path).toBe(404);
  expect((await send(stranger, 'a.txt', '文字', model.id)).code).toBe(404);
  expect((await get(stranger, `train/ask?embedding_key=${model.key}&question=月`)).code).toBe(1415);
  await post(person, 'train/set_model', { model_id: model.id, private: 0 });
  expect((await get(stranger, 'train/model_list?page=1&public=1')).data.list).toHaveLength(1);
  const asked = await stranger.call('askKnowledge', {
    embedding_key: model.key,
    question: '疑是地上霜',
  });
  expect(asked.list[0]?.title).toContain('静夜思');

  // What is taken out of it is found no more; what is added is.
  await send(person, '词.txt', '大江东去，浪淘尽，千古风流人物。', model.id);
  await settled(person, model.id);
  await post(person, 'train/del_file', { file_id: file?.id });
  const after = await person.call('askKnowledge', {
    embedding_key: model.key,
    question: '疑是地上霜，浪淘尽千古风流人物',
  });
  expect(after.list.map(({ title }) => title)).toEqual(['词.txt']);
  // By the name of a model its owner alone means it.
  await person.call('setTrainModel', { model_id: model.id, private: 0 });
  const asModel = (client: TestClient) => client.raw('newSession', { type: 0, model: model.key });
  expect([(await asModel(person)).code, (await asModel(stranger)).code !== 0]).toEqual([0, true]);
  await post(person, 'train/del_model', { id: model.id });
  // Sessions still name it: nobody else is asked in its place.
  const taken = (client: TestClient) =>
    post(client, 'train/new_model', { name: '顶替', key: model.key.toUpperCase(), type: 0 });
  expect((await taken(stranger)).message).toMatch(/key/i);
  const anew = await taken(person);
  expect(anew.code).toBe(0);
  await person.call('delTrainModel', { id: (anew.data['model'] as { id: number }).id });
  expect((await get(person, `train/model?model_id=${model.id}`)).code).toBe(404);
});

test('of bases that are made at once there are no more than somebody may have', async () => {
  const hasty = await TestClient.register(plain.baseURL);
  const made = await Promise.all(
    Array.from({ length: 60 }, (_, at) =>
      hasty.raw('newTrainModel', { name: `第 ${at} 个`, key: `hasty_${at}`, type: 0 }),
    ),
  );
  expect(made.filter(({ code }) => code === 0)).toHaveLength(50);
});

test('whoever tries keys finds out few that others have', async () => {
  const [owner, seeker] = [
    await TestClient.register(plain.baseURL),
    await TestClient.register(plain.baseURL),
  ];
  const key = 'night_shift_7';
  await owner.call('newTrainModel', { name: '排班', key, type: 0, private: 1 });
  const begin = (name: string, more: { key?: string } = {}) =>
    seeker.raw<{ model: { key: string } }>('newTrainModel', { name, type: 0, ...more });
  const given = async (name: string) => (await begin(name)).data.model.key;
  // A name that leads to the same key tells as much.
  expect(await given('Night Shift 7')).toMatch(/^night_shift_7_\w{6}$/);
  for (let found = 1; found <= trainLimits.keysFound; found += 1)
    expect((await begin('试', { key })).code).toBe(1471);
  // No more that day, whether it is somebody's or not; a name alone has a key of its own at once.
  for (const tried of [key, 'nobody_has_this']) {
    const refused = await begin('试', { key: tried });
    expect([refused.status, refused.message]).toEqual([429, expect.stringContaining('Key')]);
  }
  expect([await given('Free Name'), await given('Night Shift 7')]).toEqual([
    expect.stringMatching(/^free_name_\w{6}$/),
    expect.stringMatching(/^night_shift_7_\w{6}$/),
  ]);
});

test('a file that came in part is refused where its size is told', async () => {
  const model = await make(person, 0);
  const whole = Buffer.from('一二三四五六七八九十。');
  const send = async (size: number) => {
    const form = new FormData();
    form.set('file', new Blob([whole]), '数.txt');
    const query = `model_id=${model.id}&size=${size}`;
    const answer = await fetch(`${person.baseURL}/api/train/upload_file?${query}`, {
      method: 'POST',
      headers: person.headers(),
      body: form,
    });
    return (await answer.json()) as Answer;
  };
  // Said in people's words, with the name that programs know.
  expect((await send(0)).message).toContain('大小（size）');
  expect((await send(whole.length + 1)).message).toContain('没有传完');
  expect((await send(whole.length)).data).toMatchObject({ file: { name: '数.txt' } });
  expect(await settled(person, model.id)).toMatchObject([{ status: 1 }]);
});

test('passages of documents tell their page and heading, by the long name of the chunk size too', async () => {
  const model = await make(person, 0, { separator: '', max_chunk_size: 300 });
  const shown = await person.call('trainModel', { model_id: model.id });
  expect(JSON.parse(shown.model.settings)).toMatchObject({ chunk_size: 300 });
  const heading =
    '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>潮汐</w:t></w:r></w:p>';
  const word = wordXml(['月亮引起潮汐，一天两次。']).replace('<w:body>', `<w:body>${heading}`);
  await send(person, '海.docx', docxOf(word), model.id);
  await send(person, '书.pdf', await pdfOf(['第一页讲山。', '骆驼能走七天不喝水。']), model.id);
  await send(person, '旧.doc', docOf('蝉在地下住十七年。\r然后才出来。\r'), model.id);
  await send(person, '照片.jpg', await scanOf('鲸鱼每年南迁\n路上吃磷虾'), model.id);
  const files = await settled(person, model.id);
  expect(files.map(({ status, error }) => [status, error])).toEqual(files.map(() => [1, '']));
  for (const [question, title] of [
    ['潮汐一天几次', '海.docx · 潮汐'],
    ['骆驼能走几天', '书.pdf · 第 2 页'],
    ['蝉在地下住几年', '旧.doc'],
    ['鲸鱼每年往哪迁', '照片.jpg'],
  ] as const) {
    const { list } = await person.call('askKnowledge', { embedding_key: model.key, question });
    expect(list[0]?.title).toBe(title);
  }

  // The page itself can be looked at, with where its words stand.
  const ask = { embedding_key: model.key, question: '骆驼能走几天' };
  const id = (await person.call('askKnowledge', ask)).list[0]?.id ?? 0;
  const told = await person.call('knowledgePassage', { id });
  expect(told).toMatchObject({ stands: { page: 2 }, drawn: id });
  const drawn = await person.call('passagePage', { id });
  expect(drawn.picture).toMatch(/^data:image\/webp;base64,UklGR/);
  expect(drawn.lines).toMatchObject([{ text: '骆驼能走七天不喝水。' }]);
  expect(drawn.height / drawn.width).toBeCloseTo(792 / 612, 1);
  for (const share of [drawn.lines[0]!.x, drawn.lines[0]!.y]) expect(share).toBeLessThan(0.5);
  // Of a scanned one, too: its lines, on a picture that is turned level.
  const seen = await person.call('askKnowledge', { ...ask, question: '鲸鱼每年往哪迁' });
  const scan = await person.call('passagePage', { id: seen.list[0]?.id ?? 0 });
  expect(scan.lines.map(({ text }) => text)).toEqual(['鲸鱼每年南迁', '路上吃磷虾']);
  expect(Math.abs(scan.lines[0]!.x - scan.lines[1]!.x)).toBeLessThan(0.01);

  // To others it is as its base. What its owner switched off or deleted stands there still.
  await expect(stranger.call('passagePage', { id })).rejects.toThrow('404');
  await person.call('setTrainModel', { model_id: model.id, private: 0 });
  expect((await stranger.call('passagePage', { id })).lines).toEqual(drawn.lines);
  const book = files.find(({ name }) => name === '书.pdf')!;
  const { list: kept } = await person.call('passageList', { file_id: book.id });
  const other = kept.find((each) => each.id !== id)!;
  const beside = async () => (await stranger.call('knowledgePassage', { id })).before;
  expect(await beside()).toBe('第一页讲山。');
  await person.call('savePassage', { id: other.id, off: true });
  expect(await beside()).toBe('');
  await person.call('delPassage', { id: other.id });
  expect((await stranger.call('knowledgePassage', { id })).drawn).toBe(0);
  await expect(stranger.call('passagePage', { id })).rejects.toThrow('404');
  expect((await person.call('passagePage', { id })).lines).toEqual(drawn.lines);
});

test(
  'archives are opened, and hostile ones harm nothing and say why',
  { timeout: 240_000 },
  async () => {
    const model = await make(person, 0);
    const inside = zipSync({ '内.txt': strToU8('最里面的一层说：芝麻开门。') });
    const good = zipSync({
      'a.txt': strToU8('第一篇讲麦子。'),
      'b/c.md': strToU8('# 稻子\n\n第二篇讲稻子。'),
      '../../../tmp/queqiao-was-here.txt': strToU8('第三篇讲爬出去的人。'),
      'd.exe': strToU8('MZ'),
      'e.zip': inside,
    });
    await send(person, '好.zip', good, model.id);
    await send(person, '谷.txt.gz', gzipSync(strToU8('谷子的事也在这里。')), model.id);
    await send(person, '豆.rar', rarOf({ '豆.txt': '豆子装在 rar 里。' }), model.id);
    await send(
      person,
      '瓜.7z',
      await packedAs('7z', { '瓜.md': '# 瓜\n\n瓜装在 7z 里。' }),
      model.id,
    );
    await send(person, '藕.txt.xz', await packedAs('xz', { '藕.txt': '藕装在 xz 里。' }), model.id);
    const files = await settled(person, model.id);
    const states = Object.fromEntries(files.map(({ name, status }) => [name, status]));
    expect(states).toMatchObject({
      '好.zip': 3,
      'a.txt': 1,
      'c.md': 1,
      'queqiao-was-here.txt': 1,
      'e.zip': 3,
      '内.txt': 1,
      '谷.txt.gz': 3,
      '豆.rar': 3,
      '豆.txt': 1,
      '瓜.7z': 3,
      '瓜.md': 1,
      '藕.txt.xz': 3,
      '藕.txt': 1,
    });
    for (const question of ['豆子装在哪里', '瓜装在哪里', '藕装在哪里', '谷子的事']) {
      const { list } = await person.call('askKnowledge', { embedding_key: model.key, question });
      expect(list[0]?.text, question).toContain(question.slice(0, 1));
    }
    expect(Object.keys(states)).not.toContain('d.exe');

    const many: Record<string, Uint8Array> = {};
    for (let at = 0; at < 10_000; at += 1) many[`${at}.txt`] = strToU8('a');
    const locked = readFileSync(new URL('../support/locked.zip', import.meta.url));
    const bombs: [string, string, Uint8Array, RegExp][] = [
      ['bomb', '大.zip', zipSync({ 'a.txt': new Uint8Array(60e6) }, { level: 1 }), /太大/],
      [
        'many bombs',
        '多.zip',
        zipSync(
          Object.fromEntries(
            Array.from({ length: 30 }, (_, at) => [`${at}.txt`, new Uint8Array(3.9e6)]),
          ),
          { level: 1 },
        ),
        /太大/,
      ],
      ['gz bomb', '大.gz', gzipSync(new Uint8Array(300e6)), /太大|太复杂/],
      ['10,000 entries', '万.zip', zipSync(many, { level: 0 }), /太多/],
      ['broken', '坏.zip', good.slice(0, good.length / 2), /损坏|无法/],
      ['locked', '锁.zip', locked, /密码/],
      [
        'locked with its names',
        '锁.7z',
        await packedAs('7z', { '秘.md': '秘' }, ['-psecret', '-mhe=on']),
        /密码/,
      ],
      ['nothing at all', '无.zip', zipSync({}), /没有可以学习/],
      ['nothing to learn', '空.zip', zipSync({ 'a.exe': strToU8('MZ') }), /没有可以学习/],
      [
        'deep',
        '深.zip',
        zipSync({ 'a.zip': zipSync({ 'b.zip': zipSync({ 'c.zip': inside }) }) }),
        /太多层/,
      ],
      [
        'broken docx',
        '坏.docx',
        zipSync({ 'word/document.xml': strToU8('<w:p>') }),
        /没有文字|损坏/,
      ],
      ['broken pdf', '坏.pdf', strToU8('%PDF-1.7 nothing'), /损坏|无法/],
      [
        'a Word file that is none',
        '坏.doc',
        Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(3000)]),
        /损坏|没有文字/,
      ],
      ['empty letters', '白.txt', strToU8('  \n '), /没有文字/],
    ];
    const base = await make(person, 0);
    for (const [, name, data] of bombs) await send(person, name, data, base.id);
    const ends = await settled(person, base.id);
    const failed = new Map(
      ends.filter(({ status }) => status === 2).map((file) => [file.name, file.error]),
    );
    for (const [what, name, , why] of bombs)
      if (what === 'deep') expect([...failed.values()].join(), what).toMatch(why);
      else expect(failed.get(name), what).toMatch(why);
    expect((await send(person, '像.pdf', good, base.id)).message).toContain('与它的扩展名不符');
    for (const [name, data] of [
      ['a.exe', strToU8('MZ')],
      ['没有名字', strToU8('文字')],
    ] as const)
      expect((await send(person, name, data, base.id)).message, name).toMatch(
        /^上传文件只能是文本格式!可以是 txt、md、docx/,
      );
    for (const more of [1, 5 * 1024 * 1024])
      expect(
        (await send(person, '大.txt', Buffer.alloc(4 * 1024 * 1024 + more, 'a'), base.id)).message,
      ).toBe('上传文件大小不能超过 4MB!');
    const retried = await post(person, 'train/retry', {
      fileId: ends.find(({ status }) => status === 2)?.id,
    });
    expect(retried.data['message']).toBe('正在重置');
    await settled(person, base.id);
  },
);

test('a connected service embeds for 0.05 a token, and the question is found by meaning', async () => {
  const before = (await owner.call('userInfo', {})).chatgpt_balance;
  const model = await make(owner, 0);
  const text = '月亮上没有风。'.repeat(40);
  await send(owner, '月.txt', text, model.id);
  const [file] = await settled(owner, model.id);
  expect(file?.status, file?.error).toBe(1);
  expect(service.embedded.join('')).toContain('月亮上没有风');
  const spent = before - (await owner.call('userInfo', {})).chatgpt_balance;
  expect(spent).toBe(file?.token);
  expect(spent).toBe(Math.ceil(text.length * 0.05));
  const { list } = await owner.call('askKnowledge', { embedding_key: model.key, question: '月亮' });
  expect(list[0]?.vector_rank).toBe(1);

  // A reranker of the same service has the last word; where it does not answer, the order stays.
  await send(owner, '潮.txt', '潮水来自远方的牵引，与天上的那一个有关。', model.id);
  await settled(owner, model.id);
  const titles = async () =>
    (
      await owner.call('askKnowledge', { embedding_key: model.key, question: '月亮上的风' })
    ).list.map(({ title }) => title);
  expect(await titles()).toEqual(['月.txt', '潮.txt']);
  service.prefers = '牵引';
  expect(await titles()).toEqual(['潮.txt', '月.txt']);
  service.prefers = '';
  expect(await titles()).toEqual(['月.txt', '潮.txt']);
});

test('of a free model a service of vectors is asked so often in a day, then words alone find it', async () => {
  const asker = await apiUser(server);
  const { person: client, userId } = asker;
  // The bound of a day is used up, as another process counted it.
  const key = createHash('sha256').update(`questions tried ${userId}`).digest('base64url');
  await onDatabase(
    server,
    `INSERT INTO shared_counts (key, points, ends) VALUES ($1, 2000, now() + interval '1 hour')`,
    [key.slice(0, 22)],
  );
  const model = await make(client, 0);
  await send(client, '月.txt', '月亮上没有风。'.repeat(40), model.id);
  await settled(client, model.id);
  const ask = async (name: string, question: string) => {
    const session = { type: 0, model: name, embeddings: [model.key] };
    const { uuid } = await client.call('newSession', session);
    const sent = await client.call('sendMessage', { session_id: uuid, msg: question });
    await client.read(uuid, sent.id);
    return (await client.call('historyList', { session_id: uuid })).list[0];
  };
  const program = (name: string, question: string) =>
    fetch(`${server.baseURL}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${asker.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: name,
        embedding: model.key,
        messages: [{ role: 'user', content: question }],
      }),
    });
  const embedded = (question: string) => service.embedded.includes(question);
  const found = await ask('builtin-assistant', '月亮上有没有风，一');
  expect(found?.sources?.length).toBeGreaterThan(0);
  expect(embedded('月亮上有没有风，一')).toBe(false);
  expect((await program('builtin-assistant', '月亮上有没有风，二')).status).toBe(200);
  expect(embedded('月亮上有没有风，二')).toBe(false);
  await client.call('askKnowledge', { embedding_key: model.key, question: '月亮上有没有风，三' });
  expect(embedded('月亮上有没有风，三')).toBe(false);
  await ask('gpt-4o-mini', '月亮上有没有风，四');
  expect(embedded('月亮上有没有风，四')).toBe(true);
});

test('a document is translated sentence by sentence, corrected, and packed', async () => {
  const model = await make(owner, 2, {
    type: 1,
    glossary: [{ source: 'Magpie Bridge', target: '鹊桥' }],
  });
  const markdown = [
    '# The Magpie Bridge',
    '',
    'Read [the guide](https://a.example/x) and run `npm start`.',
    '',
    '```js',
    'const a = 1;',
    '```',
    '',
    '| Name | Age |',
    '|---|---|',
    '| Mary | 12 |',
    '',
    '![pic](a.png)',
  ].join('\n');
  // Without model_id it goes to the newest project of documents, as the specification's client sends it.
  await send(owner, 'guide.md', markdown);
  await send(
    owner,
    'film.srt',
    '1\n00:00:01,000 --> 00:00:02,000\nHello there\n\n2\n00:00:03,000 --> 00:00:04,000\nRead on\n',
    model.id,
  );
  await send(
    owner,
    'page.html',
    '<html><body><h1>Hello</h1><p>A <b>bold</b> word<br>next</p><script>let x = "no"</script></body></html>',
    model.id,
  );
  const files = await settled(owner, model.id);
  expect(files.map(({ status, error }) => [status, error])).toEqual([
    [1, ''],
    [1, ''],
    [1, ''],
  ]);
  const guide = files.find(({ name }) => name === 'guide.md');
  const translated = await (await fetch(owner.baseURL + guide?.output_url)).text();
  expect(translated).toContain('# 译：The Magpie Bridge');
  expect(translated).toContain('[the guide](https://a.example/x)');
  expect(translated).toContain('`npm start`');
  expect(translated).toContain('```js\nconst a = 1;\n```');
  expect(translated).toContain('| 译：Mary | 12 |');
  expect(translated).toContain('![pic](a.png)');
  const page = files.find(({ name }) => name === 'page.html');
  const html = await (await fetch(owner.baseURL + page?.output_url)).text();
  expect(html).toContain('<h1>译：Hello</h1>');
  expect(html).toContain('<script>let x = "no"</script>');
  expect(html).toContain('<b>bold</b>');
  for (const text of [translated, html]) expect(readTextLabel(text)).toMatchObject({ Label: '1' });

  const sides = await owner.call('segmentList', { file_id: guide?.id ?? 0 });
  const first = sides.list.find(({ source }) => source.includes('Magpie'));
  await owner.call('saveSegment', { id: first?.id ?? 0, target: '鹊桥' });
  const another = await TestClient.register(owner.baseURL);
  expect((await another.raw('segmentList', { file_id: guide?.id ?? 0 })).status).toBe(404);
  const packed = await get(owner, `train/pack_model?model_id=${model.id}`);
  expect(packed.data).toMatchObject({ model: { type: 3, status: 3 } });
  const zip = await (await fetch(owner.baseURL + String(packed.data['url']))).arrayBuffer();
  const parts = unzipSync(new Uint8Array(zip));
  expect(Object.keys(parts).sort()).toEqual(['film.srt', 'guide.md', 'page.html']);
  expect(Buffer.from(parts['guide.md'] ?? []).toString()).toContain('# 鹊桥');
  expect(Buffer.from(parts['film.srt'] ?? []).toString()).toContain(
    '00:00:01,000 --> 00:00:02,000\n译：Hello there',
  );
  const project = await get(owner, 'train/translate_model?page=1&public=0&query=');
  expect(project.data.list?.[0]).toMatchObject({ id: model.id, type: 3 });

  // A package counts as its owner's, and takes the place of the one before.
  const other = await make(owner, 2);
  const sizes = (bytes: number) =>
    onDatabase(server, 'UPDATE training_projects SET artifact_size = $2 WHERE id = $1', [
      other.id,
      bytes,
    ]);
  await sizes(2 ** 30);
  const again = () => get(owner, `train/pack_model?model_id=${model.id}`);
  expect((await again()).code).toBe(codes.file_quota.code);
  await sizes(0);
  const anew = await again();
  expect(anew.code).toBe(0);
  const status = async ({ data }: Answer) =>
    (await fetch(owner.baseURL + String(data['url']))).status;
  expect([await status(packed), await status(anew)]).toEqual([404, 200]);
});

test('what is only kept says its price and its language, and is begun by its owner alone', async () => {
  const model = await make(owner, 2, { type: 1 });
  const form = new FormData();
  form.set('file', new Blob(['鹊桥是一座桥，通向许多模型。\n它在手机上也能用。']), '信.txt');
  const kept = await fetch(`${owner.baseURL}/api/train/upload_file?model_id=${model.id}&start=0`, {
    method: 'POST',
    headers: owner.headers(),
    body: form,
  });
  expect((await kept.json()) as Answer).toMatchObject({
    data: { file: { waiting: true }, message: '文件上传成功' },
  });
  const quote = () => owner.call('trainQuote', { model_id: model.id });
  // Nothing English is in it: it costs nothing this way, and asks for the other.
  expect(await quote()).toMatchObject({ files: 1, tokens: 0, direction: 2 });
  await owner.call('setTrainModel', { model_id: model.id, settings: { type: 2 } });
  const told = await quote();
  expect(told).toMatchObject({ files: 1, archives: 0, direction: 0 });
  const before = await owner.call('trainModel', { model_id: model.id });
  expect(before.model).toMatchObject({ job: null, waiting_num: 1, token: 0 });
  const other = await TestClient.register(server.baseURL);
  for (const name of ['trainQuote', 'startTraining'] as const)
    expect((await other.raw(name, { model_id: model.id })).status, name).toBe(404);

  await owner.call('startTraining', { model_id: model.id });
  expect(await settled(owner, model.id)).toMatchObject([{ status: 1, waiting: false }]);
  const after = await owner.call('trainModel', { model_id: model.id });
  expect(after.model.token).toBeGreaterThan(0);
  expect(after.model.token).toBeLessThanOrEqual(told.tokens);
  expect((await owner.raw('startTraining', { model_id: model.id })).code).toBe(1472);
});

test('Word and PDF are translated in their place, in both languages where that is wanted', async () => {
  const model = await make(owner, 2, { type: 1 });
  const run = (text: string, mark = '') =>
    `<w:r>${mark}<w:t xml:space="preserve">${text}</w:t></w:r>`;
  const word = wordXml([]).replace(
    '<w:body>',
    `<w:body><w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr>${run('The tide')}</w:p><w:p>${run('Water is ')}${run('heavy', '<w:rPr><w:b/></w:rPr>')}</w:p><w:tbl><w:tr><w:tc><w:p>${run('Moon')}</w:p></w:tc><w:tc><w:p>${run('12')}</w:p></w:tc></w:tr></w:tbl>`,
  );
  await send(
    owner,
    'sea.docx',
    docxOf(word, { 'word/media/a.png': strToU8('a picture') }),
    model.id,
  );
  await send(owner, 'old.doc', docOf('Cicadas sleep.\r'), model.id);
  await send(owner, 'book.pdf', await pdfOf(['Camels walk far.', 'They drink little.']), model.id);
  const both = await make(owner, 2, { type: 1, bilingual: true });
  await send(owner, 'book.pdf', await pdfOf(['Camels walk far.']), both.id);
  const made = async (name: string, id = model.id) => {
    const files = await settled(owner, id);
    expect(files.map(({ status, error }) => [status, error])).toEqual(files.map(() => [1, '']));
    const url = files.find((file) => file.name === name)?.output_url ?? '';
    const answer = await fetch(owner.baseURL + url);
    expect(decodeURIComponent(answer.headers.get('content-disposition') ?? '')).toContain('.docx');
    const data = new Uint8Array(await answer.arrayBuffer());
    expect(readDocxLabel(data)).toMatchObject({ Label: '1' });
    const parts = unzipSync(data);
    return { parts, xml: Buffer.from(parts['word/document.xml'] ?? []).toString() };
  };
  const sea = await made('sea.docx');
  expect(sea.xml).toMatch(/Heading1.*译：The tide/);
  expect(sea.xml).toMatch(/>译：Water is <.*<w:b\/>.*>heavy</);
  expect(sea.xml).toMatch(/<w:tbl>.*译：Moon.*<w:t[^>]*>12<.*<\/w:tbl>/);
  expect(Buffer.from(sea.parts['word/media/a.png'] ?? []).toString()).toBe('a picture');
  expect((await made('old.doc')).xml).toContain('译：Cicadas sleep.');
  expect((await made('book.pdf')).xml).toMatch(/译：Camels walk far\..*译：They drink little\./);
  expect((await made('book.pdf', both.id)).xml).toMatch(/<w:t[^>]*>Camels walk far\..*译：Camels/);
});

test('programs ask a knowledge base by its key, and only those that are open to them', async () => {
  const { key, person: asker } = await apiUser(server);
  const model = await make(asker, 0, { model: 'built-in' });
  await send(asker, '天.txt', '天上有十二颗红色的星。', model.id);
  await settled(asker, model.id);
  const ask = async (key: string, path: string, more: object) => {
    const answer = await fetch(`${server.baseURL}/v1/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'gpt-4o-mini',
        messages: [{ role: 'user', content: '[1] 天上有几颗红色的星？' }],
        stream: true,
        ...more,
      }),
    });
    return { status: answer.status, text: await answer.text() };
  };
  const other = await apiUser(server);
  for (const path of ['chat', 'chat/completions']) {
    service.asked.length = 0;
    const { status, text } = await ask(key, path, { embedding: model.key, strict_mode: 1 });
    expect(status, text).toBe(200);
    const { messages, embedding } = service.asked.at(-1) ?? { messages: [] };
    expect(embedding).toBeUndefined();
    expect(messages).toHaveLength(2);
    expect(messages[0]).toMatchObject({ role: 'system' });
    expect(messages[0]?.content).toMatch(/只能依据.*十二颗红色的星/s);
    const refused = await ask(other.key, path, { embedding: model.key });
    expect(refused.status, refused.text).toBe(404);
    expect(refused.text).toContain('没有这个知识库');

    // Who asks for sources gets them, and only numbers that name one; nobody else sees any.
    const asked = [{ role: 'user', content: '红色的星有十二颗[1][7]，见 `a[7]` 与[9]' }];
    const told = '红色的星有十二颗[1]，见 `a[7]` 与';
    const sources = [
      { n: 1, title: '天.txt', place: '', base: '我的资料', text: '天上有十二颗红色的星。' },
    ];
    const wanted = { embedding: model.key, messages: asked, sources: true };
    const whole = await ask(key, path, { ...wanted, stream: false });
    expect(JSON.parse(whole.text)).toMatchObject({ sources });
    expect(whole.text).toContain(JSON.stringify(told).slice(1, -1));
    expect(service.asked.at(-1)?.messages[0]?.content).toContain('写出它的编号');
    const flow = await ask(key, path, wanted);
    const events = flow.text
      .split('\n')
      .filter((line) => /^data: [{"]/.test(line))
      .map((line) => JSON.parse(line.slice(6)));
    expect(events[0]).toMatchObject({ sources });
    expect(events.filter((event) => event.sources)).toHaveLength(1);
    const said = events.map((event) =>
      typeof event === 'string' ? event : (event.choices?.[0]?.delta?.content ?? ''),
    );
    expect(said.join('')).toBe(told);
    const plain = await ask(key, path, { embedding: model.key, messages: asked, stream: false });
    expect(plain.text).not.toContain('"sources"');
    expect(plain.text).toContain('[9]');
  }
});

test('without a model the text stays as it is, and the log says so', async () => {
  const model = await make(person, 2, { type: 2 });
  await send(person, '信.txt', '你好，世界。', model.id);
  const [file] = await settled(person, model.id);
  expect(file?.status).toBe(1);
  expect(await (await fetch(person.baseURL + file?.output_url)).text()).toBe('你好，世界。');
  const log = await get(person, `train/log?file_id=${file?.id}&end_id=0`);
  expect(log.data.list?.map(({ content }) => content).join()).toContain('还没有连接模型');
});

test('the translations of a person have so many sentences and no more', async () => {
  const own = await TestClient.register(plain.baseURL);
  const model = await make(own, 2, { type: 2 });
  await send(own, '一.txt', '第一句。', model.id);
  const [first] = await settled(own, model.id);
  await onDatabase(
    plain,
    `INSERT INTO training_segments (file_id, seq, source, target, state)
     SELECT $1, at, '句', '句', 3 FROM generate_series(10, 300007) AS at`,
    [first!.id],
  );
  await send(own, '二.txt', '第二句。\n第三句。\n第四句。', model.id);
  const files = await settled(own, model.id);
  expect(files.find(({ name }) => name === '二.txt')?.status).toBe(2);
  const failed = files.find(({ name }) => name === '二.txt');
  const log = await get(own, `train/log?file_id=${failed?.id}&end_id=0`);
  expect(log.data.list?.map(({ content }) => content).join()).toContain('30 万句');
});

test('a person’s passages and a base’s pairs have their bounds, asked before a vector is paid', async () => {
  const own = await TestClient.register(server.baseURL);
  const model = await make(own, 0, { separator: '\n', chunk_size: 100 });
  await send(own, '一.txt', '河水很清。', model.id);
  const [first] = await settled(own, model.id);
  const pair = { model_id: model.id, question: '河水怎样', answer: '很清' };
  await own.call('addPair', pair);
  await onDatabase(
    server,
    `UPDATE training_files SET total_num = CASE WHEN id = $1 THEN 998999 ELSE 1000 END
     WHERE project_id = $2`,
    [first!.id, model.id],
  );
  const paid = service.embedded.length;
  const refused = await own.raw('addPair', { ...pair, question: '还有呢' });
  expect(refused.message).toContain('1000 条');
  // There is room for one more.
  await send(own, '二.txt', '第二段讲山。\n第三段讲水。', model.id);
  const files = await settled(own, model.id);
  const failed = files.find(({ name }) => name === '二.txt');
  expect(failed?.error).toContain('100 万个段落');
  expect(service.embedded).toHaveLength(paid);
  await send(own, '三.txt', '第四段讲云。', model.id);
  const last = (await settled(own, model.id)).find(({ name }) => name === '三.txt');
  expect(last?.status).toBe(1);
});

test('of an archive that a full base has no room for it takes what it can, and says so', async () => {
  const own = await TestClient.register(plain.baseURL);
  const model = await make(own, 0);
  await onDatabase(
    plain,
    `INSERT INTO training_files (project_id, name, kind, status)
     SELECT $1, n || '.txt', 'text', 1 FROM generate_series(2, $2) n`,
    [model.id, trainLimits.files],
  );
  const texts = ['山', '水', '云'].map((word) => [`${word}.txt`, strToU8(`${word}在这里。`)]);
  await send(own, '三篇.zip', zipSync(Object.fromEntries(texts)), model.id);
  const archive = (await settled(own, model.id)).find(({ name }) => name === '三篇.zip');
  const { list } = await own.call('trainLog', { file_id: archive!.id, end_id: 0 });
  expect(list.at(-1)?.content).toMatch(/^展开出 1 个文件；.*10000 个文件，还有 2 个没有收$/);
  expect((await send(own, '再来.txt', '一篇。', model.id)).message).toContain('文件太多');
});

const picture = (r: number, g: number, b: number) =>
  sharp({ create: { width: 96, height: 96, channels: 3, background: { r, g, b } } })
    .png()
    .toBuffer();

test('who packs large translations, or asks for one again and again, stops nobody else', async () => {
  const model = await make(person, 2, { type: 1 });
  for (let at = 0; at < 3; at += 1) {
    const picture = { 'word/media/a.png': randomBytes(3_500_000) };
    await send(person, `${at}.docx`, docxOf(wordXml([`Hello ${at}`]), picture), model.id);
  }
  const files = await settled(person, model.id);
  expect(files.map(({ status }) => status)).toEqual([1, 1, 1]);

  const began = performance.now();
  const packing = get(person, `train/pack_model?model_id=${model.id}`);
  let worst = 0;
  while ((await Promise.race([packing, sleep(1, null)])) === null) {
    const asked = performance.now();
    await stranger.call('userInfo', {});
    worst = Math.max(worst, performance.now() - asked);
  }
  const { code, data } = await packing;
  expect(code).toBe(0);
  expect(worst, 'others wait while it is packed').toBeLessThan((performance.now() - began) / 4);
  const zip = await fetch(plain.baseURL + String(data['url']));
  const names = Object.keys(unzipSync(new Uint8Array(await zip.arrayBuffer())));
  expect(names.sort()).toEqual(['0.docx', '1.docx', '2.docx']);

  // Whoever knows its address may read it, but not have it written many times at once.
  await post(person, 'train/set_model', { model_id: model.id, private: 0 });
  const address = plain.baseURL + (await filesOf(person, model.id))[0]!.output_url;
  const many = await Promise.all(Array.from({ length: 20 }, () => fetch(address)));
  const told = many.filter(({ status }) => status === 429);
  expect(told.length).toBeGreaterThan(10);
  expect(many.length - told.length).toBe(many.filter(({ status }) => status === 200).length);
  expect(((await told[0]!.json()) as Answer).message).toContain('请稍后再试');
  expect((await fetch(address, { headers: person.headers() })).status).toBe(200);
}, 120_000);

test('trainings that get nowhere keep no picture waiting, and a host that is silent is given up', async () => {
  const images = Array.from({ length: 8 }, (_, at) => ({
    url: `http://${silentHost}/${at}.png`,
    txt: '',
  }));
  const slow = await TestClient.register(plain.baseURL);
  for (let at = 0; at < 5; at += 1) {
    const { id } = await make(slow, 1, { batch_size: 1, epoch: 10, type: 'SD-1.5' });
    const begun = await post(slow, 'train/set_lora_images', { model_id: id, images, start: 1 });
    expect(begun.code).toBe(0);
  }
  const running = () =>
    onDatabase<{ state: string }>(plain, "SELECT state FROM jobs WHERE kind = 'lora'").then(
      (rows) => rows.filter(({ state }) => state === 'running').length,
    );
  await expect.poll(running).toBe(2);
  const { uuid } = await person.call('newSession', { type: 1, model: 'builtin-canvas' });
  const sent = await person.call('sendMessage', { session_id: uuid, msg: '山 --seed 7' });
  await person.call('generateImage', { history_id: sent.id, request_id: randomUUID() });
  const drawn = async () =>
    (await person.call('historyList', { session_id: uuid, newest: 1 })).list;
  await expect.poll(async () => (await drawn())[0]?.state).toBe('done');
  expect(await running()).toBe(2);
  // Each asks it three times at once, and for none of the others.
  const logs = () =>
    onDatabase<{ state: string }>(
      plain,
      "SELECT state FROM jobs WHERE kind = 'lora' AND state NOT IN ('queued', 'running')",
    );
  await expect.poll(async () => (await logs()).length, { timeout: 90_000 }).toBeGreaterThan(1);
}, 150_000);

test('a style is learned from pictures, shown while it is, downloaded, and drawn with', async () => {
  const model = await make(person, 1, { batch_size: 1, epoch: 10, type: 'SD-1.5' });
  const none = await post(person, 'train/set_lora_images', { model_id: model.id, images: [] });
  expect(none.message).toBe('请添加训练文件');
  const draw = async () => {
    const session = await person.call('newSession', { type: 1, model: 'builtin-canvas' });
    const sent = await person.call('sendMessage', {
      session_id: session.uuid,
      msg: `山 湖 <lora:${model.key}:1> --seed 7`,
    });
    return person.raw('generateImage', { history_id: sent.id, request_id: randomUUID() });
  };
  expect((await draw()).message).toBe('模型还没有训练完成，请稍后再试');
  const images = [];
  for (const [r, g, b] of [
    [200, 20, 20],
    [220, 30, 10],
    [180, 10, 30],
  ] as const) {
    const { image } = await person.upload(
      'uploadImage',
      new Blob([await picture(r, g, b)], { type: 'image/png' }),
      'a.png',
    );
    images.push({ url: image.url, txt: 'red' });
  }
  let following: ReturnType<typeof followJobs> | undefined;
  await new Promise<void>((resolve) => {
    following = followJobs(
      person,
      ({ job, current_image }) =>
        job.kind === 'lora' && (current_image !== '' || job.progress === 1),
      { onOpen: resolve },
    );
  });
  // One address twice counts once.
  const set = await post(person, 'train/set_lora_images', {
    model_id: model.id,
    images: [...images, { ...images[0], txt: '朱红' }],
  });
  expect(JSON.parse((set.data['model'] as { settings: string }).settings).images).toHaveLength(3);
  const looks = (await following) ?? [];
  const seen = looks.find(({ current_image }) => current_image !== '');
  expect(seen?.job).toMatchObject({ kind: 'lora', state: 'running', subject_id: model.id });
  const sample = Buffer.from(
    seen?.current_image.replace(/^data:image\/jpeg;base64,/, '') ?? '',
    'base64',
  );
  expect((await sharp(sample).metadata()).format).toBe('jpeg');
  const [file] = await settled(person, model.id);
  expect(file?.status, file?.error).toBe(1);
  const profile = (await (
    await fetch(`${person.baseURL}/api/train/download_lora_model?model_id=${model.id}`, {
      headers: person.headers(),
    })
  ).json()) as { key: string; middle: number[] };
  expect(profile.key).toBe(model.key);
  // Red lies far from grey.
  expect(profile.middle[1]).toBeGreaterThan(0.1);
  const { loras } = await person.call('imageMetadata', { model: 'builtin-canvas' });
  expect(loras[0]).toEqual({ key: model.key, label: '我的资料' });
  expect(
    (await stranger.call('imageMetadata', { model: 'builtin-canvas' })).loras[0]?.key,
  ).not.toBe(model.key);
  expect((await draw()).code).toBe(0);
  // Its key names a model, which draws in the style.
  const { uuid } = await person.call('newSession', { type: 1, model: model.key });
  const { msg } = await person.call('sendMessage', { session_id: uuid, msg: '山和湖' });
  expect(msg).toBe(`山和湖 <lora:${model.key}:0.7>`);
});

test('a service that speaks Replicate trains for 100,000 tokens', async () => {
  const model = await make(owner, 1, {});
  const { image } = await owner.upload(
    'uploadImage',
    new Blob([await picture(10, 90, 200)], { type: 'image/png' }),
    'a.png',
  );
  const before = (await owner.call('userInfo', {})).chatgpt_balance;
  await post(owner, 'train/set_lora_images', {
    model_id: model.id,
    images: [{ url: image.url, txt: '蓝' }],
  });
  const [file] = await settled(owner, model.id);
  expect(file?.status, file?.error).toBe(1);
  expect(service.calls.slice(0, 2)).toEqual([
    'POST files',
    'POST models/ostris/trainer/versions/abc123/trainings',
  ]);
  expect(before - (await owner.call('userInfo', {})).chatgpt_balance).toBe(100_000);
});

describe('what a service was sent of a training that its person ends', () => {
  /** Whoever trains, with what was spent so far and what is still set aside of anybody's. */
  const trainee = async () => {
    const client = await TestClient.register(server.baseURL);
    const before = (await client.call('userInfo', {})).chatgpt_balance;
    const spent = async () => before - (await client.call('userInfo', {})).chatgpt_balance;
    const { id } = await client.call('userInfo', {});
    const setAside = async () => {
      const rows = await onDatabase<{ open: number }>(
        server,
        `SELECT count(*)::int AS open FROM holds WHERE user_id = $1 AND state = 'open'`,
        [id],
      );
      return rows[0]?.open;
    };
    return { client, spent, setAside };
  };
  const cancel = async (client: TestClient) => {
    const [job] = (await client.call('jobList', { running: '1' })).list;
    await client.call('cancelJob', { request_id: job?.uuid ?? '' });
  };
  const text = Array.from({ length: 200 }, (_, at) => `第 ${at} 段说月亮上没有风。`).join('\n');

  test.each(['a press', 'the file’s deletion', 'the base’s deletion'] as const)(
    'a knowledge base: the passages that went out are paid, the rest is not (%s)',
    async (how) => {
      const { client, spent, setAside } = await trainee();
      const model = await make(client, 0, { chunk_size: 100, separator: '\n' });
      service.embedded.length = 0;
      service.slowMs = 400;
      try {
        await send(client, '月.txt', text, model.id);
        await expect.poll(() => service.embedded.length, { timeout: 20_000 }).toBeGreaterThan(0);
        const [file] = await filesOf(client, model.id);
        if (how === 'a press') await cancel(client);
        else if (how === 'the file’s deletion')
          await client.call('delTrainFile', { file_id: file!.id });
        else await client.call('delTrainModel', { id: model.id });
        await expect.poll(setAside, { timeout: 20_000 }).toBe(0);
        // What was on its way when it ended.
        await sleep(service.slowMs * 2);
        const went = service.embedded.join('').length;
        expect(went).toBeLessThan(text.length);
        expect(await spent()).toBeGreaterThanOrEqual(Math.floor(went * 0.05 * 0.7));
        expect(await spent()).toBeLessThan(text.length * 0.05);
        await sleep(service.slowMs * 2);
        expect(service.embedded.join('').length).toBe(went);
        if (how === 'a press') {
          const [ended] = await filesOf(client, model.id);
          expect(ended).toMatchObject({ status: 2, error: '已取消' });
          const log = await get(client, `train/log?file_id=${ended?.id}&end_id=0`);
          expect(JSON.stringify(log.data.list)).toContain(`花费 ${await spent()} tokens`);
        }
        const { list } = await client.call('transactionList', {});
        expect(list.map((each) => each.deduct_tokens)).toEqual([await spent()]);
      } finally {
        service.slowMs = 0;
      }
    },
    60_000,
  );

  test('a knowledge base: what was sent is the spend of the channel that was sent it', async () => {
    const manager = new TestClient(server.baseURL);
    await manager.login('admin', ADMIN_PASSWORD);
    const { id: channel } = await manager.call('saveChannel', {
      kind: 'embedding',
      label: '向量',
      base_url: `${service.url}/v1`,
      api_key: 'sk-e',
      models: [{ name: 'bge-m3' }],
    });
    const { client, setAside } = await trainee();
    const { id: userId } = await client.call('userInfo', {});
    const used = () =>
      onDatabase<{ channel: number }>(
        server,
        'SELECT channel_id::int AS channel FROM model_uses WHERE user_id = $1 AND deduct_tokens > 0',
        [userId],
      );
    await expect
      .poll(async () => (await client.call('trainEngines', {})).embedding, { timeout: 20_000 })
      .toEqual(['bge-m3']);
    service.slowMs = 400;
    try {
      const model = await make(client, 0, { chunk_size: 100, separator: '\n' });
      service.embedded.length = 0;
      await send(client, '月.txt', text, model.id);
      await expect.poll(() => service.embedded.length, { timeout: 20_000 }).toBeGreaterThan(0);
      await cancel(client);
      await expect.poll(setAside, { timeout: 20_000 }).toBe(0);
      expect(await used()).toEqual([{ channel }]);
    } finally {
      service.slowMs = 0;
      await manager.call('delChannel', { id: channel });
    }
  }, 60_000);

  test('a service that fails in the middle is paid for nothing, and once where it is tried again', async () => {
    const { client, spent, setAside } = await trainee();
    const model = await make(client, 0, { chunk_size: 100, separator: '\n' });
    service.embedded.length = 0;
    // The first part comes, the next is refused for good.
    service.embedStatus = [0, 400];
    await send(client, '月.txt', text, model.id);
    const [refused] = await settled(client, model.id);
    expect(service.embedded.length).toBeGreaterThan(0);
    expect(service.embedStatus).toEqual([]);
    expect(refused).toMatchObject({ status: 2, token: 0 });
    expect([await spent(), await setAside()]).toEqual([0, 0]);
    expect(
      (await client.call('askKnowledge', { embedding_key: model.key, question: '月亮' })).list,
    ).toEqual([]);
    // Another time it is away in the middle: what is tried again by itself is paid once and whole.
    service.embedStatus = [0, 503];
    await client.call('actOnFiles', { model_id: model.id, ids: [refused!.id], act: 'retry' });
    const [file] = await settled(client, model.id);
    expect(service.embedStatus).toEqual([]);
    expect(file?.status, file?.error).toBe(1);
    expect(await spent()).toBe(file?.token);
    expect(file?.token).toBeGreaterThan(0);
    expect(await setAside()).toBe(0);
    const { list } = await client.call('transactionList', {});
    expect(list.map((each) => each.deduct_tokens)).toEqual([await spent()]);
    const found = await client.call('trainModel', { model_id: model.id });
    expect(found.model.token).toBe(await spent());
  }, 60_000);

  test('a translation: the sentences that were answered are paid, the rest is not', async () => {
    const { client, spent, setAside } = await trainee();
    const model = await make(client, 2, { type: 1 });
    const sentences = Array.from({ length: 300 }, (_, at) => `Sentence ${at} is about rivers.`);
    service.translated.length = 0;
    service.slowMs = 400;
    try {
      await send(client, 'rivers.txt', sentences.join('\n'), model.id);
      await expect.poll(() => service.translated.length, { timeout: 20_000 }).toBeGreaterThan(0);
      await cancel(client);
      await expect.poll(setAside, { timeout: 20_000 }).toBe(0);
      await sleep(service.slowMs * 2);
      expect(service.translated.length).toBeLessThan(sentences.length);
      expect(await spent()).toBeGreaterThan(0);
    } finally {
      service.slowMs = 0;
    }
  }, 60_000);

  test.each(['a press', 'the project’s deletion'] as const)(
    'a style: its service is told to stop, and bills the time until then (%s)',
    async (how) => {
      const { client, spent, setAside } = await trainee();
      const model = await make(client, 1, {});
      const { image } = await client.upload(
        'uploadImage',
        new Blob([await picture(10, 90, 200)], { type: 'image/png' }),
        'a.png',
      );
      service.calls.length = 0;
      service.rounds = 1_000_000;
      try {
        await post(client, 'train/set_lora_images', {
          model_id: model.id,
          images: [{ url: image.url, txt: '蓝' }],
        });
        const progress = async () =>
          (await client.call('jobList', { running: '1' })).list[0]?.progress ?? 0;
        // The service says that 40 of 100 steps are done.
        await expect.poll(progress, { timeout: 20_000 }).toBeGreaterThan(0.3);
        const part = await progress();
        if (how === 'a press') await cancel(client);
        else await client.call('delTrainModel', { id: model.id });
        await expect.poll(setAside, { timeout: 20_000 }).toBe(0);
        expect(service.calls.at(-1)).toMatch(/^POST trainings\/.+\/cancel$/);
        expect(await spent()).toBe(Math.ceil(100_000 * part));
        if (how === 'a press')
          expect((await filesOf(client, model.id))[0]).toMatchObject({
            status: 2,
            error: '已取消',
          });
      } finally {
        service.rounds = 2;
      }
    },
    60_000,
  );
});
