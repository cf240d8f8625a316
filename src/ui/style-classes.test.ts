import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const source = fileURLToPath(new URL('..', import.meta.url));

const files = readdirSync(source, { recursive: true, encoding: 'utf8' });

const classesOf = (styles: string): Set<string> =>
  new Set(
    [...readFileSync(styles, 'utf8').matchAll(/\.([A-Za-z_][\w-]*)/g)].map(
      ([, name]) => name ?? '',
    ),
  );

it('every class that a component names is in its styles', () => {
  const missing: string[] = [];
  let named = 0;
  for (const file of files) {
    if (!file.endsWith('.tsx')) continue;
    const text = readFileSync(path.join(source, file), 'utf8');
    for (const [, local, from] of text.matchAll(/import (\w+) from '([^']+\.module\.css)'/g)) {
      const styles = from?.startsWith('#src/')
        ? path.join(source, from.slice('#src/'.length))
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

const rawValues = [
  /^\s*(--)?font(-size)?:.*\d(px|rem|pt)/,
  /^\s*border[a-z-]*radius:.*\d(px|r?em)/,
  /:.*(#[\da-f]{3,8}\b|\b(rgb|hsl|hwb|lab|lch|oklab|oklch)a?\()/i,
  /^\s*[a-z-]*(color|background|border|shadow|fill|stroke)[a-z-]*:[^;]*(?<![\w-])(white|black|gr[ae]y|red|green|blue|orange|yellow|purple|pink|silver|gold)(?![\w-])/,
];

it('sizes of text, radii and colours come from the tokens of the themes', () => {
  const raw: string[] = [];
  const tokens = new Set<string>();
  const asked = new Map<string, string>();
  for (const file of files) {
    if (!file.endsWith('.css')) continue;
    const text = readFileSync(path.join(source, file), 'utf8').replaceAll(
      /\/\*.*?\*\//gs,
      (comment) => '\n'.repeat(comment.split('\n').length - 1),
    );
    for (const [, name = ''] of text.matchAll(/(--[\w-]+):/g)) tokens.add(name);
    for (const [, name = ''] of text.matchAll(
      /var\((--(?:text|radius|round|shadow|space|white|black|code)[\w-]*)/g,
    ))
      asked.set(name, file);
    if (path.dirname(file) === path.join('app', 'themes')) continue;
    for (const [index, line] of text.split('\n').entries())
      if (rawValues.some((each) => each.test(line)))
        raw.push(`${file}:${index + 1} ${line.trim()}`);
  }
  expect(raw).toEqual([]);
  expect([...asked].filter(([name]) => !tokens.has(name))).toEqual([]);
  expect(asked.size).toBeGreaterThan(30);
});
