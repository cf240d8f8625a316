import { readdirSync, readFileSync } from 'node:fs';

/** One part of a file of texts: a line `@kind word | word`, and what stands below it. */
export interface Part {
  kind: string;
  words: string[];
  body: string;
}

/** Reads scripts/demo/texts/NAME.txt; a line that begins with @ and a Chinese word begins a part. */
export const readParts = (name: string): Part[] => {
  const text = readFileSync(new URL(`texts/${name}.txt`, import.meta.url), 'utf8');
  const parts: Part[] = [];
  for (const line of text.split('\n')) {
    const [, kind, words] = /^@(\p{Script=Han}+)(?: (.*))?$/u.exec(line) ?? [];
    if (kind) parts.push({ kind, words: (words ?? '').split(' | '), body: '' });
    else if (parts.length > 0) parts.at(-1)!.body += `${line}\n`;
  }
  for (const part of parts) part.body = part.body.trim();
  return parts;
};

/** Parts that begin with one of a kind, with all that follows until the next of it. */
export const grouped = (parts: readonly Part[], kind: string): { head: Part; rest: Part[] }[] => {
  const groups: { head: Part; rest: Part[] }[] = [];
  for (const part of parts)
    if (part.kind === kind) groups.push({ head: part, rest: [] });
    else groups.at(-1)?.rest.push(part);
  return groups;
};

/** The questions of the forum: a file for each of its groups, named as the group is. */
export const forumTexts = (): { group: string; parts: Part[] }[] =>
  readdirSync(new URL('texts/forum', import.meta.url))
    .toSorted()
    .map((file) => file.replace(/\.txt$/, ''))
    .map((group) => ({ group, parts: readParts(`forum/${group}`) }));
