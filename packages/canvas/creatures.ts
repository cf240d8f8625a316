import { type Chance, clamp, distance, mix } from './chance.ts';
import { blend, type Colour, hex, shade } from './colour.ts';
import { paintPad } from './plants.ts';
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
} from './raster.ts';
import type { Scene } from './scene.ts';

type Outline = readonly Point[];

/** One bird on the wing, seen from afar. */
const flier = (
  scene: Scene,
  random: Chance,
  x: number,
  y: number,
  size: number,
  tone: Colour,
  alpha: number,
): void => {
  const { canvas } = scene;
  const flap = random.between(-0.5, 0.75);
  const turn = random.bell() * 0.25;
  const put = place(x, y, size, turn, random.is(0.5));
  for (const way of [-1, 1]) {
    const wing = curve(
      (
        [
          [0, 0],
          [way * 0.42, -0.32 * flap - 0.1],
          [way * 1, -0.08 * flap + 0.14],
        ] as const
      ).map(put),
      false,
      6,
    );
    fill(
      canvas,
      [ribbon(wing, (at) => size * 0.24 * Math.sin(Math.PI * (0.25 + at * 0.72)) + 0.35)],
      tone,
      { alpha },
    );
  }
  fill(
    canvas,
    [
      ribbon(
        (
          [
            [-0.3, 0.04],
            [0, 0.02],
            [0.3, -0.02],
          ] as const
        ).map(put),
        (at) => size * 0.16 * Math.sin(at * Math.PI) + 0.3,
      ),
    ],
    tone,
    { alpha },
  );
};

/** A flock in a loose line. */
export const paintBirds = (scene: Scene): void => {
  const { canvas, look, focus, horizon, light } = scene;
  const { width, unit } = canvas;
  const random = scene.chance('birds');
  const tone =
    look.hour === 'night' ? shade(look.sky[3]!, -0.2) : blend(look.front, look.sky[0]!, 0.12);
  const x = mix(focus, light.x, 0.35);
  const y = horizon * random.between(0.3, 0.46);
  const count = random.whole(9, 15);
  for (let bird = 0; bird < count; bird += 1) {
    const back = bird / count;
    const way = bird % 2 === 0 ? 1 : -1;
    flier(
      scene,
      random,
      x + way * back * unit * 0.34 + random.bell() * unit * 0.035,
      y + back * unit * 0.15 + random.bell() * unit * 0.035,
      unit * mix(0.034, 0.014, back) * random.between(0.8, 1.2),
      tone,
      0.92,
    );
  }
  for (let bird = 0; bird < 6; bird += 1)
    flier(
      scene,
      random,
      random.next() * width,
      horizon * random.between(0.5, 0.85),
      unit * 0.008,
      tone,
      0.6,
    );
};

/** The bridge of magpies over the river of stars. */
export const paintMagpieBridge = (scene: Scene): void => {
  const { canvas, look, horizon } = scene;
  const { width, unit } = canvas;
  const random = scene.chance('magpies');
  const dark = look.ink ? hex('#1c2023') : shade(look.front, -0.1);
  const rise = horizon * 0.34;
  const foot = horizon * 0.86;
  const arc = (share: number) => foot - rise * Math.sin(share * Math.PI) ** 0.85;
  if (!look.ink)
    for (let at = 0; at <= 60; at += 1)
      glow(canvas, (at / 60) * width, arc(at / 60), unit * 0.075, hex('#a9c4ff'), 0.1, 2);
  for (let bird = 0; bird < 190; bird += 1) {
    const share = clamp(random.next(), 0.01, 0.99);
    const x = share * width + random.bell() * unit * 0.01;
    const y = arc(share) + random.bell() * unit * 0.028;
    const size = unit * random.between(0.015, 0.032);
    flier(scene, random, x, y, size, dark, 0.95);
    dab(canvas, x, y + size * 0.06, size * 0.15, size * 0.08, 0, hex('#e8eefc'), 0.9);
    if (random.is(0.5))
      dab(
        canvas,
        x + size * 0.3,
        y + size * 0.02,
        size * 0.2,
        size * 0.04,
        0,
        hex('#3f6fd8'),
        0.75,
      );
  }
  // The two who meet on it.
  const middle = width / 2;
  const y = arc(0.5) - unit * 0.01;
  if (!look.ink) glow(canvas, middle, y - unit * 0.05, unit * 0.18, look.light, 0.55, 2);
  person(scene, middle - unit * 0.022, y, unit * 0.085, false, dark, true);
  person(scene, middle + unit * 0.022, y, unit * 0.09, true, dark, false);
};

