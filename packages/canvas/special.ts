import { clamp, distance, mix, smooth } from './chance.ts';
import { blend, type Colour, hex, saturate, scaleOf, shade } from './colour.ts';
import {
  bloom,
  curve,
  dab,
  ellipse,
  glow,
  maskOf,
  place,
  type Point,
  type Ring,
  fill,
  ribbon,
} from './raster.ts';
import type { Scene } from './scene.ts';

/** Flames above some logs, and the light that they give. */
export const paintFire = (scene: Scene, x: number, y: number, tall: number): void => {
  const { canvas, look, noise, chance } = scene;
  const { rgb, width, height, unit } = canvas;
  const random = chance('fire');
  const flame = noise('flame');
  const hot = hex('#ff8a2f');
  if (!look.ink) {
    glow(canvas, x, y, tall * 3.4, hot, 0.5, 2);
    glow(canvas, x, y - tall * 0.3, tall * 1.5, hex('#ffb45a'), 0.5, 2);
  }
  const wood = look.ink ? look.front : hex('#2a1712');
  for (const [from, to] of [
    [
      [-0.34, 0.06],
      [0.22, -0.06],
    ],
    [
      [0.34, 0.07],
      [-0.2, -0.07],
    ],
    [
      [-0.2, 0.1],
      [0.3, 0.03],
    ],
  ] as const) {
    const put = place(x, y, tall);
    fill(canvas, [ribbon([put(from), put(to)], () => tall * 0.08)], wood);
    if (!look.ink)
      fill(
        canvas,
        [ribbon([put([from[0], from[1] - 0.025]), put([to[0], to[1] - 0.025])], () => tall * 0.02)],
        hot,
        { alpha: 0.6 },
      );
  }
  const table = scaleOf(
    ['#7a1408', '#d9370f', '#ff7a1a', '#ffb638', '#ffe58a', '#fffbe6'].map(hex),
  );
  const top = Math.max(0, Math.floor(y - tall * 1.25));
  for (let py = top; py < Math.min(height, y + tall * 0.1); py += 1)
    for (
      let px = Math.max(0, Math.floor(x - tall * 0.6));
      px < Math.min(width, x + tall * 0.6);
      px += 1
    ) {
      const v = (y - py) / tall;
      const up = clamp(v, 0, 1.2);
      const sway = flame.at(up * 2.3, 4) * 0.24 * up;
      const u = (px - x) / tall + sway;
      const lick = flame.fbm(u * 4.4 + 3, v * 2.1 - 7, 4);
      const tongue = flame.ridged(u * 3.1 + lick * 0.5, v * 1.2 + 2, 3);
      const body = 0.3 * (1 - up * 0.72) * (1 + 0.3 * Math.sin(up * 7)) * smooth(-0.08, 0.05, v);
      const heat = clamp(
        (1 - Math.abs(u) / Math.max(0.02, body)) * 0.9 +
          lick * 0.62 +
          tongue * 0.34 -
          up * up * 1.25 +
          0.08,
      );
      const alpha = smooth(0.06, 0.4, heat);
      if (alpha <= 0) continue;
      const tone = Math.round(clamp(heat * 1.02) * 255) * 3;
      const at = (py * width + px) * 3;
      for (let each = 0; each < 3; each += 1)
        rgb[at + each] = mix(rgb[at + each]!, table[tone + each]! * 1.08, alpha);
    }
  for (let spark = 0; spark < 70; spark += 1) {
    const up = random.next() ** 1.4;
    glow(
      canvas,
      x + (random.bell() * (0.2 + up * 0.9) + flame.at(up * 3, 8) * 0.3) * tall,
      y - up * tall * 2.3,
      unit * random.between(0.0016, 0.005),
      hot,
      0.95 * (1 - up * 0.6),
      1,
    );
  }
};

