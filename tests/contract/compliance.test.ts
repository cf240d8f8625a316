import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { drizzle } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { calls, type PlainCallName } from '#contract/calls.ts';
import { usualCompliance } from '#contract/compliance.ts';
import { usualSafety } from '#contract/safety.ts';
import { removeOldRecords } from '#server/areas/compliance/records.store.ts';
import type { Executor } from '#server/db/database.ts';
import { type Aigc, readAigc, readAigcXmp } from '#server/labels/aigc.ts';
import { readImageLabel } from '#server/labels/image.ts';
import { withPngText } from '#server/labels/png-text.ts';
import { readSoundLabel } from '#server/labels/sound.ts';
import { readWebmLabel } from '#server/labels/webm.ts';
import { apiUser, onDatabase } from '../support/api-user.ts';
import { signingKeys } from '../support/certificate.ts';
import { TestClient } from '../support/client.ts';
import { exported, pdfText } from '../support/exports.ts';
import { makeFilm } from '../support/films.ts';
import { paint, replyOf } from '../support/images.ts';
import { readManifest, toldByOthers } from '../support/other-programs.ts';
import { ADMIN_PASSWORD, startServer, type TestServer } from '../support/server.ts';
import { talk } from '../support/world.ts';

const root = path.join(import.meta.dirname, '../..');

/** Where something matches in the program's own code, `file` or `file: what was found`. */
const found = (folder: string, what: RegExp, each: (hit: string[]) => string = () => '') => [
  ...new Set(
    readdirSync(path.join(root, folder), { recursive: true })
      .map((name) => `${folder}/${String(name)}`)
      .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name))
      .flatMap((name) =>
        [...readFileSync(path.join(root, name), 'utf8').matchAll(what)].map((hit) =>
          [name, each(hit)].filter(Boolean).join(': '),
        ),
      ),
  ),
];

/**
 * Every way out of the code with what is done about what models made. A new one fails here until it
 * is labelled, or it is said why nothing of a model leaves by it.
 */
const ways: Readonly<Record<string, string>> = {
  // Calls that answer with a file.
  'call accountFile': 'labelled: the files themselves, as they are kept',
  'call exportFile': 'labelled: PDF; Markdown and JSON say it in words where that is wanted',
  'call textToSpeech': 'labelled',
  'call downloadLora': 'no content: numbers of a style',
  'call trainFileContent':
    'labelled; plain texts and subtitles say it in words where that is wanted',
  'call noticeFile': 'of people: what managers attach',
  'call transactionFile': 'of people: the books',
  'call downloadApp': 'of people: what developers upload',
  // Addresses beside the calls.
  'route server/areas/file/file.route.ts: /files/*': 'labelled, and with words by ?marked=1',
  'route server/areas/video/video.route.ts: /files/video/*': 'labelled',
  'route server/areas/stats/area.ts: /metrics': 'no content: figures',
  'route server/http/probes.ts: /api/health/stream': 'no content: a probe',
  'route server/http/server.ts: /api/openapi.json': 'no content: a description',
  'route server/http/open-routes.ts: /v1/openapi.json': 'no content: a description',
  // Where files are stored.
  'store server/start-checks.ts': 'no content: a trial',
  'store server/areas/file/uploads.ts': 'of people: a label that it came with stays',
  'store server/areas/file/stored-images.ts': 'labelled',
  'store server/areas/file/made-files.ts': 'labelled: Office files and PDF; words in the others',
  'store server/areas/file/opened-files.ts': 'for models alone',
  'store server/areas/export/export.service.ts': 'labelled: PDF',
  'store server/areas/account/account-export.ts': 'labelled: the files themselves',
  'store server/areas/speech/speak.ts': 'labelled',
  'store server/areas/train/unpack-archive.ts': 'of people',
  'store server/areas/train/watch.service.ts': 'of people',
  'store server/areas/train/output.service.ts': 'labelled: Word files in a zip',
  'store server/areas/train/style-work.ts': 'no content: numbers of a style',
  'store server/areas/train/training-file.service.ts': 'of people',
  'store server/areas/video/film-files.ts': 'labelled',
  'store server/areas/notice/manage-notice.service.ts': 'of people',
  'store server/areas/market/publish-app.service.ts': 'of people',
  // What pages save, share and copy.
  'page src/ui/save-image.ts': 'labelled, and with words where they are wanted',
  'page src/ui/table/csv.ts': 'of people: tables of the administration, records without content',
  'page src/platform/save-file.ts': 'what the others save by',
  'page src/platform/copy.ts': 'copyMade adds the words',
  'page src/features/account/profile-tab.tsx': 'by accountFile',
  'page src/features/account/transaction-tab.tsx': 'by transactionFile',
  'page src/features/account/usage-tab.tsx': 'by transactionFile',
  'page src/features/train/project-screen.tsx': 'by downloadLora, and what output.service packs',
  'page src/features/gallery/batch-bar.tsx': 'labelled, and with words where they are wanted',
  'page src/features/market/app-screen.tsx': 'by downloadApp',
  'page src/features/video/video-row.tsx': 'by /files/video/*',
  'page src/widgets/export/export-job.ts': 'by exportFile',
  'page src/widgets/export/export-view.tsx': 'by exportFile',
  'page src/widgets/export/share-link.tsx': 'a link: the page says it',
  'page src/widgets/export/long-image-maker.tsx': 'with words where they are wanted',
};