/** Someone standing; a long dress or a coat, in the light from behind. */
export const person = (
  scene: Scene,
  x: number,
  y: number,
  tall: number,
  mirror: boolean,
  tone: Colour,
  dress: boolean,
): void => {
  const { canvas, look } = scene;
  const put = place(x, y, tall, 0, mirror);
  const body: Outline = dress
    ? [
        [-0.17, 0],
        [-0.11, -0.4],
        [-0.1, -0.62],
        [-0.14, -0.7],
        [-0.06, -0.82],
        [0.04, -0.82],
        [0.1, -0.72],
        [0.06, -0.6],
        [0.1, -0.35],
        [0.2, 0],
      ]
    : [
        [-0.1, 0],
        [-0.1, -0.3],
        [-0.13, -0.62],
        [-0.11, -0.78],
        [-0.04, -0.83],
        [0.05, -0.83],
        [0.11, -0.77],
        [0.12, -0.6],
        [0.1, -0.3],
        [0.11, 0],
        [0.03, 0],
        [0.005, -0.28],
        [-0.03, 0],
      ];
  const rings: Ring[] = [
    curve(body.map(put), true, 4),
    ellipse(...put([0.01, -0.91]), tall * 0.062, tall * 0.075),
  ];
  if (dress) rings.push(ellipse(...put([-0.03, -0.975]), tall * 0.04, tall * 0.035));
  for (const ring of rings) fill(canvas, [ring], tone);
  if (!look.ink)
    for (const ring of rings)
      fill(
        canvas,
        [ribbon([...ring.slice(Math.floor(ring.length * 0.55)), ring[0]!], () => tall * 0.008)],
        look.light,
        { alpha: 0.35 },
      );
};

export const paintPeople = (
  scene: Scene,
  x: number,
  y: number,
  tall: number,
  count: number,
): void => {
  const random = scene.chance('people');
  for (let at = 0; at < count; at += 1)
    person(
      scene,
      x + at * tall * 0.3,
      y,
      tall * random.between(0.9, 1.05),
      at % 2 === 1,
      scene.look.front,
      at % 2 === 0 && random.is(0.5),
    );
};

