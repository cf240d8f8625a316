import { type Chance, clamp, mix, smooth } from './chance.ts';
import { blend, type Colour, hex, saturate, shade } from './colour.ts';
import {
  curve,
  dab,
  ellipse,
  fill,
  glow,
  place,
  type Point,
  ribbon,
  type Ring,
  round,
  upright,
} from './raster.ts';
import type { Scene } from './scene.ts';

const box = (x: number, y: number, w: number, h: number): Ring => [
  [x, y],
  [x + w, y],
  [x + w, y + h],
  [x, y + h],
];

const lampLight = hex('#ffcf7a');

/** Rows of towers, the far ones in the haze, with lit windows after dark. */
export const paintCity = (scene: Scene): void => {
  const { canvas, look, horizon, focus, has } = scene;
  const { width, unit } = canvas;
  const random = scene.chance('city');
  const neons = ['#ff3d9a', '#2fe6ff', '#b45cff', '#ffd23f', '#3dffb0'].map(hex);
  const rows = 4;
  const floor = scene.water ? horizon : horizon + unit * 0.05;
  for (let row = 0; row < rows; row += 1) {
    const near = row / (rows - 1);
    const far = (1 - near) ** 1.1 * 0.8;
    const tone = blend(
      blend(look.rock.dark, look.front, near * (look.lamps ? 0.7 : 0.25)),
      look.haze,
      far,
    );
    const bright = blend(blend(look.rock.lit, look.rock.dark, 0.25 + near * 0.4), look.haze, far);
    const step = unit * mix(0.035, 0.075, near);
    for (let x = -step; x < width + step;) {
      const wide = step * random.between(0.6, 1.35);
      const off = Math.abs(x + wide / 2 - focus) / width;
      const tall =
        unit *
        mix(0.3, 0.17, near) *
        random.between(0.45, 1) *
        (1.35 - off * 1.1) *
        (random.is(0.12) ? 1.5 : 1);
      const top = floor - tall;
      tower(
        scene,
        random,
        x,
        top,
        wide * 0.94,
        floor - top + unit * 0.02,
        tone,
        bright,
        far,
        near,
        neons,
      );
      x += wide * random.between(0.85, 1.15);
    }
    // Air between the rows.
    if (row < rows - 1)
      fill(
        canvas,
        [box(-5, floor - unit * 0.16, width + 10, unit * 0.2)],
        look.lamps ? blend(look.haze, lampLight, 0.12) : look.haze,
        { alpha: 0.3, soft: unit * 0.045 },
      );
  }
  if (look.lamps)
    glow(canvas, focus, floor, unit * 0.6, look.neon ? neons[0]! : lampLight, 0.16, 2);
  if (!scene.water && !has('street')) return;
  if (has('street') && !scene.water) paintStreet(scene, floor);
};

const tower = (
  { canvas, look, light }: Scene,
  random: Chance,
  x: number,
  top: number,
  wide: number,
  tall: number,
  tone: Colour,
  bright: Colour,
  far: number,
  near: number,
  neons: readonly Colour[],
): void => {
  const { unit } = canvas;
  const facing = light.x > x ? 1 : -1;
  const split = x + wide * random.between(0.45, 0.72);
  const face = upright(bright, tone, top, top + tall);
  const back = shade(tone, look.ink ? -0.15 : -0.12);
  const steps = random.is(0.3) ? random.whole(1, 2) : 0;
  for (let at = 0; at <= steps; at += 1) {
    const inset = wide * 0.13 * at;
    const rise = unit * 0.025 * at;
    fill(
      canvas,
      [box(x + inset, top - rise, wide - inset * 2, tall + rise)],
      facing > 0 ? back : face,
    );
    fill(
      canvas,
      [
        box(
          Math.max(split, x + inset),
          top - rise,
          x + wide - inset - Math.max(split, x + inset),
          tall + rise,
        ),
      ],
      facing > 0 ? face : back,
    );
  }
  if (random.is(0.22)) {
    const mx = x + wide * 0.5;
    const mast = unit * random.between(0.03, 0.09);
    fill(
      canvas,
      [
        ribbon(
          [
            [mx, top - unit * 0.024 * steps],
            [mx, top - mast - unit * 0.024 * steps],
          ],
          (at) => unit * 0.0045 * (1 - at) + 0.4,
        ),
      ],
      tone,
    );
    if (look.lamps)
      glow(canvas, mx, top - mast - unit * 0.024 * steps, unit * 0.009, hex('#ff5a4a'), 0.9, 1);
  }
  const cell = unit * mix(0.0085, 0.0135, near);
  const chance = look.lamps ? random.between(0.25, 0.62) : 0.85;
  const pane = look.lamps
    ? look.neon
      ? blend(random.pick(neons), hex('#ffffff'), 0.35)
      : blend(lampLight, hex('#fff3d8'), random.next() * 0.6)
    : shade(tone, -0.2);
  const alpha = (look.lamps ? 0.88 : look.ink ? 0.22 : 0.4) * (1 - far * 0.7);
  for (let wy = top + cell * 1.1; wy < top + tall - cell; wy += cell * 1.5)
    for (let wx = x + cell * 0.7; wx < x + wide - cell * 0.7; wx += cell * 1.15)
      if (random.is(chance))
        dab(
          canvas,
          wx + cell * 0.3,
          wy,
          cell * 0.3,
          cell * 0.42,
          0,
          pane,
          alpha * random.between(0.4, 1),
        );
  if (look.neon && near > 0.4 && random.is(0.55)) {
    const sign = random.pick(neons);
    const sx = x + wide * random.between(0.1, 0.75);
    const sy = top + tall * random.between(0.1, 0.4);
    const long = unit * random.between(0.05, 0.12);
    glow(canvas, sx, sy + long / 2, long * 1.3, sign, 0.4, 2);
    fill(canvas, [box(sx, sy, unit * 0.013, long)], sign, { soft: 0.6 });
    for (let mark = 0; mark < 5; mark += 1)
      dab(
        canvas,
        sx + unit * 0.0065,
        sy + ((mark + 0.5) / 5) * long,
        unit * 0.0035,
        unit * 0.005,
        0,
        hex('#ffffff'),
        0.85,
      );
  }
};