test('every way out of the code is labelled, or nothing of a model leaves by it', () => {
  const downloads = Object.entries(calls).filter(([, { kind }]) => kind === 'download');
  const now = [
    ...downloads.map(([name]) => `call ${name}`),
    ...found('server', /\b(?:app|http)\.get\(\s*'(\/[^']+)'/g, ([, url = '']) => url).map(
      (at) => `route ${at}`,
    ),
    ...found('server', /\bstorage\.put(?:File)?\(/g).map((at) => `store ${at}`),
    ...found(
      'src',
      /\.download = |\bsave(?:From|Blob|Own)\(|^\s+download$|navigator\.share\(|clipboard\.writeText\(/gm,
    ).map((at) => `page ${at}`),
  ];
  expect(now.sort()).toEqual(Object.keys(ways).sort());
});

let server: TestServer;
let owner: TestClient;
let manager: TestClient;
beforeAll(async () => {
  server = await startServer();
  owner = await TestClient.register(server.baseURL);
  manager = new TestClient(server.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
});
afterAll(() => server.stop());

const fetched = async (url: string, init: RequestInit = {}): Promise<Buffer> => {
  const answer = await fetch(server.baseURL + url, init);
  expect(answer.status, url).toBe(200);
  return Buffer.from(await answer.arrayBuffer());
};

/**
 * A label names nobody, and managers find by it who had it made; exiftool and ffprobe, where they are
 * there, find it in the file, too.
 */
const expectLabel = async (
  label: Aigc | null,
  kind: string,
  { client = owner, file }: { client?: TestClient; file?: [data: Buffer, ending: string] } = {},
) => {
  // Nothing else is in it: a random number, and the codes of the operator.
  const code = '001191110108MA01ABCD0X10001';
  expect(label, kind).toEqual({
    Label: '1',
    ContentProducer: code,
    ProduceID: expect.stringMatching(/^[0-9a-f]{32}$/),
    ReservedCode1: '',
    ContentPropagator: code,
    PropagateID: label?.ProduceID,
    ReservedCode2: '',
  });
  const { id, user_name: name } = await client.call('userInfo', {});
  expect(JSON.stringify(label)).not.toContain(name);
  const told = file ? toldByOthers(...file) : null;
  if (told !== null) {
    expect(told, kind).toContain(label?.ProduceID);
    expect(told, kind).not.toContain(name);
  }
  const whose = await manager.call('findLabel', { label: JSON.stringify(label) });
  expect(whose).toMatchObject({ kind, user_id: id });
};

/** White pixels in the lower right quarter of a picture whose ground is dark there. */
const brightCorner = async (picture: Buffer): Promise<number> => {
  const { width, height } = await sharp(picture).metadata();
  const [left, top] = [Math.floor(width / 2), Math.floor(height * 0.75)];
  const grey = await sharp(picture)
    .extract({ left, top, width: width - left, height: height - top })
    .greyscale()
    .raw()
    .toBuffer();
  return grey.filter((value) => value > 200).length;
};

test('until the operator sets something all is as it was, but for the metadata', async () => {
  const { settings } = await manager.call('complianceState', {});
  expect(settings).toEqual(usualCompliance);
  expect((await manager.call('safetyState', {})).settings).toEqual(usualSafety);
  expect(await new TestClient(server.baseURL).call('siteInfo', {})).toMatchObject({
    foot: { operator: '', report: '', icp: '', police: '', algorithm: '', model_record: '' },
    agreements: [],
    ask_agreements: false,
    mark_text: false,
    mark_images: false,
  });
  expect(await owner.call('minorState', {})).toMatchObject({ offered: false, on: false });
  expect((await owner.call('agreements', {})).list).toEqual([]);
  // Whoever knows the documents alone registers and asks as ever; no cookie, no words that were not asked for.
  const fresh = await TestClient.register(server.baseURL);
  const { uuid } = await talk(fresh, '一加一等于几');
  const first = await fetch(`${server.baseURL}/`);
  expect(first.headers.get('set-cookie')).toBeNull();
  for (const format of ['markdown', 'json'] as const)
    expect((await exported(fresh, uuid, format)).data.toString()).not.toContain('由人工智能生成');
  const { key } = await apiUser(server);
  const answer = await fetched('/v1/chat/completions', {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'builtin-assistant',
      messages: [{ role: 'user', content: '一加一等于几' }],
    }),
  });
  expect(answer.toString()).not.toContain('人工智能生成');
  const { message } = await paint(fresh, '湖上的月亮', { image: { n: 1 } });
  const image = await fetched(replyOf(message).images[0]?.url ?? '');
  expect(await readImageLabel(image)).toMatchObject({ Label: '1', ContentProducer: '' });
  expect(image.includes('c2pa')).toBe(false);
});

test('what a model makes is labelled on each way, through what we make of it', async () => {
  const producer_code = '001191110108MA01ABCD0X10001';
  await manager.call('saveCompliance', { producer_code, propagator_code: producer_code });
  const { message } = await paint(owner, '雪山上的月亮', { image: { n: 1 } });
  const [image] = replyOf(message).images;
  const url = image?.url ?? '';
  const whole = await fetched(url);
  await expectLabel(await readImageLabel(whole), 'image', { file: [whole, 'png'] });
  for (const [query, ending] of [
    ['?size=128', 'webp'],
    ['?size=640', 'webp'],
    ['?marked=1', 'png'],
  ] as const) {
    const data = await fetched(url + query);
    expect(await readImageLabel(data), query).toEqual(await readImageLabel(whole));
    await expectLabel(await readImageLabel(data), 'image', { file: [data, ending] });
  }
  // Taken up again as another file, it keeps what it came with; what people bring gets none.
  for (const [name, data] of [
    ['moon.png', whole],
    ['moon.jpg', await sharp(whole).keepMetadata().jpeg().toBuffer()],
  ] as const) {
    const again = await owner.upload('uploadImage', new Blob([new Uint8Array(data)]), name);
    const stored = await fetched(again.image.url);
    expect(await readImageLabel(stored), name).toEqual(await readImageLabel(whole));
  }
  const own = await sharp({ create: { width: 90, height: 60, channels: 3, background: '#3a6' } })
    .png()
    .toBuffer();
  const brought = await owner.upload('uploadImage', new Blob([new Uint8Array(own)]), 'own.png');
  expect(await readImageLabel(await fetched(brought.image.url))).toBeNull();
  expect(await fetched(`${brought.image.url}?marked=1`)).toEqual(await fetched(brought.image.url));

  const { films } = await makeFilm(owner);
  const film = await fetched(films[0]?.url ?? '');
  await expectLabel(readWebmLabel(film), 'video', { file: [film, 'webm'] });
  const poster = await fetched(films[0]?.poster ?? '');
  await expectLabel(await readImageLabel(poster), 'video', { file: [poster, 'webp'] });
  // What stands on the first frame is what stands on those of two seconds.
  expect(await brightCorner(poster)).toBe(0);
  await manager.call('saveCompliance', { mark_films: 1 });
  const { films: marked } = await makeFilm(owner);
  expect(await brightCorner(await fetched(marked[0]?.poster ?? ''))).toBeGreaterThan(100);

  const words = { model: 'builtin-voice', text: '你好，月亮。', voice: '', speed: 1 };
  const spoken = await fetched('/api/text_to_speech', {
    method: 'POST',
    headers: { ...owner.headers(), 'content-type': 'application/json' },
    body: JSON.stringify(words),
  });
  const ending = spoken.toString('latin1', 0, 4) === 'RIFF' ? 'wav' : 'mp3';
  await expectLabel(readSoundLabel(spoken), 'speech', { file: [spoken, ending] });
  const { key, person } = await apiUser(server);
  const byKey = await fetched('/v1/audio/speech', {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'builtin-voice', input: '你好，月亮。', voice: '' }),
  });
  await expectLabel(readSoundLabel(byKey), 'speech', { client: person, file: [byKey, ending] });

  const { uuid } = await talk(owner, '一加一等于几');
  const asJson = JSON.parse((await exported(owner, uuid, 'json')).data.toString()) as object;
  await expectLabel(readAigc(JSON.stringify(asJson)), 'export');
  const markdown = (await exported(owner, uuid, 'markdown')).data.toString();
  await expectLabel(readAigc(/<!-- AIGC (\{.*\}) -->/.exec(markdown)?.[1] ?? ''), 'export');
  const { data } = await exported(owner, uuid, 'pdf');
  const text = data.toString('utf8');
  await expectLabel(readAigcXmp(text.slice(text.lastIndexOf('<?xpacket begin'))), 'export', {
    file: [data, 'pdf'],
  });
});

