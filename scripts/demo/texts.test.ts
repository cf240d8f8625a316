import { expect, test } from 'vitest';
import { forumTexts, grouped, readParts } from './texts.ts';

const counted = (name: string, kind: string) =>
  readParts(name).filter((part) => part.kind === kind).length;

test('the forum of the demo has twenty questions with answers in each of its ten groups', () => {
  const titles: string[] = [];
  let accepted = 0;
  for (const { group, parts } of forumTexts()) {
    const questions = grouped(parts, '问');
    expect(questions, group).toHaveLength(20);
    for (const { head, rest } of questions) {
      const [title = ''] = head.words;
      titles.push(title);
      expect(head.body, title).not.toBe('');
      expect(
        rest.filter(({ kind, body }) => kind !== '追' && body !== ''),
        title,
      ).not.toEqual([]);
      const best = rest.filter(({ kind }) => kind === '采').length;
      expect(best, title).toBeLessThanOrEqual(1);
      accepted += best;
    }
  }
  expect(new Set(titles).size).toBe(200);
  // Some stay open, as anywhere.
  expect(accepted).toBeGreaterThan(150);
  expect(accepted).toBeLessThan(200);
});

test('what else the demo shows is as much as it says', () => {
  const pictures = readParts('pictures');
  expect(pictures.filter(({ kind }) => kind === '图').length).toBeGreaterThanOrEqual(60);
  expect(
    new Set(pictures.flatMap(({ kind, words }) => (kind === '图' ? [words[0]] : []))).size,
  ).toBe(10);
  expect(counted('pictures', '片')).toBeGreaterThan(0);
  expect(counted('bases', '库')).toBe(5);
  for (const { head, rest } of grouped(readParts('apps'), '应用'))
    expect(rest.length, head.words[0]).toBeGreaterThan(1);
  const talks = readParts('talks')
    .map(({ body }) => body)
    .join('\n');
  for (const shown of [/^```python/m, /^```sql/m, /^\|---/m, /^\$\$/m, /^```mermaid/m])
    expect(talks).toMatch(shown);
});
