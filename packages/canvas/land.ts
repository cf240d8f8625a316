import { clamp, mix, type Noise, smooth } from './chance.ts';
import { blend, type Colour, hex, shade } from './colour.ts';
import { dab, ellipse, fill, glow, type Point, ribbon } from './raster.ts';
import type { Scene } from './scene.ts';

type Texture = 'rock' | 'meadow' | 'dune' | 'wood' | 'plain';

/** A fold of the land, seen from the side: it covers all below its upper edge. */
export interface Ridge {
  /** Height of its upper edge in each column, pixels from above. */
  tops: Float32Array;
  lit: Colour;
  dark: Colour;
  /** 0: near and clear, 1: lost in the haze. */
  far: number;
  /** Its foot fades into mist over so many pixels below its edge; 0: it does not. */
  mist: number;
  texture: Texture;
  /** Snow lies so many pixels down from its edge; 0: none. */
  snow: number;
  noise: Noise;
  /** No deeper than this. */
  bottom: number;
}

/** Paints folds, the farthest first; of each only what the nearer ones leave to be seen. */
export const paintRidges = (scene: Scene, ridges: readonly Ridge[]): void => {
  const { canvas, look } = scene;
  const { rgb, width, height, unit } = canvas;
  const hidden = ridges.map(() => new Float32Array(width).fill(height));
  for (let at = ridges.length - 2; at >= 0; at -= 1)
    for (let x = 0; x < width; x += 1)
      hidden[at]![x] = Math.min(hidden[at + 1]![x]!, ridges[at + 1]!.tops[x]!);
  ridges.forEach((ridge, at) => {
    if (look.ink) paintInkRidge(scene, ridge);
    else paintRidge(scene, ridge, hidden[at]!, rgb, width, height, unit);
  });
};