test('with the operator’s certificate what is drawn carries a manifest of C2PA that holds', async () => {
  const { chain: c2pa_chain, key } = signingKeys();
  // A field of one line loses the ends of lines.
  const keys = { c2pa_chain, c2pa_key: key.replaceAll('\n', '') };
  const stranger = signingKeys();
  const refused = await manager.raw('saveCompliance', { ...keys, c2pa_key: stranger.key });
  expect(refused).toMatchObject({ code: 1490, message: expect.stringContaining('私钥') });
  const saved = await manager.call('saveCompliance', keys);
  expect(JSON.stringify(saved)).not.toContain('PRIVATE KEY');
  expect(saved.checks.find((each) => each.key === 'c2pa_chain')?.ok).toBe(true);
  const { message } = await paint(owner, '有签名的月亮', { image: { n: 1 } });
  const url = replyOf(message).images[0]?.url ?? '';
  const load = async (query: string) => {
    const data = await fetched(url + query);
    return { data, read: await readManifest(data, 'image/png') };
  };
  const whole = await load('');
  for (const { data, read } of [whole, await load('?marked=1')]) {
    expect(await readImageLabel(data)).toEqual(await readImageLabel(whole.data));
    // Nobody trusts the authority of this test; all else is to be right.
    expect(read.faults).toEqual(['signingCredential.untrusted']);
    expect(read.text).toContain('trainedAlgorithmicMedia');
    expect(read.text).not.toContain((await owner.call('userInfo', {})).user_name);
  }
  const changed = Buffer.from(whole.data);
  changed[changed.length - 40]! ^= 1;
  expect((await readManifest(changed, 'image/png')).faults).toContain(
    'assertion.dataHash.mismatch',
  );

  // So do sounds and PDF, with the label that they had; a sound that is heard again is the kept one.
  const { key: apiKey } = await apiUser(server);
  const { uuid, historyId } = await talk(owner, '一加一等于几');
  const heard = () =>
    fetched('/api/text_to_speech', {
      method: 'POST',
      headers: { ...owner.headers(), 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'builtin-voice', history_id: historyId, text: '', voice: '' }),
    });
  await heard();
  const kept = await heard();
  const byKey = await fetched('/v1/audio/speech', {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'builtin-voice', input: '你好，月亮。', voice: '' }),
  });
  const sound = byKey.toString('latin1', 0, 4) === 'RIFF' ? 'audio/wav' : 'audio/mpeg';
  const { data: pdf } = await exported(owner, uuid, 'pdf');
  for (const [data, mime] of [
    [kept, sound],
    [byKey, sound],
    [pdf, 'application/pdf'],
  ] as const) {
    const { faults, text } = await readManifest(data, mime);
    expect(faults, mime).toEqual(['signingCredential.untrusted']);
    expect(text, mime).toContain('trainedAlgorithmicMedia');
  }
  for (const data of [kept, byKey]) expect(readSoundLabel(data)?.Label).toBe('1');
  const written = pdf.toString('utf8');
  expect(readAigcXmp(written.slice(written.lastIndexOf('<?xpacket begin')))?.Label).toBe('1');
  expect((await pdfText(pdf)).text).toContain('一加一等于几');

  await manager.call('saveCompliance', { c2pa_chain: '' });
  const bare = await paint(owner, '没有签名的月亮', { image: { n: 1 } });
  const plain = await fetched(replyOf(bare.message).images[0]?.url ?? '');
  expect(plain.includes('c2pa')).toBe(false);
});

