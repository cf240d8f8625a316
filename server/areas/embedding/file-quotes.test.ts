import { expect, test } from 'vitest';
import { quotesFromFiles } from './file-quotes.ts';

test('a short file waits for no more than one long one', async () => {
  const { signal } = new AbortController();
  const ended: string[] = [];
  const look = async (name: string, lines: number) => {
    const text = '仓库的租金每月一万二千元，每季度支付。\n'.repeat(lines);
    const quotes = await quotesFromFiles('租金每月是多少', [{ name, text }], signal);
    expect(quotes).not.toBeNull();
    ended.push(name);
  };
  const names = ['长一.txt', '长二.txt', '长三.txt'];
  await Promise.all([...names.map((name) => look(name, 2_000)), look('短.txt', 3)]);
  expect(ended).toEqual(['长一.txt', '短.txt', '长二.txt', '长三.txt']);
});
