import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { growth, steep } from '#tests/support/growth.ts';
import { imageFamily, imageParameters, type ImageParameters } from '#contract/image.ts';
import { defaultStrength, familyRules, imagesOf } from '#contract/image-family.ts';
import {
  needsTranslation,
  parametersOf,
  previewPrompt,
  readImageWords,
  replaceWords,
  styleOf,
  versionOf,
  writePrompt,
} from '#contract/image-prompt.ts';
import {
  closestSize,
  countFor,
  imageSizes,
  pricedSize,
  sizeFor,
  sizesOf,
  toldSize,
} from '#contract/image-size.ts';
import { imageFactor } from '#contract/price.ts';

const families = imageFamily.options;

// A busy machine takes several times as long over the drawn texts.
describe('readImageWords', { timeout: 30_000 }, () => {
  it('takes a leading address followed by a space as the base image', () => {
    expect(readImageWords('https://a.example/x.png 一只猫', 'built-in')).toMatchObject({
      baseImage: 'https://a.example/x.png',
      prompt: '一只猫',
    });
    expect(readImageWords('https://a.example/x.png', 'built-in')).toMatchObject({
      baseImage: '',
      prompt: 'https://a.example/x.png',
    });
    expect(readImageWords('猫 https://a.example/x.png 狗', 'built-in').baseImage).toBe('');
    expect(readImageWords('ftp://a.example/x.png 猫', 'built-in').baseImage).toBe('');
  });

  it.each(families)('reads strength and resize mode, within their ranges: %s', (family) => {
    expect(readImageWords('猫 --strength 60 --resize_mode 2', family)).toMatchObject({
      prompt: '猫',
      strength: 60,
      resizeMode: 2,
    });
    expect(readImageWords('猫 --strength 900 --resize_mode 9', family)).toMatchObject({
      strength: 100,
      resizeMode: 3,
    });
    const none = readImageWords('猫', family);
    expect(none.strength).toBeUndefined();
    expect(none.resizeMode).toBeUndefined();
    expect(defaultStrength(family)).toBe(family === 'midjourney' ? 50 : 75);
  });

  it('takes LoRA tags out, except for the cloud model', () => {
    const text = '一只猫<lora:ink:0.5>在<lora:snow>雪里 <lora:ink:80>';
    expect(readImageWords(text, 'stable-diffusion')).toMatchObject({
      prompt: '一只猫 在 雪里',
      loras: [
        { key: 'ink', weight: 80 },
        { key: 'snow', weight: 70 },
      ],
    });
    expect(readImageWords(text, 'cloud')).toMatchObject({ prompt: text, loras: [] });
    expect(readImageWords('<lo<lora:a:1>ra:b:1>', 'dalle').prompt).not.toMatch(/<lora:/);
  });

  it.each(families.filter((family) => family !== 'midjourney'))(
    'takes double-dash flags with their values out: %s',
    (family) => {
      expect(readImageWords('a cat --ar 16:9 by the sea --tile --v 6', family)).toMatchObject({
        prompt: 'a cat by the sea',
        flags: {},
      });
      expect(readImageWords('猫--ar 16:9，黄昏', family).prompt).toBe('猫 ，黄昏');
      expect(readImageWords('state--of--the art -- and - so', family).prompt).toBe(
        'state--of--the art -- and - so',
      );
      expect(readImageWords('猫 --no 红色 蓝色', family).prompt).toBe('猫');
    },
  );

  it("reads Midjourney's flags, short names too, and leaves the unknown in the words", () => {
    expect(
      readImageWords(
        '一只猫 --ar 37:20 --niji 6 --style Cute --s 250 --c 5 --w 9999 --q 0.5 --stop 80 --tile --fast --iw 1.5 --seed 7 --no 红色 汽车 --cref https://a.example/1.png --cw 40 --sref https://a.example/2.png https://a.example/2.png https://a.example/3.png --sw 300 --sv 2',
        'midjourney',
      ),
    ).toMatchObject({
      prompt: '一只猫 --fast',
      flags: {
        aspect: '1.85:1',
        is_niji: true,
        version: '6',
        style: 'cute',
        stylize: 250,
        chaos: 5,
        weird: 3000,
        quality: '.5',
        stop: 80,
        tile: true,
        weight: 150,
        seed: 7,
        no: '红色 汽车',
        cref: [{ url: 'https://a.example/1.png' }],
        cw: 40,
        sref: [{ url: 'https://a.example/2.png' }, { url: 'https://a.example/3.png' }],
        sw: 300,
        style_version: 2,
      },
    });
    const odd = '猫 --ar 宽 --q 9 --s 很多 --constructor 1';
    expect(readImageWords(odd, 'midjourney')).toMatchObject({ prompt: odd, flags: {} });
  });

  it('changes the words and keeps what stands around them', () => {
    const text = 'https://a.example/x.png 一只猫 <lora:ink:0.5> --strength 60 在窗边 --ar 16:9';
    for (const family of families) {
      const changed = replaceWords(text, family, 'a cat');
      expect(readImageWords(changed, family)).toEqual({
        ...readImageWords(text, family),
        prompt: family === 'cloud' ? expect.stringContaining('a cat') : 'a cat',
      });
    }
    expect(replaceWords('猫', 'built-in', '狗')).toBe('狗');
  });

  it('never throws and gives what a request takes', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.constantFrom(
        '--',
        ' ',
        '<lora:',
        '>',
        ':',
        '0.5',
        '猫',
        'https://a.example/b ',
        '--no',
        '--ar',
        '--sref',
        '--v',
        '--niji',
        '16:9',
        '\n',
        '--strength',
        '--__proto__',
        '--iw',
        '-1',
      ),
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 30 }),
        fc.constantFrom(...families),
        (pieces, family) => {
          const words = readImageWords(pieces.join(''), family);
          expect(imageParameters.safeParse(words.flags).success).toBe(true);
          expect(imageParameters.safeParse(parametersOf(words, {})).success).toBe(true);
          if (family !== 'midjourney') {
            expect(words.flags).toEqual({});
            expect(readImageWords(`猫 ${words.prompt}`, family).prompt).toBe(
              `猫 ${words.prompt}`.trim(),
            );
          }
          if (family !== 'cloud') expect(words.prompt).not.toMatch(/<lora:[^:<>\n]{1,200}>/i);
          writePrompt(words, family, {});
        },
      ),
      { numRuns: 40 },
    );
  });

  it('takes time in proportion to the length', () => {
    const hard = [
      '--a ',
      '--',
      '<lora:',
      '<lora:a:',
      '--sref https://a ',
      ' ',
      '-- ',
      '猫--ar 1:1',
    ];
    for (const piece of hard) {
      for (const family of ['midjourney', 'built-in'] as const) {
        const read = (length: number) =>
          readImageWords(piece.repeat(Math.ceil(length / piece.length)), family);
        expect(growth(read, 150_000), `${piece}, ${family}`).toBeLessThan(steep);
      }
    }
  });
});

