import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { growth, steep } from '#tests/support/growth.ts';
import { imageIdeas } from '#contract/image-ideas.ts';
import { readWish, type Subject, subjects, unreadWords } from './words.ts';

vi.setConfig({ testTimeout: 30_000 });

/** One Chinese and one English way of asking for each. */
const asked: Record<Subject, [chinese: string, english: string]> = {
  mountain: ['远处的群山', 'tall mountains'],
  volcano: ['一座火山', 'an erupting volcano'],
  sea: ['蔚蓝的大海', 'ocean waves'],
  lake: ['湖面如镜', 'a calm lake'],
  river: ['小溪流过', 'a winding river'],
  waterfall: ['飞流直下的瀑布', 'waterfalls'],
  beach: ['海滩上', 'sandy beaches'],
  island: ['小岛', 'a tropical island'],
  moon: ['明月当空', 'full moon'],
  sun: ['太阳升起', 'the sun'],
  stars: ['满天繁星', 'starry sky'],
  aurora: ['极光', 'northern lights'],
  rainbow: ['雨后彩虹', 'rainbows'],
  cloud: ['白云', 'white clouds'],
  fog: ['薄雾', 'misty morning'],
  snow: ['下雪了', 'snow falling'],
  rain: ['细雨', 'rainy'],
  lightning: ['一道闪电', 'lightning'],
  fireworks: ['烟花绽放', 'fireworks'],
  fire: ['篝火', 'a campfire'],
  tree: ['一棵大树', 'old trees'],
  forest: ['森林深处', 'deep forest'],
  pine: ['松树', 'pine trees'],
  willow: ['垂柳', 'willows'],
  bamboo: ['竹林', 'bamboo'],
  palm: ['椰树', 'palm trees'],
  grass: ['草原', 'green meadow'],
  flower: ['一束玫瑰', 'roses'],
  blossom: ['樱花', 'cherry blossoms'],
  lotus: ['荷塘', 'lotus flowers'],
  sunflower: ['向日葵', 'sunflowers'],
  lavender: ['薰衣草', 'lavender fields'],
  leaf: ['枫叶', 'falling leaves'],
  desert: ['沙漠', 'desert dunes'],
  city: ['城市天际线', 'city skyline'],
  street: ['雨中的街道', 'a wet street'],
  house: ['小木屋', 'a cottage'],
  pagoda: ['古塔', 'temples'],
  castle: ['城堡', 'castles'],
  bridge: ['石桥', 'an arched bridge'],
  'magpie-bridge': ['七夕鹊桥', 'the magpie bridge'],
  lighthouse: ['灯塔', 'lighthouse'],
  boat: ['一叶扁舟', 'sailboats'],
  train: ['火车', 'a train'],
  lantern: ['孔明灯', 'paper lanterns'],
  bird: ['飞鸟', 'birds'],
  crane: ['仙鹤', 'two cranes'],
  butterfly: ['蝴蝶', 'butterflies'],
  fish: ['锦鲤', 'koi fish'],
  cat: ['一只猫', 'kittens'],
  dog: ['小狗', 'a puppy'],
  horse: ['骏马', 'wild horses'],
  deer: ['小鹿', 'a deer'],
  portrait: ['少女肖像', 'portrait of a woman'],
  people: ['旅人的背影', 'two people'],
  couple: ['一对情侣', 'a couple'],
  balloon: ['热气球', 'hot air balloons'],
  planet: ['外星星球', 'planets'],
  window: ['窗外', 'through the window'],
  cup: ['一杯咖啡', 'a cup of tea'],
};

test.each(subjects)('%s is recognised in both languages', (subject) => {
  for (const words of asked[subject]) expect(readWish(words).subjects).toContain(subject);
});

test('longer words are read before the shorter ones within them', () => {
  expect(readWish('海棠').subjects).toEqual(['blossom']);
  expect(readWish('雪花').subjects).toEqual(['snow']);
  expect(readWish('浪花').subjects).toEqual(['sea']);
  expect(readWish('火车上的日落')).toMatchObject({ subjects: ['train', 'sun'], hour: 'dusk' });
  expect(readWish('高清水彩，生日海报，火锅')).toMatchObject({
    subjects: [],
    style: 'watercolour',
  });
  expect(readWish('category, seaside, window-shopping').subjects).toEqual(['beach', 'window']);
});

test('what is another thing than the word in it is not drawn, and told', () => {
  expect(readWish('大熊猫').subjects).toEqual([]);
  expect(readWish('万里长城').subjects).toEqual([]);
  expect(unreadWords('一只大熊猫坐在桌子上吃苹果')).toEqual(['大熊猫', '桌子', '苹果']);
  expect(unreadWords('a cat on a table eating apples, masterpiece')).toEqual(['table', 'apples']);
  // A word says where, how or how many: nothing is missed.
  expect(unreadWords('雨后山间的小亭子，一匹骏马在草原上奔跑，明月当空，高清')).toEqual([]);
  expect(unreadWords('没有苹果的山')).toEqual([]);
  for (const { prompt } of imageIdeas) expect(unreadWords(prompt), prompt).toEqual([]);
});

test('what is refused is not there', () => {
  expect(readWish('城市，没有人').subjects).toEqual(['city']);
  expect(readWish('a street without people').subjects).not.toContain('people');
  expect(readWish('山 湖 雪', 'snow, 湖').subjects).toEqual(['mountain']);
});

test('time, season, colours, style and layout are read', () => {
  expect(readWish('秋天的黄昏，红色的山，油画，特写')).toMatchObject({
    subjects: ['mountain'],
    hour: 'dusk',
    season: 'autumn',
    colours: ['red'],
    style: 'oil',
    layout: 'close',
  });
  expect(readWish('blue and golden sky at dawn, pixel art, wide shot')).toMatchObject({
    subjects: ['cloud'],
    hour: 'dawn',
    colours: ['blue', 'gold'],
    style: 'pixel',
    layout: 'wide',
  });
});

test('tags and flags are no words; all others change the hash', () => {
  const plain = readWish('a mountain');
  expect(readWish('a mountain <lora:sea:0.7> --ar 16:9').subjects).toEqual(plain.subjects);
  expect(readWish('a mountain <lora:sea:0.7>').hash).toBe(plain.hash);
  expect(readWish('a mountain of hope').hash).not.toBe(plain.hash);
});

test('nothing but known names comes out, whatever goes in', () => {
  const known = new Set<string>(subjects);
  const seeds = [
    '山',
    'sea',
    '<svg>',
    '<image href=file:///etc/passwd>',
    '&#x41;',
    '\0',
    '没有',
    '--no',
  ];
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...seeds))),
      (words) => {
        const wish = readWish(words.join(' '), words.join(''));
        expect(wish.subjects.every((each) => known.has(each))).toBe(true);
        expect(Number.isInteger(wish.hash)).toBe(true);
      },
    ),
    { numRuns: 15 },
  );
  const read = (size: number) => readWish('没有'.repeat(2 * size) + ' --no a'.repeat(size));
  expect(growth(read, 50_000)).toBeLessThan(steep);
});