/** A wet street that leads to the towers and mirrors their lights. */
const paintStreet = ({ canvas, look, focus, noise }: Scene, floor: number): void => {
  const { rgb, width, height, unit } = canvas;
  const wet = noise('street');
  const above = rgb.slice(0, Math.round(floor) * width * 3);
  const from = Math.round(floor);
  for (let y = from; y < height; y += 1) {
    const down = (y - from) / unit;
    const near = 1 / (down + 0.05);
    for (let x = 0; x < width; x += 1) {
      const blur = wet.at((x / unit) * 30, (y / unit) * 9) * unit * 0.014 * (1 + down * 3);
      const sy = clamp(Math.round(from - 1 - (y - from) * 1.1 - Math.abs(blur) * 3), 0, from - 1);
      const sx = clamp(Math.round(x + blur), 0, width - 1);
      const puddle = smooth(-0.35, 0.35, wet.fbm(((x - focus) / unit) * near * 0.3, near * 0.7, 4));
      const lane = Math.abs(((x - focus) / unit) * near);
      const line = lane < 0.035 && Math.sin(near * 6) > 0 ? 0.12 : 0;
      const grain = 1 + wet.at((x / unit) * 90, (y / unit) * 60) * 0.06;
      const at = (y * width + x) * 3;
      for (let each = 0; each < 3; each += 1)
        rgb[at + each] = mix(
          look.front[each]! * 1.25 * grain + line * 0.5,
          above[(sy * width + sx) * 3 + each]!,
          mix(0.3, 0.8, puddle) * mix(1, 0.75, clamp(down * 1.5)),
        );
    }
  }
};

/** Small houses with steep roofs, lit windows and smoke. */
export const paintHouses = (
  scene: Scene,
  x: number,
  foot: (x: number) => number,
  size: number,
  count: number,
): void => {
  const { canvas, look, light, noise } = scene;
  const { unit } = canvas;
  const random = scene.chance('houses');
  for (let at = count - 1; at >= 0; at -= 1) {
    const scale = size * (at === 0 ? 1 : random.between(0.5, 0.75));
    const cx = x + (at === 0 ? 0 : (at % 2 === 0 ? 1 : -1) * size * (0.75 + at * 0.42));
    const cy = foot(cx) - (at === 0 ? 0 : size * 0.04);
    if (cy > canvas.height - scale * 0.1 && at > 0) continue;
    const put = place(cx, cy, scale);
    const wall = blend(
      random.pick(['#e8dcc4', '#d9b98f', '#c9a27a', '#e6e2d8'].map(hex)),
      look.front,
      look.ink ? 0.05 : look.hour === 'night' ? 0.66 : look.hour === 'dusk' ? 0.42 : 0.12,
    );
    const roof = look.ink
      ? hex('#3a3f42')
      : blend(
          random.pick(['#8a3f30', '#5a4a4a', '#7a5238', '#43566b'].map(hex)),
          look.front,
          look.hour === 'night' ? 0.6 : 0.25,
        );
    const side = light.x > cx ? 1 : -1;
    const shadeWall = shade(wall, -0.24);
    fill(canvas, [ellipse(cx, cy + scale * 0.02, scale * 0.72, scale * 0.06)], look.front, {
      alpha: 0.35,
      soft: scale * 0.03,
    });
    fill(
      canvas,
      [
        (
          [
            [-0.5, 0],
            [-0.5, -0.42],
            [0.1, -0.42],
            [0.1, 0],
          ] as const
        ).map(put),
      ],
      side > 0 ? shadeWall : wall,
    );
    fill(
      canvas,
      [
        (
          [
            [0.1, 0],
            [0.1, -0.42],
            [0.3, -0.78],
            [0.5, -0.42],
            [0.5, 0],
          ] as const
        ).map(put),
      ],
      side > 0 ? wall : shadeWall,
    );
    fill(
      canvas,
      [
        (
          [
            [-0.58, -0.38],
            [-0.4, -0.84],
            [0.3, -0.84],
            [0.08, -0.38],
          ] as const
        ).map(put),
      ],
      upright(shade(roof, 0.1), shade(roof, -0.12), cy - scale * 0.84, cy - scale * 0.38),
    );
    fill(
      canvas,
      [
        (
          [
            [0.04, -0.37],
            [0.29, -0.86],
            [0.56, -0.37],
            [0.5, -0.36],
            [0.3, -0.76],
            [0.1, -0.36],
          ] as const
        ).map(put),
      ],
      shade(roof, -0.2),
    );
    fill(
      canvas,
      [
        (
          [
            [-0.26, -0.74],
            [-0.26, -1],
            [-0.15, -1],
            [-0.15, -0.74],
          ] as const
        ).map(put),
      ],
      shade(wall, -0.4),
    );
    if (look.snowy && !look.ink)
      fill(
        canvas,
        [
          (
            [
              [-0.6, -0.4],
              [-0.42, -0.87],
              [0.31, -0.87],
              [0.28, -0.78],
              [-0.36, -0.78],
              [-0.5, -0.4],
            ] as const
          ).map(put),
        ],
        hex('#f1f5f9'),
        { alpha: 0.92, soft: scale * 0.008 },
      );
    const pane = look.lamps ? lampLight : blend(look.sky[1]!, look.front, 0.45);
    for (const [wx, wy, ww, wh] of [
      [-0.38, -0.3, 0.12, 0.14],
      [-0.14, -0.3, 0.12, 0.14],
      [0.22, -0.32, 0.14, 0.15],
      [0.25, -0.56, 0.09, 0.09],
    ] as const) {
      fill(
        canvas,
        [
          (
            [
              [wx, wy],
              [wx + ww, wy],
              [wx + ww, wy + wh],
              [wx, wy + wh],
            ] as const
          ).map(put),
        ],
        pane,
        { alpha: look.ink ? 0.55 : 1 },
      );
      fill(
        canvas,
        [ribbon([put([wx + ww / 2, wy]), put([wx + ww / 2, wy + wh])], () => scale * 0.012)],
        shadeWall,
      );
      if (look.lamps) {
        const [gx, gy] = put([wx + ww / 2, wy + wh / 2]);
        glow(canvas, gx, gy, scale * 0.34, lampLight, 0.32, 2);
      }
    }
    // Smoke from the chimney.
    if (at === 0 && !look.ink) {
      const puff = noise('chimney');
      const [sx, sy] = put([-0.2, -1.02]);
      for (let rise = 0; rise < 26; rise += 1) {
        const up = rise / 26;
        dab(
          canvas,
          sx + (up * up * 0.55 + puff.at(up * 4, 3) * 0.12) * scale,
          sy - up * scale * 1.1,
          scale * (0.03 + up * 0.13),
          scale * (0.026 + up * 0.1),
          0,
          blend(look.haze, hex('#ffffff'), 0.3),
          0.13 * (1 - up),
        );
      }
    }
  }
  if (look.lamps) glow(canvas, x, foot(x), unit * 0.22, lampLight, 0.12, 2);
};

