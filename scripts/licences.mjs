import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { belongsTo, optionalPackages } from './optional-packages.mjs';

/** Which packages the program is made of, and under which licences. */

const root = fileURLToPath(new URL('..', import.meta.url));
const bundledFolder = join(root, 'dist', 'bundled');

/** Licences that ask for no more than to be named and kept with a copy. */
const permissive = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'OFL-1.1',
  'Python-2.0',
  'Unlicense',
  'Zlib',
]);

/**
 * Packages in our bundles whose own files must be passed on with their source (MPL-2.0, file by
 * file); what is built with them is free. The notices say where the source is.
 */
const bundledThoughNamed = { mediabunny: 'MPL-2.0', 'web-push': 'MPL-2.0' };

/** Others that are used although they are not permissive: none is in a bundle. */
const apartThoughStrict = [/^@img\/sharp-/, /^@libav\.js\/variant-webm-vp9$/, /^cc-cedict$/];

/** What package.json of some does not say, says in no SPDX name, or says without all that is in it. */
const clarified = {
  // Its dictionary is CC-CEDICT.
  'cc-cedict': 'MIT AND CC-BY-SA-4.0',
  duck: 'BSD-2-Clause',
  khroma: 'MIT',
  'pause-stream': 'MIT OR Apache-2.0',
  'png-js': 'MIT',
};

const licenceOf = (name, { license }) => {
  const optional = optionalPackages.find((each) => belongsTo(name, each.name));
  return optional?.license ?? clarified[name] ?? license ?? '';
};

/** The last package's name in a path of the lock file. */
const nameOf = (path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** Every package that is installed with the program, or is part of its bundles, by its path. */
export const readPackages = () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const places = bundledPlaces();
  return Object.entries(packages)
    .filter(([path, { dev, link }]) => path !== '' && !link && (!dev || places.has(path)))
    .map(([path, entry]) => ({
      path,
      name: nameOf(path),
      version: entry.version,
      license: licenceOf(nameOf(path), entry),
      bundledIn: places.get(path) ?? [],
      folder: existsSync(join(root, path)) ? join(root, path) : null,
    }))
    .sort((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0));
};

/** Whether one may choose a licence that is permissive. The expression is SPDX's, AND binds tighter. */
export const isPermissive = (expression) =>
  expression
    .replaceAll(/[()]/g, '')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((each) => permissive.has(each.trim())));

/**
 * Packages that must not be where they are: in a bundle without a permissive licence, or anywhere
 * under a licence that is unknown or that nobody here has looked at.
 */
export const strayPackages = (packages) =>
  packages.filter(({ name, license, bundledIn }) => {
    if (isPermissive(license) || bundledThoughNamed[name] === license) return false;
    const known =
      optionalPackages.some((each) => belongsTo(name, each.name)) ||
      apartThoughStrict.some((pattern) => pattern.test(name));
    return bundledIn.length > 0 || !known;
  });

/** Writes down of which packages a bundle is made, by the paths of the files in it. */
export const noteBundled = (place, files) => {
  const paths = new Set();
  for (const file of files) {
    const path = relative(root, file.replace(/^\0/, '').replace(/\?.*$/, '')).split(sep).join('/');
    const [, found] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path) ?? [];
    if (found) paths.add(found);
  }
  mkdirSync(bundledFolder, { recursive: true });
  writeFileSync(
    join(bundledFolder, `${place}.json`),
    JSON.stringify(
      [...paths].toSorted((one, other) => one.localeCompare(other, 'en')),
      null,
      1,
    ),
  );
};

/** In which bundles a package is. */
const bundledPlaces = () => {
  const places = new Map();
  for (const file of existsSync(bundledFolder) ? readdirSync(bundledFolder).sort() : [])
    for (const path of JSON.parse(readFileSync(join(bundledFolder, file), 'utf8')))
      places.set(path, [...(places.get(path) ?? []), file.replace(/\.json$/, '')]);
  return places;
};

/** The texts that a package brings with it: licences, notices. */
const ownTexts = ({ folder }) =>
  folder === null
    ? []
    : readdirSync(folder, { withFileTypes: true })
        .filter(
          (entry) =>
            entry.isFile() &&
            /^(licen[cs]e|copying|notice|unrarlicense|copyright)/i.test(entry.name),
        )
        .map(({ name }) => readFileSync(join(folder, name), 'utf8'));

const standardText = (id) => readFileSync(join(root, 'scripts', 'licences', `${id}.txt`), 'utf8');

const standardIds = readdirSync(join(root, 'scripts', 'licences')).map((name) =>
  name.replace(/\.txt$/, ''),
);

/** Names of the standard texts that a licence's expression means, such as LGPL-3.0-or-later. */
const standardOf = (license) =>
  standardIds.filter((id) =>
    license.split(/[\s()]+/).some((each) => each.replace(/-(only|or-later)$/, '') === id),
  );

const tidy = (text) =>
  text
    .replaceAll('\r\n', '\n')
    .replaceAll(/[ \t]+$/gm, '')
    .trim();

const manifestOf = ({ folder }) => {
  const file = folder && join(folder, 'package.json');
  return file && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
};

const authorOf = (manifest) => {
  const { author } = manifest;
  return typeof author === 'string' ? author : (author?.name ?? '');
};
const sourceOf = ({ repository, homepage }) =>
  (typeof repository === 'string' ? repository : (repository?.url ?? homepage ?? '')).replace(
    /^git\+|\.git$/g,
    '',
  );

const places = {
  boot: '页面',
  page: '页面',
  'page-worker': '页面',
  'service-worker': '页面',
  server: '服务器',
};