/** Water that falls from a mountain into mist. */
export const paintWaterfall = (scene: Scene, top: number): void => {
  const { canvas, look, horizon, focus, noise } = scene;
  const { rgb, width, unit } = canvas;
  const thread = noise('waterfall');
  const white = look.ink
    ? look.haze
    : blend(hex('#ffffff'), look.haze, look.hour === 'night' ? 0.5 : 0.18);
  const from = Math.max(top, horizon - unit * 0.38);
  for (let y = Math.floor(from); y < horizon + unit * 0.02; y += 1) {
    const down = (y - from) / (horizon - from);
    const middle = focus + thread.at(down * 2.4, 3) * unit * 0.02;
    const half = unit * mix(0.014, 0.045, down ** 1.3);
    for (let x = Math.floor(middle - half * 1.6); x <= middle + half * 1.6; x += 1) {
      if (x < 0 || x >= width || y < 0) continue;
      const off = Math.abs(x - middle) / half;
      const streak = 0.62 + thread.fbm((x / unit) * 95, (y / unit) * 5, 3) * 0.75;
      const alpha =
        clamp(smooth(1.25, 0.45, off + thread.at((y / unit) * 30, 5) * 0.15) * streak) *
        smooth(0, 0.04, down);
      const at = (y * width + x) * 3;
      for (let each = 0; each < 3; each += 1)
        rgb[at + each] = mix(rgb[at + each]!, white[each]!, alpha);
    }
  }
  const random = scene.chance('spray');
  for (let puff = 0; puff < 80; puff += 1)
    glow(
      canvas,
      focus + random.bell() * unit * 0.14,
      horizon - random.next() ** 2 * unit * 0.09,
      unit * random.between(0.02, 0.06),
      white,
      0.13,
      2,
    );
};

/** A face in profile; what one thinks of is seen within. */
const profile: readonly Point[] = [
  [-0.66, 0.78],
  [-0.52, 0.53],
  [-0.28, 0.42],
  [-0.185, 0.3],
  [-0.2, 0.16],
  [-0.3, 0],
  [-0.325, -0.18],
  [-0.25, -0.37],
  [-0.08, -0.475],
  [0.1, -0.46],
  [0.225, -0.37],
  [0.272, -0.26],
  [0.28, -0.17],
  [0.284, -0.125],
  [0.318, -0.06],
  [0.368, 0.008],
  [0.358, 0.036],
  [0.313, 0.05],
  [0.322, 0.078],
  [0.336, 0.096],
  [0.317, 0.115],
  [0.326, 0.14],
  [0.303, 0.163],
  [0.308, 0.198],
  [0.283, 0.238],
  [0.2, 0.254],
  [0.12, 0.262],
  [0.088, 0.32],
  [0.102, 0.4],
  [0.2, 0.48],
  [0.4, 0.56],
  [0.52, 0.78],
];

