import sharp from 'sharp';
import { expect, test, vi } from 'vitest';
import { profiles } from './profiles.ts';
import type { CanvasIo, CanvasOrder } from './task.ts';
import { styles, subjects } from './words.ts';
import { workOn } from './work.ts';

vi.setConfig({ testTimeout: 60_000 });

/** Large enough for what is looked for; four times as large takes four times as long. */
const usual = { width: 128, height: 96 };

const quiet: CanvasIo = { progress: () => Promise.resolve() };

const made = async (prompt: string, more: Partial<CanvasOrder> = {}): Promise<Buffer> => {
  const order: CanvasOrder = {
    task: 'generate',
    prompt,
    n: 1,
    ...usual,
    parameters: {},
    base: null,
    strength: 75,
    resizeMode: 0,
    control: null,
    background: null,
    profiles: [],
    seed: more.parameters?.seed ?? 7,
    ...more,
  };
  const answer = await workOn({ kind: 'make', order }, quiet);
  if (answer.kind !== 'made') throw new Error(answer.kind);
  return Buffer.from(answer.images[0]!.data);
};

const detected = async (image: Buffer, module: string): Promise<Buffer> => {
  const answer = await workOn({ kind: 'detect', image, module, parameters: {} }, quiet);
  if (answer.kind !== 'detected') throw new Error(answer.kind);
  return Buffer.from(answer.data);
};

const meansOf = async (image: Buffer) => {
  const { channels } = await sharp(image).stats();
  const [red = 0, green = 0, blue = 0] = channels.map(({ mean }) => mean);
  return { light: (red + green + blue) / 3, warmth: red - blue };
};

const pixelsOf = (image: Buffer) => sharp(image).removeAlpha().raw().toBuffer();

/** How far two images of one size are apart: the mean difference of a value, 0 to 255. */
const apart = async (a: Buffer, b: Buffer): Promise<number> => {
  const [one, other] = await Promise.all([pixelsOf(a), pixelsOf(b)]);
  let sum = 0;
  for (let at = 0; at < one.length; at += 1) sum += Math.abs(one[at]! - other[at]!);
  return sum / one.length;
};

/** A red ball on a backdrop that fades from one colour to another. */
const ball = (from = '#dfe8ee', to = '#c3cfda') =>
  sharp(
    Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" width="160" height="120"><linearGradient id="g" x2="0" y2="1"><stop stop-color="${from}"/><stop offset="1" stop-color="${to}"/></linearGradient><rect width="160" height="120" fill="url(#g)"/><circle cx="80" cy="60" r="36" fill="#c8321e"/></svg>`,
    ),
  )
    .png()
    .toBuffer();

test('the same words, seed and size give the same bytes; any other one does not', async () => {
  const one = await made('水墨山水');
  expect((await made('水墨山水')).equals(one)).toBe(true);
  for (const other of [
    made('水墨山水 hope'),
    made('水墨山水', { parameters: { seed: 8 } }),
    made('水墨山水', { parameters: { seed: 7, style: 'oil' } }),
  ])
    expect((await other).equals(one)).toBe(false);
});

test('words change images: night is darker than noon, fire warmer than snow', async () => {
  const night = await meansOf(await made('山 夜晚'));
  const noon = await meansOf(await made('山 正午'));
  expect(night.light).toBeLessThan(noon.light * 0.6);
  const fire = await meansOf(await made('篝火'));
  const snow = await meansOf(await made('雪'));
  expect(fire.warmth).toBeGreaterThan(snow.warmth + 10);
  const red = await meansOf(await made('红色的山'));
  const blue = await meansOf(await made('蓝色的山'));
  expect(red.warmth).toBeGreaterThan(blue.warmth + 30);
  const without = await made('山 月亮', { parameters: { seed: 7, negative_prompt: '月亮' } });
  expect(without.equals(await made('山 月亮'))).toBe(false);
});

test('every size is met; one that is no number is refused', async () => {
  for (const [width, height] of [
    [64, 64],
    [300, 101],
    [179, 1024],
  ] as const)
    expect(await sharp(await made('海', { width, height })).metadata()).toMatchObject({
      width,
      height,
    });
  await expect(made('海', { width: Number.NaN })).rejects.toMatchObject({
    codeName: 'job_unsuitable',
  });
});

test('all that is known can be drawn, by day and in ink', async () => {
  for (const [at, subject] of [...subjects, 'hope'].entries()) {
    const words = subject.replace('magpie-bridge', 'magpie bridge');
    const image = await made(at % 3 === 2 ? `${words} ink` : words, { width: 64, height: 96 });
    const { channels } = await sharp(image).stats();
    // Nothing is flat, and no number went wrong: that would be black.
    expect(Math.max(...channels.map(({ stdev }) => stdev)), subject).toBeGreaterThan(2);
    expect(Math.max(...channels.map(({ max }) => max)), subject).toBeGreaterThan(40);
  }
});

let lake: Promise<Buffer> | undefined;

