import { expect, test } from 'vitest';
import { bestModel } from './best-model.ts';

/** Sizes and memory as those of the shelf. */
const shelf = [
  { key: 'small', kind: 'chat', size: 0.64e9, memory: 1.2e9 },
  { key: 'large', kind: 'chat', size: 2.5e9, memory: 3.8e9 },
  { key: 'middle', kind: 'chat', size: 1.83e9, memory: 2.7e9 },
  { key: 'vectors', kind: 'embedding', size: 0.05e9, memory: 0.2e9 },
] as const;

test.each([
  [2, 2, 'small'],
  [16, 2, 'small'],
  [8, 8, 'large'],
  [6, 8, 'middle'],
  [1, 1, 'small'],
])('with %i GB and %i processors one begins with what answers well', (memory, processors, key) => {
  expect(bestModel(shelf, { memory: memory * 1e9, processors })).toBe(key);
});