test('what is brought is shown as generated, declared or suspected, and leaves with that', async () => {
  const plain = sharp({ create: { width: 90, height: 60, channels: 3, background: '#3a6' } });
  const bring = async (data: Buffer, name: string) => {
    const { image } = await owner.upload('uploadImage', new Blob([new Uint8Array(data)]), name);
    return image;
  };
  const drawn = withPngText(await plain.clone().png().toBuffer(), 'parameters', 'a\nSteps: 9, ');
  const suspected = await bring(drawn, 'a.png');
  expect(suspected.made).toBe('suspected');
  expect(await readImageLabel(await fetched(suspected.url))).toMatchObject({ Label: '3' });
  const jpeg = await bring(await plain.clone().jpeg().toBuffer(), 'b.jpg');
  const other = await bring(await plain.clone().png().toBuffer(), 'c.png');
  expect([jpeg.made, other.made]).toEqual([undefined, undefined]);
  // Whoever brought it declares it, and nobody else; made smaller and brought again it stays so.
  const stranger = await TestClient.register(server.baseURL);
  expect((await stranger.raw('declareImage', { url: jpeg.url })).code).toBe(404);
  for (const { url } of [jpeg, suspected]) {
    await fetched(`${url}?size=128`);
    expect(await owner.call('declareImage', { url })).toEqual({ made: 'declared' });
    for (const query of ['', '?size=128'])
      expect(await readImageLabel(await fetched(url + query)), query).toMatchObject({ Label: '2' });
  }
  const again = await bring(await fetched(jpeg.url), 'b.jpg');
  expect(again.made).toBe('declared');
  const urls = [jpeg, suspected, other, again].map(({ url }) => url);
  expect((await stranger.call('imageOrigins', { urls: urls.join(',') })).list).toHaveLength(3);
  const { list } = await owner.call('uploadedFiles', {});
  expect(list.find(({ url }) => url === jpeg.url)?.made).toBe('declared');
});

