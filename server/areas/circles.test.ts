import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = import.meta.dirname;

/** Which other areas an area imports, types included. */
const importsOf = (area: string): Set<string> => {
  const files = readdirSync(path.join(root, area), { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && /(?<!\.test)\.ts$/.test(entry.name),
  );
  const used = files.flatMap(({ parentPath, name }) =>
    [
      ...readFileSync(path.join(parentPath, name), 'utf8').matchAll(
        /from '(\.[^']+|#server\/[^']+)'/g,
      ),
    ].map(([, specifier = '']) => {
      const file = specifier.startsWith('.')
        ? path.resolve(parentPath, specifier)
        : path.resolve(root, '../..', specifier.slice(1));
      return path.relative(root, file);
    }),
  );
  return new Set(
    used
      .filter((file) => !file.startsWith('..') && file.includes('/'))
      .map((file) => file.split('/')[0] ?? '')
      .filter((other) => other !== area),
  );
};

test('areas stand on each other in one direction', () => {
  const areas = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  const left = new Map(areas.map((area) => [area, importsOf(area)]));
  // Whoever stands on nothing that is left is taken away; what then remains stands in a circle.
  for (let free = areas; free.length > 0;) {
    free = [...left]
      .filter(([, used]) => ![...used].some((each) => left.has(each)))
      .map(([area]) => area);
    for (const area of free) left.delete(area);
  }
  expect([...left.keys()]).toEqual([]);
});

/** Speak SQL though they are no stores. No more are added. */
const speakers = ['areas/developer/stored-responses.ts'];

test('stores, tables and the database room alone speak SQL', () => {
  const server = path.join(root, '..');
  const others = readdirSync(server, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/^db\/|\.(store|tables|test)\.ts$/.test(file))
    .filter((file) => /from 'drizzle-orm/.test(readFileSync(path.join(server, file), 'utf8')));
  expect(others).toEqual(speakers);
});
