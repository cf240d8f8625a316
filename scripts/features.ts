import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { features } from '#tests/support/features.ts';

/** Prints which rows of the feature list no test names. `npm run features` */
const tried = new Map<string, Set<string>>();
const unknown: string[] = [];
const files = ['tests', 'src', 'server'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(test|spec)\.tsx?$/.test(name))
    .map((name) => path.join(folder, name)),
);
for (const file of files) {
  const text = readFileSync(file, 'utf8');
  for (const [, id] of text.matchAll(/@([A-Z]\d{1,2})\b/g)) {
    if (!id) continue;
    if (!(id in features)) unknown.push(`${file}: @${id}`);
    else tried.set(id, (tried.get(id) ?? new Set()).add(file));
  }
}
const missing = Object.entries(features).filter(([id]) => !tried.has(id));
for (const [id, words] of missing) console.log(`${id.padEnd(4)} ${words}`);
console.log(
  `\n${tried.size} of ${Object.keys(features).length} rows are named by a test, ${missing.length} by none.`,
);
if (unknown.length > 0) {
  console.error(`No such row:\n${unknown.join('\n')}`);
  process.exitCode = 1;
}
