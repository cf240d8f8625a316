import { expect, test } from 'vitest';
import { usualModels } from './usual-models.ts';

test('of a service with few models all to talk with are usual, the wanted and the cheap ones first', () => {
  const names = ['big-chat', 'small-mini', 'small-mini-2024-07-18', 'dall-e-3', 'tts-1', 'bge-m3'];
  expect(usualModels(names, [])).toEqual(['small-mini', 'big-chat']);
  expect(usualModels(names, ['big-chat', 'gone-chat'])).toEqual(['big-chat', 'small-mini']);
  // A version that stands alone is the model.
  expect(usualModels(['doubao-seed-250615'], [])).toEqual(['doubao-seed-250615']);
});

test('of a service with many only the wanted ones are, or a few', () => {
  const many = Array.from({ length: 300 }, (_, at) => `maker/chat-${at}x`);
  expect(usualModels(['wanted-chat', ...many], ['wanted-chat'])).toEqual(['wanted-chat']);
  expect(usualModels([...many, 'small-mini'], [])).toHaveLength(20);
  expect(usualModels([...many, 'small-mini'], [])[0]).toBe('small-mini');
});

test('who wants to hear gets no models to talk with', () => {
  expect(usualModels(['gpt-4o-mini', 'gpt-4o-mini-tts'], ['gpt-4o-mini-tts'])).toEqual([
    'gpt-4o-mini-tts',
  ]);
});
