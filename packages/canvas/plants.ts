import { type Chance, clamp, distance, mix, smooth } from './chance.ts';
import { blend, type Colour, hex, saturate, shade } from './colour.ts';
import type { Ridge } from './land.ts';
import { curve, dab, ellipse, fill, glow, place, type Point, ribbon, round } from './raster.ts';
import type { Scene } from './scene.ts';

/** Where on a fold of land something stands. */
export const footOn = (ridge: Ridge, x: number): number =>
  ridge.tops[Math.round(clamp(x, 0, ridge.tops.length - 1))]!;

interface Twig {
  x: number;
  y: number;
}

/** Grows branches upwards; gives where they end. */
const grow = (
  scene: Scene,
  random: Chance,
  bark: Colour,
  from: Point,
  angle: number,
  length: number,
  width: number,
  depth: number,
  spread: number,
): Twig[] => {
  const { canvas } = scene;
  const bend = random.bell() * 0.35;
  const line: Point[] = [from];
  let [x, y] = from;
  for (let step = 1; step <= 4; step += 1) {
    const turn = angle + bend * (step / 4) + random.bell() * 0.08;
    x += (Math.cos(turn) * length) / 4;
    y += (Math.sin(turn) * length) / 4;
    line.push([x, y]);
  }
  fill(canvas, [ribbon(curve(line, false, 4), (at) => mix(width, width * 0.62, at) + 0.3)], bark);
  if (depth === 0) return [{ x, y }];
  const twigs: Twig[] = depth <= 2 ? [{ x, y }] : [];
  const count = random.whole(2, 3);
  for (let at = 0; at < count; at += 1) {
    const off = ((at + 0.5) / count - 0.5) * 2 * spread + random.bell() * 0.22;
    twigs.push(
      ...grow(
        scene,
        random,
        bark,
        [x, y],
        angle + bend + off,
        length * random.between(0.66, 0.86),
        width * 0.6,
        depth - 1,
        spread,
      ),
    );
  }
  return twigs;
};

/** A broad-leaved tree, lit from where the light stands. */
export const paintTree = (
  scene: Scene,
  part: string,
  x: number,
  y: number,
  tall: number,
  tones: readonly Colour[] = scene.look.leaves,
  far = 0,
): void => {
  const { canvas, look, light, has } = scene;
  const random = scene.chance(part);
  const bark = look.ink
    ? look.front
    : blend(blend(hex('#5a4334'), look.front, 0.55), look.haze, 0.05 + far);
  const twigs = grow(
    scene,
    random,
    bark,
    [x, y],
    -Math.PI / 2 + random.bell() * 0.1,
    tall * 0.3,
    tall * 0.055,
    4,
    0.52,
  );
  const bare = look.season === 'winter' || (look.snowy && !look.ink);
  if (bare) {
    for (const twig of twigs)
      for (let flake = 0; flake < 4; flake += 1)
        dab(
          canvas,
          twig.x + random.bell() * tall * 0.025,
          twig.y + random.bell() * tall * 0.012,
          tall * 0.016,
          tall * 0.007,
          0,
          hex('#eef3f8'),
          0.75,
        );
    return;
  }
  const top = Math.min(...twigs.map((twig) => twig.y));
  const bottom = Math.max(...twigs.map((twig) => twig.y));
  const middle = twigs.reduce((sum, twig) => sum + twig.x, 0) / twigs.length;
  const side = light.x > x ? 1 : -1;
  const blossom = has('blossom');
  const scale = blossom ? look.petals : tones;
  const dark = shade(scale[0]!, blossom ? -0.12 : -0.28);
  const leaf = (px: number, py: number, size: number, more: number) => {
    const lit = clamp(
      0.52 -
        ((py - top) / Math.max(1, bottom - top) - 0.5) * 0.55 +
        (((px - middle) * side) / tall) * 0.75 +
        more,
    );
    const place = lit * 3;
    const index = Math.min(2, Math.floor(place));
    const tone =
      lit < 0.18
        ? dark
        : mixColour(
            blossom ? [dark, scale[0]!, scale[2]!, scale[2]!][index]! : scale[index]!,
            (blossom ? [scale[0]!, scale[2]!, scale[2]!, scale[2]!] : scale)[index + 1] ??
              scale[index]!,
            place - index,
          );
    dab(
      canvas,
      px,
      py,
      size,
      size * random.between(0.45, 0.75),
      random.next() * 3.2,
      tone,
      look.ink ? 0.55 : 0.95,
    );
  };
  // From the shade within outwards to the light.
  for (let round = 0; round < 3; round += 1)
    for (const twig of twigs) {
      const count = round === 0 ? 5 : 7;
      for (let at = 0; at < count; at += 1) {
        const reach = tall * mix(0.075, 0.1, round / 2);
        leaf(
          twig.x + random.bell() * reach,
          twig.y + random.bell() * reach * 0.75,
          tall * mix(0.034, 0.013, round / 2) * random.between(0.8, 1.25),
          mix(-0.34, 0.14, round / 2) + random.bell() * 0.14,
        );
      }
    }
};

const mixColour = (a: Colour, b: Colour, share: number): Colour => [
  mix(a[0], b[0], share),
  mix(a[1], b[1], share),
  mix(a[2], b[2], share),
];

