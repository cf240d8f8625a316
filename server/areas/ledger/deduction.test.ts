import { expect, test } from 'vitest';
import { deduction, isFree } from '#contract/price.ts';

test('the prompt has its own factor or shares the one of the reply', () => {
  expect(deduction({ factor: 2, promptFactor: null }, 10, 5)).toBe(30);
  expect(deduction({ factor: 2, promptFactor: 0.5 }, 10, 5)).toBe(15);
  expect(deduction({ factor: 0.3, promptFactor: 0 }, 100, 1)).toBe(1);
  expect(deduction({ factor: 0, promptFactor: null }, 100, 100)).toBe(0);
});

test('a model is free only when its prompt is, too', () => {
  expect(isFree({ factor: 0, promptFactor: null })).toBe(true);
  expect(isFree({ factor: 0, promptFactor: 1 })).toBe(false);
  expect(isFree({ factor: 1, promptFactor: 0 })).toBe(false);
});
