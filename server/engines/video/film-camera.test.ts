import { expect, test } from 'vitest';
import { cameraAt, type FilmWay } from './film-camera.ts';

const way = (change: Partial<FilmWay>): FilmWay => ({
  reach: 0.5,
  seed: 7,
  move: undefined,
  reverse: false,
  ...change,
});
const zoom = (change: Partial<FilmWay>, time: number) => cameraAt(way(change), time).zoom;

test('the camera goes in, out or around as it is asked, and any way from its end', () => {
  expect(zoom({ move: 'in' }, 0)).toBe(0);
  expect(zoom({ move: 'in' }, 1)).toBeCloseTo(0.2);
  expect(zoom({ move: 'out' }, 0)).toBeCloseTo(0.2);
  expect(zoom({ move: 'out' }, 1)).toBeCloseTo(0);
  expect(zoom({ move: 'in', reverse: true }, 0.3)).toBeCloseTo(zoom({ move: 'out' }, 0.3));
  for (const move of ['around', undefined] as const) {
    const [first, last] = [cameraAt(way({ move }), 0), cameraAt(way({ move }), 1)];
    for (const side of ['x', 'y', 'zoom'] as const) expect(last[side]).toBeCloseTo(first[side]);
    expect(cameraAt(way({ move, reverse: true }), 0.2)).toEqual(cameraAt(way({ move }), 0.8));
  }
  expect(cameraAt(way({ move: 'around' }), 0.25).x).toBeCloseTo(0.025);
});