/** A conifer: tiers of boughs that hang. */
export const paintPine = (
  scene: Scene,
  part: string,
  x: number,
  y: number,
  tall: number,
  far: number,
): void => {
  const { canvas, look, light } = scene;
  const random = scene.chance(part);
  const green = blend(look.leaves[0]!, look.front, 0.45);
  const base = blend(
    look.season === 'autumn' ? blend(green, hex('#2f4f3a'), 0.6) : green,
    look.haze,
    far,
  );
  const lit = blend(blend(look.leaves[1]!, look.light, 0.15), look.haze, far);
  const trunk = blend(look.front, look.haze, far);
  const side = light.x > x ? 1 : -1;
  fill(
    canvas,
    [
      ribbon(
        [
          [x, y],
          [x, y - tall * 0.95],
        ],
        (at) => tall * 0.035 * (1 - at) + 0.4,
      ),
    ],
    trunk,
  );
  const tiers = Math.max(9, Math.round(16 + random.bell() * 2));
  for (let tier = 0; tier < tiers; tier += 1) {
    const up = tier / tiers;
    const cy = y - tall * (0.1 + up * 0.88);
    const half = tall * 0.21 * (1 - up) ** 0.85 * random.between(0.82, 1.15) + tall * 0.008;
    for (const way of [-1, 1]) {
      const boughs = 4;
      for (let bough = 0; bough < boughs; bough += 1) {
        const out = half * (1 - bough * 0.22) * random.between(0.85, 1.1);
        const drop = out * random.between(0.34, 0.5);
        const start: Point = [x, cy - bough * tall * 0.012];
        const line: Point[] = [
          start,
          [x + way * out * 0.5, start[1] + drop * 0.25],
          [x + way * out, start[1] + drop],
        ];
        const tone = mixColour(
          base,
          lit,
          clamp((way === side ? 0.42 : 0.1) + bough * 0.13 + random.bell() * 0.1),
        );
        fill(
          canvas,
          [ribbon(curve(line, false, 4), (at) => tall * 0.044 * (1 - up * 0.6) * (1 - at * 0.8))],
          tone,
          { alpha: 0.95 },
        );
        if (look.snowy && !look.ink)
          fill(
            canvas,
            [
              ribbon(
                curve(
                  line.map(([px, py]): Point => [px, py - tall * 0.007]),
                  false,
                  4,
                ),
                (at) => tall * 0.016 * (1 - up * 0.5) * (1 - at * 0.7),
              ),
            ],
            blend(hex('#f2f6fa'), look.haze, far),
            { alpha: 0.8 },
          );
      }
    }
  }
};

/** Trees one behind another, fading into the haze: a wood. */
export const paintForest = (scene: Scene): void => {
  const { canvas, look, has, focus } = scene;
  const { width, height, unit } = canvas;
  const random = scene.chance('forest');
  const rows = 4;
  const pines = has('pine') || (look.snowy && !has('tree')) || scene.chance('wood').is(0.45);
  for (let row = 0; row < rows; row += 1) {
    const near = row / (rows - 1);
    const far = (1 - near) ** 1.2 * 0.78;
    const base = mix(scene.horizon + unit * 0.03, height + unit * 0.06, near ** 1.2);
    const tall = unit * mix(0.22, 0.95, near ** 1.4);
    const gap = tall * mix(0.2, 0.34, near);
    // A veil between the rows.
    if (row > 0)
      for (let y = 0; y < height; y += 1)
        for (let x = 0; x < width; x += 1) {
          const at = (y * width + x) * 3;
          const veil =
            smooth(scene.horizon - unit * 0.3, scene.horizon + unit * 0.12, y) *
            smooth(height, scene.horizon, y) *
            0.2;
          for (let each = 0; each < 3; each += 1)
            canvas.rgb[at + each] = mix(canvas.rgb[at + each]!, look.haze[each]!, veil);
        }
    if (row === rows - 1) {
      // The nearest trunks frame the view.
      for (const side of [-1, 1])
        for (let trunk = random.whole(1, 2); trunk > 0; trunk -= 1) {
          const x = focus + side * width * random.between(0.3, 0.62);
          paintTrunk(scene, random, x, height + unit * 0.04, unit * random.between(0.022, 0.05));
        }
      if (!look.ink) paintCanopy(scene);
      continue;
    }
    for (let x = -gap; x < width + gap; x += gap * random.between(0.6, 1.5)) {
      if (row === rows - 2 && Math.abs(x - focus) / width < 0.14) continue;
      const size = tall * random.between(0.8, 1.2);
      const y = base + random.bell() * unit * 0.015;
      if (pines) paintPine(scene, `pine ${row} ${Math.round(x)}`, x, y, size, far);
      else
        paintTree(
          scene,
          `tree ${row} ${Math.round(x)}`,
          x,
          y,
          size * 1.05,
          look.leaves.map((tone) => blend(tone, look.haze, far)),
          far,
        );
    }
    if (row === 1 && !look.ink && !look.overcast) paintRays(scene);
  }
};

/** A near trunk whose crown is above the image. */
const paintTrunk = (scene: Scene, random: Chance, x: number, base: number, half: number): void => {
  const { canvas, look, light, noise } = scene;
  const { unit } = canvas;
  const lean = random.bell() * unit * 0.06;
  const line: Point[] = [
    [x - lean * 0.2, base + unit * 0.02],
    [x + lean * 0.2, base * 0.62],
    [x + lean * 0.5, base * 0.3],
    [x + lean, -unit * 0.1],
  ];
  const bark = noise('bark');
  const dark = look.ink ? look.front : shade(look.front, -0.12);
  const lit = blend(look.front, look.light, 0.26);
  const side = light.x > x ? 1 : -1;
  const paint = (px: number, py: number, out: Float32Array) => {
    const rib = bark.fbm((px / unit) * 46, (py / unit) * 6, 3);
    const share = clamp(0.42 + ((px - x) * side) / (half * 3.4) + rib * 0.55);
    for (let each = 0; each < 3; each += 1) out[each] = mix(dark[each]!, lit[each]!, share * share);
  };
  fill(
    canvas,
    [
      ribbon(
        curve(line, false, 10),
        (at) => half * 2 * (1 + 0.9 * (1 - at) ** 9) * (1 - at * 0.25),
      ),
    ],
    paint,
  );
  for (let limb = 0; limb < 2; limb += 1) {
    const from = base * random.between(0.1, 0.42);
    const way = random.is(0.5) ? 1 : -1;
    fill(
      canvas,
      [
        ribbon(
          curve(
            [
              [x + lean * 0.5, from],
              [x + way * unit * 0.09, from - unit * 0.06],
              [x + way * unit * 0.2, from - unit * 0.17],
            ],
            false,
            8,
          ),
          (at) => half * 0.75 * (1 - at * 0.7),
        ),
      ],
      paint,
    );
  }
};

