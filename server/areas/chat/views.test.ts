import { expect, test } from 'vitest';
import { siblingsAmong } from './views.ts';

const follower = (id: number, besideGroup = 0, branchRank = 0, prevId = 1) => ({
  id,
  prevId,
  besideGroup,
  branchRank,
});

test('branches at one place are told oldest first, and a single one is none', () => {
  const rows = [follower(5), follower(2), follower(9, 0, 0, 3)];
  expect(siblingsAmong(rows, follower(5))).toEqual([2, 5]);
  expect(siblingsAmong(rows, follower(9, 0, 0, 3))).toEqual([]);
  expect(siblingsAmong([], follower(5))).toEqual([]);
});

test('two answers beside each other are one branch, named by the one at hand', () => {
  const rows = [follower(2), follower(5, 5, 1), follower(6, 5, 3), follower(8)];
  expect(siblingsAmong(rows, follower(5, 5, 1))).toEqual([2, 5, 8]);
  expect(siblingsAmong(rows, follower(6, 5, 3))).toEqual([2, 6, 8]);
  expect(siblingsAmong(rows, follower(2))).toEqual([2, 6, 8]);
  expect(siblingsAmong(rows.slice(1, 3), follower(5, 5, 1))).toEqual([]);
});