const paintRidge = (
  { look, light }: Scene,
  ridge: Ridge,
  hidden: Float32Array,
  rgb: Float32Array,
  width: number,
  height: number,
  unit: number,
): void => {
  const { tops, far, texture, noise } = ridge;
  const low = look.hour === 'dawn' || look.hour === 'dusk';
  const plain = look.flat || texture === 'plain';
  const lit = blend(ridge.lit, look.haze, far);
  const dark = blend(ridge.dark, look.haze, far * 0.92);
  const snowLit = blend(
    blend(hex('#ffffff'), look.light, 0.3),
    look.haze,
    clamp(far * 0.85 + (look.hour === 'night' ? 0.35 : 0)),
  );
  const snowDark = blend(
    blend(look.sky[0]!, hex('#c9d6ea'), look.hour === 'night' ? 0.2 : 0.55),
    look.haze,
    far * 0.9,
  );
  const mistTone = blend(look.haze, look.light, low ? 0.18 : 0.05);
  const scale = texture === 'rock' ? 4.2 : texture === 'dune' ? 1.6 : 7;
  const side = light.x > width / 2 ? 1 : -1;
  for (let x = 0; x < width; x += 1) {
    const top = tops[x]!;
    const end = Math.min(height, ridge.bottom, Math.ceil(hidden[x]! + 2));
    const near = 1 - clamp(Math.abs(x - light.x) / (unit * 0.9));
    for (let y = Math.max(0, Math.floor(top)); y < end; y += 1) {
      const depth = y - top;
      const cover = clamp(depth + 0.5);
      let brightness = 0.5;
      let snow = 0;
      if (plain) {
        brightness = 0.62 - clamp(depth / (unit * 0.3)) * 0.3;
        if (ridge.snow > 0) snow = depth < ridge.snow * 0.7 ? 1 : 0;
      } else if (texture === 'rock') {
        const u = (x / unit) * scale;
        const v = (depth / unit) * scale * 0.72;
        const bend = noise.at(u * 0.5, v * 0.5 + 40) * 0.35;
        const here = noise.ridged(u + bend, v, 5);
        const there = noise.ridged(u + bend + side * 0.07, v - 0.055, 5);
        brightness = clamp(0.46 + (here - there) * 2.3 - clamp(depth / (unit * 0.5)) * 0.18);
        if (ridge.snow > 0) {
          const line = ridge.snow * (0.75 + noise.fbm(u * 1.3, v * 0.4 + 9, 3) * 1.25);
          snow = smooth(line, line * 0.72, depth + (0.5 - brightness) * ridge.snow * 0.5);
        }
      } else if (texture === 'wood') {
        const u = (x / unit) * 38;
        const v = (y / unit) * 22;
        brightness = clamp(0.42 + noise.fbm(u, v, 3) * 0.5 - clamp(depth / (unit * 0.22)) * 0.25);
        if (ridge.snow > 0) snow = smooth(0.45, 0.75, brightness);
      } else if (texture === 'dune') {
        const u = (x / unit) * scale;
        const v = (depth / unit) * 3;
        const ripple = noise.at(u * 3 + v * 2, v * 30 + noise.at(u * 2, v * 3) * 6) * 0.05;
        const slope = (tops[Math.min(width - 1, x + 3)]! - tops[Math.max(0, x - 3)]!) / 6;
        brightness = clamp(
          0.56 +
            slope * side * -0.7 +
            noise.at(u, v) * 0.12 +
            ripple -
            clamp(depth / (unit * 0.5)) * 0.22,
        );
      } else {
        const u = (x / unit) * scale;
        const v = (y / unit) * scale * 2.6;
        brightness = clamp(
          0.66 +
            noise.fbm(u * 0.35, v * 0.3, 3) * 0.42 +
            noise.fbm(u * 9, v * 4.5, 2) * 0.13 -
            clamp(depth / (unit * 0.34)) * 0.42,
        );
      }
      const warm = low || look.hour === 'day' ? near * near * far * 0.4 : near * far * 0.1;
      let mist = ridge.mist > 0 ? smooth(0, ridge.mist, depth) : 0;
      if (mist > 0 && !plain)
        mist = clamp(mist * (0.8 + noise.fbm((x / unit) * 2.2, (y / unit) * 5, 3) * 0.6));
      const at = (y * width + x) * 3;
      for (let each = 0; each < 3; each += 1) {
        let value = mix(dark[each]!, lit[each]!, brightness);
        if (snow > 0)
          value = mix(
            value,
            mix(snowDark[each]!, snowLit[each]!, smooth(0.25, 0.7, brightness)),
            snow,
          );
        value = mix(value, look.light[each]!, warm);
        value = mix(value, mistTone[each]!, mist * 0.86);
        rgb[at + each] = mix(rgb[at + each]!, value, cover);
      }
    }
  }
};

/**
 * A mountain of ink: pale and flat when far; near, a broken contour on its shaded side, creases, dry
 * strokes along the slope, dots of moss, and always a wash that ends in mist.
 */