/** A tower of curved roofs; with `storeys` 1 a pavilion. */
export const paintPagoda = (
  scene: Scene,
  x: number,
  y: number,
  tall: number,
  storeys: number,
): void => {
  const { canvas, look } = scene;
  const night = look.lamps && !look.ink;
  const roof = look.ink ? hex('#2b3033') : blend(hex('#3c4a4f'), look.front, 0.45);
  const body = look.ink
    ? hex('#7a7f80')
    : blend(hex('#a84a38'), look.front, look.hour === 'night' ? 0.55 : 0.3);
  const each = tall / (storeys + 0.45);
  fill(
    canvas,
    [box(x - each * 0.72, y - each * 0.08, each * 1.44, each * 0.14)],
    blend(hex('#8f8a80'), look.front, look.ink ? 0.1 : 0.4),
  );
  for (let storey = 0; storey < storeys; storey += 1) {
    const wide = each * mix(0.5, 0.3, storeys > 1 ? storey / (storeys - 1) : 0);
    const floor = y - storey * each - each * 0.06;
    const eave = floor - each * 0.56;
    fill(
      canvas,
      [box(x - wide, eave, wide * 2, floor - eave)],
      night ? upright(blend(body, lampLight, 0.5), body, eave, floor) : body,
      { alpha: look.ink ? 0.7 : 1 },
    );
    for (let post = 0; post <= 4; post += 1)
      fill(
        canvas,
        [box(x - wide + (post / 4) * wide * 2 - each * 0.022, eave, each * 0.044, floor - eave)],
        shade(roof, look.ink ? 0 : -0.2),
      );
    if (night) {
      for (let pane = 0; pane < 4; pane += 1)
        dab(
          canvas,
          x - wide + ((pane + 0.5) / 4) * wide * 2,
          (eave + floor) / 2,
          wide * 0.15,
          each * 0.16,
          0,
          lampLight,
          0.9,
        );
      glow(canvas, x, (eave + floor) / 2, each * 1.1, lampLight, 0.22, 2);
    }
    // Eaves that turn up at their ends.
    const out = wide * 1.62;
    const outline: Point[] = [
      ...curve(
        [
          [x - out * 1.08, eave - each * 0.12],
          [x - out * 0.85, eave + each * 0.035],
          [x, eave + each * 0.07],
          [x + out * 0.85, eave + each * 0.035],
          [x + out * 1.08, eave - each * 0.12],
        ],
        false,
        8,
      ),
      ...curve(
        [
          [x + out * 1.08, eave - each * 0.12],
          [x + out * 0.62, eave - each * 0.12],
          [x + wide * 0.62, eave - each * 0.36],
          [x - wide * 0.62, eave - each * 0.36],
          [x - out * 0.62, eave - each * 0.12],
          [x - out * 1.08, eave - each * 0.12],
        ],
        false,
        8,
      ),
    ];
    fill(
      canvas,
      [outline],
      upright(shade(roof, 0.1), shade(roof, -0.2), eave - each * 0.36, eave + each * 0.05),
    );
    if (look.snowy && !look.ink)
      fill(
        canvas,
        [
          ribbon(
            curve(
              [
                [x - out * 1.02, eave - each * 0.13],
                [x - out * 0.6, eave - each * 0.13],
                [x - wide * 0.6, eave - each * 0.34],
                [x + wide * 0.6, eave - each * 0.34],
                [x + out * 0.6, eave - each * 0.13],
                [x + out * 1.02, eave - each * 0.13],
              ],
              false,
              6,
            ),
            () => each * 0.06,
          ),
        ],
        hex('#f1f5f9'),
        { alpha: 0.9 },
      );
  }
  const peak = y - storeys * each - each * 0.02;
  fill(
    canvas,
    [
      (
        [
          [x - each * 0.3, peak + each * 0.06],
          [x, peak - each * 0.24],
          [x + each * 0.3, peak + each * 0.06],
        ] as const
      ).slice(),
    ],
    roof,
  );
  fill(
    canvas,
    [
      ribbon(
        [
          [x, peak - each * 0.15],
          [x, peak - each * 0.62],
        ],
        (at) => each * 0.07 * (1 - at) + 0.4,
      ),
    ],
    roof,
  );
};