/** Leaves that hang into the image from above and ferns below, near and dark. */
const paintCanopy = (scene: Scene): void => {
  const { canvas, look, focus } = scene;
  const { width, height, unit } = canvas;
  const random = scene.chance('canopy');
  for (let leaf = 0; leaf < 1500 * (width / unit); leaf += 1) {
    const x = random.next() * width;
    const off = Math.abs(x - focus) / (width * 0.5);
    const deep = unit * 0.09 + clamp(off) ** 2 * unit * 0.26;
    const y = random.next() ** 1.6 * deep;
    const tone = mixColour(
      look.front,
      look.leaves[random.whole(0, 2)]!,
      clamp((y / deep) * 0.75 - 0.05),
    );
    dab(
      canvas,
      x,
      y,
      unit * random.between(0.006, 0.013),
      unit * random.between(0.003, 0.006),
      random.next() * 3.2,
      tone,
      0.9,
    );
  }
  for (let fern = 0; fern < 46; fern += 1) {
    const x = random.next() * width;
    if (Math.abs(x - focus) < width * 0.16) continue;
    const root: Point = [x, height + unit * 0.01];
    for (let frond = 0; frond < 5; frond += 1) {
      const turn = -Math.PI / 2 + random.bell() * 0.9;
      const long = unit * random.between(0.05, 0.12);
      const tip: Point = [root[0] + Math.cos(turn) * long, root[1] + Math.sin(turn) * long];
      fill(
        canvas,
        [
          ribbon(
            curve([root, [mix(root[0], tip[0], 0.5), mix(root[1], tip[1], 0.62)], tip], false, 4),
            (at) => unit * 0.007 * (1 - at),
          ),
        ],
        mixColour(look.front, look.leaves[0]!, random.next() * 0.6),
        { alpha: 0.95 },
      );
    }
  }
};

/** Shafts of light that fall through leaves and mist. */
const paintRays = (scene: Scene): void => {
  const { canvas, look, light, noise, focus } = scene;
  const { rgb, width, height, unit } = canvas;
  const field = noise('rays');
  const x0 = mix(light.x, focus, 0.4);
  const y0 = -height * 0.25;
  const power = look.hour === 'night' ? 0.16 : 0.34;
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const dx = (x - x0) / unit;
      const dy = (y - y0) / unit;
      const turn = Math.atan2(dx, dy);
      const beam = smooth(0.02, 0.5, field.fbm(turn * 7, 0.5, 3)) * Math.exp(-turn * turn * 2.2);
      if (beam < 0.005) continue;
      const far = distance(dx, dy);
      const alpha = beam * power * smooth(0.1, 0.5, far) * smooth(1.75, 0.7, far);
      const at = (y * width + x) * 3;
      for (let each = 0; each < 3; each += 1)
        rgb[at + each] = rgb[at + each]! + look.light[each]! * alpha * (1.05 - rgb[at + each]!);
    }
};