const paintInkRidge = (scene: Scene, ridge: Ridge): void => {
  const { canvas, look, light } = scene;
  const { rgb, width, height, unit } = canvas;
  const { tops, far, noise } = ridge;
  const tone = blend(ridge.dark, hex('#8699a6'), clamp(far * 0.95));
  const strength = mix(1, 0.36, far);
  const detail = smooth(0.85, 0.3, far);
  const side = light.x > width / 2 ? 1 : -1;
  const span = Math.max(3, Math.round(unit / 90));
  for (let x = 0; x < width; x += 1) {
    const top = tops[x]!;
    // The mist lies where the mountain stands, not at one depth below its edge.
    const reach = Math.max(unit * 0.05, Math.min(ridge.mist, (ridge.bottom - top) * 0.82));
    const end = Math.min(height, ridge.bottom, Math.ceil(top + reach * 1.3));
    const u = x / unit;
    const slope =
      (tops[Math.min(width - 1, x + span)]! - tops[Math.max(0, x - span)]!) / (span * 2);
    const shaded = smooth(-0.25, 0.65, slope * -side);
    const brush = (0.0016 + 0.0062 * clamp(0.5 + noise.at(u * 11, 71))) * mix(0.5, 1, shaded);
    const dry = smooth(-0.3, 0.2, noise.at(u * 17, 83) + shaded * 0.5 - 0.12);
    const lean = clamp(slope, -1.4, 1.4) * 0.55;
    for (let y = Math.max(0, Math.floor(top - 1)); y < end; y += 1) {
      const depth = y - top;
      const d = depth / unit;
      const down = depth / reach;
      const v = y / unit;
      const cover = clamp(depth + 0.7);
      const drift = noise.fbm(u * 2.1 + 13, v * 3.6, 3) * 0.42;
      const wash = (1 - smooth(0, 1, down + drift * clamp(down * 1.4))) ** 1.35;
      const pool = noise.fbm(u * 4.5 + 7, v * 5.5, 4);
      const contour = Math.exp(-((d / brush) ** 2)) * dry * mix(0.3, 0.95, detail);
      let strokes = 0;
      let crease = 0;
      if (detail > 0.02 && wash > 0.03) {
        const warp = noise.at(u * 2.6, v * 2.6 + 40) * 0.5;
        const fold = noise.ridged(u * 3.4 + warp - d * lean * 3, v * 2.1 + warp, 4);
        crease = smooth(0.5, 0.78, fold);
        const across = u + d * -lean;
        const hair =
          noise.at(across * 62 + warp * 4, v * 11) + noise.at(across * 120, v * 17) * 0.5;
        const clump = noise.fbm(u * 6.5 + 31, v * 5.2, 3);
        strokes = smooth(0.12, 0.62, hair + clump * 0.9 + crease * 0.5 - 0.28 + shaded * 0.3);
      }
      const paper = noise.at(u * 210, v * 210) * 0.07;
      const ink =
        clamp(
          (wash * (0.2 + 0.16 * clamp(pool + 0.5) + shaded * 0.1 * detail) +
            wash ** 0.7 * detail * (crease * 0.2 + strokes * 0.44) +
            contour * 0.62 +
            paper * wash) *
            strength,
        ) * cover;
      const at = (y * width + x) * 3;
      const block = cover * smooth(1.2, 0.3, down + drift * 0.6);
      for (let each = 0; each < 3; each += 1) {
        const under = mix(rgb[at + each]!, look.haze[each]!, block * 0.94);
        rgb[at + each] = under * (1 + (tone[each]! - 1) * ink);
      }
    }
  }
  if (far > 0.5) return;
  // Moss and small trees along the edge, the nearer the larger.
  const random = scene.chance(`moss ${Math.round(far * 1000)} ${Math.round(tops[0]!)}`);
  const near = 1 - far;
  for (let dot = 0; dot < 260 * near * (width / unit); dot += 1) {
    const x = random.next() * width;
    const at = Math.round(clamp(x, 0, width - 1));
    if (noise.fbm((x / unit) * 5, 97, 3) < -0.02) continue;
    const y = tops[at]! + Math.abs(random.bell()) * unit * 0.02;
    if (y > ridge.bottom - unit * 0.03) continue;
    const size = unit * mix(0.0018, 0.0042, near) * random.between(0.6, 1.3);
    dab(
      canvas,
      x,
      y,
      size * 1.3,
      size * 0.75,
      random.bell() * 0.4,
      ridge.dark,
      random.between(0.45, 0.9) * near,
    );
  }
  for (let tree = 0; tree < 13 * near * (width / unit); tree += 1) {
    const x = random.next() * width;
    const y = tops[Math.round(clamp(x, 0, width - 1))]! + unit * 0.004;
    if (y > ridge.bottom - unit * 0.05) continue;
    const tall = unit * mix(0.018, 0.042, near) * random.between(0.7, 1.3);
    const bend = random.bell() * tall * 0.2;
    fill(
      canvas,
      [
        ribbon(
          [
            [x, y],
            [x + bend * 0.4, y - tall * 0.5],
            [x + bend, y - tall],
          ],
          (along) => tall * 0.06 * (1.1 - along) + 0.3,
        ),
      ],
      ridge.dark,
      { alpha: 0.85 * near },
    );
    for (let tier = 0; tier < 5; tier += 1) {
      const up = 0.35 + tier * 0.16;
      const wide = tall * 0.24 * (1.15 - up * 0.75) * random.between(0.8, 1.2);
      dab(
        canvas,
        x + bend * up + random.bell() * tall * 0.05,
        y - tall * up,
        wide,
        tall * 0.055,
        random.bell() * 0.12,
        ridge.dark,
        0.78 * near,
      );
    }
  }
};