export const paintCastle = (scene: Scene, x: number, y: number, size: number): void => {
  const { canvas, look, light } = scene;
  const stone = blend(
    hex('#b9b0a2'),
    look.front,
    look.hour === 'night' ? 0.62 : look.hour === 'dusk' ? 0.4 : 0.14,
  );
  const roof = blend(hex('#46587d'), look.front, look.hour === 'night' ? 0.5 : 0.22);
  const random = scene.chance('castle');
  const keep = (cx: number, wide: number, tall: number, spire: number) => {
    const left = x + (cx - wide / 2) * size;
    const top = y - tall * size;
    fill(canvas, [box(left, top, wide * size, tall * size + size * 0.05)], (px, _py, out) => {
      const across = clamp((px - left) / (wide * size));
      const lit = Math.sin(across * Math.PI * 0.5 + (light.x > x ? 0 : Math.PI / 2)) * 0.5 + 0.3;
      for (let each = 0; each < 3; each += 1) out[each] = stone[each]! * mix(0.62, 1.05, lit);
    });
    if (spire > 0) {
      fill(
        canvas,
        [
          [
            [left - wide * size * 0.16, top],
            [left + (wide * size) / 2, top - spire * size],
            [left + wide * size * 1.16, top],
          ],
        ],
        (px, _py, out) => {
          const lit = px < left + (wide * size) / 2 === light.x < x ? 1.15 : 0.8;
          for (let each = 0; each < 3; each += 1) out[each] = roof[each]! * lit;
        },
      );
      const tip = top - spire * size;
      fill(
        canvas,
        [
          [
            [left + (wide * size) / 2, tip - size * 0.05],
            [left + (wide * size) / 2 + size * 0.055, tip - size * 0.035],
            [left + (wide * size) / 2, tip - size * 0.02],
          ],
        ],
        hex('#b8433a'),
      );
    } else
      for (let merlon = 0; merlon < 7; merlon += 1)
        fill(
          canvas,
          [
            box(
              left + ((merlon + 0.15) / 7) * wide * size,
              top - size * 0.022,
              (wide * size * 0.7) / 7,
              size * 0.024,
            ),
          ],
          shade(stone, -0.2),
        );
    for (let pane = 0; pane < Math.max(1, Math.round(tall * 5)); pane += 1) {
      const px = left + wide * size * random.between(0.3, 0.7);
      const py = top + tall * size * random.between(0.1, 0.8);
      dab(
        canvas,
        px,
        py,
        size * 0.009,
        size * 0.018,
        0,
        look.lamps ? lampLight : shade(stone, -0.6),
        0.95,
      );
      if (look.lamps) glow(canvas, px, py, size * 0.07, lampLight, 0.4, 2);
    }
  };
  keep(-0.06, 0.15, 0.78, 0.3);
  keep(0.17, 0.13, 0.62, 0.25);
  keep(-0.27, 0.12, 0.52, 0.22);
  keep(0.02, 0.42, 0.42, 0);
  keep(0.34, 0.11, 0.42, 0.2);
  keep(-0.42, 0.1, 0.34, 0.18);
  keep(0, 0.86, 0.2, 0);
  const gate = place(x, y, size);
  fill(
    canvas,
    [
      curve(
        (
          [
            [-0.05, 0.02],
            [-0.05, -0.09],
            [0, -0.13],
            [0.05, -0.09],
            [0.05, 0.02],
          ] as const
        ).map(gate),
        true,
        5,
      ),
    ],
    shade(stone, -0.65),
  );
};