/** Stalks with joints, leaves in bunches; the nearer the darker. */
export const paintBamboo = (scene: Scene): void => {
  const { canvas, look, focus } = scene;
  const { width, height, unit } = canvas;
  const random = scene.chance('bamboo');
  const forest = !look.ink;
  const rows = forest ? 3 : 2;
  for (let row = 0; row < rows; row += 1) {
    const near = row / (rows - 1);
    const far = (1 - near) * (look.ink ? 0.62 : 0.72);
    const count = forest
      ? Math.round((width / unit) * mix(16, 6, near))
      : Math.round(mix(4, 4, near));
    for (let stalk = 0; stalk < count; stalk += 1) {
      let x = look.ink ? focus + random.bell() * unit * 0.26 : random.next() * width;
      if (forest && near === 1 && Math.abs(x - focus) < width * 0.17)
        x += (x < focus ? -1 : 1) * width * 0.17;
      const half = unit * mix(0.006, 0.017, near) * random.between(0.75, 1.2);
      const lean = random.bell() * unit * 0.12;
      const green = look.ink
        ? blend(look.front, hex('#8f989a'), far)
        : blend(blend(hex('#5f9a4a'), look.front, 0.18), look.haze, far);
      const lit = look.ink ? green : blend(blend(hex('#b7d67a'), look.light, 0.15), look.haze, far);
      const joint = unit * mix(0.07, 0.13, near) * random.between(0.85, 1.15);
      let y = height + joint * random.next();
      let at = 0;
      while (y > -joint) {
        const along = 1 - y / height;
        const cx = x + lean * along * along;
        const next = y - joint * (1 + at * 0.01);
        const along2 = 1 - next / height;
        const nx = x + lean * along2 * along2;
        const tone = look.ink ? random.between(0.62, 0.92) : 1;
        fill(
          canvas,
          [
            ribbon(
              [
                [cx, y - half * 0.22],
                [mix(cx, nx, 0.5), mix(y, next, 0.5)],
                [nx, next + half * 0.22],
              ],
              (share) => half * 2 * (0.93 + 0.12 * Math.abs(share - 0.5)),
            ),
          ],
          (px, _y, out) => {
            const across = clamp(0.5 + (px - mix(cx, nx, 0.5)) / (half * 2));
            const bright = look.ink
              ? 0
              : Math.sin(across * Math.PI) ** 1.5 *
                (0.4 + 0.6 * (scene.light.x > cx ? across : 1 - across));
            for (let each = 0; each < 3; each += 1)
              out[each] = mix(green[each]!, lit[each]!, bright);
          },
          { alpha: tone },
        );
        dab(
          canvas,
          nx,
          next,
          half * 1.15,
          half * 0.2,
          0,
          shade(green, look.ink ? -0.3 : -0.35),
          0.85,
        );
        if (random.is(mix(0.5, 0.6, near)) && y < height * 0.86) {
          const way = random.is(0.5) ? 1 : -1;
          const reach = unit * mix(0.06, 0.13, near);
          const tip: Point = [nx + way * reach, next - reach * random.between(0.1, 0.6)];
          fill(
            canvas,
            [
              ribbon(
                curve([[nx, next], [nx + way * reach * 0.5, next - reach * 0.32], tip], false, 4),
                () => half * 0.28 + 0.3,
              ),
            ],
            green,
            { alpha: 0.9 },
          );
          for (const [bx, by] of [tip, [nx + way * reach * 0.55, next - reach * 0.3]] as const)
            for (let leaf = 0; leaf < random.whole(4, 6); leaf += 1) {
              const turn = Math.PI / 2 + way * -0.5 + random.bell() * 0.85;
              const long = unit * mix(0.04, 0.082, near) * random.between(0.75, 1.2);
              const ex = bx + Math.cos(turn) * long;
              const ey = by + Math.sin(turn) * long;
              const ink = look.ink
                ? green
                : mixColour(shade(green, -0.15), lit, random.next() * 0.75);
              fill(
                canvas,
                [
                  ribbon(
                    curve(
                      [
                        [bx, by],
                        [mix(bx, ex, 0.45) + way * long * 0.05, mix(by, ey, 0.45)],
                        [ex, ey],
                      ],
                      false,
                      4,
                    ),
                    (share) => long * 0.17 * Math.sin(Math.PI * clamp(share * 0.86 + 0.14)) ** 0.8,
                  ),
                ],
                ink,
                { alpha: look.ink ? random.between(0.6, 0.95) : 0.92 },
              );
            }
        }
        y = next;
        at += 1;
      }
    }
  }
};

export const paintWillow = (scene: Scene): void => {
  const { canvas, look, focus } = scene;
  const { width, height, unit } = canvas;
  const random = scene.chance('willow');
  // Branches hang in from above at the side from which one looks.
  const side = focus > width / 2 ? -1 : 1;
  const from = side < 0 ? 0 : width;
  const bark = blend(hex('#4a3a2e'), look.front, 0.6);
  const limb: Point[] = curve(
    [
      [from + side * unit * 0.05, unit * 0.3],
      [from - side * unit * 0.16, unit * 0.1],
      [from - side * unit * 0.4, unit * 0.045],
      [from - side * unit * 0.62, unit * 0.1],
    ],
    false,
    10,
  );
  fill(canvas, [ribbon(limb, (at) => unit * 0.035 * (1 - at) + 1)], bark);
  for (let strand = 0; strand < 120; strand += 1) {
    const from = limb[Math.floor(random.next() ** 0.8 * limb.length)]!;
    const depth = random.next();
    const long = unit * random.between(0.1, 0.52) * mix(0.8, 1, depth);
    const sway = unit * (0.035 + random.bell() * 0.05);
    const line: Point[] = curve(
      [
        [from[0] + random.bell() * unit * 0.025, from[1]],
        [from[0] + sway * 0.2, from[1] + long * 0.4],
        [from[0] + sway, Math.min(height, from[1] + long)],
      ],
      false,
      12,
    );
    const tone = mixColour(
      mixColour(look.leaves[0]!, look.front, 0.25),
      look.leaves[2]!,
      depth * 0.8 + random.next() * 0.2,
    );
    fill(canvas, [ribbon(line, () => unit * 0.001 + 0.2)], shade(tone, -0.25), { alpha: 0.6 });
    for (const [px, py] of line) {
      if (random.is(0.15)) continue;
      const way = random.is(0.5) ? 1 : -1;
      const size = unit * random.between(0.007, 0.012);
      dab(
        canvas,
        px + way * size * 0.55,
        py + size * 0.4,
        size,
        size * 0.2,
        Math.PI / 2 - way * random.between(0.25, 0.6),
        mixColour(tone, look.leaves[3]!, random.next() * 0.3),
        0.85,
      );
    }
  }
};

export const paintPalms = (scene: Scene): void => {
  const { canvas, look, focus } = scene;
  const { width, height, unit } = canvas;
  const random = scene.chance('palms');
  const side = focus > width / 2 ? 1 : -1;
  const count = random.whole(2, 3);
  for (let palm = 0; palm < count; palm += 1) {
    const foot = focus + side * unit * (0.14 - palm * 0.11);
    const tall = unit * random.between(0.5, 0.68) * (1 - palm * 0.14);
    const lean = -side * unit * random.between(0.08, 0.2);
    const base = height - unit * 0.1;
    const top: Point = [foot + lean, base - tall];
    fill(
      canvas,
      [
        ribbon(
          curve(
            [[foot, base + unit * 0.03], [foot + lean * 0.25, base - tall * 0.5], top],
            false,
            12,
          ),
          (at) => unit * mix(0.026, 0.013, at),
        ),
      ],
      look.front,
    );
    for (let frond = 0; frond < 11; frond += 1) {
      const turn = (frond / 11) * Math.PI * 2 + random.bell() * 0.2;
      const long = unit * random.between(0.17, 0.24);
      const dx = Math.cos(turn) * long;
      const rise = Math.sin(turn) * long * 0.45 - long * 0.2;
      const line = curve(
        [
          top,
          [top[0] + dx * 0.5, top[1] + rise - long * 0.08],
          [top[0] + dx, top[1] + rise + long * 0.4],
        ],
        false,
        12,
      );
      const tone = blend(look.front, look.leaves[1]!, random.between(0.1, 0.42));
      fill(canvas, [ribbon(line, (at) => unit * 0.006 * (1 - at) + 0.4)], tone);
      line.forEach(([px, py], at) => {
        if (at < 1) return;
        const reach = long * 0.26 * Math.sin((at / line.length) * Math.PI * 0.9 + 0.25);
        for (const way of [-1, 1])
          fill(
            canvas,
            [
              ribbon(
                [
                  [px, py],
                  [px + way * reach * 0.28 + dx * 0.05, py + reach],
                ],
                (share) => unit * 0.0065 * (1 - share),
              ),
            ],
            tone,
          );
      });
    }
  }
};