export const paintPortrait = (scene: Scene): void => {
  const { canvas, look, chance, noise } = scene;
  const { rgb, width, height, unit } = canvas;
  const random = chance('portrait');
  const mirror = random.is(0.5);
  const size = Math.min(height * 0.8, width * 0.92);
  const cx = width * 0.5 + (mirror ? 1 : -1) * size * 0.03;
  const cy = height - size * 0.74;
  const put = place(cx, cy, size, 0, mirror);
  const head = curve(profile.map(put), true, 8);
  const bun = random.is(0.6);
  // Strands of hair that leave the outline.
  const strands: Point[][] = [];
  for (let strand = 0; strand < 22; strand += 1) {
    const from: Point = [mix(-0.27, -0.16, random.next()), mix(-0.12, 0.34, random.next())];
    const long = random.between(0.07, bun ? 0.14 : 0.24);
    const drop = random.between(0.1, 0.34);
    strands.push(
      curve(
        [
          from,
          [from[0] - long * 0.5, from[1] + drop * 0.2 + random.bell() * 0.05],
          [from[0] - long, from[1] + drop + random.bell() * 0.06],
        ].map((each) => put(each as Point)),
        false,
        8,
      ),
    );
  }
  const mask = maskOf([head], canvas, unit * 0.0012);
  const hair: Ring[] = strands.map((line) =>
    ribbon(line, (at) => size * 0.013 * Math.sin(Math.PI * (0.3 + at * 0.7))),
  );
  if (bun) hair.push(ellipse(...put([-0.31, -0.31]), size * 0.115, size * 0.105));
  const cover = new Float32Array(width * height);
  for (const each of [mask, ...hair.map((ring) => maskOf([ring], canvas))])
    if (each)
      for (let y = 0; y < each.height; y += 1)
        for (let x = 0; x < each.width; x += 1) {
          const px = x + each.left;
          const py = y + each.top;
          if (px < 0 || py < 0 || px >= width || py >= height) continue;
          const at = py * width + px;
          cover[at] = Math.max(cover[at]!, each.values[y * each.width + x]!);
        }
  const night = look.hour === 'night';
  const pale = look.ink
    ? look.haze
    : night
      ? blend(look.sky[3]!, look.light, 0.22)
      : shade(look.haze, 0.45);
  const edge = look.ink ? look.sky[0]! : night ? look.sky[1]! : shade(look.sky[1]!, 0.35);
  const paper = noise('paper');
  const lx = put([0.9, -0.3])[0];
  const ly = put([0.9, -0.3])[1];
  const dark = blend(look.front, look.rock.dark, 0.35);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const at = (y * width + x) * 3;
      const inside = cover[y * width + x]!;
      const far = clamp(distance(x - lx, y - ly) / (unit * 1.15));
      const grain = 1 + paper.fbm((x / unit) * 3, (y / unit) * 3, 3) * 0.05;
      // The face is light where the light meets it, and darkens towards the back of the head.
      const back = clamp(0.5 - ((x - cx) * (mirror ? -1 : 1)) / size);
      const fade = smooth(height * 0.86, height * 1.02, y) * 0.55;
      for (let each = 0; each < 3; each += 1) {
        const outside = mix(pale[each]!, edge[each]!, far) * grain;
        let within = mix(
          rgb[at + each]!,
          rgb[at + each]! * (0.42 + dark[each]! * 0.4),
          clamp(back * 0.75),
        );
        within = mix(within, outside, fade);
        rgb[at + each] = mix(outside, within, inside);
      }
    }
  if (look.ink) {
    const brush = noise('contour');
    const contour = head.slice(Math.floor(head.length * 0.12), Math.floor(head.length * 0.93));
    fill(
      canvas,
      [
        ribbon(
          contour,
          (at) =>
            size * 0.0075 * clamp(0.55 + brush.at(at * 14, 3)) * Math.sin(Math.PI * at) ** 0.4,
        ),
      ],
      look.front,
      { alpha: 0.8 },
    );
    return;
  }
  // A rim of light along the face.
  const face = head.slice(Math.floor(head.length * 0.27), Math.floor(head.length * 0.86));
  fill(
    canvas,
    [ribbon(face, (at) => size * 0.008 * Math.sin(at * Math.PI))],
    night ? look.light : hex('#fff8ea'),
    { alpha: night ? 0.85 : 0.65, soft: size * 0.0024 },
  );
  if (night) bloom(canvas, 0.6, 0.25, unit * 0.02);
};

