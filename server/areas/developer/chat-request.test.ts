import { expect, test, vi } from 'vitest';
import { limits } from '#contract/limits.ts';
import type { OpenMessage } from '#contract/open-messages.ts';
import { Refusal } from '#server/http/handlers.ts';
import type { OpenContext } from '#server/http/open-handlers.ts';
import { createMessageReader, Tally } from './chat-request.ts';

const url = 'https://images.example/one.png';
const words = '（下面是从图片里认出的文字，可能有错字）\n\n合计 128 元';
const image = { type: 'image_url' as const, image_url: url };

const asker = {
  signal: new AbortController().signal,
  hold: () => undefined,
  caller: { user: { person: '1', guest: false } },
} as unknown as OpenContext;

const asking = async (room: number, messages: OpenMessage[], vision = true) => {
  const fetchImage = vi.fn(async () => 'data:image/png;base64,AAAA');
  const tally = new Tally(room, () => new Refusal('prompt_too_long'));
  const read = createMessageReader({ fetchImage, wordsOnImage: async () => words });
  const answer = await read(messages, tally, asker, { vision }).then(
    () => 'read',
    (error: Refusal) => error.codeName,
  );
  return { answer, tally, fetched: fetchImage.mock.calls.length };
};

test('what has no room is read no further, and none of its images are fetched', async () => {
  const long: OpenMessage = { role: 'user', content: '桥'.repeat(100_000) };
  const shown: OpenMessage = { role: 'user', content: [image] };
  const whole = await asking(1e9, [long, shown]);
  expect([whole.answer, whole.fetched]).toEqual(['read', 1]);
  const cut = await asking(500, [long, shown]);
  expect([cut.answer, cut.fetched]).toEqual(['prompt_too_long', 0]);
  expect(cut.tally.rough).toBeLessThan(510);
  // An image counts before it is fetched.
  const few = await asking(limits.imageTokens.high, [shown]);
  expect([few.answer, few.fetched]).toEqual(['prompt_too_long', 0]);
});

test('a model that does not see gets what is written on an image, which counts as text', async () => {
  const shown: OpenMessage = { role: 'user', content: [image, { type: 'text', text: '多少钱？' }] };
  const told = await asking(1e9, [shown], false);
  expect([told.answer, told.fetched, told.tally.texts]).toEqual(['read', 1, [words, '多少钱？']]);
  const many: OpenMessage = { role: 'user', content: Array.from({ length: 5 }, () => image) };
  expect((await asking(1e9, [many], false)).answer).toBe('bad_input');
});
