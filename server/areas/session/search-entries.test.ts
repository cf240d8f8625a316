import { expect, test } from 'vitest';
import { entriesOf } from './search-entries.ts';
import { addGrams, searchedLetters, sessionMark } from './search-grams.ts';

const letters = (count: number, first: number): string =>
  String.fromCharCode(...Array.from({ length: count }, (_, at) => first + ((at * 7919) % 20_000)));
const message = (id: number, human: string, ai: string) => {
  const where = { id, session_id: 7, user_ids: [], public: false, of_people: false };
  return { ...where, title: '', human, ai };
};

test('a long message leaves others their turns, and has the grams that it has in one piece', async () => {
  const human = letters(searchedLetters + 9, 0x4e00);
  const ai = letters(searchedLetters, 0x3400);
  let turns = 0;
  let over = false;
  const count = (): void => {
    turns += 1;
    if (!over) setImmediate(count);
  };
  setImmediate(count);
  const sent: [number[], string[]][] = [];
  for await (const entries of entriesOf([message(1, human, ai)])) sent.push(entries);
  over = true;
  expect(turns).toBeGreaterThan(4);
  const whole = new Set([sessionMark(7)]);
  for (const text of [human, ai]) addGrams(whole, text);
  const [[ids, [list = '']] = [[], []]] = sent;
  expect(ids).toEqual([1]);
  expect(new Set(JSON.parse(`[${list.slice(1, -1)}]`) as number[])).toEqual(whole);
});

test('no more goes into one statement than is sent at once, and each message once', async () => {
  const long = Array.from({ length: 4 }, (_, at) => message(at, letters(49_000, 0x4e00), ''));
  const short = Array.from({ length: 1200 }, (_, at) => message(10 + at, '桥', ''));
  const sizes = [];
  for await (const [ids] of entriesOf([...long, ...short])) sizes.push(ids.length);
  expect(sizes.length).toBeGreaterThan(3);
  expect(Math.max(...sizes)).toBeLessThan(1024);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(1204);
});