/** A bridge of stone over the water, its arches whole with their mirror. */
export const paintBridge = (scene: Scene): void => {
  const { canvas, look, horizon, focus } = scene;
  const { width, unit } = canvas;
  const y = horizon + unit * 0.045;
  const reach = unit * 0.36;
  const rise = unit * 0.15;
  const stone = look.ink
    ? hex('#777d7f')
    : blend(
        hex('#b3a895'),
        look.front,
        look.hour === 'night' ? 0.68 : look.hour === 'dusk' ? 0.48 : 0.2,
      );
  const dark = look.ink ? hex('#23282b') : shade(stone, -0.45);
  const x = clamp(focus, reach * 0.9, width - reach * 0.9);
  const deck = (off: number): number => -rise * Math.cos(clamp(off, -1, 1) * Math.PI * 0.5) ** 1.3;
  for (const mirrored of [true, false]) {
    const flip = (py: number) => (mirrored ? y - (py - y) : py);
    const alpha = mirrored ? (look.ink ? 0.22 : 0.42) : look.ink ? 0.9 : 1;
    const upper: Point[] = [];
    for (let at = -20; at <= 20; at += 1)
      upper.push([x + (at / 20) * reach, flip(y + deck(at / 20) - unit * 0.012)]);
    const arches: Ring[] = [];
    for (const [cx, radius] of [
      [0, 0.34],
      [-0.56, 0.2],
      [0.56, 0.2],
    ] as const) {
      const arch: Point[] = [];
      for (let at = 0; at <= 20; at += 1) {
        const angle = Math.PI - (at / 20) * Math.PI;
        arch.push([
          x + cx * reach + Math.cos(angle) * radius * reach * 0.92,
          flip(y - Math.sin(angle) * radius * reach * 0.86),
        ]);
      }
      arches.push(arch.reverse());
    }
    const outline: Point[] = [...upper, [x + reach, flip(y + 1)], [x - reach, flip(y + 1)]];
    fill(canvas, [outline, ...arches], upright(stone, dark, flip(y - rise), flip(y)), {
      alpha,
      soft: mirrored ? unit * 0.004 : 0,
    });
    fill(canvas, [ribbon(upper, () => unit * 0.011)], shade(stone, 0.12), { alpha });
    if (mirrored) continue;
    for (const arch of arches)
      fill(canvas, [ribbon(arch, () => unit * 0.005)], dark, { alpha: 0.7 });
    for (let post = -9; post <= 9; post += 1) {
      const px = x + (post / 9) * reach * 0.97;
      const py = y + deck(post / 9) - unit * 0.012;
      fill(canvas, [box(px - unit * 0.0025, py - unit * 0.024, unit * 0.005, unit * 0.024)], dark);
      if (look.lamps && !look.ink && post % 3 === 0) {
        glow(canvas, px, py - unit * 0.03, unit * 0.045, lampLight, 0.55, 2);
        dab(canvas, px, py - unit * 0.03, unit * 0.0045, unit * 0.0055, 0, hex('#fff0cc'));
      }
    }
    fill(
      canvas,
      [
        ribbon(
          upper.map(([px, py]): Point => [px, py - unit * 0.023]),
          () => unit * 0.004,
        ),
      ],
      dark,
    );
  }
};

export const paintLighthouse = (scene: Scene): void => {
  const { canvas, look, horizon, focus, noise } = scene;
  const { rgb, width, height, unit } = canvas;
  const x = focus;
  const y = horizon - unit * 0.055;
  const tall = unit * 0.3;
  const lamp = y - tall;
  const rough = noise('headland');
  const rock: Point[] = [];
  for (let at = -30; at <= 30; at += 1) {
    const off = at / 30;
    rock.push([
      x + off * unit * 0.3,
      horizon +
        unit * 0.02 -
        unit * 0.085 * (1 - off * off) ** 0.8 -
        Math.abs(rough.fbm(off * 4, 2, 4)) * unit * 0.03 * (1 - Math.abs(off)),
    ]);
  }
  rock.push([x + unit * 0.3, horizon + unit * 0.03], [x - unit * 0.3, horizon + unit * 0.03]);
  fill(
    canvas,
    [rock],
    upright(
      blend(look.rock.lit, look.front, 0.4),
      look.front,
      y - unit * 0.02,
      horizon + unit * 0.03,
    ),
  );
  if (look.lamps) {
    // The beams.
    for (let py = 0; py < Math.min(height, horizon + 2); py += 1)
      for (let px = 0; px < width; px += 1) {
        const dx = (px - x) / unit;
        const dy = (py - lamp) / unit;
        const far = Math.abs(dx);
        if (far < 0.005) continue;
        const off = Math.abs(dy + dx * 0.07) / (0.012 + far * 0.075);
        const power = Math.exp(-off * off * 1.5) * Math.exp(-far * 1.5) * 0.62;
        if (power < 0.01) continue;
        const at = (py * width + px) * 3;
        for (let each = 0; each < 3; each += 1)
          rgb[at + each] = rgb[at + each]! + lampLight[each]! * power * (1 - rgb[at + each]!);
      }
  }
  const put = place(x, y, tall);
  const white = blend(hex('#f1ece2'), look.front, look.hour === 'night' ? 0.5 : 0.12);
  const red = blend(hex('#c2402f'), look.front, look.hour === 'night' ? 0.42 : 0.1);
  for (let band = 0; band < 5; band += 1) {
    const low = band / 5;
    const high = (band + 1) / 5;
    const wide = (up: number) => mix(0.13, 0.075, up);
    fill(
      canvas,
      [
        (
          [
            [-wide(low), -low * 0.82],
            [-wide(high), -high * 0.82],
            [wide(high), -high * 0.82],
            [wide(low), -low * 0.82],
          ] as const
        ).map(put),
      ],
      (px, _py, out) => {
        const across = clamp(0.5 + (px - x) / (tall * 0.26));
        const lit =
          0.62 + 0.5 * Math.sin(across * Math.PI * 0.8 + (scene.light.x > x ? -0.2 : 0.9));
        for (let each = 0; each < 3; each += 1)
          out[each] = (band % 2 === 0 ? white : red)[each]! * lit;
      },
    );
  }
  fill(
    canvas,
    [
      (
        [
          [-0.12, -0.82],
          [-0.12, -0.85],
          [0.12, -0.85],
          [0.12, -0.82],
        ] as const
      ).map(put),
    ],
    look.front,
  );
  fill(
    canvas,
    [
      (
        [
          [-0.06, -0.85],
          [-0.06, -0.95],
          [0.06, -0.95],
          [0.06, -0.85],
        ] as const
      ).map(put),
    ],
    look.lamps ? hex('#fff1c9') : blend(look.sky[1]!, look.front, 0.3),
  );
  fill(
    canvas,
    [
      (
        [
          [-0.085, -0.945],
          [0, -1.06],
          [0.085, -0.945],
        ] as const
      ).map(put),
    ],
    red,
  );
  if (look.lamps) glow(canvas, x, lamp + tall * 0.1, unit * 0.14, lampLight, 0.95, 2);
};