/** Blades of grass along the lower edge, out of the light. */
export const paintBlades = (
  scene: Scene,
  from: number,
  count: number,
  tall: number,
  tones: readonly Colour[],
): void => {
  const { canvas } = scene;
  const { width, height, unit } = canvas;
  const random = scene.chance('blades');
  for (let blade = 0; blade < count * (width / unit); blade += 1) {
    const near = random.next();
    const x = random.between(-0.03, 1.03) * width;
    const y = mix(from, height + unit * 0.02, near ** 0.7);
    const long = tall * mix(0.3, 1, near) * random.between(0.6, 1.2);
    const bend = random.bell() * long * 0.45;
    fill(
      canvas,
      [
        ribbon(
          [
            [x, y],
            [x + bend * 0.35, y - long * 0.55],
            [x + bend, y - long],
          ],
          (at) => unit * mix(0.002, 0.0055, near) * (1 - at * 0.9),
        ),
      ],
      mixColour(random.pick(tones), random.pick(tones), random.next()),
      { alpha: 0.92 },
    );
  }
};

/** The head of a flower, seen a little from the side. */
export const paintBloom = (
  scene: Scene,
  random: Chance,
  x: number,
  y: number,
  size: number,
  tone: Colour,
  petals: number,
  turn: number,
): void => {
  const { canvas, look } = scene;
  const tilt = random.between(0.55, 0.95);
  const deep = shade(saturate(tone, 1.15), -0.22);
  const pale = shade(tone, 0.3);
  for (let ring = 0; ring < 2; ring += 1) {
    const reach = size * (ring === 0 ? 1 : 0.68);
    for (let petal = 0; petal < petals; petal += 1) {
      const angle = turn + ((petal + ring * 0.5) / petals) * Math.PI * 2;
      const put = ([px, py]: Point): Point => {
        const cos = Math.cos(angle);
        const sin = Math.sin(angle);
        return [x + (px * cos - py * sin) * reach, y + (px * sin + py * cos) * reach * tilt];
      };
      const wide = (2.6 / petals) * random.between(0.85, 1.1);
      const outline = curve(
        (
          [
            [0.08, 0],
            [0.45, -wide * 0.55],
            [0.85, -wide * 0.5],
            [1, 0],
            [0.85, wide * 0.5],
            [0.45, wide * 0.55],
          ] as const
        ).map(put),
        true,
        4,
      );
      const vary = random.between(-0.08, 0.1);
      fill(
        canvas,
        [outline],
        round(shade(deep, vary), shade(ring === 0 ? tone : pale, vary), x, y, reach),
        { alpha: look.ink ? 0.72 : 0.97 },
      );
      if (size > scene.canvas.unit * 0.03)
        fill(
          canvas,
          [ribbon([put([0.15, 0]), put([0.85, 0])], (at) => size * 0.02 * (1 - at))],
          deep,
          { alpha: 0.3 },
        );
    }
  }
  const heart = hex('#e8b53a');
  for (let grain = 0; grain < 14; grain += 1)
    dab(
      canvas,
      x + random.bell() * size * 0.13,
      y + random.bell() * size * 0.13 * tilt,
      size * 0.045,
      size * 0.045,
      0,
      shade(heart, random.between(-0.35, 0.25)),
    );
};

