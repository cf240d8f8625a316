import { expect, test } from 'vitest';
import { noteUnanswered, requireAnswers } from './unanswered.ts';

const answers = (userId: number, model: string) =>
  requireAnswers(userId, model).then(
    () => 'asked',
    ({ message }: Error) => message,
  );

test('a model that answers somebody by nothing is asked no more by them; in the end no paid one is', async () => {
  const [one, other] = [9_001, 9_002];
  await noteUnanswered(one, 'a', 200_000);
  expect(await answers(one, 'a')).toBe('asked');
  await noteUnanswered(one, 'a', 1);
  expect(await answers(one, 'a')).toContain('这个模型');
  expect(await answers(one, 'b')).toBe('asked');
  expect(await answers(other, 'a')).toBe('asked');
  // Each of the others has its own room left, and all together have none.
  await noteUnanswered(one, 'b', 150_000);
  expect(await answers(one, 'c')).toBe('asked');
  await noteUnanswered(one, 'c', 50_000);
  expect(await answers(one, 'd')).toContain('免费的模型');
  expect(await answers(other, 'd')).toBe('asked');
});
