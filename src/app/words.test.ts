import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

/** The words of the right column of docs/words.md. */
const former = [...read('docs/words.md').matchAll(/^\| .+? \| (.+?) \|$/gm)]
  .flatMap(([, words = '']) => words.split('、'))
  .filter((word) => word !== '不用' && !word.startsWith('-'));
/** What a service's own buttons are called is the service's. */
const ofServices = 'server/engines/';

/** Files whose texts people read. */
const files = ['src', 'contract', 'server'].flatMap((folder) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => `${folder}/${file}`)
    .filter((file) => /\.tsx?$|help\/pages\/.+\.md$/.test(file) && !/\.test\./.test(file))
    .filter((file) => !file.startsWith(ofServices)),
);

it('one thing has one word on every screen, in errors and in help', () => {
  expect(former.length).toBeGreaterThan(12);
  const found = files.flatMap((file) =>
    read(file)
      .split('\n')
      .filter((line) => !/keywords:|^\s*(\/\/|\*|\/\*)/.test(line))
      .flatMap((line) =>
        former.filter((word) => line.includes(word)).map((word) => `${file}: ${word}`),
      ),
  );
  expect(found).toEqual([]);
});
