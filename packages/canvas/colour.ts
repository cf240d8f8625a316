import { clamp, mix } from './chance.ts';

/** Red, green and blue as screens have them (gamma), 0 to 1. */
export type Colour = readonly [number, number, number];

const toLinear = (value: number): number =>
  value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
const toGamma = (value: number): number =>
  value <= 0.0031308 ? value * 12.92 : 1.055 * value ** (1 / 2.4) - 0.055;

/** Lightness, green to red, blue to yellow: distances in it are as people see them. */
export type Lab = readonly [number, number, number];

export const toLab = ([r, g, b]: Colour): Lab => {
  const red = toLinear(clamp(r));
  const green = toLinear(clamp(g));
  const blue = toLinear(clamp(b));
  const l = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const m = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const s = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
};

export const fromLab = ([lightness, a, b]: Lab): Colour => {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    clamp(toGamma(clamp(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s))),
    clamp(toGamma(clamp(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s))),
    clamp(toGamma(clamp(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s))),
  ];
};

/** A colour written as `#rrggbb`. */
export const hex = (text: string): Colour => {
  const value = Number.parseInt(text.slice(1), 16);
  return [(value >> 16) / 255, ((value >> 8) & 255) / 255, (value & 255) / 255];
};

/** Between two colours as the eye would mix them. */
export const blend = (from: Colour, to: Colour, share: number): Colour => {
  const a = toLab(from);
  const b = toLab(to);
  return fromLab([mix(a[0], b[0], share), mix(a[1], b[1], share), mix(a[2], b[2], share)]);
};

/** Lighter above 0, darker below; -1 to 1. */
export const shade = (colour: Colour, by: number): Colour => {
  const [l, a, b] = toLab(colour);
  return by > 0
    ? fromLab([mix(l, 1, by), a * (1 - by), b * (1 - by)])
    : fromLab([l * (1 + by), a * (1 + by * 0.6), b * (1 + by * 0.6)]);
};

/** More colourful above 1, greyer below. */
export const saturate = (colour: Colour, by: number): Colour => {
  const [l, a, b] = toLab(colour);
  return fromLab([l, a * by, b * by]);
};

/** Takes on another colour's hue and keeps its own lightness. */
export const tint = (colour: Colour, towards: Colour, share: number): Colour => {
  const [l, a, b] = toLab(colour);
  const [tl, ta, tb] = toLab(towards);
  return fromLab([mix(l, mix(l, tl, 0.35), share), mix(a, ta, share), mix(b, tb, share)]);
};

/** A scale of colours: steps of 1/(n-1), mixed as the eye would, ready to be read often. */
export const scaleOf = (colours: readonly Colour[], fine = 256): Float32Array => {
  const table = new Float32Array(fine * 3);
  for (let at = 0; at < fine; at += 1) {
    const place = (at / (fine - 1)) * (colours.length - 1);
    const index = Math.min(colours.length - 2, Math.floor(place));
    const colour =
      colours.length === 1
        ? colours[0]!
        : blend(colours[index]!, colours[index + 1]!, place - index);
    table.set(colour, at * 3);
  }
  return table;
};
