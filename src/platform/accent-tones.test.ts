import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { contrastOf, tonesOf } from './accent-tones.ts';

const themes = new URL('../app/themes/', import.meta.url);
/** What a word in the accent may stand on, as the themes' files say, light and dark. */
const grounds = { light: new Set(['#ffffff']), dark: new Set<string>() };
for (const file of ['tokens.css', 'wechat.css', 'telegram.css'])
  for (const [, selector = '', body = ''] of readFileSync(new URL(file, themes), 'utf8')
    .replaceAll(/\/\*.*?\*\//gs, '')
    .matchAll(/([^{}]+)\{([^{}]*)\}/g))
    for (const [, hex = ''] of body.matchAll(
      /--(?:ground|card|card-soft|bar-ground|chat-ground|bubble-theirs): (#[\da-f]{6})/g,
    ))
      grounds[selector.includes('dark') ? 'dark' : 'light'].add(hex);

it('words in any colour, and words on it, can be read on every ground of every theme', () => {
  expect(grounds.light.size).toBeGreaterThan(5);
  expect(grounds.dark.size).toBeGreaterThan(5);
  expect(contrastOf('#000000', '#ffffff')).toBeCloseTo(21);
  expect(contrastOf('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
  const colour = fc
    .integer({ min: 0, max: 0xffffff })
    .map((n) => `#${n.toString(16).padStart(6, '0')}`);
  fc.assert(
    fc.property(colour, (wanted) => {
      const [
        light = '',
        lightPress = '',
        lightSoft = '',
        dark = '',
        darkPress = '',
        darkSoft = '',
      ] = tonesOf(wanted);
      for (const ground of [...grounds.light, lightSoft])
        expect(
          contrastOf(light, ground),
          `${light} of ${wanted} on ${ground}`,
        ).toBeGreaterThanOrEqual(4.5);
      for (const ground of [...grounds.dark, darkSoft])
        expect(
          contrastOf(dark, ground),
          `${dark} of ${wanted} on ${ground}`,
        ).toBeGreaterThanOrEqual(4.5);
      for (const each of [light, lightPress])
        expect(contrastOf('#ffffff', each)).toBeGreaterThanOrEqual(4.5);
      for (const each of [dark, darkPress])
        expect(contrastOf('#0a1424', each)).toBeGreaterThanOrEqual(4.5);
    }),
    { numRuns: 1000 },
  );
});

it('a colour that can be read stays as it is; what is none is the theme’s own', () => {
  expect(tonesOf('#0b5d2a')[0]).toBe('#0b5d2a');
  expect(tonesOf('purple')[0]).toBe(tonesOf('#7c3aed')[0]);
  for (const none of ['', 'pink', '#12345', 'url(x)']) expect(tonesOf(none)).toEqual([]);
});