const lineOf = ({ name, version, license, bundledIn }) => {
  const inside = [...new Set(bundledIn.map((place) => places[place] ?? place))];
  return `  ${name} ${version} · ${license}${inside.length > 0 ? ` · 在${inside.join('、')}的代码包里` : ''}`;
};

const rule = '='.repeat(78);

const chapter = (title, ...lines) => [rule, title, rule, '', ...lines, ''].join('\n');

const optionalChapter = (packages) =>
  chapter(
    '一、带特别条款的可选组件',
    '下面几个组件不在我们的代码包里，是 node_modules 里独立的文件，用到时才加载；没有它们也能运行。',
    '只在自己的服务器上使用、不把文件交给别人：GPL、LGPL 与 unRAR 的条款都不要求做什么。',
    '把装有它们的文件夹、磁盘映像或容器镜像交给别人：对 GPL 的组件，要附上许可证全文和与之对应的',
    '完整源代码（或三年有效的书面提供承诺），并且对方对它们有同样的权利；对 7-Zip，要附上 LGPL 与',
    'unRAR 条款，unRAR 的代码不得用来做 RAR 压缩程序。不想承担这些：设 WITHOUT_PACKAGES=all 再',
    '`npm start`，它们会从 node_modules 删去，或者只写其中几个名字。',
    '',
    ...optionalPackages.flatMap((each) => {
      const [version = ''] = packages
        .filter(({ name }) => name === each.name)
        .map(({ version }) => version);
      return [
        `  ${each.name} ${version} · ${each.license}`,
        `    含：${each.contains}`,
        `    源代码：${each.source}`,
        `    用在：${each.use}`,
        `    没有它时：${each.without}`,
        ...packages
          .filter(({ name }) => name !== each.name && belongsTo(name, each.name))
          .map(({ name, version }) => `    二进制文件 ${name} ${version}`),
        '',
      ];
    }),
  );

const weakChapter = (packages) =>
  chapter(
    '二、弱著佐权（LGPL、MPL）与相同方式共享（CC BY-SA）的组件',
    'LGPL 的组件是 node_modules 里独立的动态库或 WebAssembly 文件，可以用自己编译的换掉。',
    'MPL-2.0 的组件没有改动，源代码在下面的地址。CC-CEDICT 词典按 CC BY-SA 4.0 使用，没有改动内容：',
    'https://cc-cedict.org/ 与 https://creativecommons.org/licenses/by-sa/4.0/ 。',
    '',
    ...packages.map((each) => {
      const source = sourceOf(manifestOf(each));
      return `${lineOf(each)}${source ? `\n    源代码：${source}` : ''}`;
    }),
  );

/** The texts, each once, with the names of those that it is for. */
const textsChapter = (packages) => {
  const texts = new Map();
  const add = (text, who) => texts.set(text, [...(texts.get(text) ?? []), who]);
  for (const each of packages) {
    const who = `${each.name} ${each.version}`;
    const own = ownTexts(each)
      .map(tidy)
      .filter((text) => text !== '');
    for (const text of new Set(own)) add(text, who);
    const optional = optionalPackages.find(({ name }) => belongsTo(each.name, name));
    const author = authorOf(manifestOf(each));
    const standard =
      optional?.texts ??
      (own.length === 0 || /GPL|MPL/.test(each.license) ? standardOf(each.license) : []);
    for (const id of standard)
      add(tidy(standardText(id)), author ? `${who}（作者 ${author}）` : who);
  }
  const parts = [...texts].map(
    ([text, who]) => `${who.join('\n')}\n${'-'.repeat(78)}\n\n${text}\n`,
  );
  return chapter('四、许可证全文', parts.join(`\n${rule}\n`));
};

/** The third-party notices of all packages of the lock file, for people. */
export const noticesOf = (packages) => {
  const isOptional = ({ name }) => optionalPackages.some((each) => belongsTo(name, each.name));
  const rest = packages.filter((each) => !isOptional(each));
  const weak = rest.filter(({ license }) => !isPermissive(license));
  const free = rest.filter(({ license }) => isPermissive(license));
  return [
    '鹊桥 · 第三方声明',
    '',
    '鹊桥自己的代码按 MIT 许可证提供，见 /license.txt。它用到下面这些组件；本文件在构建时由',
    'scripts/licences.mjs 按 package-lock.json 与装好的文件生成。其他平台才用的文件只列出名字。',
    '',
    optionalChapter(packages),
    weakChapter(weak),
    chapter('三、其余组件', ...free.map(lineOf)),
    textsChapter(packages),
  ].join('\n');
};

/** Where the page has it. */
export const noticesFile = join(root, 'dist', 'page', 'third-party-notices.txt');

/** @throws Error when a package is where its licence does not allow it. */
export const writeNotices = () => {
  const packages = readPackages();
  const stray = strayPackages(packages);
  if (stray.length > 0)
    throw new Error(
      `these must not be used like this, or scripts/licences.mjs must name their licence:\n${stray.map(lineOf).join('\n')}`,
    );
  mkdirSync(dirname(noticesFile), { recursive: true });
  const notices = noticesOf(packages);
  writeFileSync(noticesFile, notices);
  // As all text beside the page, so that the server packs nothing.
  writeFileSync(`${noticesFile}.br`, brotliCompressSync(notices));
  writeFileSync(`${noticesFile}.gz`, gzipSync(notices));
  writeFileSync(join(root, 'dist', 'page', 'license.txt'), readFileSync(join(root, 'LICENSE')));
};

if (process.argv[1] === fileURLToPath(import.meta.url)) writeNotices();