/** Cranes: long necks, legs behind, wings spread. */
export const paintCranes = (scene: Scene): void => {
  const { canvas, look, focus, horizon } = scene;
  const { width, unit } = canvas;
  const random = scene.chance('cranes');
  const white = look.ink
    ? hex('#fbf8f0')
    : blend(hex('#ffffff'), look.haze, look.hour === 'night' ? 0.35 : 0.08);
  const black = look.ink ? hex('#22272a') : look.front;
  const all: [number, number, number][] = [
    [focus, horizon * 0.46, 0.15],
    [focus - (focus > width / 2 ? 1 : -1) * unit * 0.3, horizon * 0.62, 0.085],
    [focus + (focus > width / 2 ? -1 : 1) * unit * 0.12, horizon * 0.27, 0.062],
  ];
  for (const [x, y, share] of all) {
    const size = unit * share;
    const put = place(x, y, size, random.between(-0.22, 0.02), focus > width / 2);
    const feather = (root: Point, tip: Point, wide: number, tone: Colour) =>
      fill(
        canvas,
        [
          ribbon(
            curve(
              [root, [mix(root[0], tip[0], 0.5), mix(root[1], tip[1], 0.5) - 0.04], tip].map(
                (each) => put(each as Point),
              ),
              false,
              5,
            ),
            (at) => size * wide * Math.sin(Math.PI * (0.2 + at * 0.75)),
          ),
        ],
        tone,
      );
    for (const way of [1, 0]) {
      // The far wing first.
      const lift = way === 1 ? -0.62 : -0.85;
      const out = way === 1 ? 0.42 : -0.28;
      for (let quill = 0; quill < 9; quill += 1) {
        const share = quill / 8;
        const root: Point = [mix(0.16, -0.2, share), -0.04];
        const tip: Point = [out + mix(0.42, -0.75, share), lift + share * share * 0.62];
        feather(root, tip, 0.13, share < 0.42 ? black : shade(white, way === 1 ? -0.12 : 0));
      }
      fill(
        canvas,
        [
          curve(
            (
              [
                [0.22, 0],
                [out + 0.28, lift * 0.62],
                [out + 0.02, lift * 0.72],
                [-0.24, -0.02],
              ] as const
            ).map(put),
            true,
            5,
          ),
        ],
        shade(white, way === 1 ? -0.08 : 0.02),
      );
    }
    fill(
      canvas,
      [
        ribbon(
          curve(
            (
              [
                [-0.46, 0.06],
                [-0.1, 0.02],
                [0.3, -0.03],
              ] as const
            ).map(put),
            false,
            8,
          ),
          (at) => size * 0.24 * Math.sin(Math.PI * (0.12 + at * 0.8)),
        ),
      ],
      white,
    );
    fill(
      canvas,
      [
        ribbon(
          curve(
            (
              [
                [0.22, -0.03],
                [0.48, -0.13],
                [0.68, -0.1],
                [0.84, -0.15],
              ] as const
            ).map(put),
            false,
            8,
          ),
          (at) => size * mix(0.085, 0.055, at),
        ),
      ],
      white,
    );
    fill(
      canvas,
      [
        ribbon(
          curve(
            (
              [
                [0.42, -0.1],
                [0.6, -0.1],
                [0.78, -0.13],
              ] as const
            ).map(put),
            false,
            6,
          ),
          () => size * 0.04,
        ),
      ],
      black,
    );
    fill(
      canvas,
      [
        ribbon(
          (
            [
              [0.84, -0.15],
              [1.06, -0.14],
            ] as const
          ).map(put),
          (at) => size * 0.045 * (1 - at),
        ),
      ],
      hex('#6a6a55'),
    );
    const [cx, cy] = put([0.85, -0.18]);
    dab(canvas, cx, cy, size * 0.036, size * 0.022, 0, hex('#c8352b'));
    for (const leg of [0, 0.03])
      fill(
        canvas,
        [
          ribbon(
            (
              [
                [-0.36, 0.05 + leg],
                [-0.95, 0.1 + leg],
              ] as const
            ).map(put),
            () => size * 0.016 + 0.2,
          ),
        ],
        black,
      );
  }
};

/** A butterfly with open wings. */
const butterfly = (
  scene: Scene,
  x: number,
  y: number,
  size: number,
  turn: number,
  tone: Colour,
): void => {
  const { canvas } = scene;
  const dark = shade(tone, -0.62);
  for (const way of [-1, 1]) {
    const put = ([px, py]: Point): Point =>
      place(x, y, size, turn)([px * way * (way < 0 ? 0.8 : 1), py]);
    const wings: Outline[] = [
      [
        [0.03, -0.05],
        [0.35, -0.62],
        [0.85, -0.85],
        [1.02, -0.6],
        [0.85, -0.15],
        [0.4, 0.06],
      ],
      [
        [0.03, 0.04],
        [0.42, 0.06],
        [0.78, 0.22],
        [0.72, 0.62],
        [0.44, 0.8],
        [0.16, 0.4],
      ],
    ];
    for (const wing of wings) {
      const outline = curve(wing.map(put), true, 6);
      fill(canvas, [outline], dark);
      const [cx, cy] = put([0.45, wing === wings[0] ? -0.35 : 0.35]);
      fill(
        canvas,
        [outline.map(([px, py]): Point => [mix(px, cx, 0.16), mix(py, cy, 0.16)])],
        round(shade(tone, 0.35), tone, x, y, size),
      );
      for (let vein = 0; vein < 5; vein += 1) {
        const end = outline[Math.floor(outline.length * (0.2 + vein * 0.14))]!;
        fill(canvas, [ribbon([put([0.04, 0]), end], () => size * 0.014 + 0.2)], dark, {
          alpha: 0.75,
        });
      }
    }
    for (let spot = 0; spot < 4; spot += 1) {
      const [px, py] = put([0.9 - spot * 0.05, -0.66 + spot * 0.16]);
      dab(canvas, px, py, size * 0.03, size * 0.03, 0, hex('#fdf6e3'), 0.9);
    }
    fill(
      canvas,
      [
        ribbon(
          curve([put([0.02, -0.22]), put([0.12, -0.5]), put([0.24, -0.6])], false, 5),
          () => size * 0.014 + 0.2,
        ),
      ],
      dark,
    );
  }
  const put = place(x, y, size, turn);
  fill(
    canvas,
    [
      ribbon(
        [put([0, -0.28]), put([0, 0.1]), put([0, 0.5])],
        (at) => size * 0.1 * Math.sin(Math.PI * (0.15 + at * 0.75)),
      ),
    ],
    dark,
  );
};