describe('writePrompt', { timeout: 30_000 }, () => {
  const read = (text: string) => readImageWords(text, 'midjourney');

  it('puts flags in their usual order and leaves defaults out', () => {
    expect(writePrompt(read('一只猫'), 'midjourney', {})).toBe('一只猫 --v 6');
    expect(
      writePrompt(read('一只猫'), 'midjourney', {
        aspect: '1:1',
        version: '6',
        chaos: 0,
        quality: '1',
        stylize: 100,
        stop: 100,
        weird: 0,
        sw: 100,
        cw: 100,
      }),
    ).toBe('一只猫 --v 6');
    expect(
      writePrompt(read('一只猫'), 'midjourney', {
        no: '红色',
        chaos: 5,
        aspect: '1.85:1',
        stylize: 250,
        version: '5.2',
        style: 'raw',
        tile: true,
        quality: '.5',
      }),
    ).toBe(
      '一只猫 --ar 37:20 --v 5.2 --style raw --stylize 250 --chaos 5 --quality .5 --tile --no 红色',
    );
  });

  it('keeps the rules of niji', () => {
    expect(versionOf({ is_niji: true, version: '5.1' })).toBe('6');
    expect(versionOf({ is_niji: false, version: '5.1' })).toBe('5.1');
    expect(styleOf({ is_niji: true, style: 'raw' })).toBe('');
    expect(styleOf({ is_niji: true, style: 'scenic' })).toBe('scenic');
    expect(styleOf({ is_niji: false, style: 'scenic' })).toBe('');
    expect(writePrompt(read('猫'), 'midjourney', { is_niji: true, version: '5.2' })).toBe(
      '猫 --niji 6',
    );
  });

  it('says image, character and style weights only where there are such images', () => {
    const weights: ImageParameters = { weight: 150, cw: 20, sw: 300, style_version: 2 };
    expect(writePrompt(read('猫'), 'midjourney', weights)).toBe('猫 --v 6');
    const words = { ...read('猫'), baseImage: 'https://a.example/0.png' };
    const references: ImageParameters = {
      ...weights,
      cref: [{ url: '/files/1.png' }],
      sref: [{ url: '/files/2.png' }],
    };
    expect(writePrompt(words, 'midjourney', references)).toBe(
      '猫 --v 6 --iw 1.5 --cw 20 --sw 300 --sv 2',
    );
    expect(previewPrompt(words, 'midjourney', references)).toBe(
      'https://a.example/0.png 猫 --v 6 --iw 1.5 --cw 20 --sw 300 --sv 2 --cref /files/1.png --sref /files/2.png',
    );
    expect(writePrompt(read('猫'), 'midjourney', { random_style: true })).toBe(
      '猫 --v 6 --sref random',
    );
  });

  it('writes LoRA tags for those that read them', () => {
    const parameters: ImageParameters = {
      lora: [
        { key: 'ink', weight: 70 },
        { key: 'snow', weight: 5 },
      ],
    };
    const words = readImageWords('猫 <lora:ink:0.9>', 'stable-diffusion');
    for (const family of ['stable-diffusion', 'built-in'] as const)
      expect(writePrompt(words, family, parameters)).toBe('猫 <lora:ink:0.9> <lora:snow:0.05>');
    expect(writePrompt(words, 'dalle', parameters)).toBe('猫');
  });

  it('holds nothing by which Midjourney makes one order many or dearer', () => {
    for (const [text, written] of [
      ['猫 --repeat 10', '猫 --v 6'],
      ['a cat—repeat 40', 'a cat repeat 40 --v 6'],
      ['a cat -\u200b-repeat 40', 'a cat repeat 40 --v 6'],
      ['a cat --\u200brepeat 40', 'a cat repeat 40 --v 6'],
      ['a cat -\u00ad-re\u2060peat 40', 'a cat repeat 40 --v 6'],
      ['a cat \u2010\u2010repeat 40', 'a cat repeat 40 --v 6'],
      ['a cat \u2212-repeat 40', 'a cat repeat 40 --v 6'],
      ['a cat －－ｒｅｐｅａｔ 40', 'a cat repeat 40 --v 6'],
      ['a cat ————repeat 40', 'a cat repeat 40 --v 6'],
      ['a cat - —repeat 40', 'a cat - repeat 40 --v 6'],
      ['a {-—repeat 40', 'a ( repeat 40 --v 6'],
      ['a ｛red,blue｝ cat', 'a (red,blue) cat --v 6'],
      ['一家人 👨‍👩‍👧 ❤️ well-known', '一家人 👨‍👩‍👧 ❤️ well-known --v 6'],
      ['x--repeat 40', 'x repeat 40 --v 6'],
      ['a {red, green} cat --turbo', 'a (red, green) cat turbo --v 6'],
      ['a cat --raw --q 4', 'a cat --raw q 4 --v 6'],
    ] as const)
      expect(writePrompt(read(text), 'midjourney', {})).toBe(written);
    expect(writePrompt(read('猫'), 'midjourney', { repeat: 10, no: 'x--repeat 9' })).toBe(
      '猫 --v 6 --no x repeat 9',
    );
  });

  it('takes time in proportion to the length', () => {
    const words = read('猫');
    for (const piece of ['-', '—', ' ', '- ', '-\u200b', '—a']) {
      const write = (length: number) => {
        const prompt = `${piece.repeat(Math.ceil(length / piece.length))}1`;
        return writePrompt({ ...words, prompt }, 'midjourney', {});
      };
      expect(growth(write, 150_000), piece).toBeLessThan(steep);
    }
  });

  it('is read again as it was written', () => {
    const { ranges, aspects, versions } = familyRules.midjourney;
    const within = ({ min, max }: { min: number; max: number }) => fc.integer({ min, max });
    const parameters = fc.record(
      {
        aspect: fc.constantFrom(...aspects),
        version: fc.constantFrom(...versions),
        is_niji: fc.boolean(),
        style: fc.constantFrom('raw', 'cute', 'scenic', 'expressive', 'original'),
        stylize: within(ranges.stylize),
        chaos: within(ranges.chaos),
        weird: within(ranges.weird),
        stop: within(ranges.stop),
        quality: fc.constantFrom('.25' as const, '.5' as const, '1' as const),
        tile: fc.boolean(),
        seed: fc.nat(4_294_967_295),
        no: fc.constantFrom('红色', 'a red car, 云'),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(
        parameters,
        fc.stringMatching(/^[a-z猫，。 ]{1,40}$/).map((text) => text.trim()),
        (given, prompt) => {
          const once = writePrompt(readImageWords(prompt, 'midjourney'), 'midjourney', given);
          const words = readImageWords(once, 'midjourney');
          expect(words.prompt).toBe(prompt);
          expect(writePrompt(words, 'midjourney', {})).toBe(once);
          expect(versionOf(words.flags)).toBe(versionOf(given));
          expect(styleOf(words.flags)).toBe(styleOf(given));
          for (const key of ['stylize', 'chaos', 'weird', 'stop'] as const)
            expect(words.flags[key] ?? ranges[key].default).toBe(given[key] ?? ranges[key].default);
          expect(words.flags.seed).toBe(given.seed);
          expect(words.flags.aspect ?? '1:1').toBe(given.aspect ?? '1:1');
          expect(words.flags.no).toBe(given.no);
        },
      ),
      { numRuns: 120 },
    );
  });
});

describe('sizes', () => {
  it('are named by codes that are their own', () => {
    expect(new Set(imageSizes.map(({ code }) => code)).size).toBe(imageSizes.length);
    expect(sizeFor({ family: 'built-in', sizes: [] }, 3)).toEqual({
      code: 3,
      width: 1024,
      height: 1024,
    });
  });

  it("keep within a model's list, and Midjourney's to one", () => {
    const dalle = { family: 'dalle', sizes: ['1024x1024', '1792x1024', '1024x1792'] } as const;
    expect(sizesOf({ ...dalle, sizes: [...dalle.sizes] }).map(({ code }) => code)).toEqual([
      3, 8, 9,
    ]);
    expect(sizeFor({ ...dalle, sizes: [...dalle.sizes] }, 13).code).toBe(9);
    expect(sizeFor({ family: 'midjourney', sizes: [] }, 8).code).toBe(3);
    expect(sizesOf({ family: 'openai', sizes: ['auto'] })).toHaveLength(1);
  });

  it('cost what was asked for, and no code below the wide ones makes one', () => {
    const dalle = { family: 'dalle' as const, sizes: ['1024x1024', '1792x1024', '1024x1792'] };
    const told = [0, 2, 3, 7, 9, 13, 15].map((code) => [
      sizeFor(dalle, code).code,
      pricedSize(dalle, code),
      toldSize(code, sizeFor(dalle, code)).notice !== undefined,
    ]);
    expect(told).toEqual([
      [3, 0, true],
      [3, 2, true],
      [3, 3, false],
      [3, 3, true],
      [9, 9, false],
      [9, 9, true],
      [3, 3, true],
    ]);
    expect(pricedSize({ family: 'midjourney', sizes: [] }, 0)).toBe(3);
  });

  it('finds the one nearest in shape, then in area', () => {
    const sizes = sizesOf({ family: 'built-in', sizes: [] });
    expect(closestSize(sizes, 4000, 3000)?.code).toBe(4);
    expect(closestSize(sizes, 600, 1000)?.code).toBe(7);
    expect(closestSize(sizes, 520, 500)?.code).toBe(1);
    expect(closestSize([], 1, 1)).toBeNull();
    expect(closestSize(sizes, 0, 0)).not.toBeNull();
  });

  it('counts as families do', () => {
    expect(countFor({ family: 'midjourney', max_count: 1 }, 1, false)).toBe(4);
    expect(countFor({ family: 'sd3', max_count: 10 }, 3, true)).toBe(1);
    expect(countFor({ family: 'sd3', max_count: 10 }, 3, false)).toBe(3);
    expect(countFor({ family: 'dalle', max_count: 1 }, 3, false)).toBe(1);
    expect(countFor({ family: 'built-in', max_count: 99 }, 99, false)).toBe(10);
    expect(countFor({ family: 'built-in', max_count: 4 }, Number.NaN, false)).toBe(1);
  });
});

describe('imagesOf', () => {
  const model = { family: 'midjourney', max_count: 4 } as const;
  const press = (hash: string) =>
    imagesOf('action', model, {
      n: 1,
      parameters: { action: { hash, emoji: '', label: '' } },
      withBaseImage: false,
    });

  it('is one of what is made large, and four of every other button', () => {
    expect(press('CHANGE::UPSCALE::2')).toBe(1);
    expect(press('MJ::JOB::upsample::3::8a')).toBe(1);
    expect(press('MJ::JOB::upsample_v6_2x_subtle::1::8a::SOLO')).toBe(1);
    expect(press('CHANGE::VARIATION::2')).toBe(4);
    expect(press('MJ::JOB::reroll::0::8a::SOLO')).toBe(4);
    expect(press('MJ::Inpaint::1::upsample::SOLO')).toBe(4);
  });
});

describe('imageFactor', () => {
  it('is the checkpoint’s own, also of the one that is usual, else the model’s', () => {
    const image = {
      checkpoints: [
        { name: 'a', label: 'a', factor: null },
        { name: 'b', label: 'b', factor: 9 },
      ],
      default_checkpoint: 'b',
    };
    expect(imageFactor({ factor: 5, image }, 'a')).toBe(5);
    expect(imageFactor({ factor: 5, image }, undefined)).toBe(9);
    expect(imageFactor({ factor: 5, image }, 'unknown')).toBe(5);
  });
});

describe('needsTranslation', () => {
  it('asks for a tenth of Chinese', () => {
    expect(needsTranslation('a cat by the sea')).toBe(false);
    expect(needsTranslation('一只猫')).toBe(true);
    expect(needsTranslation('abcdefghi猫')).toBe(true);
    expect(needsTranslation('abcdefghij猫')).toBe(false);
    expect(needsTranslation('')).toBe(false);
    expect(needsTranslation('，。')).toBe(false);
  });
});