/** A cup that steams, on a table in the light of a window. */
export const paintCup = (scene: Scene): void => {
  const { canvas, look, focus, noise } = scene;
  const { rgb, width, height, unit } = canvas;
  const table = height * 0.76;
  const wood = noise('wood');
  const dim = look.hour === 'night' ? 0.5 : 0.12;
  const plank = blend(hex('#8a5a38'), look.front, dim);
  for (let y = Math.floor(table); y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const near = (y - table) / (height - table);
      const grain =
        wood.fbm((x / unit) * 1.6, (y / unit) * 26, 4) * 0.22 +
        wood.at((x / unit) * 9, (y / unit) * 90) * 0.05;
      const lit =
        0.72 +
        near * 0.2 +
        grain +
        0.5 * Math.exp(-(((x - scene.light.x) / (unit * 0.35)) ** 2)) * (1 - near);
      const at = (y * width + x) * 3;
      for (let each = 0; each < 3; each += 1)
        rgb[at + each] = mix(plank[each]! * lit, look.light[each]!, 0.06 * (1 - near));
    }
  const x = focus;
  const y = table + (height - table) * 0.42;
  const size = unit * 0.19;
  const china = blend(hex('#f3ece0'), look.front, dim * 0.7);
  const blue = blend(hex('#3a5f8f'), look.front, dim * 0.6);
  const side = scene.light.x > x ? 1 : -1;
  fill(
    canvas,
    [ellipse(x - side * size * 0.3, y + size * 0.06, size * 1.5, size * 0.24)],
    hex('#1a0f0a'),
    { alpha: 0.5, soft: size * 0.1 },
  );
  fill(canvas, [ellipse(x, y, size * 1.2, size * 0.26)], shade(china, -0.12));
  fill(canvas, [ellipse(x, y - size * 0.03, size * 1.12, size * 0.22)], china);
  const put = place(x, y - size * 0.04, size);
  const lip = -0.92;
  fill(
    canvas,
    [
      ribbon(
        curve(
          (
            [
              [0.62, lip + 0.2],
              [0.98, lip + 0.2],
              [0.98, lip + 0.56],
              [0.5, lip + 0.68],
            ] as const
          ).map(([px, py]) => put([px * -side, py])),
          false,
          8,
        ),
        () => size * 0.11,
      ),
    ],
    shade(china, -0.18),
  );
  const body = curve(
    (
      [
        [-0.72, lip],
        [-0.68, lip + 0.4],
        [-0.42, -0.06],
        [0, 0.02],
        [0.42, -0.06],
        [0.68, lip + 0.4],
        [0.72, lip],
      ] as const
    ).map(put),
    false,
    8,
  );
  fill(canvas, [body], (px, py, out) => {
    const across = clamp(0.5 + ((px - x) * side) / (size * 1.44));
    const lit = 0.5 + 0.6 * smooth(0, 0.85, across) - smooth(0.86, 1, across) * 0.14;
    const band = Math.abs((py - y) / size + 0.66) < 0.035 ? 1 : 0;
    for (let each = 0; each < 3; each += 1) out[each] = mix(china[each]!, blue[each]!, band) * lit;
  });
  fill(canvas, [ellipse(...put([0, lip]), size * 0.72, size * 0.16)], china);
  fill(
    canvas,
    [ellipse(...put([0, lip + 0.025]), size * 0.65, size * 0.13)],
    blend(hex('#6b3a1c'), look.front, dim * 0.5),
  );
  fill(canvas, [ellipse(...put([0.2 * side, lip + 0.02]), size * 0.2, size * 0.035)], look.light, {
    alpha: 0.4,
    soft: size * 0.02,
  });
  const steam = noise('steam');
  for (let wisp = 0; wisp < 3; wisp += 1) {
    const line: Point[] = [];
    for (let at = 0; at <= 26; at += 1) {
      const up = at / 26;
      line.push(
        put([(wisp - 1) * 0.24 + steam.at(up * 2.6, wisp * 7) * 0.42 * up, lip - 0.05 - up * 1.9]),
      );
    }
    fill(
      canvas,
      [ribbon(line, (at) => size * 0.24 * Math.sin(Math.PI * at ** 0.7))],
      hex('#ffffff'),
      { alpha: 0.2, soft: size * 0.07 },
    );
  }
};