/** Boats on the water with their mirror: a sampan in ink and still waters, sails at sea. */
export const paintBoats = (scene: Scene): void => {
  const { canvas, look, horizon, focus, has, wish } = scene;
  const { width, height, unit } = canvas;
  const random = scene.chance('boats');
  const sails =
    !look.ink && (has('sea', 'beach', 'island') || wish.moods.includes('bright') || random.is(0.3));
  const boats = [
    {
      x: focus,
      y: mix(horizon, height, look.ink ? 0.36 : 0.42),
      size: unit * (sails ? 0.12 : 0.13),
    },
    {
      x: width - focus + random.bell() * unit * 0.1,
      y: mix(horizon, height, 0.1),
      size: unit * 0.045,
    },
  ];
  if (sails)
    boats.push({
      x: focus - (width - focus) * 0.35,
      y: mix(horizon, height, 0.05),
      size: unit * 0.03,
    });
  for (const { x, y, size } of boats.reverse()) {
    const mirror = random.is(0.5);
    const hull = look.ink ? hex('#262b2e') : blend(hex('#5a3c2c'), look.front, 0.6);
    for (const down of [true, false]) {
      const put = ([px, py]: Point): Point => [
        x + (mirror ? -px : px) * size,
        y + (down ? -py * 0.82 : py) * size,
      ];
      const alpha = down ? (look.ink ? 0.2 : 0.38) : look.ink ? 0.92 : 1;
      const soft = down ? size * 0.03 : 0;
      if (sails) {
        const cloth = blend(
          blend(hex('#f6efe0'), look.light, 0.3),
          look.front,
          look.hour === 'night' ? 0.5 : 0.06,
        );
        fill(
          canvas,
          [
            curve(
              (
                [
                  [-0.02, -0.2],
                  [-0.02, -1.75],
                  [0.42, -0.85],
                  [0.62, -0.28],
                ] as const
              ).map(put),
              true,
              6,
            ),
          ],
          cloth,
          { alpha, soft },
        );
        fill(
          canvas,
          [
            curve(
              (
                [
                  [-0.09, -0.24],
                  [-0.09, -1.5],
                  [-0.4, -0.7],
                  [-0.5, -0.28],
                ] as const
              ).map(put),
              true,
              6,
            ),
          ],
          shade(cloth, -0.16),
          { alpha, soft },
        );
        fill(canvas, [ribbon([put([-0.055, 0]), put([-0.055, -1.8])], () => size * 0.03)], hull, {
          alpha,
          soft,
        });
        fill(
          canvas,
          [
            curve(
              (
                [
                  [-0.66, -0.2],
                  [-0.5, 0.02],
                  [0.42, 0.02],
                  [0.74, -0.24],
                  [0.3, -0.16],
                  [-0.3, -0.14],
                ] as const
              ).map(put),
              true,
              6,
            ),
          ],
          hull,
          { alpha, soft },
        );
      } else {
        fill(
          canvas,
          [
            curve(
              (
                [
                  [-1, -0.22],
                  [-0.72, -0.03],
                  [0, 0.06],
                  [0.72, -0.03],
                  [1, -0.24],
                  [0.6, -0.12],
                  [0, -0.08],
                  [-0.6, -0.1],
                ] as const
              ).map(put),
              true,
              6,
            ),
          ],
          hull,
          { alpha, soft },
        );
        fill(
          canvas,
          [
            curve(
              (
                [
                  [-0.34, -0.08],
                  [-0.3, -0.34],
                  [0.02, -0.44],
                  [0.32, -0.32],
                  [0.34, -0.08],
                ] as const
              ).map(put),
              true,
              6,
            ),
          ],
          look.ink ? hex('#4a5052') : blend(hex('#8a6f4a'), look.front, 0.5),
          { alpha, soft },
        );
        // The boatman with hat and pole.
        fill(
          canvas,
          [
            curve(
              (
                [
                  [0.56, -0.12],
                  [0.53, -0.4],
                  [0.62, -0.52],
                  [0.71, -0.4],
                  [0.7, -0.12],
                ] as const
              ).map(put),
              true,
              5,
            ),
          ],
          hull,
          { alpha, soft },
        );
        fill(
          canvas,
          [
            (
              [
                [0.46, -0.5],
                [0.62, -0.66],
                [0.78, -0.5],
              ] as const
            ).map(put),
          ],
          hull,
          { alpha, soft },
        );
        fill(
          canvas,
          [ribbon([put([0.5, -0.95]), put([0.92, 0.2])], () => size * 0.02 + 0.2)],
          hull,
          { alpha, soft },
        );
        if (look.lamps && !look.ink && !down) {
          const [lx, ly] = put([-0.42, -0.3]);
          glow(canvas, lx, ly, size * 0.9, lampLight, 0.6, 2);
          dab(canvas, lx, ly, size * 0.05, size * 0.07, 0, hex('#fff0c8'));
        }
      }
    }
    for (let line = 0; line < 4; line += 1) {
      const ly = y + size * (0.1 + line * 0.09);
      const half = size * (1.1 - line * 0.18);
      fill(
        canvas,
        [
          ribbon(
            [
              [x - half, ly],
              [x, ly + size * 0.012],
              [x + half, ly],
            ],
            (at) => size * 0.022 * Math.sin(at * Math.PI),
          ),
        ],
        look.ink ? look.front : blend(look.haze, hex('#ffffff'), 0.4),
        { alpha: look.ink ? 0.25 : 0.3 },
      );
    }
  }
};