test.each(styles)('the style %s can be drawn', async (style) => {
  const plain = await (lake ??= made('山 湖'));
  const image = await made('山 湖', { parameters: { seed: 7, style } });
  expect(await apart(image, plain)).toBeGreaterThan(1);
});

let smallLake: Promise<Buffer> | undefined;

test.each(profiles)('the hand of $label shows, the more the more it weighs', async ({ key }) => {
  const size = { width: 96, height: 72 };
  const at = (weight: number) =>
    made('山 湖', { ...size, parameters: { seed: 7, lora: [{ key, weight }] } });
  const plain = await (smallLake ??= made('山 湖', size));
  const [little, whole] = [await apart(await at(30), plain), await apart(await at(100), plain)];
  expect(little).toBeGreaterThan(1);
  expect(whole).toBeGreaterThan(little * 1.5);
  // Of a part that is drawn anew, too.
  if (key !== profiles[0]!.key) return;
  const mask = { left: 10, top: 10, width: 64, height: 50 };
  const edit = (lora: { key: string; weight: number }[]) =>
    made('樱花', { task: 'edit', base: plain, parameters: { seed: 1, mask, lora } });
  expect((await edit([{ key, weight: 80 }])).equals(await edit([]))).toBe(false);
});

test('hands that nobody knows change nothing', async () => {
  const lora = [{ key: 'nobody', weight: 100 }];
  expect((await made('山', { parameters: { seed: 7, lora } })).equals(await made('山'))).toBe(true);
});

test('hostile words are words: nothing of them is read, fetched or run', async () => {
  for (const prompt of [
    '<image href="file:///etc/passwd"/>',
    ']]><!ENTITY x SYSTEM "file:///etc/passwd">&x;',
    '" onload="alert(1)',
    '\0'.repeat(100),
    '山'.repeat(20_000),
  ])
    expect((await sharp(await made(prompt)).metadata()).format).toBe('png');
});

test('a base image stays at strength 1 and is gone at 100, in every way of fitting it', async () => {
  const base = await ball();
  for (const resizeMode of [0, 1, 2, 3]) {
    const fitted = await made('夜 森林', { base, resizeMode, strength: 1 });
    expect(await sharp(fitted).metadata()).toMatchObject(usual);
    const { light } = await meansOf(fitted);
    expect(Math.abs(light - (await meansOf(base)).light)).toBeLessThan(12);
  }
  const little = await made('夜 森林', { base, strength: 1 });
  const stretched = await sharp(base)
    .resize({ ...usual, fit: 'fill' })
    .png()
    .toBuffer();
  expect(await apart(little, stretched)).toBeLessThan(5);
  const half = await apart(await made('夜 森林', { base, strength: 50 }), stretched);
  const whole = await apart(await made('夜 森林', { base, strength: 100 }), stretched);
  expect(half).toBeGreaterThan(8);
  expect(whole).toBeGreaterThan(half);
});

test('an edit changes its region alone, byte for byte', async () => {
  const base = await ball();
  const mask = { left: 90, top: 30, width: 60, height: 500 };
  const edited = await made('樱花', { task: 'edit', base, parameters: { seed: 1, mask } });
  const [before, after] = await Promise.all([pixelsOf(base), pixelsOf(edited)]);
  let changed = 0;
  for (let at = 0; at < before.length; at += 1) {
    const x = Math.floor(at / 3) % 160;
    const y = Math.floor(at / 480);
    const inside = x >= 90 && x < 150 && y >= 30;
    if (!inside && before[at] !== after[at]) throw new Error(`changed at ${x}, ${y}`);
    if (inside && before[at] !== after[at]) changed += 1;
  }
  expect(changed).toBeGreaterThan(60 * 90);
  // What was painted over in it, and nothing beside the brush.
  const brush = [{ size: 20, points: [100, 60, 140, 60] }];
  const part = { left: 90, top: 50, width: 60, height: 20 };
  const painted = await pixelsOf(
    await made('樱花', { task: 'edit', base, parameters: { seed: 1, mask: part, brush } }),
  );
  const differs = (x: number, y: number) =>
    [0, 1, 2].some((each) => {
      const at = (y * 160 + x) * 3 + each;
      return before[at] !== painted[at];
    });
  expect(differs(120, 60)).toBe(true);
  for (const [x, y] of [
    [91, 51],
    [149, 69],
    [120, 72],
    [80, 60],
  ] as const)
    expect(differs(x, y)).toBe(false);
  await expect(
    made('花', {
      task: 'edit',
      base,
      parameters: { mask: { left: 900, top: 0, width: 50, height: 50 } },
    }),
  ).rejects.toMatchObject({ codeName: 'job_unsuitable' });
});

