import fc from 'fast-check';
import { expect, test } from 'vitest';
import { idsIn, intersection, narrow, remove, union, type Posting } from './search-postings.ts';

/** As the database keeps them: places as two bytes, or a bit for each. */
const asList = (gram: number, segment: number, places: readonly number[]): Posting => {
  const ids = Buffer.alloc(places.length * 2);
  places.forEach((place, at) => ids.writeUInt16BE(place, at * 2));
  return { gram, segment, ids };
};
const asBits = (gram: number, segment: number, places: readonly number[]): Posting => {
  const ids = Buffer.alloc(2048);
  for (const place of places) ids[place >> 3]! |= 1 << (place & 7);
  return { gram, segment, ids };
};

const somePlaces = fc.array(fc.integer({ min: 0, max: 16_383 }), { maxLength: 1023 });
const newestFirst = (places: Iterable<number>) => [...new Set(places)].sort((a, b) => b - a);

test('lists and bits say the same', () => {
  fc.assert(
    fc.property(somePlaces, (places) => {
      const expected = newestFirst(places);
      expect(idsIn(union([asList(1, 0, places)]))).toEqual(expected);
      expect(idsIn(union([asBits(1, 0, places)]))).toEqual(expected);
    }),
  );
});

test('what has all of the grams is left, the newest first', () => {
  fc.assert(
    fc.property(somePlaces, somePlaces, somePlaces, (one, other, third) => {
      const both = intersection([asList(1, 0, one), asBits(2, 0, other)], [1, 2]);
      const there = new Set(other);
      expect(both && idsIn(both)).toEqual(newestFirst(one.filter((place) => there.has(place))));
      const all = union([asBits(3, 0, third)]);
      narrow(all, both ?? new Map());
      const kept = new Set(third);
      expect(idsIn(all)).toEqual(
        newestFirst(one.filter((place) => there.has(place) && kept.has(place))),
      );
      const others = union([asList(1, 0, one)]);
      remove(others, union([asBits(2, 0, other), asList(2, 1, third)]));
      expect(idsIn(others)).toEqual(newestFirst(one.filter((place) => !there.has(place))));
    }),
  );
});

test('segments stand one behind the other; one without a gram has nothing', () => {
  const postings = [asList(1, 0, [5]), asList(1, 2, [7, 3]), asList(2, 2, [3])];
  expect(idsIn(union(postings))).toEqual([32_775, 32_771, 5]);
  const both = intersection(postings, [1, 2]);
  expect(both && idsIn(both)).toEqual([32_771]);
  expect(intersection(postings, [])).toBeNull();
});