/** Lanterns that rise into the night, or red ones that hang from above. */
export const paintLanterns = (scene: Scene): void => {
  const { canvas, look, focus } = scene;
  const { width, horizon } = { width: canvas.width, horizon: scene.horizon };
  const { unit } = canvas;
  const random = scene.chance('lanterns');
  const hanging =
    look.hour !== 'night' || random.is(0.35) || scene.has('street', 'pagoda', 'house');
  if (hanging) {
    for (let at = 0; at < 5; at += 1) {
      const x = width * (0.08 + 0.21 * at) + random.bell() * unit * 0.03;
      const size =
        unit * random.between(0.042, 0.075) * (Math.abs(x - focus) < width * 0.15 ? 0.7 : 1);
      const y = unit * random.between(0.1, 0.26);
      hangingLantern(scene, x, y, size);
    }
    return;
  }
  const all = Array.from({ length: 64 }, () => ({
    near: random.next() ** 3.2,
    x: random.next() * width,
    up: random.next(),
  })).sort((a, b) => a.near - b.near);
  const paper = hex('#ff9d45');
  for (const { near, x, up } of all) {
    const size = unit * mix(0.006, 0.062, near);
    const y = mix(horizon * 0.98, horizon * 0.06, up ** 0.85) - near * unit * 0.02;
    glow(canvas, x, y, size * 3.4, paper, mix(0.5, 0.34, near), 2);
    const put = place(x, y, size, random.bell() * 0.12);
    const outline = curve(
      (
        [
          [-0.42, 0.62],
          [-0.56, -0.1],
          [-0.36, -0.68],
          [0.36, -0.68],
          [0.56, -0.1],
          [0.42, 0.62],
        ] as const
      ).map(put),
      true,
      6,
    );
    fill(canvas, [outline], round(hex('#fff2b8'), hex('#e8692a'), x, y + size * 0.5, size * 1.35));
    dab(canvas, x, y + size * 0.55, size * 0.2, size * 0.1, 0, hex('#fffbe0'));
  }
};

const hangingLantern = ({ canvas, look }: Scene, x: number, y: number, size: number): void => {
  const { unit } = canvas;
  const red = look.ink ? hex('#b8432f') : hex('#c9281e');
  fill(
    canvas,
    [
      ribbon(
        [
          [x, 0],
          [x, y - size],
        ],
        () => unit * 0.0022 + 0.3,
      ),
    ],
    look.front,
  );
  if (look.lamps) glow(canvas, x, y, size * 3.6, hex('#ff8a3c'), 0.45, 2);
  const lit = look.lamps ? hex('#ffcf6a') : shade(red, 0.16);
  fill(
    canvas,
    [ellipse(x, y, size, size * 0.78)],
    round(lit, shade(red, look.lamps ? -0.05 : -0.2), x, y + size * 0.1, size * 1.08),
    { alpha: look.ink ? 0.85 : 1 },
  );
  for (const off of [-0.62, -0.3, 0, 0.3, 0.62]) {
    const line: Point[] = [];
    for (let at = -8; at <= 8; at += 1)
      line.push([
        x + off * size * Math.sqrt(Math.max(0, 1 - (at / 8) ** 2)) * 1.05,
        y + (at / 8) * size * 0.78,
      ]);
    fill(canvas, [ribbon(line, () => size * 0.022)], shade(red, -0.35), { alpha: 0.6 });
  }
  const gold = blend(hex('#d9a441'), look.front, 0.15);
  for (const way of [-1, 1])
    fill(
      canvas,
      [box(x - size * 0.36, y + way * size * 0.76 - size * 0.07, size * 0.72, size * 0.14)],
      gold,
    );
  for (let thread = -4; thread <= 4; thread += 1)
    fill(
      canvas,
      [
        ribbon(
          [
            [x + thread * size * 0.05, y + size * 0.82],
            [x + thread * size * 0.06, y + size * 1.65],
          ],
          () => size * 0.022,
        ),
      ],
      thread % 2 === 0 ? red : gold,
    );
};