/** Heights of a range of mountains: a few peaks of different height under a jagged edge. */
const peaks = (
  scene: Scene,
  part: string,
  base: number,
  tall: number,
  main: number | null,
  rugged: number,
): Float32Array => {
  const { canvas } = scene;
  const { width, unit } = canvas;
  const random = scene.chance(part);
  const noise = scene.noise(part);
  const count = Math.max(2, Math.round((width / unit) * random.between(2.2, 3.6)));
  const summits = Array.from({ length: count }, (_, at) => ({
    x: ((at + random.between(0.15, 0.85)) / count) * width,
    reach: unit * random.between(0.12, 0.26),
    share: random.between(0.3, 0.78),
  }));
  if (main !== null) summits.push({ x: main, reach: unit * random.between(0.2, 0.28), share: 1 });
  const tops = new Float32Array(width);
  for (let x = 0; x < width; x += 1) {
    let body = 0.16;
    for (const summit of summits) {
      const off = Math.abs(x - summit.x) / summit.reach;
      body = Math.max(body, summit.share * (1 - off / (1 + off * 0.55)) * 1.05 + 0.02);
    }
    const u = x / unit;
    const edge = noise.ridged(u * 2.6 + 5, 0.5, 6) - 0.5;
    const rough = noise.fbm(u * 9, 3.5, 4) * 0.09;
    tops[x] = base - tall * clamp(body + (edge * 0.5 + rough) * rugged * (0.35 + body), 0.02, 1.4);
  }
  return tops;
};

/** Steep towers of rock standing apart, as at Guilin or Huangshan. */
const towers = (
  scene: Scene,
  part: string,
  base: number,
  tall: number,
  main: number | null,
): Float32Array => {
  const { width, unit } = scene.canvas;
  const random = scene.chance(part);
  const noise = scene.noise(part);
  const tops = new Float32Array(width).fill(base);
  const count = Math.max(3, Math.round((width / unit) * random.between(3.2, 5)));
  const all = Array.from({ length: count }, () => ({
    x: random.between(-0.05, 1.05) * width,
    reach: unit * random.between(0.05, 0.13),
    share: random.between(0.25, 0.8),
    steep: random.between(1.7, 3.4),
    lean: random.bell() * 0.25,
  }));
  if (main !== null)
    for (const [off, share] of [
      [0, 1],
      [-0.11, 0.68],
      [0.12, 0.78],
      [0.21, 0.5],
    ] as const)
      all.push({
        x: main + off * unit,
        reach: unit * random.between(0.06, 0.1),
        share,
        steep: random.between(2, 3.2),
        lean: random.bell() * 0.2,
      });
  for (let x = 0; x < width; x += 1) {
    const u = x / unit;
    const jag = noise.fbm(u * 6, 1.5, 5) * 0.12 + (noise.ridged(u * 11, 4.5, 4) - 0.5) * 0.07;
    let body = 0.03;
    for (const each of all) {
      const off = (x - each.x) / each.reach;
      const wide = Math.abs(off + each.lean * Math.sin(off * 2));
      const rise = each.share * Math.exp(-(wide ** each.steep) * 0.75);
      if (rise > body) body = rise;
    }
    const roll = 0.07 + noise.fbm(u * 1.7 + 3, 8.5, 2) * 0.13;
    tops[x] = base - tall * Math.max(0, body + roll + jag * (0.25 + body));
  }
  return tops;
};

/** Soft folds. */
export const folds = (
  scene: Scene,
  part: string,
  base: number,
  tall: number,
  wide: number,
): Float32Array => {
  const { width, unit } = scene.canvas;
  const noise = scene.noise(part);
  const tops = new Float32Array(width);
  for (let x = 0; x < width; x += 1) {
    const u = x / unit / wide;
    tops[x] = base - tall * (0.5 + noise.fbm(u + 0.37, 0.77, 2) * 0.9);
  }
  return tops;
};