export const paintButterflies = (scene: Scene): void => {
  const { canvas, look, focus } = scene;
  const { width, height, unit } = canvas;
  const random = scene.chance('butterflies');
  const tones = look.ink
    ? ['#5a6266', '#b8574a'].map(hex)
    : ['#e8853a', '#3f86d8', '#f0c94c', '#c8628f'].map(hex);
  const main = scene.wish.subjects[0] === 'butterfly';
  for (let at = 0; at < 6; at += 1) {
    const first = at === 5;
    butterfly(
      scene,
      first ? focus : random.next() * width,
      first ? height * 0.46 : height * random.between(0.25, 0.8),
      unit * (first ? (main ? 0.15 : 0.07) : random.between(0.018, 0.045)),
      random.bell() * 0.7,
      random.pick(tones),
    );
  }
};

/** Sitting cat, from behind. Units: its height. */
const catBody: Outline = [
  [-0.3, 0],
  [-0.36, -0.14],
  [-0.34, -0.34],
  [-0.24, -0.54],
  [-0.19, -0.64],
  [-0.22, -0.74],
  [-0.225, -0.83],
  [-0.21, -1],
  [-0.11, -0.925],
  [0, -0.94],
  [0.11, -0.925],
  [0.21, -1],
  [0.225, -0.83],
  [0.22, -0.74],
  [0.19, -0.64],
  [0.24, -0.54],
  [0.34, -0.34],
  [0.36, -0.14],
  [0.3, 0],
];
const catTail: Outline = [
  [0.24, -0.06],
  [0.46, -0.03],
  [0.62, -0.1],
  [0.66, -0.26],
  [0.58, -0.38],
];
const dogBody: Outline = [
  [0.2, 0],
  [0.28, -0.01],
  [0.28, -0.05],
  [0.22, -0.07],
  [0.2, -0.26],
  [0.23, -0.42],
  [0.2, -0.56],
  [0.25, -0.67],
  [0.4, -0.69],
  [0.45, -0.74],
  [0.42, -0.785],
  [0.31, -0.82],
  [0.26, -0.9],
  [0.17, -0.95],
  [0.12, -0.95],
  [0.05, -1.07],
  [0.015, -0.9],
  [-0.02, -0.78],
  [-0.06, -0.62],
  [-0.19, -0.44],
  [-0.3, -0.24],
  [-0.34, -0.1],
  [-0.31, 0],
  [0.08, 0],
  [0.11, -0.05],
  [0.13, 0],
];
const dogTail: Outline = [
  [-0.29, -0.04],
  [-0.45, -0.06],
  [-0.55, -0.17],
  [-0.53, -0.3],
];
const horseBody: Outline = [
  [0.22, -0.66],
  [0, -0.615],
  [-0.18, -0.63],
  [-0.34, -0.655],
  [-0.46, -0.6],
  [-0.5, -0.48],
  [-0.45, -0.35],
  [-0.5, -0.25],
  [-0.47, -0.1],
  [-0.5, -0.04],
  [-0.5, 0],
  [-0.43, 0],
  [-0.425, -0.08],
  [-0.425, -0.24],
  [-0.32, -0.38],
  [-0.2, -0.405],
  [0, -0.375],
  [0.16, -0.36],
  [0.2, -0.34],
  [0.205, -0.2],
  [0.19, -0.06],
  [0.18, 0],
  [0.25, 0],
  [0.245, -0.06],
  [0.26, -0.2],
  [0.3, -0.36],
  [0.38, -0.47],
  [0.41, -0.58],
  [0.5, -0.73],
  [0.56, -0.785],
  [0.66, -0.73],
  [0.74, -0.725],
  [0.775, -0.77],
  [0.75, -0.83],
  [0.63, -0.95],
  [0.56, -1],
  [0.545, -1.075],
  [0.5, -1],
  [0.4, -0.9],
  [0.31, -0.77],
];
const horseFarLegs: readonly Outline[] = [
  [
    [-0.38, -0.44],
    [-0.31, -0.28],
    [-0.34, -0.22],
    [-0.3, -0.08],
    [-0.33, 0],
    [-0.26, 0],
    [-0.255, -0.08],
    [-0.275, -0.22],
    [-0.2, -0.42],
  ],
  [
    [0.27, -0.42],
    [0.36, -0.31],
    [0.44, -0.27],
    [0.47, -0.25],
    [0.43, -0.13],
    [0.37, -0.1],
    [0.385, -0.06],
    [0.43, -0.08],
    [0.48, -0.16],
    [0.53, -0.27],
    [0.47, -0.32],
    [0.38, -0.46],
  ],
];
const deerBody: Outline = [
  [0.1, -0.6],
  [-0.12, -0.575],
  [-0.28, -0.59],
  [-0.36, -0.56],
  [-0.4, -0.48],
  [-0.36, -0.37],
  [-0.4, -0.25],
  [-0.38, -0.08],
  [-0.39, 0],
  [-0.345, 0],
  [-0.34, -0.08],
  [-0.355, -0.235],
  [-0.26, -0.37],
  [-0.05, -0.385],
  [0.12, -0.37],
  [0.145, -0.33],
  [0.145, -0.18],
  [0.13, 0],
  [0.175, 0],
  [0.185, -0.18],
  [0.21, -0.36],
  [0.27, -0.47],
  [0.3, -0.59],
  [0.34, -0.71],
  [0.42, -0.74],
  [0.53, -0.755],
  [0.55, -0.79],
  [0.46, -0.86],
  [0.38, -0.92],
  [0.33, -0.93],
  [0.2, -0.99],
  [0.265, -0.9],
  [0.25, -0.8],
  [0.18, -0.67],
];
const deerFarLegs: readonly Outline[] = [
  [
    [-0.28, -0.41],
    [-0.275, -0.22],
    [-0.25, 0],
    [-0.205, 0],
    [-0.225, -0.22],
    [-0.17, -0.4],
  ],
  [
    [0.19, -0.41],
    [0.25, -0.2],
    [0.26, 0],
    [0.305, 0],
    [0.3, -0.2],
    [0.28, -0.43],
  ],
];
const deerTail: Outline = [
  [-0.36, -0.55],
  [-0.43, -0.53],
  [-0.45, -0.46],
];