/** The frame of a window, in front of whatever is outside. */
export const paintWindow = (scene: Scene): void => {
  const { canvas, look } = scene;
  const { width, height, unit } = canvas;
  const wall = blend(blend(hex('#3a2c26'), look.front, 0.5), look.light, 0.03);
  const edge = unit * 0.085;
  const sill = unit * 0.12;
  const bar = unit * 0.022;
  const block = (x: number, y: number, w: number, h: number, tone: Colour) =>
    fill(
      canvas,
      [
        [
          [x, y],
          [x + w, y],
          [x + w, y + h],
          [x, y + h],
        ],
      ],
      tone,
    );
  const lit = blend(wall, look.light, 0.28);
  block(0, 0, width, edge, wall);
  block(0, 0, edge, height, wall);
  block(width - edge, 0, edge, height, wall);
  block(width / 2 - bar / 2, 0, bar, height, wall);
  block(width / 2 - bar / 2, 0, bar * 0.22, height, lit);
  block(0, height * 0.36, width, bar, wall);
  block(0, height - sill, width, sill, shade(wall, 0.06));
  block(0, height - sill, width, sill * 0.1, lit);
  block(edge, edge, width - edge * 2, unit * 0.004, lit);
  if (!scene.has('rain')) return;
  const random = scene.chance('pane');
  for (let drop = 0; drop < 130; drop += 1) {
    const x = random.next() * width;
    const y = random.next() * (height - sill);
    const size = unit * random.between(0.002, 0.007);
    dab(canvas, x, y, size, size * 1.25, 0, look.front, 0.25);
    dab(canvas, x - size * 0.2, y - size * 0.3, size * 0.6, size * 0.7, 0, look.haze, 0.6);
    if (random.is(0.16))
      fill(
        canvas,
        [
          ribbon(
            [
              [x, y - unit * 0.09],
              [x, y],
            ],
            (at) => size * 0.9 * at,
          ),
        ],
        look.haze,
        { alpha: 0.25 },
      );
  }
};

/** For words that name nothing known: colours and forms that belong together. */
export const paintAbstract = (scene: Scene): void => {
  const kinds = [silk, hills, drops] as const;
  scene.chance('abstract').pick(kinds)(scene);
};

const tonesOf = (scene: Scene): Colour[] => {
  const { look, wish } = scene;
  if (look.ink) return ['#f3ede0', '#b9bcb8', '#6a7275', '#23282b', '#c2452f'].map(hex);
  if (wish.colours.length > 0)
    return [shade(look.sky[3]!, 0.3), look.sky[2]!, look.sky[1]!, look.sky[0]!, look.petals[1]!];
  const sets = [
    ['#f6e7d3', '#f0b88f', '#d96f5b', '#7a3f63', '#24304f'],
    ['#e9f1ea', '#a9d2c6', '#4f9aa0', '#27607f', '#f0a868'],
    ['#fbeee6', '#f4c6c9', '#c98fb8', '#6f5aa0', '#2f2f66'],
    ['#f4eedb', '#d9c07f', '#7fa06a', '#3a6f5f', '#d9724a'],
    ['#eaf0fb', '#a8c4ee', '#5f86d0', '#31479a', '#f2b8a0'],
  ];
  const night = look.hour === 'night';
  const set = scene.chance('tones').pick(sets).map(hex);
  return night ? set.map((tone) => shade(tone, -0.4)) : set;
};

/** Folds of cloth in soft light. */
const silk = (scene: Scene): void => {
  const { canvas, noise } = scene;
  const { rgb, width, height, unit } = canvas;
  const fold = noise('silk');
  const tones = tonesOf(scene);
  const table = scaleOf([tones[3]!, tones[2]!, tones[1]!, tones[0]!, tones[1]!, tones[4]!], 512);
  const height01 = (u: number, v: number): [number, number] => {
    const a = fold.fbm(u * 0.9, v * 0.9, 3);
    const b = fold.fbm(u * 0.9 + 5.2, v * 0.9 + 1.3, 3);
    const c = fold.fbm(u + a * 1.7, v + b * 1.7 + 7, 4);
    return [Math.sin((c * 2.1 + a * 0.9 + u * 0.35 - v * 0.2) * 5.2), c];
  };
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const u = (x / unit) * 1.15;
      const v = (y / unit) * 1.15;
      const [here, tone] = height01(u, v);
      const [beside] = height01(u + 0.006, v + 0.005);
      const lit = clamp(0.56 + (here - beside) * 6.5, 0.16, 1.2);
      const index = Math.round(clamp(0.5 + tone * 0.75 + here * 0.1) * 511) * 3;
      const at = (y * width + x) * 3;
      for (let each = 0; each < 3; each += 1)
        rgb[at + each] = clamp(
          table[index + each]! * (0.62 + lit * 0.58) + (lit > 0.95 ? (lit - 0.95) * 0.5 : 0),
        );
    }
};