/** Hot-air balloons in the sky. */
export const paintBalloons = (scene: Scene): void => {
  const { canvas, look, focus, horizon, light } = scene;
  const { width, unit } = canvas;
  const random = scene.chance('balloons');
  const sets = [
    ['#c8443a', '#f0b23f'],
    ['#3a6fb0', '#f1ead8'],
    ['#d9703a', '#5a8f7a'],
    ['#8a4f9a', '#f0c9d6'],
  ].map((set) => set.map(hex));
  const all = Array.from({ length: 9 }, (_, at) => ({
    near: at === 8 ? 1 : random.next() * 0.5,
    x: at === 8 ? focus : random.next() * width,
    up: at === 8 ? 0.5 : random.between(0.1, 0.95),
  })).sort((a, b) => a.near - b.near);
  for (const { near, x, up } of all) {
    const size = unit * mix(0.016, 0.135, near ** 1.5);
    const y = horizon * mix(0.9, 0.12, up);
    const far = (1 - near) * 0.6;
    const [a, b] = random
      .pick(sets)
      .map((tone) =>
        blend(blend(tone, look.front, look.hour === 'night' ? 0.55 : 0.05), look.haze, far),
      ) as [Colour, Colour];
    const outline: Point[] = [];
    for (let at = 0; at <= 40; at += 1) {
      const angle = -Math.PI / 2 + (at / 40) * Math.PI * 2;
      const low = Math.max(0, Math.sin(angle));
      outline.push([
        x + Math.cos(angle) * size * (1 - low * low * 0.72),
        y + Math.sin(angle) * size * (1 + low * 0.32),
      ]);
    }
    const side = light.x > x ? 1 : -1;
    fill(canvas, [outline], (px, py, out) => {
      const dx = clamp((px - x) / size, -1, 1);
      const stripe = Math.floor(Math.asin(dx) * 3.2 + 10) % 2 === 0 ? a : b;
      const lit = 0.78 + dx * side * 0.24 - ((py - y) / size) * 0.14;
      for (let each = 0; each < 3; each += 1) out[each] = stripe[each]! * lit;
    });
    const basket = y + size * 1.62;
    for (const way of [-1, 1])
      fill(
        canvas,
        [
          ribbon(
            [
              [x + way * size * 0.22, y + size * 1.24],
              [x + way * size * 0.11, basket],
            ],
            () => size * 0.012 + 0.25,
          ),
        ],
        look.front,
        { alpha: 0.7 },
      );
    fill(
      canvas,
      [box(x - size * 0.13, basket, size * 0.26, size * 0.18)],
      blend(blend(hex('#7a5234'), look.front, 0.3), look.haze, far),
    );
    if (look.lamps)
      glow(canvas, x, y + size * 0.8, size * 1.3, hex('#ffb14a'), 0.6 * (0.4 + near), 2);
  }
};

/** A train that crosses the image on a dam or a viaduct. */
export const paintTrain = (scene: Scene): void => {
  const { canvas, look, horizon } = scene;
  const { width, unit } = canvas;
  const y = horizon + unit * 0.02;
  const dark = blend(look.front, look.haze, 0.06);
  fill(canvas, [box(-2, y, width + 4, unit * 0.018)], dark);
  for (let pier = 0; pier * unit * 0.16 < width + unit * 0.2; pier += 1) {
    const px = pier * unit * 0.16 - unit * 0.05;
    fill(canvas, [box(px, y + unit * 0.015, unit * 0.028, unit * 0.15)], dark);
  }
  const tall = unit * 0.052;
  const long = unit * 0.155;
  const start = width * 0.16;
  for (let car = 0; car < 4; car += 1) {
    const x = start + car * (long + unit * 0.008);
    const nose = car === 0 ? tall * 0.9 : 0;
    fill(
      canvas,
      [
        curve(
          [
            [x - nose, y - tall * 0.12],
            [x - nose * 0.4, y - tall * 0.75],
            [x, y - tall],
            [x + long, y - tall],
            [x + long, y - tall * 0.1],
            [x, y - tall * 0.08],
          ],
          true,
          3,
        ),
      ],
      upright(
        blend(hex('#e9edf0'), look.front, look.hour === 'night' ? 0.6 : 0.2),
        blend(hex('#3a6fb0'), look.front, 0.45),
        y - tall,
        y,
      ),
    );
    for (let pane = 0; pane < 7; pane += 1)
      dab(
        canvas,
        x + long * ((pane + 0.6) / 7.4),
        y - tall * 0.62,
        long * 0.045,
        tall * 0.15,
        0,
        look.lamps ? lampLight : shade(look.front, 0.1),
        0.95,
      );
  }
  if (look.lamps) glow(canvas, start - tall, y - tall * 0.4, unit * 0.16, lampLight, 0.7, 2);
  if (look.lamps)
    glow(canvas, start + long * 2, y - tall * 0.5, unit * 0.3, saturate(lampLight, 0.9), 0.16, 2);
};