interface Form {
  body: Outline;
  farLegs?: readonly Outline[];
  /** A line, and its width in shares of the height. */
  tail?: { line: Outline; width: number };
  /** Hair that waves: lines as above. */
  hair?: readonly { line: Outline; width: number }[];
}

/** An animal's outline against the light, a bright rim on the side where the light stands. */
const silhouette = (
  scene: Scene,
  x: number,
  y: number,
  tall: number,
  mirror: boolean,
  form: Form,
): void => {
  const { canvas, look, light } = scene;
  const put = place(x, y, tall, 0, mirror);
  const tone = look.ink ? hex('#24292c') : blend(look.front, hex('#000000'), 0.15);
  const rim = blend(look.light, look.haze, 0.2);
  const dx = light.x > x ? 1 : -1;
  const shift = tall * 0.011;
  const strand = (each: { line: Outline; width: number }): Ring =>
    ribbon(
      curve(each.line.map(put), false, 8),
      (at) => tall * each.width * Math.sin(Math.PI * (0.3 + at * 0.66)),
    );
  const rings: Ring[] = [curve(form.body.map(put), true, 5)];
  if (form.tail) rings.push(strand(form.tail));
  fill(canvas, [ellipse(x, y + tall * 0.005, tall * 0.42, tall * 0.04)], look.front, {
    alpha: 0.5,
    soft: tall * 0.03,
  });
  for (const legs of form.farLegs ?? [])
    fill(
      canvas,
      [curve(legs.map(put), true, 5)],
      look.ink ? hex('#4a5054') : blend(tone, look.haze, 0.1),
    );
  if (!look.ink && !look.flat)
    for (const ring of rings)
      fill(canvas, [ring.map(([px, py]): Point => [px + dx * shift, py - shift * 0.8])], rim, {
        alpha: 0.85,
        soft: tall * 0.004,
      });
  for (const each of form.hair ?? []) rings.push(strand(each));
  for (const ring of rings)
    fill(canvas, [ring], tone, { alpha: look.ink ? 0.92 : 1, soft: look.ink ? tall * 0.004 : 0 });
};