/** Firs along an edge: their tips stand up from it. */
export const fringe = (
  scene: Scene,
  part: string,
  tops: Float32Array,
  size: number,
): Float32Array => {
  const { width } = scene.canvas;
  const random = scene.chance(`${part} firs`);
  const raised = Float32Array.from(tops);
  for (let x = -size; x < width + size; x += size * random.between(0.12, 0.42)) {
    const tall = size * random.between(0.5, 1.15);
    const half = tall * random.between(0.16, 0.24);
    const foot = tops[Math.round(clamp(x, 0, width - 1))]! + tall * 0.12;
    for (let at = Math.max(0, Math.ceil(x - half)); at <= Math.min(width - 1, x + half); at += 1) {
      const off = Math.abs(at - x) / half;
      // The boughs make steps in the outline.
      const steps = off + Math.abs(((off * 5) % 1) - 0.5) * 0.16;
      const top = foot - tall * (1 - clamp(steps));
      if (top < raised[at]!) raised[at] = top;
    }
  }
  return raised;
};

/** The mountains of an image, the farthest first; gives their upper edges. */
export const paintMountains = (scene: Scene): Ridge[] => {
  const { canvas, look, horizon, has, focus, water, wish } = scene;
  const { width, height, unit } = canvas;
  const random = scene.chance('mountains');
  const main = has('mountain', 'waterfall', 'volcano');
  const count = look.ink ? (main ? 6 : 4) : look.flat ? 5 : main ? 5 : 3;
  const karst = look.ink ? random.is(0.62) : has('river') && random.is(0.5);
  const ridges: Ridge[] = [];
  const top = look.ink ? 0.44 : main ? 0.36 : 0.16;
  const tallest = Math.min(unit * top, horizon * 0.72) * (wish.layout === 'close' ? 1.25 : 1);
  for (let at = 0; at < count; at += 1) {
    const near = count > 1 ? at / (count - 1) : 1;
    const part = `mountain ${at}`;
    const chief = main && at === Math.floor(count * 0.4);
    const tall =
      tallest * (chief ? 1.08 : mix(0.72, water ? 0.3 : 0.46, near) * random.between(0.85, 1.15));
    const base = water
      ? horizon + (look.ink ? unit * mix(0, 0.05, near) : 2)
      : mix(horizon + unit * 0.02, look.ink ? height * 0.97 : horizon + unit * 0.1, near ** 1.6);
    const shift = chief ? focus : at === count - 1 && water ? width - focus : null;
    let tops = karst
      ? towers(scene, part, base, tall, shift)
      : peaks(scene, part, base, tall, shift, look.flat ? 0.5 : 1);
    const wooded = near > 0.62 && !look.ink;
    if (wooded)
      tops = fringe(scene, part, tops, unit * mix(0.016, 0.03, near) * (look.flat ? 1.3 : 1));
    ridges.push({
      tops,
      lit: wooded && !look.snowy ? blend(look.rock.lit, look.ground.lit, 0.55) : look.rock.lit,
      dark: wooded ? blend(look.rock.dark, look.ground.dark, 0.6) : look.rock.dark,
      far: clamp(
        (1 - near) ** 1.25 * (look.overcast || has('fog') ? 0.98 : 0.86) + (has('fog') ? 0.08 : 0),
      ),
      mist: look.ink
        ? unit * mix(0.24, 0.5, near)
        : at < count - 1 || has('fog')
          ? Math.max(tall * 0.75, unit * 0.1)
          : water
            ? 0
            : unit * 0.5,
      texture: wooded ? 'wood' : 'rock',
      snow: look.ink
        ? 0
        : look.snowy
          ? tall * (wooded ? 0.4 : 0.85)
          : chief && tall > unit * 0.2 && !has('waterfall')
            ? tall * random.between(0.12, 0.3)
            : 0,
      noise: scene.noise(part),
      bottom: water ? (look.ink ? Math.ceil(base + unit * 0.015) : horizon) : height,
    });
  }
  paintRidges(scene, ridges);
  return ridges;
};