test('words that say it stand on what leaves where the operator wants them, and nowhere else', async () => {
  await manager.call('saveCompliance', { mark_text: 0, mark_images: 0, allow_unmarked: 1 });
  const { uuid } = await talk(owner, '一加一等于几');
  const both = async () => [
    (await exported(owner, uuid, 'markdown')).data.toString(),
    (await pdfText((await exported(owner, uuid, 'pdf')).data)).text,
  ];
  for (const text of await both()) expect(text).not.toContain('由人工智能生成');
  await manager.call('saveCompliance', { mark_text: 1, mark_images: 1, icp: '京ICP备12345678号' });
  for (const text of await both()) {
    expect(text).toContain('由人工智能生成');
    expect(text).toContain('京ICP备12345678号');
  }
  expect(await new TestClient(server.baseURL).call('siteInfo', {})).toMatchObject({
    foot: { icp: '京ICP备12345678号', operator: '' },
    mark_text: true,
    mark_images: true,
  });

  // The corner alone is another; the words in it are as high as the standard asks for.
  const { message } = await paint(owner, '湖上的月亮', { image: { n: 1 } });
  const url = replyOf(message).images[0]?.url ?? '';
  const pixels = async (of: string) =>
    sharp(await fetched(of))
      .removeAlpha()
      .greyscale()
      .raw()
      .toBuffer({ resolveWithObject: true });
  const plain = await pixels(url);
  const marked = await pixels(`${url}?marked=1`);
  const { width, height } = plain.info;
  expect(marked.info).toMatchObject({ width, height });
  const changed = new Set<number>();
  for (let at = 0; at < plain.data.length; at += 1)
    if (Math.abs(plain.data[at]! - marked.data[at]!) > 8) {
      expect(at % width).toBeGreaterThan(width / 3);
      changed.add(Math.floor(at / width));
    }
  expect(changed.size).toBeGreaterThanOrEqual(Math.min(width, height) * 0.05);
  expect(Math.min(...changed)).toBeGreaterThan(height * 0.8);

  // Without them: who signed in, agreed, and is written down.
  const refused = await owner.raw('takeUnmarked', { url, agree: 0 });
  expect(refused.code).toBeGreaterThan(0);
  expect((await owner.call('takeUnmarked', { url, agree: 1 })).url).toBe(url);
  const { id } = await owner.call('userInfo', {});
  expect((await manager.call('unmarkedList', {})).list).toMatchObject([{ user_id: id, url }]);
  await manager.call('saveCompliance', { allow_unmarked: 0 });
  expect((await owner.raw('takeUnmarked', { url, agree: 1 })).code).toBe(1490);
  expect((await manager.call('unmarkedList', {})).total).toBe(1);
});

test('who gets which data is listed where the operator shows it, without what runs on the spot', async () => {
  const visitor = new TestClient(server.baseURL);
  const channel = { kind: 'openai-compatible', label: '便宜的', enabled: 1 } as const;
  await manager.call('saveChannel', {
    ...channel,
    base_url: 'https://api.deepseek.com/v1',
    api_key: 'k',
    models: [{ name: 'deepseek-chat' }],
  });
  await manager.call('saveChannel', {
    ...channel,
    base_url: 'http://10.1.2.3:8000/v1',
    api_key: 'k',
    models: [{ name: 'own-model' }],
  });
  expect(await visitor.call('thirdParties', {})).toEqual({ shown: false, list: [] });
  await manager.call('saveCompliance', { show_third_parties: 1 });
  const names = async () =>
    (await visitor.call('thirdParties', {})).list.map(({ name, purpose }) => [name, purpose]);
  expect(await names()).toEqual([['DeepSeek', '由模型回答、生成']]);
  await manager.call('saveSafety', { service: 'aliyun', key_id: 'k', secret: 's', text_in: 1 });
  expect(await names()).toContainEqual(['阿里云内容安全', '内容安全检查']);
  await manager.call('saveSafety', { service: '', text_in: 0 });
});