export const paintCat = (scene: Scene, x: number, y: number, tall: number): void =>
  silhouette(scene, x, y, tall, scene.light.x < x, {
    body: catBody,
    tail: { line: catTail, width: 0.085 },
  });
export const paintDog = (scene: Scene, x: number, y: number, tall: number): void =>
  silhouette(scene, x, y, tall, scene.light.x < x, {
    body: dogBody,
    tail: { line: dogTail, width: 0.085 },
  });
export const paintHorse = (scene: Scene, x: number, y: number, tall: number): void =>
  silhouette(scene, x, y, tall, scene.light.x < x, {
    body: horseBody,
    farLegs: horseFarLegs,
    tail: {
      line: [
        [-0.46, -0.6],
        [-0.58, -0.6],
        [-0.68, -0.46],
        [-0.74, -0.24],
      ],
      width: 0.13,
    },
    hair: [
      {
        line: [
          [-0.47, -0.58],
          [-0.6, -0.52],
          [-0.66, -0.36],
          [-0.64, -0.18],
        ],
        width: 0.09,
      },
      {
        line: [
          [0.54, -1],
          [0.44, -1],
          [0.36, -0.94],
        ],
        width: 0.06,
      },
      {
        line: [
          [0.46, -0.95],
          [0.35, -0.93],
          [0.27, -0.86],
        ],
        width: 0.07,
      },
      {
        line: [
          [0.4, -0.88],
          [0.29, -0.84],
          [0.21, -0.77],
        ],
        width: 0.07,
      },
      {
        line: [
          [0.34, -0.8],
          [0.25, -0.76],
          [0.17, -0.69],
        ],
        width: 0.06,
      },
    ],
  });
export const paintDeer = (scene: Scene, x: number, y: number, tall: number): void => {
  const mirror = scene.light.x < x;
  silhouette(scene, x, y, tall, mirror, {
    body: deerBody,
    farLegs: deerFarLegs,
    tail: { line: deerTail, width: 0.05 },
  });
  const { canvas, look } = scene;
  const put = place(x, y, tall, 0, mirror);
  const tone = look.ink ? hex('#24292c') : blend(look.front, hex('#000000'), 0.15);
  for (const off of [0, 0.09]) {
    const beam: Outline = [
      [0.33 + off, -0.92],
      [0.24 + off * 1.6, -1.08],
      [0.3 + off * 2, -1.26],
      [0.42 + off * 1.6, -1.38],
    ];
    fill(
      canvas,
      [ribbon(curve(beam.map(put), false, 6), (at) => tall * 0.026 * (1 - at * 0.6))],
      tone,
    );
    for (const [a, b] of [
      [
        [0.25 + off * 1.6, -1.06],
        [0.4 + off, -1.12],
      ],
      [
        [0.29 + off * 2, -1.24],
        [0.18 + off * 2, -1.34],
      ],
      [
        [0.31 + off * 1.9, -1.29],
        [0.3 + off * 1.9, -1.44],
      ],
    ] as const)
      fill(canvas, [ribbon([put(a), put(b)], (at) => tall * 0.02 * (1 - at * 0.7))], tone);
  }
};

