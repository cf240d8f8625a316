import { expect, test } from 'vitest';
import { mentionedIn } from '../../../common/mentions.ts';
import { speechText } from '../../../common/speech-text.ts';
import { comparesTimes } from '../../../tests/support/compares-times.ts';
import { growth, steep } from '../../../tests/support/growth.ts';

/** What is read of a text while nobody else is served grows with its length, whatever stands in it. */

test.each(['![', '[', '[甲](', '![甲](乙(', '](', '<', '$$', '，  ', '```\n', '  \t', '|-'])(
  '%j that nobody closes is read aloud no slower',
  comparesTimes,
  (piece) => {
    const read = (size: number) => speechText(`前${piece.repeat(size / piece.length)}后`);
    expect(growth(read, 60_000)).toBeLessThan(steep);
  },
);

test.each(['@', '@a ', ' @小'])(
  'of nothing but %j names are found once',
  comparesTimes,
  (piece) => {
    const look = (size: number) => mentionedIn(piece.repeat(size / piece.length), ['小明', 'Lin']);
    expect(growth(look, 200_000)).toBeLessThan(steep);
  },
);
