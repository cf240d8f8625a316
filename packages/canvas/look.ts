import { chanceOf } from './chance.ts';
import { blend, type Colour, hex, saturate, shade, tint } from './colour.ts';
import type { ColourName, Hour, Season, Wish } from './words.ts';

/** The colours and the light of one image. */
export interface Look {
  hour: Hour;
  season: Season | null;
  /** From the top to the horizon. */
  sky: Colour[];
  /** Of the sun or the moon, and of what it lights. */
  light: Colour;
  /** What far things fade into. */
  haze: Colour;
  /** Mountains: their side in the light and in the shade, far and near. */
  rock: { lit: Colour; dark: Colour };
  /** Grown land, near: in the light and in the shade. */
  ground: { lit: Colour; dark: Colour };
  water: Colour;
  leaves: Colour[];
  petals: Colour[];
  /** Silhouettes in front of everything. */
  front: Colour;
  /** Windows and lamps are lit. */
  lamps: boolean;
  /** Weather takes the sun away. */
  overcast: boolean;
  snowy: boolean;
  ink: boolean;
  flat: boolean;
  neon: boolean;
}

export const namedColours: Readonly<Record<ColourName, Colour>> = {
  red: hex('#c8362e'),
  orange: hex('#e8853a'),
  yellow: hex('#efc94c'),
  green: hex('#4f9a54'),
  cyan: hex('#3fa7a3'),
  blue: hex('#3a6fc4'),
  purple: hex('#7d57b8'),
  pink: hex('#e892b0'),
  brown: hex('#8a5a3b'),
  black: hex('#23252b'),
  white: hex('#f1f1ec'),
  grey: hex('#8e949c'),
  gold: hex('#d9a441'),
};

interface Scheme {
  sky: string[];
  light: string;
  haze: string;
  rock: [lit: string, dark: string];
  ground: [lit: string, dark: string];
  water: string;
  front: string;
}

/** Schemes of colours that go together, several for each hour. */
const schemes: Readonly<Record<Hour | 'overcast' | 'ink' | 'neon', readonly Scheme[]>> = {
  dawn: [
    {
      sky: ['#5f7fb8', '#a9a9cf', '#f0b8b0', '#ffdfb8'],
      light: '#fff0cf',
      haze: '#f0c9bf',
      rock: ['#c58f8f', '#565b86'],
      ground: ['#9aa46a', '#3f5150'],
      water: '#6d82a8',
      front: '#2b3149',
    },
    {
      sky: ['#7aa6d0', '#bcd0de', '#f6d9c0', '#ffeccb'],
      light: '#fff3d6',
      haze: '#eed9cb',
      rock: ['#c7a48f', '#6a7791'],
      ground: ['#a3ad6c', '#4b6452'],
      water: '#7c9bb5',
      front: '#34424f',
    },
    {
      sky: ['#3f4f8a', '#8377ac', '#e39aa2', '#fbd0a0'],
      light: '#ffe4b3',
      haze: '#dba5a8',
      rock: ['#b9767c', '#454776'],
      ground: ['#8a8b62', '#333f4d'],
      water: '#5b6596',
      front: '#22264a',
    },
  ],
  day: [
    {
      sky: ['#2f74bd', '#6aa8de', '#b4d7ec', '#e6f1ee'],
      light: '#fffbe8',
      haze: '#cfe2ea',
      rock: ['#a9b3a2', '#4d6680'],
      ground: ['#9fbb58', '#33633f'],
      water: '#2f7ba0',
      front: '#1f3d33',
    },
    {
      sky: ['#3d8fc9', '#86c2e4', '#cfe6ea', '#f7f1df'],
      light: '#fff6d8',
      haze: '#dfe8e2',
      rock: ['#c2b79c', '#62788a'],
      ground: ['#b5c069', '#48724a'],
      water: '#3f92a8',
      front: '#2a4438',
    },
    {
      sky: ['#1f5ea8', '#4d93d2', '#9fcbe6', '#d9ecec'],
      light: '#fffdf0',
      haze: '#bcd7e6',
      rock: ['#b5b9bb', '#465a78'],
      ground: ['#86b05c', '#245741'],
      water: '#1f6d99',
      front: '#16352f',
    },
  ],
  dusk: [
    {
      sky: ['#2c3568', '#7b4f86', '#de6f63', '#ffb35c'],
      light: '#ffd987',
      haze: '#e58f6c',
      rock: ['#b4605a', '#3b3159'],
      ground: ['#8f6a46', '#2f2a3a'],
      water: '#53497a',
      front: '#1b1630',
    },
    {
      sky: ['#35507f', '#8a7f9e', '#eaa27c', '#ffd08a'],
      light: '#ffe7ae',
      haze: '#e9b491',
      rock: ['#c08163', '#4a4a6b'],
      ground: ['#9c8450', '#3a3f41'],
      water: '#6b6d8b',
      front: '#262637',
    },
    {
      sky: ['#1d2a55', '#5a4a8c', '#b8608e', '#f7a072'],
      light: '#ffcf99',
      haze: '#bf6f88',
      rock: ['#9c5578', '#2f2c5c'],
      ground: ['#7a5560', '#26244a'],
      water: '#4a4685',
      front: '#151536',
    },
  ],
  night: [
    {
      sky: ['#050a1c', '#0d1a3a', '#1c3259', '#3b5479'],
      light: '#f6efd6',
      haze: '#2c4468',
      rock: ['#41587e', '#0e1832'],
      ground: ['#2d4252', '#0a141f'],
      water: '#142a4a',
      front: '#050a16',
    },
    {
      sky: ['#070b22', '#171c48', '#343068', '#5d4f84'],
      light: '#fff0dc',
      haze: '#40396c',
      rock: ['#55508a', '#14143a'],
      ground: ['#39385c', '#0d0e26'],
      water: '#221f52',
      front: '#070718',
    },
    {
      sky: ['#03121a', '#082a38', '#14505c', '#39807f'],
      light: '#f2f5dc',
      haze: '#1d545f',
      rock: ['#336a70', '#072530'],
      ground: ['#265048', '#05171a'],
      water: '#0b3a48',
      front: '#030e12',
    },
  ],
  overcast: [
    {
      sky: ['#6f8192', '#97a5b0', '#bcc5c8', '#d6d9d4'],
      light: '#f0eee2',
      haze: '#c2cac9',
      rock: ['#8f9a98', '#4b5a66'],
      ground: ['#7f9168', '#3c4f48'],
      water: '#6b828e',
      front: '#26343a',
    },
    {
      sky: ['#566476', '#7d8a98', '#a8b0b4', '#cbc8bf'],
      light: '#efe6d3',
      haze: '#a9b0b2',
      rock: ['#8b8d90', '#414c5c'],
      ground: ['#76835f', '#34453f'],
      water: '#5a6c7c',
      front: '#202a33',
    },
  ],
  ink: [
    {
      sky: ['#f1eadb', '#f3ede0', '#f5f0e4', '#f6f1e6'],
      light: '#c9553f',
      haze: '#f3eee1',
      rock: ['#8f9698', '#23282c'],
      ground: ['#7d8383', '#2a2f31'],
      water: '#e6e1d3',
      front: '#1c2023',
    },
    {
      sky: ['#ece4d0', '#f0e9d9', '#f3ede0', '#f3ede0'],
      light: '#b8472f',
      haze: '#f0e9da',
      rock: ['#7f8d92', '#20292f'],
      ground: ['#75807f', '#262d2f'],
      water: '#dfdccd',
      front: '#191e21',
    },
  ],
  neon: [
    {
      sky: ['#0b0620', '#24104c', '#5b1f7a', '#d1478f'],
      light: '#ffb3d9',
      haze: '#7a2c86',
      rock: ['#6c3aa8', '#1a0f3d'],
      ground: ['#3b2a78', '#0f0a28'],
      water: '#2a1a66',
      front: '#080416',
    },
    {
      sky: ['#030b1f', '#0a2350', '#12538a', '#29c0c7'],
      light: '#c8fff4',
      haze: '#17608d',
      rock: ['#2a6fae', '#071a3a'],
      ground: ['#1d4f86', '#050f24'],
      water: '#0b3a78',
      front: '#030814',
    },
  ],
};

