import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { strToU8, zipSync } from 'fflate';
import { pack } from 'tar-stream';
import { expect, test } from 'vitest';
import { Unwanted } from '#server/reading/block.ts';
import { unpackPlainly } from './plain-unpack.ts';

const tarOf = (files: Readonly<Record<string, string>>) => {
  const tar = pack();
  for (const [name, text] of Object.entries(files)) tar.entry({ name }, text);
  tar.finalize();
  return buffer(tar);
};

const textsOf = async (name: string, data: Uint8Array) => {
  const { files, skipped } = await unpackPlainly(name, data);
  return {
    files: Object.fromEntries(files.map(({ name, data }) => [name, Buffer.from(data).toString()])),
    skipped,
  };
};

test('zip, gz and tar are opened, and nothing leads out of its folder', async () => {
  const zip = zipSync({
    'a.txt': strToU8('麦子'),
    'b/': new Uint8Array(),
    'b/c.md': strToU8('稻子'),
    '../../tmp/d.txt': strToU8('爬出去'),
    'e.exe': strToU8('MZ'),
  });
  expect(await textsOf('好.zip', zip)).toEqual({
    files: { 'a.txt': '麦子', 'c.md': '稻子', 'd.txt': '爬出去' },
    skipped: ['e.exe'],
  });
  expect(await textsOf('谷.txt.gz', gzipSync(strToU8('谷子')))).toMatchObject({
    files: { '谷.txt': '谷子' },
  });
  expect(await textsOf('豆.tar', await tarOf({ '豆.txt': '豆子', 'x.exe': 'MZ' }))).toEqual({
    files: { '豆.txt': '豆子' },
    skipped: ['x.exe'],
  });
});

test('a name that old Windows wrote is read as GB18030', async () => {
  const zip = Buffer.from(zipSync({ 'AABB.txt': strToU8('谷子') }));
  // 谷子 in GBK, in both places where the name stands.
  for (let at = zip.indexOf('AABB'); at >= 0; at = zip.indexOf('AABB'))
    Buffer.from('b9c8d7d3', 'hex').copy(zip, at);
  expect(await textsOf('旧.zip', zip)).toMatchObject({ files: { '谷子.txt': '谷子' } });
});

const bomb = zipSync({ 'a.txt': new Uint8Array(60e6) }, { level: 1 });
const lying = () => {
  const zip = Buffer.from(bomb);
  const directory = zip.indexOf('PK\u0001\u0002', 0, 'latin1');
  // It says of itself that it is ten bytes long.
  zip.writeUInt32LE(10, directory + 24);
  zip.writeUInt32LE(10, 22);
  return zip;
};
const many = Object.fromEntries(
  Array.from({ length: 501 }, (_, at) => [`${at}.txt`, strToU8('a')]),
);
const locked = readFileSync(new URL('../../../../tests/support/locked.zip', import.meta.url));

test.each([
  ['a zip bomb', '大.zip', bomb, /太大/],
  ['a gz bomb', '大.gz', gzipSync(new Uint8Array(60e6)), /太大/],
  ['501 files', '多.zip', zipSync(many), /太多/],
  ['half a zip', '坏.zip', zipSync({ 'a.txt': strToU8('麦子') }).slice(0, 60), /损坏/],
  ['a broken gz', '坏.gz', Buffer.from('1f8b0000', 'hex'), /损坏/],
  ['a password', '锁.zip', locked, /密码/],
  ['nothing to learn', '空.zip', zipSync({ 'a.exe': strToU8('MZ') }), /没有可以学习/],
  ['a rar', '豆.rar', Buffer.from('526172211a0700', 'hex'), /没有安装 7z-wasm/],
])('%s is refused', async (_, name, data, why) => {
  const refused = unpackPlainly(name, data);
  await expect(refused).rejects.toThrow(why);
  await expect(refused).rejects.toBeInstanceOf(Unwanted);
});

test('a file that is longer than it says takes no more room than it said', async () => {
  const opened = await unpackPlainly('谎.zip', lying()).catch((error: unknown) => error);
  if (opened instanceof Error) expect(opened).toBeInstanceOf(Unwanted);
  else expect(opened).toMatchObject({ files: [{ name: 'a.txt' }] });
  const files = opened instanceof Error ? [] : (opened as { files: { data: Uint8Array }[] }).files;
  for (const { data } of files) expect(data.length).toBeLessThanOrEqual(10);
});