/** Sheets of paper in waves, each with its shadow on the one behind. */
const hills = (scene: Scene): void => {
  const { canvas, chance, noise } = scene;
  const { rgb, width, height, unit } = canvas;
  const random = chance('sheets');
  const tones = tonesOf(scene);
  const table = scaleOf([tones[0]!, tones[1]!, tones[2]!, tones[3]!], 64);
  const paper = noise('paper');
  const sky = tones[0]!;
  for (let at = 0; at < rgb.length; at += 1) rgb[at] = sky[at % 3]!;
  const sun = {
    x: scene.focus,
    y: height * random.between(0.2, 0.34),
    size: unit * random.between(0.1, 0.16),
  };
  glow(canvas, sun.x, sun.y, sun.size * 3.2, tones[4]!, 0.35, 2);
  fill(canvas, [ellipse(sun.x, sun.y, sun.size, sun.size)], tones[4]!);
  const sheets = 8;
  for (let sheet = 0; sheet < sheets; sheet += 1) {
    const near = (sheet + 1) / sheets;
    const tone = Math.round(near * 63) * 3;
    const shift = random.between(0, 40);
    const base = height * mix(0.34, 0.98, near);
    const edge: Point[] = [];
    for (let x = -10; x <= width + 10; x += Math.max(2, unit / 160))
      edge.push([
        x,
        base -
          (paper.fbm((x / unit) * mix(1.1, 0.7, near) + shift, sheet * 3, 2) * 0.3 +
            Math.sin((x / unit) * 2.1 + shift) * 0.05) *
            unit,
      ]);
    edge.push([width + 10, height + 10], [-10, height + 10]);
    fill(canvas, [edge.map(([x, y]): Point => [x, y - unit * 0.012])], [0, 0, 0], {
      alpha: 0.2,
      soft: unit * 0.016,
    });
    const colour: Colour = [table[tone]!, table[tone + 1]!, table[tone + 2]!];
    const lighter = shade(colour, 0.14);
    fill(canvas, [edge], (x, y, out) => {
      const down = clamp((y - base + unit * 0.2) / (unit * 0.45));
      const grain = 1 + paper.at((x / unit) * 150, (y / unit) * 150) * 0.018;
      for (let each = 0; each < 3; each += 1)
        out[each] = mix(lighter[each]!, colour[each]!, down) * grain;
    });
  }
};

/** Lights out of focus, great and small. */
const drops = (scene: Scene): void => {
  const { canvas, chance, noise } = scene;
  const { rgb, width, height, unit } = canvas;
  const random = chance('drops');
  const tones = tonesOf(scene);
  const table = scaleOf([tones[3]!, tones[2]!, tones[3]!], 256);
  const field = noise('drops');
  const dark = shade(tones[3]!, -0.35);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const tone =
        Math.round(clamp(0.5 + field.fbm((x / unit) * 1.1, (y / unit) * 1.1, 3) * 0.9) * 255) * 3;
      const at = (y * width + x) * 3;
      for (let each = 0; each < 3; each += 1)
        rgb[at + each] = mix(table[tone + each]!, dark[each]!, 0.45);
    }
  const all = Array.from({ length: 110 }, () => ({
    near: random.next() ** 1.6,
    x: random.next() * width,
    y: random.next() * height,
  })).sort((a, b) => a.near - b.near);
  for (const { near, x, y } of all) {
    const place01 = field.at((x / unit) * 1.2, (y / unit) * 1.2 + 30);
    if (place01 < -0.25) continue;
    const size = unit * mix(0.006, 0.095, near ** 1.4) * random.between(0.7, 1.2);
    const tone = saturate(random.pick([tones[0]!, tones[1]!, tones[4]!, tones[2]!]), 1.15);
    const ring = ellipse(x, y, size, size);
    fill(canvas, [ring], tone, {
      alpha: mix(0.5, 0.16, near),
      soft: size * 0.05 + 0.5,
      mode: 'screen',
    });
    fill(canvas, [ribbon([...ring, ring[0]!], () => size * 0.06 + 0.5)], tone, {
      alpha: 0.22,
      mode: 'screen',
    });
  }
};
