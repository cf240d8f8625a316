/** Numbers that look like chance and are the same every time: hashes, a generator, noise. */

export const clamp = (value: number, low = 0, high = 1): number =>
  value < low ? low : value > high ? high : value;
/** As `Math.hypot`, which takes ten times as long because it cannot overflow. */
export const distance = (x: number, y: number): number => Math.sqrt(x * x + y * y);

export const mix = (a: number, b: number, share: number): number => a + (b - a) * share;
/** 0 below `low`, 1 above `high`, smooth between them; `low` may be the greater. */
export const smooth = (low: number, high: number, value: number): number => {
  const at = clamp((value - low) / (high - low));
  return at * at * (3 - 2 * at);
};

/** 32 bits of a text (FNV-1a, stirred). */
export const hashText = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1)
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b);
  return (hash ^ (hash >>> 16)) >>> 0;
};

export interface Chance {
  /** 0 to below 1. */
  next: () => number;
  between: (low: number, high: number) => number;
  /** A whole number from low to high, both possible. */
  whole: (low: number, high: number) => number;
  pick: <T>(from: readonly T[]) => T;
  /** About a bell curve around 0, mostly within ±1. */
  bell: () => number;
  is: (probability: number) => boolean;
}

/** A generator (mulberry32). */
export const chanceOf = (seed: number): Chance => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    next,
    between: (low, high) => low + (high - low) * next(),
    whole: (low, high) => low + Math.floor((high - low + 1) * next()),
    pick: (from) => from[Math.floor(next() * from.length)]!,
    bell: () => (next() + next() + next() + next() - 2) * 0.87,
    is: (probability) => next() < probability,
  };
};

export interface Noise {
  /** Smooth noise, about -1 to 1. */
  at: (x: number, y: number) => number;
  /** Several octaves of it, about -1 to 1. */
  fbm: (x: number, y: number, octaves: number) => number;
  /** Octaves folded into ridges, 0 to 1. */
  ridged: (x: number, y: number, octaves: number) => number;
}

const slopes = 256;

/** Gradient noise with a table of its own. */
export const noiseOf = (seed: number): Noise => {
  const chance = chanceOf(seed);
  const order = new Uint8Array(slopes * 2);
  for (let at = 0; at < slopes; at += 1) order[at] = at;
  for (let at = slopes - 1; at > 0; at -= 1) {
    const other = chance.whole(0, at);
    const kept = order[at]!;
    order[at] = order[other]!;
    order[other] = kept;
  }
  order.copyWithin(slopes, 0, slopes);
  const slopeX = new Float64Array(slopes);
  const slopeY = new Float64Array(slopes);
  for (let at = 0; at < slopes; at += 1) {
    const angle = (at / slopes) * Math.PI * 2;
    slopeX[at] = Math.cos(angle);
    slopeY[at] = Math.sin(angle);
  }
  const at = (x: number, y: number): number => {
    const left = Math.floor(x);
    const top = Math.floor(y);
    const fx = x - left;
    const fy = y - top;
    const cx = left & 255;
    const cy = top & 255;
    const a = order[order[cx]! + cy]!;
    const b = order[order[cx + 1]! + cy]!;
    const c = order[order[cx]! + cy + 1]!;
    const d = order[order[cx + 1]! + cy + 1]!;
    const u = fx * fx * fx * (fx * (fx * 6 - 15) + 10);
    const v = fy * fy * fy * (fy * (fy * 6 - 15) + 10);
    const na = slopeX[a]! * fx + slopeY[a]! * fy;
    const nb = slopeX[b]! * (fx - 1) + slopeY[b]! * fy;
    const nc = slopeX[c]! * fx + slopeY[c]! * (fy - 1);
    const nd = slopeX[d]! * (fx - 1) + slopeY[d]! * (fy - 1);
    const upper = na + (nb - na) * u;
    return (upper + (nc + (nd - nc) * u - upper) * v) * 1.5;
  };
  return {
    at,
    fbm: (x, y, octaves) => {
      let sum = 0;
      let height = 0.5;
      let scale = 1;
      for (let octave = 0; octave < octaves; octave += 1) {
        sum += at(x * scale + octave * 17.3, y * scale + octave * 9.1) * height;
        height *= 0.5;
        scale *= 2.03;
      }
      return sum;
    },
    ridged: (x, y, octaves) => {
      let sum = 0;
      let height = 0.5;
      let scale = 1;
      let before = 1;
      for (let octave = 0; octave < octaves; octave += 1) {
        const fold = 1 - Math.abs(at(x * scale + octave * 31.7, y * scale + octave * 11.9));
        const ridge = fold * fold * before;
        sum += ridge * height;
        before = clamp(ridge * 1.6);
        height *= 0.5;
        scale *= 2.07;
      }
      return sum;
    },
  };
};
