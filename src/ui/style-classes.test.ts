import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const source = fileURLToPath(new URL('..', import.meta.url));

const classesOf = (styles: string): Set<string> =>
  new Set(
    [...readFileSync(styles, 'utf8').matchAll(/\.([A-Za-z_][\w-]*)/g)].map(
      ([, name]) => name ?? '',
    ),
  );

it('every class that a component names is in its styles', () => {
  const missing: string[] = [];
  let named = 0;
  for (const file of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.tsx')) continue;
    const text = readFileSync(path.join(source, file), 'utf8');
    for (const [, local, from] of text.matchAll(/import (\w+) from '([^']+\.module\.css)'/g)) {
      const styles = from?.startsWith('@/')
        ? path.join(source, from.slice(2))
        : path.join(source, path.dirname(file), from ?? '');
      const classes = classesOf(styles);
      for (const [, name] of text.matchAll(new RegExp(`\\b${local}(?:\\.|\\[')(\\w+)`, 'g'))) {
        named += 1;
        if (!classes.has(name ?? '')) missing.push(`${file}: ${local}.${name}`);
      }
    }
  }
  expect(missing).toEqual([]);
  expect(named).toBeGreaterThan(100);
});
