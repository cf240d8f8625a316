import fc from 'fast-check';
import { expect, test } from 'vitest';
import { growth, steep } from '#tests/support/growth.ts';
import { ReplyLog, type PartKind, type Slice } from './reply-log.ts';

const rest = (log: ReplyLog, from: number, most: number): Slice[] => {
  const slices: Slice[] = [];
  for (let at = from; ;) {
    const slice = log.sliceFrom(at, most);
    if (!slice) return slices;
    slices.push(slice);
    at = slice.end;
  }
};
const join = (slices: Slice[], kind: PartKind) =>
  slices
    .filter((slice) => slice.kind === kind)
    .map((slice) => slice.text)
    .join('');

const pieces = fc.array(
  fc.tuple(
    fc.constantFrom<PartKind>('text', 'reasoning'),
    fc.string({ unit: fc.constantFrom('a', '鹊', '😀', '\ud83d', '\ude00'), maxLength: 6 }),
  ),
  { maxLength: 30 },
);

test('any rest of the text can be read from any event, in the order in which it came', () => {
  fc.assert(
    fc.property(pieces, fc.integer({ min: 1, max: 7 }), (given, most) => {
      const log = new ReplyLog();
      const ends = [0];
      for (const [kind, text] of given) if (log.append(kind, text) !== '') ends.push(log.length);
      const stored = ReplyLog.of({ ai: log.text, reasoning: log.reasoning, parts: log.parts });
      for (const end of ends) {
        const slices = rest(stored, end, most);
        expect(slices.at(-1)?.end ?? end).toBe(log.length);
        const read = rest(log, 0, 1000).filter((slice) => slice.end <= end);
        if (read.at(-1)?.end === end) {
          expect(join(read, 'text') + join(slices, 'text')).toBe(log.text);
          expect(join(read, 'reasoning') + join(slices, 'reasoning')).toBe(log.reasoning);
        }
      }
      expect(join(rest(log, 0, most), 'text')).toBe(log.text);
    }),
  );
});

test('a character that comes in two halves is kept whole', () => {
  const log = new ReplyLog();
  expect(log.append('text', '好\ud83d')).toBe('好');
  expect(log.length).toBe(1);
  expect(log.append('text', '\ude00！')).toBe('😀！');
  expect(log.text).toBe('好😀！');
  expect(log.sliceFrom(1, 1)).toEqual({ kind: 'text', text: '😀', end: 3 });
});

test('what PostgreSQL cannot keep is left out', () => {
  const log = new ReplyLog();
  expect(log.append('text', 'a\0b\0')).toBe('ab');
  expect(log.append('text', '\0')).toBe('');
});

test('thinking and text alternate in parts, thinking first', () => {
  const log = new ReplyLog();
  log.append('text', 'ab');
  log.append('text', 'c');
  log.append('reasoning', 'xyz');
  log.append('text', 'd');
  expect(log.parts).toEqual([0, 3, 3, 1]);
});

test('a reply of very many parts is read in time that grows with them', () => {
  const read = (parts: number) => {
    const log = new ReplyLog();
    for (let at = 0; at < parts; at += 1) log.append(at % 2 === 0 ? 'text' : 'reasoning', 'a');
    let position = 0;
    for (let slice; (slice = log.sliceFrom(position, 100)); position = slice.end);
    expect(position).toBe(parts);
    expect(log.sliceFrom(0, 100)).toEqual({ kind: 'text', text: 'a', end: 1 });
  };
  expect(growth(read, 40_000)).toBeLessThan(steep);
});