/** A field in bloom: far dots of colour, near heads with stems. */
export const paintFlowers = (scene: Scene): void => {
  const { canvas, look, has } = scene;
  const { width, height, unit } = canvas;
  const random = scene.chance('flowers');
  const from = scene.water ? height - unit * 0.13 : scene.horizon + unit * 0.03;
  const rows = has('lavender') || has('sunflower');
  const sun = has('sunflower');
  const tones: Colour[] = sun
    ? ['#f2b632', '#f7cf52', '#e59a24'].map(hex)
    : has('lavender')
      ? ['#8a6fc4', '#a68ad6', '#6f57b0', '#bda6e6'].map(hex)
      : [...look.petals];
  const dimmed = tones.map((tone) =>
    blend(tone, look.front, look.hour === 'night' ? 0.5 : look.hour === 'dusk' ? 0.16 : 0),
  );
  const tuft = scene.noise('tufts');
  const count = Math.round((width / unit) * (scene.water ? 900 : 5200));
  const spots = Array.from({ length: count }, () => {
    const near = random.next() ** 1.3;
    return { near, x: random.next() * width, y: mix(from, height, near), roll: random.next() };
  }).sort((a, b) => a.near - b.near);
  const stem = blend(look.leaves[0]!, look.front, 0.3);
  for (const { near, x, y, roll } of spots) {
    const persp = mix(0.1, 1, near ** 1.2);
    const patch = tuft.fbm(((x / unit - 0.5) / (persp + 0.12)) * 1.3, 2 / (persp + 0.15), 3);
    const line = rows ? Math.sin(((x - scene.focus) / unit / (persp + 0.06)) * 9) : 0;
    if (rows ? line < -0.1 : patch < -0.12 + (near > 0.7 ? 0.1 : 0)) {
      if (near > 0.15 && roll < 0.6) {
        const long = unit * 0.045 * persp;
        dab(
          canvas,
          x,
          y - long / 2,
          long * 0.06 + 0.3,
          long / 2,
          random.bell() * 0.3,
          mixColour(stem, look.leaves[1]!, roll),
          0.75,
        );
      }
      continue;
    }
    const far = (1 - near) ** 2 * 0.55;
    const pick =
      dimmed[
        Math.floor((roll * 0.55 + clamp(patch * 0.6 + 0.4) * 0.45) * dimmed.length) % dimmed.length
      ]!;
    const tone = mixColour(pick, look.haze, far);
    const size = unit * 0.0185 * persp * mix(0.75, 1.25, roll);
    if (has('lavender')) {
      for (let bud = 0; bud < 6; bud += 1)
        dab(
          canvas,
          x + random.bell() * size * 0.3,
          y - bud * size * 0.62,
          size * 0.34 * (1 - bud * 0.09),
          size * 0.4,
          0,
          shadeFast(tone, random.between(-0.14, 0.14)),
          0.9,
        );
      continue;
    }
    if (size < unit * (sun ? 0.0125 : 0.009)) {
      dab(canvas, x, y, size, size * 0.62, 0, shadeFast(tone, random.between(-0.12, 0.12)), 0.92);
      continue;
    }
    if (roll > (sun ? 0.3 : 0.42)) continue;
    const long = size * random.between(2.4, 4);
    fill(
      canvas,
      [
        ribbon(
          [
            [x + random.bell() * size * 0.5, y + long],
            [x, y],
          ],
          () => size * 0.11,
        ),
      ],
      stem,
      { alpha: 0.9 },
    );
    const big = size * (sun ? 2.1 : 1.15);
    paintBloom(scene, random, x, y, big, tone, sun ? 15 : random.whole(5, 8), random.next() * 6);
    if (sun)
      for (let seed = 0; seed < 40; seed += 1) {
        const out = Math.sqrt(random.next()) * big * 0.36;
        const turn = random.next() * 6.3;
        dab(
          canvas,
          x + Math.cos(turn) * out,
          y + Math.sin(turn) * out * 0.8,
          big * 0.04,
          big * 0.04,
          0,
          shade(hex('#5a3518'), random.between(-0.3, 0.2)),
        );
      }
  }
  if (!rows)
    paintBlades(scene, height - unit * 0.1, 90, unit * 0.14, [
      stem,
      look.leaves[0]!,
      blend(look.leaves[1]!, look.front, 0.2),
    ]);
  if (has('lavender')) return;
  // A few heads close by.
  const close = Array.from({ length: sun ? 9 : 11 }, () => ({
    x: random.next() * width,
    up: random.next(),
  })).sort((a, b) => b.up - a.up);
  for (const { x, up } of close) {
    const size = unit * mix(sun ? 0.1 : 0.048, sun ? 0.05 : 0.024, up);
    const y = height - unit * mix(0.03, sun ? 0.27 : 0.16, up);
    const foot = height + unit * 0.05;
    const sway = random.bell() * size * 0.6;
    const line = curve(
      [
        [x + sway, foot],
        [x + sway * 0.2, mix(foot, y, 0.55)],
        [x, y],
      ],
      false,
      8,
    );
    fill(canvas, [ribbon(line, () => size * (sun ? 0.12 : 0.09))], stem);
    for (const way of [-1, 1]) {
      const root = line[Math.floor(line.length * (way < 0 ? 0.35 : 0.55))]!;
      const long = size * random.between(1, 1.6);
      const leaf = curve(
        [
          root,
          [root[0] + way * long * 0.5, root[1] - long * 0.38],
          [root[0] + way * long, root[1] - long * 0.2],
        ],
        false,
        6,
      );
      fill(
        canvas,
        [ribbon(leaf, (at) => long * 0.34 * Math.sin(Math.PI * at ** 0.8))],
        mixColour(stem, look.leaves[1]!, 0.35),
      );
    }
    const tone = random.pick(dimmed);
    if (sun) sunHead(scene, random, x, y, size, tone);
    else paintBloom(scene, random, x, y, size, tone, random.whole(5, 8), random.next() * 6);
  }
};

/** The head of a sunflower: two rings of long petals around seeds in spirals. */
const sunHead = (
  scene: Scene,
  random: Chance,
  x: number,
  y: number,
  size: number,
  tone: Colour,
): void => {
  const { canvas, look } = scene;
  const tilt = random.between(0.82, 1);
  for (const [ring, reach] of [1, 0.88].entries())
    for (let petal = 0; petal < 22; petal += 1) {
      const angle = ((petal + ring * 0.5) / 22) * Math.PI * 2 + random.bell() * 0.05;
      const long = size * reach * random.between(0.88, 1.06);
      const at = (share: number): Point => [
        x + Math.cos(angle) * long * share,
        y + Math.sin(angle) * long * share * tilt,
      ];
      fill(
        canvas,
        [
          ribbon(
            curve([at(0.4), at(0.75), at(1)], false, 4),
            (share) => size * 0.2 * Math.sin(Math.PI * (0.22 + share * 0.76)),
          ),
        ],
        round(shade(tone, -0.28), shade(tone, 0.12), x, y, size),
        { alpha: look.ink ? 0.75 : 1 },
      );
    }
  const core = blend(hex('#4a2a14'), look.front, 0.2);
  fill(canvas, [ellipse(x, y, size * 0.47, size * 0.47 * tilt)], core);
  for (let seed = 0; seed < 170; seed += 1) {
    const out = Math.sqrt(seed / 170) * size * 0.45;
    const turn = seed * 2.39996;
    const lit = 0.5 - Math.cos(turn + 0.8) * 0.3 + (seed / 170) * 0.3;
    dab(
      canvas,
      x + Math.cos(turn) * out,
      y + Math.sin(turn) * out * tilt,
      size * 0.022,
      size * 0.022,
      0,
      mixColour(core, hex('#c98a3a'), clamp(lit) * 0.75),
    );
  }
};

