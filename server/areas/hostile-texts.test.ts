import { expect, test } from 'vitest';
import { mentionedIn } from '#common/mentions.ts';
import { speechText } from '#common/speech-text.ts';
import { comparesTimes } from '#tests/support/compares-times.ts';
import { growth, pieces, steep } from '#tests/support/growth.ts';
import { readText } from './file/text.ts';
import { toBeSaid } from './speech/read-aloud.ts';
import { imagesIn, withoutImages } from './forum/forum-list.service.ts';
import { needsWork } from './train/translation/ask-translation.ts';

/** What is read of a text while nobody else is served grows with its length, whatever stands in it. */

test.each(['![', '[', '[甲](', '![甲](乙(', '](', '<', '$$', '，  ', '```\n', '  \t', '|-'])(
  '%j that nobody closes is read aloud no slower',
  comparesTimes,
  (piece) => {
    const read = (size: number) => speechText(`前${piece.repeat(size / piece.length)}后`);
    expect(growth(read, 60_000)).toBeLessThan(steep);
  },
);

test('a text of nothing but “<” is read aloud as quickly as any', comparesTimes, async () => {
  expect(pieces(() => speechText('<'.repeat(200_000)))).toBeLessThan(2);
  const asked = { text: '<'.repeat(2_000_000), voice: '' };
  await expect(toBeSaid(null as never, asked, {} as never)).rejects.toMatchObject({
    codeName: 'prompt_too_long',
  });
});

test.each(['@', '@a ', ' @小'])(
  'of nothing but %j names are found once',
  comparesTimes,
  (piece) => {
    const look = (size: number) => mentionedIn(piece.repeat(size / piece.length), ['小明', 'Lin']);
    expect(growth(look, 200_000)).toBeLessThan(steep);
  },
);

test.each(['![', '![](', '![甲](乙 ', '](/files/'])(
  'a question of nothing but %j is listed no slower',
  comparesTimes,
  (piece) => {
    const look = (size: number) => {
      const text = piece.repeat(size / piece.length);
      return [imagesIn(text), withoutImages(text)];
    };
    expect(growth(look, 60_000)).toBeLessThan(steep);
  },
);

test.each(['a', 'a.', 'a@', 'http://'])(
  'a sentence of nothing but %j is looked at for words to translate no slower',
  comparesTimes,
  (piece) => {
    const look = (size: number) => needsWork(piece.repeat(size / piece.length), 1);
    expect(growth(look, 60_000)).toBeLessThan(steep);
  },
);

test.each(['\r', '\uf900', 'a\r\n'])(
  'a file of ten million bytes of %j costs as much as its text that is kept',
  comparesTimes,
  async (piece) => {
    const bytes = Buffer.from(piece.repeat(Math.floor(10_000_000 / Buffer.byteLength(piece))));
    const owner = { person: 'somebody', guest: true };
    const read = () => readText('a.txt', bytes, { seconds: 1, owner });
    expect(pieces(() => void read().catch(() => undefined))).toBeLessThan(6);
    if (piece !== '\r') expect((await read()).cut).toBe(true);
  },
);