/** The open land from the horizon to the bottom. */
export const paintGround = (scene: Scene, from = scene.horizon): Ridge[] => {
  const { canvas, look, has } = scene;
  const { height, unit } = canvas;
  const desert = has('desert');
  const count = 4;
  const ridges: Ridge[] = [];
  const sand = {
    lit: blend(hex('#e8b878'), look.light, 0.18),
    dark: blend(hex('#8a4f3a'), look.rock.dark, 0.45),
  };
  const dim = look.hour === 'night' ? 0.62 : 0;
  const tones = desert
    ? { lit: blend(sand.lit, look.rock.dark, dim), dark: blend(sand.dark, look.rock.dark, dim) }
    : look.ground;
  for (let at = 0; at < count; at += 1) {
    const near = at / (count - 1);
    const base = mix(from + unit * 0.015, height - unit * 0.04, near ** 1.45);
    const tall = unit * mix(0.03, desert ? 0.16 : 0.07, near);
    const part = `ground ${at}`;
    ridges.push({
      tops: folds(scene, part, base, tall, mix(0.5, 1.1, near)),
      lit: tones.lit,
      dark: tones.dark,
      far: (1 - near) ** 1.4 * 0.62,
      mist: look.ink ? unit * 0.22 : has('fog') ? unit * 0.2 : 0,
      texture: desert ? 'dune' : 'meadow',
      snow: 0,
      noise: scene.noise(part),
      bottom: height,
    });
  }
  paintRidges(scene, ridges);
  return ridges;
};

/** A dark bank at the bottom edge, from which one looks; lower in the middle. */
export const paintBank = (scene: Scene, share: number): Ridge => {
  const { canvas, look, light } = scene;
  const { width, height, unit } = canvas;
  const noise = scene.noise('bank');
  const tops = new Float32Array(width);
  const heavy = light.x > width / 2 ? 0.1 : 0.9;
  for (let x = 0; x < width; x += 1) {
    const off = Math.abs(x / width - heavy);
    tops[x] =
      height -
      unit *
        share *
        (1.05 - smooth(0, 0.95, off) * 1.1 + noise.fbm((x / unit) * 2.4, 0.5, 4) * 0.3);
  }
  const ridge: Ridge = {
    tops,
    lit: blend(look.ground.lit, look.front, 0.45),
    dark: blend(look.ground.dark, look.front, 0.7),
    far: 0,
    mist: 0,
    texture: 'meadow',
    snow: 0,
    noise,
    bottom: height,
  };
  paintRidges(scene, [ridge]);
  scene.shore = Math.min(scene.shore, height - unit * share);
  return ridge;
};