test('an even background goes, what stands before it stays; an uneven one is refused', async () => {
  const base = await ball();
  const cut = await made('', { task: 'remove-background', base });
  const { data } = await sharp(cut).raw().toBuffer({ resolveWithObject: true });
  const alpha = (x: number, y: number) => data[(y * 160 + x) * 4 + 3];
  for (const [x, y] of [
    [0, 0],
    [159, 119],
    [80, 4],
    [20, 60],
    [80, 110],
  ] as const)
    expect(alpha(x, y)).toBe(0);
  for (const [x, y] of [
    [80, 60],
    [50, 60],
    [80, 90],
    [105, 75],
  ] as const)
    expect(alpha(x, y)).toBe(255);
  const green = await made('', {
    task: 'edit-background',
    base,
    parameters: { bg_color: '#00ff00' },
  });
  const painted = await pixelsOf(green);
  expect([...painted.subarray(0, 3)]).toEqual([0, 255, 0]);
  expect([...painted.subarray((60 * 160 + 80) * 3, (60 * 160 + 80) * 3 + 3)]).toEqual([
    200, 50, 30,
  ]);
  const background = await made('海');
  const placed = await made('', { task: 'edit-background', base, background });
  expect(await sharp(placed).metadata()).toMatchObject({ width: 160, height: 120 });
  const busy = await sharp({
    create: {
      width: 160,
      height: 120,
      channels: 3,
      background: '#808080',
      noise: { type: 'gaussian', mean: 128, sigma: 60 },
    },
  })
    .png()
    .toBuffer();
  await expect(made('', { task: 'remove-background', base: busy })).rejects.toMatchObject({
    codeName: 'job_unsuitable',
  });
});

test('a image becomes two and four times as large, within limits', async () => {
  const base = await ball();
  for (const resize of [2, 4] as const) {
    const large = await made('', { task: 'upscale', base, parameters: { resize } });
    expect(await sharp(large).metadata()).toMatchObject({
      width: 160 * resize,
      height: 120 * resize,
    });
    const small = await sharp(large).resize(160, 120).png().toBuffer();
    expect(await apart(small, base)).toBeLessThan(3);
  }
  const vast = await sharp({
    create: { width: 2000, height: 1500, channels: 3, background: '#888' },
  })
    .png()
    .toBuffer();
  await expect(
    made('', { task: 'upscale', base: vast, parameters: { resize: 4 } }),
  ).rejects.toMatchObject({ codeName: 'job_unsuitable' });
});

test('lines are found, and a image follows them', async () => {
  const base = await ball();
  const size = { width: 160, height: 120 };
  const free = await pixelsOf(await made('白天 云', size));
  for (const module of ['canny', 'lineart', 'softedge', 'scribble'] as const) {
    const lines = await detected(base, module);
    const { data, info } = await sharp(lines)
      .greyscale()
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect([info.width, info.height]).toEqual([160, 120]);
    const around = (x: number, y: number) =>
      Math.max(...[-3, -2, -1, 0, 1, 2, 3].map((off) => data[y * 160 + x + off]!));
    expect(around(44, 60)).toBeGreaterThan(60);
    expect(around(116, 60)).toBeGreaterThan(60);
    expect(around(80, 60)).toBeLessThan(30);
    // The ball's outline is there in what is drawn after it.
    const control = { image: base, module, mode: 2 as const };
    const followed = await pixelsOf(await made('白天 云', { ...size, control }));
    const changed = (x: number, y: number) =>
      Math.max(
        ...[-3, -2, -1, 0, 1, 2, 3].map((off) =>
          Math.abs(followed[(y * 160 + x + off) * 3]! - free[(y * 160 + x + off) * 3]!),
        ),
      );
    expect(changed(44, 60)).toBeGreaterThan(40);
    expect(changed(116, 60)).toBeGreaterThan(40);
  }
  await detected(base, 'tile');
  await expect(detected(base, 'openpose')).rejects.toMatchObject({ codeName: 'job_unsuitable' });
  await expect(detected(Buffer.from('no image'), 'canny')).rejects.toMatchObject({
    codeName: 'upload_unreadable',
  });
});

test('a image is described by what can be measured in it, in two languages', async () => {
  const image = await sharp({
    create: { width: 200, height: 300, channels: 3, background: '#0a1a4a' },
  })
    .composite([{ input: await ball('#0a1a4a', '#0a1a4a'), left: 20, top: 90 }])
    .png()
    .toBuffer();
  const described = await workOn({ kind: 'interrogate', image }, quiet);
  if (described.kind !== 'described') throw new Error(described.kind);
  const { text, chinese } = described;
  for (const part of [
    'portrait format 2:3',
    'dark',
    'dark blue',
    'red',
    'centered subject',
    'symmetrical',
  ])
    expect(text).toContain(part);
  for (const part of ['竖幅 2:3', '昏暗', '深蓝色', '红色', '主体居中', '左右对称'])
    expect(chinese).toContain(part);
});

test('what it cannot do is refused, not pretended', async () => {
  await expect(made('山', { task: 'action' })).rejects.toMatchObject({
    codeName: 'job_unsuitable',
  });
  await expect(made('山', { task: 'upscale' })).rejects.toMatchObject({
    codeName: 'job_unsuitable',
  });
});