/** Carp seen from above in clear water, with pads and light that plays on the bottom. */
export const paintPond = (scene: Scene): void => {
  const { canvas, look, noise } = scene;
  const { rgb, width, height, unit } = canvas;
  const random = scene.chance('koi');
  const deep = look.ink
    ? hex('#e9e5d8')
    : blend(hex('#0f4a52'), look.front, look.hour === 'night' ? 0.6 : 0.12);
  const shallow = look.ink
    ? hex('#f5f1e6')
    : blend(hex('#3d9a8f'), look.front, look.hour === 'night' ? 0.5 : 0.02);
  const bed = noise('bed');
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const u = x / unit;
      const v = y / unit;
      const depth = clamp(0.5 + bed.fbm(u * 1.3, v * 1.3, 4) * 0.85 + (u - v) * 0.12);
      const pebble = bed.ridged(u * 9, v * 9, 3) * 0.12;
      const bend = bed.at(u * 3, v * 3 + 20) * 0.35;
      const web = Math.max(0, bed.ridged(u * 4.2 + bend, v * 4.2 + bend, 2) - 0.52) * 1.5;
      const at = (y * width + x) * 3;
      for (let each = 0; each < 3; each += 1)
        rgb[at + each] =
          mix(deep[each]!, shallow[each]!, depth) * (look.ink ? 1 : 0.92 + pebble) +
          (look.ink ? 0 : web * 0.42 * look.light[each]!);
    }
  const kinds: [Colour, Colour][] = (
    [
      ['#f7f0e6', '#d9472b'],
      ['#e8702a', '#f3a24a'],
      ['#f7efe2', '#e05a34'],
      ['#e9b23a', '#f4d27a'],
      ['#f4ede2', '#2b2b30'],
    ] as const
  ).map(([a, b]) => [hex(a), hex(b)]);
  const place0 = { x: scene.focus, y: height * 0.5 };
  const turnAll = random.next() * 6.3;
  const count = 7;
  for (let fish = 0; fish < count; fish += 1) {
    const angle = turnAll + (fish / count) * Math.PI * 2 + random.bell() * 0.3;
    const ring = unit * (fish === 0 ? 0.08 : random.between(0.22, 0.42));
    const x = place0.x + Math.cos(angle) * ring * (width / unit > 1.2 ? 1.4 : 1);
    const y = place0.y + Math.sin(angle) * ring;
    koi(
      scene,
      random,
      x,
      y,
      unit * (fish === 0 ? 0.36 : random.between(0.19, 0.28)),
      angle + Math.PI / 2 + random.bell() * 0.5,
      look.ink
        ? fish % 2 === 0
          ? [hex('#3a4043'), hex('#22272a')]
          : [hex('#e6ded2'), hex('#c2452f')]
        : random.pick(kinds),
    );
  }
  for (let pad = 0; pad < 9; pad += 1) {
    const edge = random.next() * 6.28;
    const x = width / 2 + Math.cos(edge) * width * random.between(0.38, 0.56);
    const y = height / 2 + Math.sin(edge) * height * random.between(0.38, 0.56);
    const size = unit * random.between(0.07, 0.15);
    const notch = random.next() * 6.28;
    const green = look.ink
      ? hex('#6a7472')
      : blend(blend(look.leaves[1]!, hex('#3f8a4a'), 0.5), look.front, 0.08);
    paintPad(scene, { x, y, rx: size, ry: size, notch, green });
  }
};

