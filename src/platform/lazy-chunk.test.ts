import { expect, it } from 'vitest';
import { isMissingPart } from './lazy-chunk.ts';

it('tells a part of the page that did not come from a fault in one that did, in each engine', () => {
  for (const message of [
    'Failed to fetch dynamically imported module: https://example.com/assets/a-1.js',
    'error loading dynamically imported module: https://example.com/assets/a-1.js',
    'Importing a module script failed.',
    'Unable to preload CSS for /assets/a-1.css',
  ])
    expect(isMissingPart(new TypeError(message)), message).toBe(true);
  expect(isMissingPart(new TypeError("Cannot read properties of undefined (reading 'a')"))).toBe(
    false,
  );
  expect(isMissingPart(new TypeError('Failed to fetch'))).toBe(false);
  expect(isMissingPart(null)).toBe(false);
});
