import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import { expect, test } from 'vitest';
import { withFiles } from './archive-notices.ts';

const packed = (files: Record<string, string>): Buffer =>
  Buffer.from(
    zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)]))),
  );
const within = (zip: Buffer): Record<string, string> =>
  Object.fromEntries(Object.entries(unzipSync(zip)).map(([name, data]) => [name, strFromU8(data)]));

test('a zip file is given more files, and keeps what it has', () => {
  const own = { '源码/main.ts': 'x'.repeat(5000), 'license.txt': 'its own' };
  const zip = withFiles(packed(own), {
    'license.txt': Buffer.from('ours'),
    'third-party-notices.txt': Buffer.from('notices'),
  });
  const whole = { ...own, 'third-party-notices.txt': 'notices' };
  expect(within(zip)).toEqual(whole);
  expect(within(withFiles(zip, { b: Buffer.from('b') }))).toEqual({ ...whole, b: 'b' });
});

test('what is no zip file, or a broken one, stays as it came', () => {
  const zip = packed({ a: 'a' });
  const commented = Buffer.concat([zip, Buffer.from('hello')]);
  commented.writeUInt16LE(5, zip.length - 2);
  const more = { b: Buffer.from('b') };
  expect(within(withFiles(commented, more))).toEqual({ a: 'a', b: 'b' });
  expect(withFiles(commented, more).toString('latin1')).toMatch(/hello$/);
  const odd = Buffer.from(zip);
  odd.writeUInt32LE(0xffffffff, zip.length - 6);
  for (const data of [Buffer.alloc(0), Buffer.from('PK'), zip.subarray(0, -1), odd])
    expect(withFiles(data, more)).toBe(data);
});