const leavesOf: Readonly<Record<Season | 'any', string[]>> = {
  spring: ['#5c8f4a', '#86b45c', '#b7cf7a', '#f0bccb'],
  summer: ['#2f6b3c', '#4a8f47', '#7fb255', '#a9c968'],
  autumn: ['#8f3b22', '#c8642b', '#e39a3a', '#f0c765'],
  winter: ['#56645f', '#7d8a86', '#b8c4c6', '#e3eaec'],
  any: ['#2f6b3f', '#4f8d49', '#86b15a', '#b4c873'],
};

const petalSets: readonly (readonly string[])[] = [
  ['#f6b7c8', '#e8819f', '#fde3e3', '#c9486f'],
  ['#f7d774', '#ef9f4d', '#fdf1c9', '#d9602f'],
  ['#b79ae0', '#8468c9', '#e6dbf6', '#5a47a6'],
  ['#f4f1ea', '#e7c8d0', '#f7e3a8', '#d9809a'],
  ['#e2564c', '#f28a6b', '#ffd3b8', '#a82a38'],
];

const map = (look: Look, change: (colour: Colour) => Colour): Look => ({
  ...look,
  sky: look.sky.map(change),
  haze: change(look.haze),
  rock: { lit: change(look.rock.lit), dark: change(look.rock.dark) },
  ground: { lit: change(look.ground.lit), dark: change(look.ground.dark) },
  water: change(look.water),
});

const seasons: Readonly<Record<Season, (look: Look) => Look>> = {
  spring: (look) => ({
    ...look,
    ground: { lit: tint(look.ground.lit, hex('#a9d06a'), 0.4), dark: look.ground.dark },
  }),
  summer: (look) => map(look, (colour) => saturate(colour, 1.12)),
  autumn: (look) => ({
    ...look,
    ground: {
      lit: tint(look.ground.lit, hex('#d08a3c'), 0.6),
      dark: tint(look.ground.dark, hex('#5a3524'), 0.5),
    },
    rock: { lit: tint(look.rock.lit, hex('#cf8f56'), 0.35), dark: look.rock.dark },
  }),
  winter: (look) => map(look, (colour) => saturate(colour, 0.7)),
};