/** A fire mountain among the others. */
export const paintVolcano = (scene: Scene): void => {
  const { canvas, look, horizon, focus, noise } = scene;
  const { rgb, width, unit } = canvas;
  const tall = Math.min(unit * 0.42, horizon * 0.68);
  const crater = horizon - tall;
  const rim = unit * 0.055;
  const rough = noise('volcano');
  const tops = new Float32Array(width);
  for (let x = 0; x < width; x += 1) {
    const off = Math.max(0, Math.abs(x - focus) - rim) / unit;
    const body = tall * Math.exp(-off * 3.4) - off * unit * 0.04;
    const dip = Math.abs(x - focus) < rim ? Math.cos(((x - focus) / rim) * 1.57) * unit * 0.022 : 0;
    tops[x] = horizon + 4 - body + dip + rough.fbm((x / unit) * 9, 2, 4) * unit * 0.018;
  }
  // Smoke, lit from below, drawn before the mountain that it comes from.
  const smoke = noise('smoke');
  const hot = hex('#ff8a3c');
  for (let y = 0; y < crater + unit * 0.04; y += 1)
    for (let x = 0; x < width; x += 1) {
      const up = (crater - y) / unit;
      const drift = focus + up * up * unit * 0.9 + smoke.at(up * 3, 5) * unit * 0.05;
      const wide = unit * (0.05 + Math.max(0, up) * 0.42);
      const off = Math.abs(x - drift) / wide;
      if (off > 1.6) continue;
      const puff = smoke.fbm((x / unit) * 6, (y / unit) * 6, 5) * 0.9;
      const body =
        smooth(1.15, 0.35, off + puff * 0.9) *
        smooth(-0.04, 0.03, up) *
        smooth(0.75, 0.2, up) *
        0.9;
      if (body < 0.01) continue;
      const lit = clamp(0.5 + puff * 0.7 - off * 0.2);
      const ember = smooth(0.3, 0, up) * 0.75;
      const at = (y * width + x) * 3;
      for (let each = 0; each < 3; each += 1) {
        const grey = mix(look.front[each]! * 0.8, look.haze[each]!, lit * 0.6);
        rgb[at + each] = mix(rgb[at + each]!, mix(grey, hot[each]!, ember * lit), body);
      }
    }
  paintRidges(scene, [
    {
      tops,
      lit: blend(look.rock.lit, look.rock.dark, 0.35),
      dark: shade(look.rock.dark, -0.3),
      far: 0.12,
      mist: tall * 1.5,
      texture: 'rock',
      snow: 0,
      noise: rough,
      bottom: scene.water ? horizon : canvas.height,
    },
  ]);
  if (look.ink) return;
  const random = scene.chance('lava');
  glow(canvas, focus, crater, unit * 0.4, hot, 0.65, 2);
  for (let stream = 0; stream < 6; stream += 1) {
    let x = focus + random.bell() * rim * 0.7;
    const lean = (x - focus) / rim;
    const line: Point[] = [];
    for (
      let y = crater + unit * 0.005;
      y < crater + tall * random.between(0.35, 0.85);
      y += unit * 0.012
    ) {
      line.push([x, Math.max(y, (tops[Math.round(clamp(x, 0, width - 1))] ?? y) + 1)]);
      x += unit * (lean * 0.009 + random.bell() * 0.005);
    }
    if (line.length < 3) continue;
    const ring = ribbon(line, (at) => unit * 0.011 * (1 - at * 0.85));
    fill(canvas, [ring], hex('#ff5a1f'), { alpha: 0.75, soft: unit * 0.006, mode: 'screen' });
    fill(canvas, [ring], hex('#ffd27a'), { alpha: 0.9, soft: unit * 0.0012 });
  }
  fill(canvas, [ellipse(focus, crater + unit * 0.012, rim * 0.8, unit * 0.012)], hex('#ffe0a0'), {
    soft: unit * 0.005,
  });
  for (let spark = 0; spark < 90; spark += 1) {
    const up = random.next() ** 1.6;
    glow(
      canvas,
      focus + random.bell() * unit * (0.05 + up * 0.16),
      crater - up * unit * 0.24,
      unit * random.between(0.002, 0.007),
      hot,
      0.95,
      1,
    );
  }
};

/** Land in the sea, with trees on it. */
export const paintIsland = (scene: Scene): void => {
  const { canvas, look, horizon, focus } = scene;
  const { width, unit } = canvas;
  const noise = scene.noise('island');
  const random = scene.chance('island');
  const ridges: Ridge[] = [];
  for (const [off, reach, tall, far] of [
    [-0.5, 0.34, 0.07, 0.7],
    [0.42, 0.26, 0.05, 0.6],
    [0, 0.26, 0.17, 0.12],
  ] as const) {
    const tops = new Float32Array(width);
    for (let x = 0; x < width; x += 1) {
      const away = (x - focus - off * unit) / (reach * unit);
      const body = Math.exp(-(away ** 2) * 2.4) - 0.08;
      const rough = noise.fbm((x / unit) * 7 + off * 9, 2, 5) * 0.3;
      tops[x] =
        horizon +
        2 -
        tall *
          unit *
          Math.max(
            0,
            body * (1 + rough) +
              (noise.ridged((x / unit) * 3 + off, 6, 4) - 0.5) * 0.4 * Math.max(0, body),
          );
    }
    const wooded = far < 0.3 ? fringe(scene, `island ${off}`, tops, unit * 0.016) : tops;
    for (let x = 0; x < width; x += 1) if (tops[x]! >= horizon) wooded[x] = horizon + 2;
    ridges.push({
      tops: wooded,
      lit: blend(look.ground.lit, look.rock.lit, 0.4),
      dark: blend(look.ground.dark, look.rock.dark, 0.4),
      far,
      mist: look.ink ? unit * 0.12 : 0,
      texture: far < 0.3 ? 'wood' : 'rock',
      snow: 0,
      noise: scene.noise(`island ${random.whole(0, 9)}`),
      bottom: horizon + (look.ink ? unit * 0.05 : 1),
    });
  }
  paintRidges(scene, ridges);
};