test('registering asks for the agreements only where the operator wants it, and again when one changes', async () => {
  const form = (account: string) => ({
    account,
    name: account,
    password: `${account}-secret-1`,
    password2: `${account}-secret-1`,
  });
  await manager.call('saveAgreement', { kind: 'terms', text: '# 用户协议\n\n好好用。' });
  await manager.call('saveAgreement', { kind: 'privacy', text: '只存在这里。' });
  const visitor = new TestClient(server.baseURL);
  expect(await visitor.call('agreement', { kind: 'terms' })).toMatchObject({
    text: '# 用户协议\n\n好好用。',
  });
  // A client of the documents alone registers as before.
  expect(await visitor.call('register', form('before1'))).toHaveProperty('token');

  const { key: ownKey } = await apiUser(server);
  await manager.call('saveCompliance', { ask_agreements: 1 });
  const { required, list } = await visitor.call('agreements', {});
  expect([required, list.map(({ kind, agreed }) => [kind, agreed])]).toEqual([
    true,
    [
      ['terms', 0],
      ['privacy', 0],
    ],
  ]);
  const current = list.map(({ kind, version }) => ({ kind, version }));
  for (const [agreed, named] of [
    [undefined, '《用户协议》《隐私政策》'],
    [current.slice(0, 1), '《隐私政策》'],
    [current.map((each) => ({ ...each, version: 77 })), '《用户协议》《隐私政策》'],
  ] as const)
    expect(
      await visitor.call('register', {
        ...form('after1'),
        ...(agreed ? { agreed: [...agreed] } : {}),
      }),
    ).toMatchObject({ error: `请先阅读并同意${named}` });
  const person = new TestClient(server.baseURL);
  const entered = await person.call('register', { ...form('after1'), agreed: current });
  expect(entered).toHaveProperty('token');
  await person.login('after1', 'after1-secret-1');
  const own = async () =>
    (await person.call('agreements', {})).list.map(({ kind, agreed, version }) => [
      kind,
      version - agreed,
    ]);
  expect(await own()).toEqual([
    ['terms', 0],
    ['privacy', 0],
  ]);

  await manager.call('saveAgreement', { kind: 'terms', text: '好好用，第二版。' });
  expect((await own())[0]).toEqual(['terms', 1]);
  // Until then nothing new is made, also by a key; what is theirs they may read, take and delete.
  expect(await person.raw('newSession', { type: 0 })).toMatchObject({
    code: 1438,
    message: '请先看过并同意《用户协议》，再继续使用',
  });
  const byProgram = await fetch(`${server.baseURL}/v1/moderations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ownKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ input: '你好' }),
  });
  expect([byProgram.status, await byProgram.text()]).toEqual([
    400,
    expect.stringContaining('《用户协议》《隐私政策》'),
  ]);
  expect((await person.raw('deleteAllSession', {})).code).toBe(0);
  expect((await person.raw('sessionList', { channel: 'private' })).code).toBe(0);
  expect((await visitor.raw('newSession', { type: 0 })).code).toBe(0);
  expect((await person.raw('agree', { agreed: current })).code).toBe(1490);
  const [terms] = (await person.call('agreements', {})).list;
  await person.call('agree', { agreed: [{ kind: 'terms', version: terms?.version ?? 0 }] });
  expect((await own())[0]).toEqual(['terms', 0]);
  expect((await person.raw('newSession', { type: 0 })).code).toBe(0);
  await person.call('withdrawAgreement', { kind: 'privacy' });
  expect((await person.call('agreements', {})).list[1]).toMatchObject({ agreed: 0 });

  const { id } = await person.call('userInfo', {});
  const kept = await manager.call('consentList', { user_id: id });
  expect(kept.list.map((each) => [each.title, each.withdrawn_at !== null])).toEqual([
    ['用户协议', false],
    ['隐私政策', true],
    ['用户协议', false],
  ]);
  expect((await person.raw('consentList', {})).code).toBe(404);
  // Each consent is kept for good: they can not be made without an end.
  const codes = new Set<number>();
  for (let times = 0; times < 31; times += 1)
    codes.add((await person.raw('agree', { agreed: [{ kind: 'terms', version: 2 }] })).code);
  expect(codes).toContain(429);
  await manager.call('saveCompliance', { ask_agreements: 0 });
});

test('what was done from where is kept for its months, and leaves by the owner’s hand alone', async () => {
  const person = await TestClient.register(server.baseURL);
  const { id } = await person.call('userInfo', {});
  const { uuid } = await talk(person, '我的秘密是石榴花');
  await person.call('setSession', { session_id: uuid, private: 0 });
  // What is written to people is no generation, though the same calls carry it.
  const asking = await person.call('newSession', { type: 2 });
  await person.call('sendMessage', { session_id: asking.uuid, msg: '春天去哪里看呢' });
  const kept = () =>
    onDatabase<{ kind: string; call: string; subject: string; ip: string; port: number | null }>(
      server,
      'SELECT kind, call, subject, ip, port FROM records WHERE user_id = $1 ORDER BY id',
      [id],
    );
  const before = await kept();
  expect(before.map(({ kind, call }) => `${kind} ${call}`)).toEqual([
    'sign_in register',
    'act newSession',
    'generate sendMessage',
    'publish setSession',
    'publish newSession',
    'publish sendMessage',
  ]);
  for (const { ip, port } of before) expect([ip, (port ?? 0) > 1023]).toEqual(['127.0.0.1', true]);
  const asked = {
    user_id: id,
    from: '2020-01-01',
    to: '2099-12-31',
    reason: '某公安局调取证据通知书',
  };
  expect((await person.raw('exportRecords', asked)).code).toBe(404);
  expect((await manager.raw('exportRecords', { ...asked, reason: '' })).code).toBe(422);
  const neighbour = await TestClient.register(server.baseURL);
  const theirs = await talk(neighbour, '别人的话');
  const { text, count } = await manager.call('exportRecords', asked);
  expect(count).toBeGreaterThanOrEqual(before.length);
  expect(text).toContain(uuid);
  expect(text).not.toContain('石榴花');
  // Whoever reads it is no program.
  expect(text).not.toMatch(/data\.|null/);
  // An address is kept without a key in it.
  const url = 'https://tools.example.com/mcp';
  const tool = await neighbour.call('saveToolServer', { name: '工具', url: `${url}?key=1234` });
  const told = await onDatabase<{ subject: string }>(
    server,
    `SELECT subject FROM records WHERE call = 'saveToolServer'`,
  );
  expect(told).toEqual([{ subject: `url=${url} id=${tool.id}` }]);
  // Of nobody else, and of no other day.
  expect(text).not.toContain(theirs.uuid);
  const { text: theirText } = await manager.call('exportRecords', {
    ...asked,
    user_id: (await neighbour.call('userInfo', {})).id,
  });
  expect([theirText.includes(theirs.uuid), theirText.includes(uuid)]).toEqual([true, false]);
  await onDatabase(
    server,
    `UPDATE records SET at = '2025-03-05 12:00+08' WHERE user_id = $1 AND call = 'register'`,
    [id],
  );
  const ofDay = (from: string, to: string) => manager.call('exportRecords', { ...asked, from, to });
  expect((await ofDay('2025-03-05', '2025-03-05')).count).toBe(1);
  expect((await ofDay('2025-03-06', '2099-12-31')).count).toBe(count - 1);
  expect((await ofDay('2025-03-01', '2025-03-04')).count).toBe(0);
  const { id: ownId } = await owner.call('userInfo', {});
  expect(
    (await manager.call('exportRecords', { ...asked, from: '2020-01-01', to: '2020-01-02' })).count,
  ).toBe(0);
  const acts = await manager.call('adminActList', { call: 'exportRecords' });
  expect(acts.list[0]?.input).toContain('某公安局');
  expect(acts.list[0]?.user_id).toBe((await manager.call('userInfo', {})).id);
  // A manager who is not the owner sees no more of it than anybody.
  await manager.call('setManager', { user_id: ownId, rank: 'manager' });
  expect((await owner.raw('exportRecords', asked)).code).toBe(404);
  // An auditor sees what managers see and changes nothing, not even as a manager among people.
  await manager.call('setManager', { user_id: ownId, rank: 'auditor' });
  expect((await owner.call('complianceState', {})).settings.record_months).toBe(6);
  expect((await owner.raw('saveCompliance', { operator: '别人' })).code).toBe(403);
  expect((await owner.raw('exportRecords', asked)).code).toBe(404);
  await manager.call('setManager', { user_id: ownId, rank: 'none' });

  await onDatabase(
    server,
    `UPDATE records SET at = now() - interval '5 months' WHERE user_id = $1`,
    [id],
  );
  const pool = new pg.Pool({ connectionString: server.databaseUrl });
  const db = drizzle(pool) as unknown as Executor;
  try {
    await removeOldRecords(db);
    expect(await kept()).toHaveLength(before.length);
    await manager.call('saveCompliance', { record_months: 3 });
    await removeOldRecords(db);
    expect(await kept()).toEqual([]);
    await manager.call('saveCompliance', { record_months: 0 });
    await person.call('setSession', { session_id: uuid, private: 1 });
    expect(await kept()).toEqual([]);
  } finally {
    await pool.end();
    await manager.call('saveCompliance', { record_months: 6 });
  }
});

test('未成年人模式 bounds hours, minutes, payment and company on every device, until its code ends it', async () => {
  const account = `m${Date.now()}`;
  const child = await TestClient.register(server.baseURL, account);
  const { id } = await child.call('userInfo', {});
  const rules = { from: 0, to: 1440, minutes: 60 };
  expect((await child.raw('startMinor', { code: '2468', ...rules })).code).toBe(1490);
  await manager.call('saveCompliance', { minors: 1 });
  const grown = await TestClient.register(server.baseURL);
  const before = await child.call('newSession', { type: 0, private: 0 });
  expect((await child.call('getSession', { uuid: before.uuid })).private).toBe(0);
  const told = await talk(child, '我的学校在河边');
  const { key: link } = await child.call('shareSession', { session_id: told.uuid });
  const { model: base } = await child.call('newTrainModel', {
    name: '公开的',
    type: 0,
    private: 0,
  });
  await onDatabase(
    server,
    `UPDATE users SET vip_activated_at = now() - interval '90 days', vip_expired_at = now() - interval '1 day' WHERE id = $1`,
    [id],
  );
  const { full_key: key } = await child.call('genKey', {});
  const order = await child.call('recharge', { type: 'token', num: 1 });
  await child.call('startMinor', { code: '2468', ...rules });
  // What was ordered before is paid no more.
  const { out_order_id: number } = order;
  expect((await child.call('tradeStatus', { platform_order_id: number })).state).toBe('closed');
  // Nothing is public, neither what was nor what begins.
  expect((await grown.raw('sharedSession', { key: link })).code).toBe(404);
  const { list: bases } = await grown.call('embeddingList', {});
  expect(bases.map((each) => each.key)).not.toContain(base.key);
  // What a program asks is looked at by nobody.
  const asked = await fetch(`${server.baseURL}${calls.chatCompletions.path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'builtin-assistant',
      messages: [{ role: 'user', content: '你好' }],
    }),
  });
  expect(await asked.json()).toMatchObject({ error: { code: 'minor_limited' } });
  const searched = await fetch(`${server.baseURL}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'search', arguments: { query: '学校' } },
    }),
  });
  expect(await searched.text()).toContain('未成年人模式');
  const after = await child.call('newSession', { type: 0, private: 0 });
  for (const each of [before, after])
    expect((await child.call('getSession', { uuid: each.uuid })).private).toBe(1);
  const elsewhere = new TestClient(server.baseURL);
  await elsewhere.login(account, 'password-1');
  const { uuid } = await talk(elsewhere, '一加一等于几');
  const refused = async (name: PlainCallName, input: object) =>
    (await elsewhere.raw(name, input as Record<string, unknown>)).code;
  expect(await refused('recharge', { type: 'token', num: 1, pay: 'sandbox' })).toBe(1439);
  expect(
    await refused('newFriend', { friend_user_id: (await grown.call('userInfo', {})).id }),
  ).toBe(1439);
  expect(await refused('newSession', { type: 2, prompt: '大家好', msg: '大家好' })).toBe(1439);
  expect(await refused('newSession', { group_id: 1 })).toBe(1439);
  expect(await refused('setSession', { session_id: uuid, private: 0 })).toBe(1439);
  expect(await refused('newTrainModel', { name: '公开的', type: 0, private: 0 })).toBe(1439);
  await manager.call('addBlockedWords', { words: ['赌博网站'] });
  expect(await refused('sendMessage', { session_id: uuid, msg: '给我一个赌博网站' })).toBe(1437);
  // Minutes that follow each other count on both devices together; then even reading ends.
  await onDatabase(
    server,
    `UPDATE minors SET used_seconds = 3599.9, seen_at = now() - interval '2 seconds' WHERE user_id = $1`,
    [id],
  );
  expect((await child.raw('sessionList', { channel: 'private' })).code).toBe(1439);
  expect(await refused('historyList', { session_id: uuid })).toBe(1439);
  expect(await refused('lastMessages', { sessionId: uuid, maxHistoryId: 0 })).toBe(1439);
  for (const name of ['exportSession', 'exportDrawn'] as const)
    expect(await refused(name as never, { session_id: uuid, format: 'json' })).toBe(1439);
  expect((await elsewhere.call('minorState', {})).used).toBe(60);
  await onDatabase(
    server,
    `UPDATE minors SET used_seconds = 0, from_minute = 0, to_minute = 0 WHERE user_id = $1`,
    [id],
  );
  expect(await elsewhere.raw('sessionList', { channel: 'private' })).toMatchObject({ code: 1439 });
  // Signed out in a browser that knows them, the same holds; another browser is anybody's.
  const signedOut = (cookie: string, name: string, input: object) =>
    fetch(server.baseURL + calls[name as 'register'].path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie },
      body: JSON.stringify(input),
    });
  await onDatabase(
    server,
    `UPDATE minors SET from_minute = 0, to_minute = 1440 WHERE user_id = $1`,
    [id],
  );
  const carried = await fetch(`${server.baseURL}${calls.newSession.path}`, {
    method: 'POST',
    headers: { ...elsewhere.headers(), 'content-type': 'application/json' },
    body: JSON.stringify({ type: 0 }),
  });
  const [cookie = ''] = (carried.headers.get('set-cookie') ?? '').split(';');
  expect(cookie).toMatch(/^minor=[0-9a-f-]{36}$/);
  const open = await (await signedOut(cookie, 'newSession', { type: 0 })).json();
  expect(open).toMatchObject({ code: 0 });
  const anew = { account: `n${id}`, name: 'n', password: 'password-1', password2: 'password-1' };
  expect(await (await signedOut(cookie, 'register', anew)).json()).toMatchObject({
    code: 1439,
    message: expect.stringContaining('监护人'),
  });
  await onDatabase(server, `UPDATE minors SET to_minute = 0 WHERE user_id = $1`, [id]);
  for (const [carrying, code] of [
    [cookie, 1439],
    ['', 0],
    [cookie.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')), 0],
  ] as const)
    expect(await (await signedOut(carrying, 'newSession', { type: 0 })).json()).toMatchObject({
      code,
    });
  const [kept] = await onDatabase<{ code: string }>(
    server,
    'SELECT code FROM minors WHERE user_id = $1',
    [id],
  );
  expect(kept?.code).not.toContain('2468');
  // Neither ended nor set anew without the code, and guesses are few.
  expect(await refused('startMinor', { code: '1111', ...rules })).toBe(1443);
  for (let times = 0; times < 4; times += 1)
    expect(await refused('endMinor', { code: '1111' })).toBe(1443);
  expect(await refused('endMinor', { code: '2468' })).toBe(429);
  expect((await grown.raw('resetMinor', { user_id: id })).code).toBe(404);
  await manager.call('resetMinor', { user_id: id });
  expect((await elsewhere.raw('sessionList', { channel: 'private' })).code).toBe(0);
  await manager.call('saveCompliance', { minors: 0 });
});