const shadeFast = ([r, g, b]: Colour, by: number): Colour => [
  clamp(r + by),
  clamp(g + by),
  clamp(b + by),
];

/** A branch in bloom that reaches in from a corner; petals in the wind. */
export const paintBlossom = (scene: Scene): void => {
  const { canvas, look, focus } = scene;
  const { width, height, unit } = canvas;
  const random = scene.chance('blossom');
  const left = focus > width / 2;
  const bark = look.ink ? look.front : blend(hex('#3f2c28'), look.front, 0.45);
  const tones = look.ink
    ? ['#c8574f', '#d87a6e', '#b8433f'].map(hex)
    : [look.petals[0]!, look.petals[2]!, shade(look.petals[0]!, 0.35)];
  const spots: { x: number; y: number; size: number }[] = [];
  const branch = (
    x: number,
    y: number,
    angle: number,
    long: number,
    thick: number,
    depth: number,
  ): void => {
    const line: Point[] = [[x, y]];
    let px = x;
    let py = y;
    let turn = angle;
    const steps = 7;
    for (let step = 0; step < steps; step += 1) {
      // Plum boughs turn in knees.
      turn += random.bell() * 0.3 + (angle - turn) * 0.25;
      px += (Math.cos(turn) * long) / steps;
      py += (Math.sin(turn) * long) / steps;
      line.push([px, py]);
      if (depth > 0 && step > 0 && random.is(0.62))
        branch(
          px,
          py,
          turn + (random.is(0.5) ? 1 : -1) * random.between(0.45, 1),
          long * random.between(0.32, 0.58),
          thick * 0.45,
          depth - 1,
        );
      if (depth < 2)
        for (let flower = 0; flower < (depth === 0 ? 2 : 1); flower += 1)
          if (random.is(0.66))
            spots.push({
              x: px + random.bell() * unit * 0.022,
              y: py + random.bell() * unit * 0.022,
              size: unit * random.between(0.014, 0.027),
            });
    }
    fill(canvas, [ribbon(curve(line, false, 4), (at) => thick * (1 - at * 0.72) + 0.5)], bark, {
      alpha: look.ink ? 0.92 : 1,
    });
    if (!look.ink)
      fill(
        canvas,
        [
          ribbon(
            curve(
              line.map(([lx, ly]): Point => [lx, ly - thick * 0.2]),
              false,
              4,
            ),
            (at) => thick * 0.25 * (1 - at),
          ),
        ],
        look.light,
        { alpha: 0.16 },
      );
  };
  const startX = left ? -unit * 0.04 : width + unit * 0.04;
  const along = left ? 0.22 : Math.PI - 0.22;
  branch(startX, height * random.between(0.08, 0.2), along, unit * 0.85, unit * 0.036, 3);
  branch(
    startX,
    height * random.between(0.3, 0.42),
    along + (left ? -0.35 : 0.35),
    unit * 0.5,
    unit * 0.024,
    2,
  );
  for (const { x, y, size } of spots) {
    const tone = random.pick(tones);
    if (random.is(0.2)) {
      dab(canvas, x, y, size * 0.36, size * 0.44, 0, shade(tone, -0.12), 0.95);
      continue;
    }
    paintBloom(scene, random, x, y, size, tone, 5, random.next() * 6);
  }
  for (let petal = 0; petal < 70; petal += 1) {
    const near = random.next() ** 3;
    dab(
      canvas,
      random.next() * width,
      random.next() * height,
      unit * mix(0.004, 0.013, near),
      unit * mix(0.0022, 0.007, near),
      random.next() * 3,
      random.pick(tones),
      mix(0.85, 0.45, near),
    );
  }
};

/** A round leaf that lies on water, from the notch at which its stalk is. */
export const paintPad = (
  { canvas, look }: Scene,
  pad: { x: number; y: number; rx: number; ry: number; notch: number; green: Colour },
): void => {
  const { x, y, rx, ry, notch, green } = pad;
  const outline: Point[] = [[x, y]];
  for (let at = 0; at <= 44; at += 1) {
    const angle = notch + 0.14 + (at / 44) * (Math.PI * 2 - 0.28);
    const wave = 1 + Math.sin(angle * 8 + notch) * 0.016;
    outline.push([x + Math.cos(angle) * rx * wave, y + Math.sin(angle) * ry * wave]);
  }
  const shadow = outline.map(([px, py]): Point => [px + rx * 0.06, py + ry * 0.16]);
  fill(canvas, [shadow], look.front, { alpha: look.ink ? 0.18 : 0.4, soft: rx * 0.06 });
  fill(
    canvas,
    [outline],
    round(shade(green, 0.18), shade(green, -0.18), x - rx * 0.2, y - ry * 0.35, rx * 1.15),
    { alpha: look.ink ? 0.7 : 0.98 },
  );
  for (let vein = 0; vein < 10; vein += 1) {
    const angle = notch + 0.35 + (vein / 10) * 5.7;
    const end: Point = [x + Math.cos(angle) * rx * 0.91, y + Math.sin(angle) * ry * 0.91];
    fill(
      canvas,
      [ribbon([[x, y], end], (at) => rx * 0.022 * (1 - at) + 0.2)],
      shade(green, look.ink ? -0.38 : 0.31),
      { alpha: 0.39 },
    );
  }
};

