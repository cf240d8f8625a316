import { expect, test } from 'vitest';
import { isBusy } from './page-props.ts';

test('stored rows stand whole while they are read anew, those of another page do not', () => {
  const read = { isFetching: true, isPlaceholderData: false };
  expect(isBusy({ ...read, data: { list: [] } })).toBe(false);
  expect(isBusy({ ...read, data: undefined })).toBe(true);
  expect(isBusy({ ...read, data: { list: [] }, isPlaceholderData: true })).toBe(true);
});
