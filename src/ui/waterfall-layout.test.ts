import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { layWaterfall, placesWithin } from './waterfall-layout.ts';

const shape = fc.record({
  width: fc.integer({ min: 0, max: 4000 }),
  height: fc.integer({ min: 0, max: 4000 }),
});
const sides = fc.record({
  room: fc.integer({ min: 100, max: 2000 }),
  least: fc.integer({ min: 80, max: 400 }),
  gap: fc.integer({ min: 0, max: 20 }),
});

/** Its columns meet only up to the last digits. */
const meeting: [{ width: number; height: number }[], { room: number; least: number; gap: number }] =
  [Array.from({ length: 7 }, () => ({ width: 0, height: 0 })), { room: 1740, least: 80, gap: 0 }];

describe('a waterfall', () => {
  it('overlaps nowhere, stays inside, and moves nothing when more come', () => {
    fc.assert(
      fc.property(fc.array(shape, { maxLength: 60 }), sides, (shapes, given) => {
        const laid = layWaterfall(shapes, given);
        const boxes = shapes.map((_, at) => ({
          left: laid.lefts[at]!,
          right: laid.lefts[at]! + laid.width,
          top: laid.tops[at]!,
          bottom: laid.tops[at]! + laid.heights[at]!,
        }));
        for (const [at, box] of boxes.entries()) {
          expect(box.right).toBeLessThanOrEqual(given.room + 0.01);
          expect(box.bottom).toBeLessThanOrEqual(laid.height + 0.01);
          // Sides of columns are sums of fractions: they meet up to the last digits.
          for (const other of boxes.slice(0, at))
            expect(
              other.left >= box.right - 0.01 ||
                other.right <= box.left + 0.01 ||
                other.top >= box.bottom ||
                other.bottom <= box.top,
            ).toBe(true);
        }
        const fewer = layWaterfall(shapes.slice(0, 20), given);
        expect(laid.tops.slice(0, 20)).toEqual(fewer.tops);
        expect(laid.lefts.slice(0, 20)).toEqual(fewer.lefts);
      }),
      { examples: [meeting] },
    );
  });

  it('finds all that reach into a part, and no other', () => {
    fc.assert(
      fc.property(
        fc.array(shape, { maxLength: 80 }),
        sides,
        fc.integer({ min: -500, max: 20_000 }),
        fc.integer({ min: 1, max: 3000 }),
        (shapes, given, from, high) => {
          const laid = layWaterfall(shapes, given);
          const wanted = shapes.flatMap((_, at) =>
            laid.tops[at]! < from + high && laid.tops[at]! + laid.heights[at]! > from ? [at] : [],
          );
          expect(placesWithin(laid, from, from + high)).toEqual(wanted);
        },
      ),
    );
  });

  it('cuts towers and strips, and gives what has no size a square', () => {
    const laid = layWaterfall(
      [
        { width: 100, height: 5000 },
        { width: 5000, height: 100 },
        { width: 0, height: 0 },
      ],
      { room: 100, least: 100, gap: 0 },
    );
    expect([...laid.heights]).toEqual([200, 50, 100]);
  });
});