/** Pads on the water and flowers above it. */
export const paintLotus = (scene: Scene): void => {
  const { canvas, look, focus } = scene;
  const { width, height, unit } = canvas;
  const random = scene.chance('lotus');
  const pads = Array.from({ length: Math.round((width / unit) * 30) }, () => {
    const near = random.next() ** 0.9;
    return {
      near,
      x: random.between(-0.05, 1.05) * width,
      y: mix(scene.horizon + unit * 0.05, height * 1.02, near),
    };
  }).sort((a, b) => a.y - b.y);
  const clear = scene.noise('pads');
  for (const { near, x, y } of pads) {
    if (clear.at((x / unit) * 2.2, near * 3) < -0.16) continue;
    const rx = unit * mix(0.03, 0.13, near) * random.between(0.7, 1.15);
    const ry = rx * mix(0.26, 0.4, near);
    const green = blend(
      mixColour(look.leaves[0]!, look.leaves[1]!, random.next()),
      look.haze,
      (1 - near) * 0.4,
    );
    paintPad(scene, { x, y, rx, ry, notch: random.next() * 6.28, green });
  }
  const flowers = [
    { x: focus, y: height * 0.8, size: unit * 0.135 },
    { x: focus + (focus > width / 2 ? -1 : 1) * unit * 0.34, y: height * 0.7, size: unit * 0.07 },
    {
      x: focus + (focus > width / 2 ? 1 : -1) * unit * 0.2,
      y: scene.horizon + (height - scene.horizon) * 0.3,
      size: unit * 0.045,
    },
  ];
  const tone = look.ink ? hex('#d9857f') : blend(look.petals[0]!, hex('#f3a6bd'), 0.6);
  const sorted = flowers.sort((a, b) => a.y - b.y);
  for (const { x, y, size } of sorted) {
    const head = y - size * 1.1;
    fill(
      canvas,
      [
        ribbon(
          curve(
            [
              [x + size * 0.12, y + size * 0.5],
              [x + size * 0.06, y - size * 0.3],
              [x, head + size * 0.35],
            ],
            false,
            8,
          ),
          () => size * 0.07,
        ),
      ],
      blend(look.leaves[0]!, look.front, 0.15),
    );
    const petal = (turn: number, long: number, wide: number, light: number) => {
      const put = place(x, head + size * 0.42, size, turn);
      const outline = curve(
        (
          [
            [0, 0],
            [-wide, -long * 0.45],
            [-wide * 0.62, -long * 0.82],
            [0, -long],
            [wide * 0.62, -long * 0.82],
            [wide, -long * 0.45],
          ] as const
        ).map(put),
        true,
        6,
      );
      const tip = put([0, -long]);
      fill(
        canvas,
        [outline],
        round(
          shade(saturate(tone, 1.25), -0.06 + light * 0.1),
          shade(tone, 0.55 + light * 0.2),
          tip[0],
          tip[1],
          size * long * 0.95,
        ),
        { alpha: look.ink ? 0.78 : 0.98 },
      );
      fill(
        canvas,
        [ribbon([put([0, -long * 0.96]), put([0, -long * 0.2])], (at) => size * 0.012 * (1 - at))],
        shade(tone, -0.3),
        { alpha: 0.25 },
      );
    };
    for (const [turn, long] of [
      [-1.25, 0.9],
      [1.25, 0.9],
      [-0.85, 1.05],
      [0.85, 1.05],
      [-0.42, 1.14],
      [0.42, 1.14],
      [0, 1.2],
    ] as const)
      petal(turn, long, 0.27, 0);
    for (const [turn, long] of [
      [-1.05, 0.72],
      [1.05, 0.72],
      [-0.62, 0.86],
      [0.62, 0.86],
      [-0.24, 0.92],
      [0.24, 0.92],
    ] as const)
      petal(turn, long, 0.25, 0.5);
    petal(-0.9, 0.5, 0.2, 0.9);
    petal(0.9, 0.5, 0.2, 0.9);
    petal(0, 0.62, 0.24, 0.9);
    if (!look.ink) glow(canvas, x, head, size * 1.2, look.light, 0.16, 2);
  }
};

/** Leaves in the wind and on the ground. */
export const paintLeaves = (scene: Scene): void => {
  const { canvas, look } = scene;
  const { width, height, unit } = canvas;
  const random = scene.chance('leaves');
  for (let leaf = 0; leaf < 150; leaf += 1) {
    const near = random.next() ** 4;
    const ground = random.is(0.45);
    const x = random.next() * width;
    const y = ground ? height - random.next() ** 2 * unit * 0.2 : random.next() * height;
    const size = unit * mix(0.006, 0.034, near);
    const tone = mixColour(random.pick(look.leaves), look.front, ground ? 0.15 : 0);
    if (near < 0.12) {
      dab(canvas, x, y, size, size * 0.55, random.next() * 3, tone, 0.9);
      continue;
    }
    const turn = random.next() * 6.3;
    const put = place(x, y, size, turn);
    // A maple leaf: five points.
    const outline: Point[] = [];
    for (let at = 0; at < 22; at += 1) {
      const angle = (at / 22) * Math.PI * 2 - Math.PI / 2;
      const lobes = Math.abs(Math.cos(angle * 2.5 + Math.PI / 4 + 0.78));
      outline.push(
        put([Math.cos(angle) * (0.38 + 0.62 * lobes), Math.sin(angle) * (0.38 + 0.62 * lobes)]),
      );
    }
    fill(canvas, [outline], tone, { alpha: 0.92, soft: near > 0.6 ? size * 0.12 : 0 });
    fill(canvas, [ribbon([put([0, 0.3]), put([0.1, 1.2])], () => size * 0.06)], shade(tone, -0.3), {
      alpha: 0.8,
    });
  }
};
