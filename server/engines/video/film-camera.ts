import type { FilmMove } from '#contract/video.ts';

/** Where the camera of a film is, and what it sees of an image. */

/** One plane of an image: light, or one of the two differences of colour at half the size. */
export interface Plane {
  width: number;
  height: number;
  values: Uint8Array;
  /** How near each of its points is, 0 to 1. */
  near: Float32Array;
}

/** Shares of the image's sides; zoom is a share of its size. */
export interface Camera {
  x: number;
  y: number;
  zoom: number;
}

/** A number of a seed that stays the same: 0 to 1. */
const drawn = (seed: number, which: number): number => {
  let mixed = Math.imul(seed ^ Math.imul(which + 1, 0x9e3779b1), 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
};

/** Where the camera goes. */
export interface FilmWay {
  /** 0 to 1: how far. */
  reach: number;
  seed: number;
  /** Undefined: a way of the seed's. */
  move: FilmMove | undefined;
  /** From its end. */
  reverse: boolean;
}

/** How much nearer the camera is at the end of its way in, a share of the image's size. */
const nearest = 0.4;

/**
 * All but the ways in and out come back to where they began, so that the film can be played again
 * and again.
 * @param time 0 to 1
 */
export const cameraAt = ({ reach, seed, move, reverse }: FilmWay, time: number): Camera => {
  const at = reverse ? 1 - time : time;
  const turn = 2 * Math.PI * at;
  if (move === 'in' || move === 'out') {
    const gone = (1 - Math.cos(Math.PI * (move === 'in' ? at : 1 - at))) / 2;
    return { x: 0, y: 0, zoom: nearest * reach * gone };
  }
  if (move === 'around')
    return { x: reach * 0.05 * Math.sin(turn), y: reach * 0.035 * Math.cos(turn), zoom: 0 };
  const side = drawn(seed, 0) < 0.5 ? -1 : 1;
  const lift = (drawn(seed, 1) - 0.5) * 0.8;
  const push = 0.06 + 0.08 * drawn(seed, 2);
  return {
    x: side * reach * 0.05 * Math.sin(turn),
    y: lift * reach * 0.04 * Math.sin(turn * 2),
    zoom: push * reach * (1 - Math.cos(turn)),
  };
};

/** The part of the image that is kept free at its edges, so that none of them comes into sight. */
export const marginOf = (reach: number): number => 1 + 0.06 * reach;

/** Near things stay behind the camera's way more than far ones. */
const pivot = 0.3;

/** Writes what the camera sees of a plane. */
export const see = (plane: Plane, camera: Camera, margin: number, into: Uint8Array): void => {
  const { width, height, values, near } = plane;
  const middleX = (width - 1) / 2;
  const middleY = (height - 1) / 2;
  const right = width - 1.001;
  const bottom = height - 1.001;
  for (let y = 0, at = 0; y < height; y += 1) {
    const offY = y - middleY;
    for (let x = 0; x < width; x += 1, at += 1) {
      const depth = near[at]!;
      const scale = 1 / (margin + camera.zoom * (0.35 + depth));
      let u = middleX + (x - middleX) * scale + camera.x * width * (depth - pivot);
      let v = middleY + offY * scale + camera.y * height * (depth - pivot);
      if (u < 0) u = 0;
      else if (u > right) u = right;
      if (v < 0) v = 0;
      else if (v > bottom) v = bottom;
      const left = u | 0;
      const top = v | 0;
      const across = u - left;
      const down = v - top;
      const first = top * width + left;
      const upper = values[first]! + (values[first + 1]! - values[first]!) * across;
      const under = first + width;
      const lower = values[under]! + (values[under + 1]! - values[under]!) * across;
      into[at] = upper + (lower - upper) * down + 0.5;
    }
  }
};