const koi = (
  scene: Scene,
  random: Chance,
  x: number,
  y: number,
  long: number,
  turn: number,
  [ground, patch]: [Colour, Colour],
): void => {
  const { canvas, look } = scene;
  const sway = random.between(0.1, 0.22) * (random.is(0.5) ? 1 : -1);
  const put = place(x, y, long, turn);
  const spine = curve(
    (
      [
        [0.5, 0],
        [0.25, sway * 0.12],
        [0, 0],
        [-0.22, -sway * 0.35],
        [-0.42, -sway * 0.15],
        [-0.56, sway * 0.35],
      ] as const
    ).map(put),
    false,
    10,
  );
  const girth = (at: number) =>
    long * 0.2 * Math.sin(Math.PI * clamp(0.12 + at * 0.9)) ** 0.8 * (1 - at * 0.35);
  const body = ribbon(spine, girth);
  fill(
    canvas,
    [body.map(([px, py]): Point => [px + long * 0.07, py + long * 0.12])],
    look.ink ? hex('#aaa698') : hex('#04181c'),
    { alpha: look.ink ? 0.22 : 0.42, soft: long * 0.03 },
  );
  const fin = (root: Point, tip: Point, wide: number) =>
    fill(
      canvas,
      [
        ribbon(
          curve(
            [root, [mix(root[0], tip[0], 0.5), mix(root[1], tip[1], 0.5)], tip].map((each) =>
              put(each as Point),
            ),
            false,
            5,
          ),
          (at) => long * wide * (0.25 + at) * (at > 0.97 ? 0.6 : 1),
        ),
      ],
      shade(ground, 0.1),
      { alpha: look.ink ? 0.4 : 0.62 },
    );
  for (const way of [-1, 1]) {
    fin([0.2, way * 0.07], [0.08, way * 0.25], 0.09);
    fin([-0.12, way * 0.06], [-0.22, way * 0.15], 0.06);
    fin([-0.5, sway * 0.1], [-0.78, sway * 0.5 + way * 0.12], 0.09);
  }
  const marks = Array.from({ length: 5 }, (_, at) => ({
    at: (at + random.between(0.1, 0.9)) / 5.4,
    off: random.bell() * 0.5,
    size: random.between(0.06, 0.12) * long,
  }));
  const spots = marks.map(({ at, off, size }) => {
    const [px, py] = spine[Math.floor(at * (spine.length - 1))]!;
    return {
      x: px + Math.sin(turn) * off * long * 0.07,
      y: py - Math.cos(turn) * off * long * 0.07,
      size,
    };
  });
  const ragged = scene.noise('scales');
  fill(
    canvas,
    [body],
    (px, py, out) => {
      let mark = 0;
      for (const spot of spots) {
        const far =
          distance(px - spot.x, py - spot.y) / spot.size +
          ragged.at((px / long) * 18, (py / long) * 18) * 0.35;
        mark = Math.max(mark, clamp((1.05 - far) * 9));
      }
      const dx = (px - x) / long;
      const dy = (py - y) / long;
      const across = Math.abs(-dx * Math.sin(turn) + dy * Math.cos(turn)) / 0.11;
      const scale = 1 + ragged.at((px / long) * 60, (py / long) * 60) * 0.05;
      const lit = (1.06 - across * across * 0.26) * scale;
      for (let each = 0; each < 3; each += 1)
        out[each] = mix(ground[each]!, patch[each]!, mark) * lit;
    },
    { alpha: look.ink ? 0.88 : 0.98 },
  );
  fill(
    canvas,
    [
      ribbon(
        (
          [
            [0.12, 0],
            [-0.05, 0.004],
            [-0.2, -sway * 0.2],
          ] as const
        ).map(put),
        (at) => long * 0.028 * Math.sin(at * Math.PI),
      ),
    ],
    shade(ground, 0.25),
    { alpha: 0.55 },
  );
  for (const way of [-1, 1]) {
    const [ex, ey] = put([0.42, way * 0.052]);
    dab(canvas, ex, ey, long * 0.013, long * 0.013, 0, hex('#15151a'));
    fill(
      canvas,
      [ribbon([put([0.5, way * 0.03]), put([0.56, way * 0.07])], () => long * 0.008)],
      shade(ground, -0.1),
    );
  }
};