/** Works out the colours: the hour and the weather, then the season, moods and colours asked for. */
export const lookOf = (wish: Wish, seed: number): Look => {
  const chance = chanceOf(seed ^ 0x5eed);
  const has = (subject: Wish['subjects'][number]) => wish.subjects.includes(subject);
  const ink = wish.style === 'ink';
  const neon = wish.style === 'neon';
  const overcast = wish.moods.includes('overcast') || has('rain') || has('lightning');
  const snowy = has('snow') || wish.season === 'winter';
  const warm = has('fire') || has('lantern');
  const hour: Hour =
    wish.hour ??
    (neon || warm || has('lightning') || wish.moods.includes('dark')
      ? 'night'
      : has('desert')
        ? chance.pick<Hour>(['dusk', 'day', 'dawn'])
        : has('fog')
          ? chance.pick<Hour>(['dawn', 'dawn', 'day'])
          : overcast || snowy
            ? 'day'
            : chance.pick<Hour>(['day', 'day', 'dawn', 'dusk']));
  const kind = ink
    ? 'ink'
    : neon
      ? 'neon'
      : overcast && hour !== 'night' && hour !== 'dusk'
        ? 'overcast'
        : hour;
  const scheme = chance.pick(schemes[kind]);
  const leafSet = leavesOf[wish.season ?? (has('leaf') ? 'autumn' : 'any')];
  let look: Look = {
    hour,
    season: wish.season,
    sky: scheme.sky.map(hex),
    light: hex(scheme.light),
    haze: hex(scheme.haze),
    rock: { lit: hex(scheme.rock[0]), dark: hex(scheme.rock[1]) },
    ground: { lit: hex(scheme.ground[0]), dark: hex(scheme.ground[1]) },
    water: hex(scheme.water),
    leaves: leafSet.map(hex),
    petals: chance.pick(petalSets).map(hex),
    front: hex(scheme.front),
    lamps: hour === 'night' || hour === 'dusk' || neon,
    overcast,
    snowy,
    ink,
    flat: wish.style === 'flat' || wish.style === 'print',
    neon,
  };
  if (has('blossom')) look.petals = petalSets[0]!.map(hex);
  if (wish.season && !ink) look = seasons[wish.season](look);
  if (snowy && !ink) {
    const white =
      hour === 'night' ? hex('#8fa6c9') : hour === 'dusk' ? hex('#e3c6c4') : hex('#eef3f7');
    const dim = blend(white, look.sky[0]!, 0.5);
    look.ground = { lit: white, dark: dim };
    look = map(look, (colour) => saturate(colour, 0.85));
  }
  const night = hour === 'night';
  // What grows is seen in the light of its hour.
  if (!ink) {
    const veil = look.front;
    const dim = night ? 0.55 : hour === 'dusk' ? 0.3 : overcast ? 0.15 : 0;
    look.leaves = look.leaves.map((colour) => blend(colour, veil, dim));
    look.petals = look.petals.map((colour) => blend(colour, veil, dim * 0.6));
  } else {
    look.leaves = look.leaves.map((colour) => blend(saturate(colour, 0.35), hex('#2a3033'), 0.5));
    look.petals = look.petals.map((colour) => saturate(colour, 0.8));
  }
  for (const mood of wish.moods) {
    if (mood === 'warm') look = map(look, (colour) => tint(colour, hex('#e0a060'), 0.22));
    if (mood === 'cool') look = map(look, (colour) => tint(colour, hex('#5f93c0'), 0.25));
    if (mood === 'dark') look = map(look, (colour) => shade(colour, -0.25));
    if (mood === 'bright') look = map(look, (colour) => shade(colour, 0.18));
    if (mood === 'soft') look = map(look, (colour) => shade(saturate(colour, 0.85), 0.15));
    if (mood === 'vivid') look = map(look, (colour) => saturate(colour, 1.35));
    if (mood === 'calm') look = map(look, (colour) => saturate(colour, 0.85));
  }
  if (wish.style === 'anime') look = map(look, (colour) => saturate(colour, 1.25));
  const [first, second = first] = wish.colours.map((name) => namedColours[name]);
  if (first && second) {
    const share = ink ? 0.3 : 0.6;
    const sky = look.sky.map((colour) => tint(colour, first, share));
    const toSecond = (colour: Colour) => tint(colour, second, share * 0.9);
    look = {
      ...look,
      sky,
      haze: tint(look.haze, first, share),
      light: tint(look.light, first, 0.2),
      rock: { lit: toSecond(look.rock.lit), dark: toSecond(look.rock.dark) },
      ground: { lit: toSecond(look.ground.lit), dark: toSecond(look.ground.dark) },
      water: tint(look.water, first, share),
      leaves: look.leaves.map((colour) => tint(colour, second, share * 0.7)),
      petals: look.petals.map((colour, at) => tint(colour, at % 2 === 0 ? first : second, 0.75)),
    };
  }
  return look;
};
