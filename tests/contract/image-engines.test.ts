import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  type ImageEngine,
  ImageEngineError,
  type ImageIo,
  type ImageOrder,
  type ImageResult,
} from '#server/engines/image-engine.ts';
import type { ImageParameters } from '#contract/image.ts';
import { createMidjourneyEngine } from '#server/engines/midjourney/midjourney-engine.ts';
import { createOpenAiImageEngine } from '#server/engines/openai-compatible/openai-image-engine.ts';
import { createStableDiffusionEngine } from '#server/engines/stable-diffusion-webui/stable-diffusion-engine.ts';
import { createGuardedFetch } from '#server/net/guarded-fetch.ts';
import { imageOfferOf } from '#server/areas/model/image-models.ts';
import {
  colourOf,
  type FakeService,
  gridColours,
  listen,
  paint,
  replyPicture,
} from '../support/fake-service.ts';
import { type MockMidjourney, startMockMidjourney } from '../support/mock-midjourney.ts';
import { type MockOpenAiImages, startMockOpenAiImages } from '../support/mock-openai-images.ts';
import { type MockSdWebui, startMockSdWebui } from '../support/mock-sd-webui.ts';

/** The engines of images against services that speak their protocols, well and badly. */

const fetch = createGuardedFetch();

/** A machine of the house that no service may have asked. */
let inHouse: FakeService & { asked: number };
beforeAll(async () => {
  const service = await listen(async (_, response) => {
    inHouse.asked += 1;
    replyPicture(response, await paint(8, 8, '#000000'));
  });
  inHouse = Object.assign(service, { asked: 0 });
});
afterAll(async () => {
  expect(inHouse.asked).toBe(0);
  await inHouse.close();
});

const order = (more: Partial<ImageOrder> = {}): ImageOrder => ({
  task: 'generate',
  model: 'any',
  prompt: 'a magpie on a bridge',
  n: 2,
  width: 512,
  height: 512,
  parameters: {},
  base: null,
  strength: 75,
  resizeMode: 1,
  control: null,
  references: { character: [], style: [] },
  blend: [],
  background: null,
  remote: null,
  ...more,
});

interface Watched extends ImageIo {
  fractions: number[];
  previews: Buffer[];
  remembered: unknown[];
}

const watch = (more: Partial<ImageIo> = {}): Watched => {
  const io: Watched = {
    fractions: [],
    previews: [],
    remembered: [],
    signal: AbortSignal.timeout(20_000),
    stopped: new AbortController().signal,
    sent: () => () => {},
    progress: (fraction, preview) => {
      io.fractions.push(fraction);
      if (preview) io.previews.push(preview);
    },
    remember: (remote) => {
      io.remembered.push(remote);
      return Promise.resolve();
    },
    resume: null,
    ...more,
  };
  return io;
};

/** What the engine told of its progress made sense. */
const expectRising = ({ fractions }: Watched): void => {
  for (const [at, fraction] of fractions.entries()) {
    expect(fraction).toBeGreaterThanOrEqual(at === 0 ? 0 : (fractions[at - 1] ?? 0));
    expect(fraction).toBeLessThanOrEqual(1);
  }
};

const failureOf = async (work: Promise<unknown>): Promise<ImageEngineError> => {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ImageEngineError);
  return error as ImageEngineError;
};

const delivered = ({ images }: ImageResult): boolean[] => images.map(({ data }) => data !== null);

describe('stable-diffusion-webui', () => {
  let mock: MockSdWebui;
  let engine: ImageEngine;
  beforeAll(async () => {
    mock = await startMockSdWebui({ auth: 'me:secret:2', controlnet: true, rembg: true });
    engine = createStableDiffusionEngine({ baseUrl: mock.url, auth: 'me:secret:2', pollMs: 10 });
  });
  afterEach(() => {
    expect(mock.faults).toEqual([]);
    Object.assign(mock, { scenario: 'normal', old: false, foreignTask: null, pictureMs: 20 });
    mock.asked.length = 0;
    mock.interrupts = 0;
  });
  afterAll(() => mock.close());

  test('tells what it has', async () => {
    expect(engine.abilities).not.toContain('controlnet');
    const choices = await engine.choices(AbortSignal.timeout(5000));
    expect(choices).toEqual({
      checkpoints: [{ name: 'dreamshaper_8.safetensors [879db523c3]', label: 'dreamshaper_8' }],
      defaultCheckpoint: 'dreamshaper_8.safetensors [879db523c3]',
      loras: [{ key: 'ink', label: '水墨' }],
      styles: [{ name: 'cinematic', label: 'cinematic' }],
      samplers: ['Euler', 'DPM++ 2M'],
      upscalers: ['Lanczos', 'R-ESRGAN 4x+', '4x-UltraSharp'],
      controlTypes: [
        {
          type: 'Canny',
          label: '硬边缘',
          modules: ['canny'],
          models: ['control_v11p_sd15_canny [d14c016b]'],
        },
      ],
    });
    expect(engine.abilities).toEqual(
      expect.arrayContaining(['controlnet', 'remove-background', 'edit-background', 'lora']),
    );
    expect(engine.concurrency).toBe(1);
  });

  test('makes pictures from words, with true progress, previews and seeds', async () => {
    mock.pictureMs = 60;
    const io = watch();
    const { images } = await engine.run(
      order({
        prompt: 'a magpie <lora:ink:0.7>',
        width: 1000,
        height: 573,
        parameters: {
          negative_prompt: 'blur',
          seed: 77,
          steps: 30,
          cfg_scale: 9,
          sampler: 'DPM++ 2M',
          style: 'cinematic',
          checkpoint: 'dreamshaper_8.safetensors [879db523c3]',
          lora: [
            { key: 'ink', weight: 70 },
            { key: 'snow', weight: 50 },
          ],
        },
      }),
      io,
    );
    expect(images.map(({ seed, error }) => ({ seed, error }))).toEqual([
      { seed: 77, error: '' },
      { seed: 78, error: '' },
    ]);
    expect(await sharp(images[0]?.data ?? undefined).metadata()).toMatchObject({
      width: 1000,
      height: 576,
    });
    expect(mock.asked.find(({ path }) => path.endsWith('txt2img'))?.body).toMatchObject({
      prompt: 'a magpie <lora:ink:0.7> <lora:snow:0.5>',
      negative_prompt: 'blur',
      seed: 77,
      steps: 30,
      cfg_scale: 9,
      sampler_name: 'DPM++ 2M',
      styles: ['cinematic'],
      n_iter: 2,
      override_settings: { sd_model_checkpoint: 'dreamshaper_8.safetensors [879db523c3]' },
    });
    expectRising(io);
    expect(io.fractions.length).toBeGreaterThan(2);
    expect(io.previews.length).toBeGreaterThan(0);
  });

  test('makes pictures from a picture, guided by edges', async () => {
    const base = await paint(300, 200, '#aa5500');
    const control = { image: base, module: 'canny', model: '', mode: 2 as const };
    const { images } = await engine.run(
      order({ n: 1, base, strength: 40, resizeMode: 2, control }),
      watch(),
    );
    expect(images).toHaveLength(1);
    expect(mock.asked.find(({ path }) => path.endsWith('img2img'))?.body).toMatchObject({
      denoising_strength: 0.4,
      resize_mode: 2,
      alwayson_scripts: {
        controlnet: {
          args: [{ module: 'canny', model: 'control_v11p_sd15_canny [d14c016b]', control_mode: 2 }],
        },
      },
    });
    // The kind alone will do.
    const kind = { ...control, module: 'Canny' };
    await engine.run(order({ n: 1, control: kind }), watch());
    const unknown = { ...control, module: 'openpose' };
    const error = await failureOf(engine.run(order({ control: unknown }), watch()));
    expect(error).toMatchObject({ codeName: 'job_unsuitable', askerAtFault: true });
  });

  test('draws a part anew, and nothing but the part', async () => {
    const base = await paint(300, 200, '#aa5500');
    /** How white the mask is at a place, 0 to 255, that the service gets for an edit. */
    const maskOf = async (parameters: ImageParameters) => {
      await engine.run(
        order({ task: 'edit', n: 1, base, width: 300, height: 200, parameters }),
        watch(),
      );
      const asked = mock.asked.findLast(({ path }) => path.endsWith('img2img'));
      const white = await sharp(Buffer.from(String(asked?.body['mask']), 'base64'))
        .extractChannel(0)
        .raw()
        .toBuffer();
      return (x: number, y: number) => white[y * 300 + x];
    };
    const at = await maskOf({ mask: { left: 100, top: 50, width: 5000, height: 50 } });
    expect([at(99, 60), at(100, 49), at(150, 101)]).toEqual([0, 0, 0]);
    expect([at(100, 50), at(299, 99)]).toEqual([255, 255]);
    // Of a part that was painted over, what the brush went over: a line, and a dot.
    const brush = [
      { size: 20, points: [110, 60, 180, 60] },
      { size: 10, points: [250, 90] },
    ];
    const part = { left: 100, top: 50, width: 160, height: 50 };
    const there = await maskOf({ mask: part, brush });
    expect([there(110, 60), there(145, 68), there(180, 52), there(250, 90)]).toEqual(
      Array.from({ length: 4 }, () => 255),
    );
    expect([there(145, 72), there(215, 60), there(250, 80), there(0, 0)]).toEqual([0, 0, 0, 0]);
  });

  test('enlarges, cuts out, changes the background, looks and reads', async () => {
    const base = await paint(60, 40, '#aa5500');
    const parameters = { resize: 4 as const, upscaler: '4x-UltraSharp' };
    const large = await engine.run(order({ task: 'upscale', n: 1, base, parameters }), watch());
    expect(await sharp(large.images[0]?.data ?? undefined).metadata()).toMatchObject({
      width: 240,
      height: 160,
    });
    const cut = await engine.run(order({ task: 'remove-background', n: 1, base }), watch());
    expect(delivered(cut)).toEqual([true]);
    const background = await paint(10, 10, '#00ff00');
    const changed = await engine.run(
      order({ task: 'edit-background', n: 1, base, background }),
      watch(),
    );
    expect(delivered(changed)).toEqual([true]);
    const signal = AbortSignal.timeout(5000);
    const edges = await engine.detect({ image: base, module: 'Canny', parameters: {} }, signal);
    expect((await sharp(edges).metadata()).width).toBe(64);
    const read = (model: 'clip' | 'DeepBooru') =>
      engine.interrogate({ image: base, model }, signal);
    expect(await read('clip')).toEqual({ text: 'a blue square', chinese: '' });
    expect(await read('DeepBooru')).toEqual({ text: 'square, blue', chinese: '' });
  });

  test('enlarges and looks by names that the service has, and no others', async () => {
    const plain = await startMockSdWebui({ controlnet: true, upscalers: ['None', 'SwinIR_4x'] });
    const own = createStableDiffusionEngine({ baseUrl: plain.url, auth: '', pollMs: 10 });
    const base = await paint(60, 40, '#aa5500');
    await own.run(order({ task: 'upscale', n: 1, base }), watch());
    const enlarged = plain.asked.find(({ path }) => path.endsWith('extra-single-image'));
    expect(enlarged?.body['upscaler_1']).toBe('SwinIR_4x');
    const parameters = { upscaler: 'R-ESRGAN 4x+' };
    const unknown = own.run(order({ task: 'upscale', n: 1, base, parameters }), watch());
    expect((await failureOf(unknown)).codeName).toBe('job_unsuitable');
    const signal = AbortSignal.timeout(5000);
    const module = own.detect({ image: base, module: 'depth_leres', parameters: {} }, signal);
    expect((await failureOf(module)).codeName).toBe('job_unsuitable');
    // What a page kept from another service does not reach this one.
    const control = { image: base, module: 'canny', model: 'gone [00000000]', mode: 0 as const };
    await own.run(order({ n: 1, control }), watch());
    expect(plain.faults).toEqual([]);
    await plain.close();
  });

  test('is told to stop when nobody wants it any more', async () => {
    mock.scenario = 'endless';
    const stop = new AbortController();
    const io = watch({ signal: stop.signal });
    const work = engine.run(order(), io);
    await expect.poll(() => io.fractions.length).toBeGreaterThan(2);
    expect(Math.max(...io.fractions)).toBeLessThan(0.6);
    stop.abort(new Error('cancelled'));
    await expect(work).rejects.toThrow('cancelled');
    expect(mock.interrupts).toBe(1);
    await expect.poll(() => mock.running).toBe(0);
  });

  test('stops what a worker that died had ordered, and orders anew', async () => {
    mock.scenario = 'endless';
    const gone = new AbortController();
    const before = watch({ signal: gone.signal });
    const lost = engine.run(order(), before).catch(() => undefined);
    await expect.poll(() => before.remembered.length).toBe(1);
    await expect.poll(() => mock.running).toBe(1);
    mock.scenario = 'normal';
    const result = await engine.run(order(), watch({ resume: before.remembered[0] }));
    expect(delivered(result)).toEqual([true, true]);
    expect(mock.interrupts).toBe(1);
    gone.abort(new Error('gone'));
    await lost;
  });

  test('an old version’s common progress will do; somebody else’s is not shown', async () => {
    Object.assign(mock, { old: true, pictureMs: 300 });
    const io = watch();
    await engine.run(order(), io);
    expect(Math.max(...io.fractions)).toBeGreaterThan(0.2);
    mock.foreignTask = 'task(somebody)';
    const blind = watch();
    await engine.run(order(), blind);
    expect(Math.max(0, ...blind.fractions)).toBeLessThan(0.1);
    expect(blind.previews).toEqual([]);
  });

  test('what is too much goes, what is missing or broken says so, picture by picture', async () => {
    mock.scenario = 'with-extras';
    const extras = await engine.run(order(), watch());
    expect(delivered(extras)).toEqual([true, true]);
    expect(await colourOf(extras.images[1]?.data ?? Buffer.alloc(0))).toBe('#3366cc');
    mock.scenario = 'fewer';
    expect(delivered(await engine.run(order(), watch()))).toEqual([true, false]);
    for (const scenario of ['wrong-type', 'truncated'] as const) {
      mock.scenario = scenario;
      const result = await engine.run(order(), watch());
      expect(delivered(result), scenario).toEqual([false, true]);
      expect(result.images[0]?.error).not.toBe('');
    }
    mock.scenario = 'backwards';
    mock.pictureMs = 100;
    const io = watch();
    await engine.run(order(), io);
    expectRising(io);
  });

  test('failures say whose fault they are', async () => {
    const faults = { '500': false, none: false, html: false, cut: false, '422': true } as const;
    for (const [scenario, askerAtFault] of Object.entries(faults)) {
      mock.scenario = scenario as keyof typeof faults;
      const error = await failureOf(engine.run(order(), watch()));
      expect(error, scenario).toMatchObject({
        codeName: 'engine_failed',
        askerAtFault,
        retriable: !askerAtFault,
      });
      expect(error.message).toMatch(/没有扣费/);
    }
    const stranger = createStableDiffusionEngine({ baseUrl: mock.url, auth: 'me:wrong' });
    expect((await failureOf(stranger.run(order(), watch()))).message).toContain('密钥');
    await failureOf(stranger.choices(AbortSignal.timeout(2000)));
    const absent = createStableDiffusionEngine({ baseUrl: 'http://127.0.0.1:9', auth: '' });
    expect(await failureOf(absent.run(order(), watch()))).toMatchObject({ retriable: true });
  });
});

describe.each([{ plus: true }, { plus: false }])('a Midjourney proxy, plus: $plus', ({ plus }) => {
  let mock: MockMidjourney;
  let engine: ImageEngine;
  beforeAll(async () => {
    mock = await startMockMidjourney({ secret: 's3cret', plus, elsewhere: inHouse.url });
    engine = createMidjourneyEngine({
      baseUrl: mock.url,
      secret: 's3cret',
      fetch,
      pollMs: { first: 5, longest: 10 },
    });
  });
  afterEach(() => {
    expect(mock.faults).toEqual([]);
    mock.scenario = 'normal';
    mock.asked.length = 0;
    mock.cancels = 0;
  });
  afterAll(() => mock.close());

  const imagine = (io: ImageIo = watch(), more: Partial<ImageOrder> = {}) =>
    engine.run(order({ n: 4, ...more }), io);

  test('the grid becomes four pictures, with buttons for what can be done', async () => {
    const io = watch();
    const result = await imagine(io);
    const colours = [];
    for (const { data } of result.images) colours.push(await colourOf(data ?? Buffer.alloc(0)));
    expect(colours).toEqual([...gridColours]);
    expect(await sharp(result.images[3]?.data ?? undefined).metadata()).toMatchObject({
      width: 96,
      height: 96,
    });
    const four = (what: string) => [1, 2, 3, 4].map((at) => `${what} ${at}`);
    expect(result.actions.map(({ label }) => label)).toEqual([
      ...four('放大'),
      ...four('变体'),
      '再来四张',
    ]);
    expect(result.revisedPrompt).toBe('a magpie on a bridge (en)');
    expectRising(io);
    expect(io.previews).toHaveLength(1);
  });

  test('one of them is made large, and others are made like it', async () => {
    const grid = await imagine();
    const press = async (label: string, of = grid) => {
      const action = of.actions.find((each) => each.label === label);
      expect(action, label).toBeDefined();
      return engine.run(
        order({ task: 'action', parameters: { action }, remote: of.remote }),
        watch(),
      );
    };
    const large = await press('放大 2');
    expect(delivered(large)).toEqual([true]);
    expect(mock.asked.at(-1)?.path).toBe(plus ? '/mj/submit/action' : '/mj/submit/change');
    expect(delivered(await press('变体 3'))).toHaveLength(2);
    if (!plus) return;
    // What makes no picture is no button here; what asks for more says so.
    expect(large.actions.map(({ label, asks }) => [label, asks].join(' ').trim())).toEqual([
      '放大（忠于原图）',
      '强烈变化',
      '局部重绘 region',
      '扩图 2 倍',
      '自定扩图 zoom',
      '向左扩展',
    ]);
    expect(large.actions[1]?.emoji).toBe('🪄');
    expect(delivered(await press('扩图 2 倍', large))).toHaveLength(2);
    const gone = engine.run(order({ task: 'action', parameters: {}, remote: null }), watch());
    expect(await failureOf(gone)).toMatchObject({ codeName: 'job_unsuitable' });
  });

  test.skipIf(!plus)(
    'a region is drawn anew by its words and mask; a view draws back as far as it is told',
    async () => {
      const large = await engine.run(
        order({
          task: 'action',
          parameters: { action: (await imagine()).actions[0] },
          remote: { task: [...mock.tasks.keys()].at(-1) },
        }),
        watch(),
      );
      const press = (asks: 'region' | 'zoom', parameters: ImageParameters, io = watch()) => {
        const action = large.actions.find((each) => each.asks === asks);
        return engine.run(
          order({
            task: 'action',
            prompt: 'a red lantern --v 6',
            width: 200,
            height: 100,
            parameters: { ...parameters, action },
            remote: large.remote,
          }),
          io,
        );
      };
      const mask = { left: 20, top: 10, width: 5000, height: 30 };
      const io = watch();
      expect(delivered(await press('region', { mask }, io))).toHaveLength(2);
      expect(io.remembered).toMatchObject([{ confirmed: true }]);
      const told = mock.asked.at(-1);
      expect(told).toMatchObject({
        path: '/mj/submit/modal',
        body: {
          prompt: 'a red lantern --v 6',
          maskBase64: expect.stringMatching(/^data:image\/png/),
        },
      });
      const png = Buffer.from(String(told?.body['maskBase64']).split(',')[1] ?? '', 'base64');
      const { data, info } = await sharp(png)
        .greyscale()
        .raw()
        .toBuffer({ resolveWithObject: true });
      expect(info).toMatchObject({ width: 200, height: 100 });
      const at = (x: number, y: number) => data[(y * 200 + x) * info.channels];
      expect([at(19, 20), at(100, 9), at(100, 40)]).toEqual([0, 0, 0]);
      expect([at(20, 10), at(199, 39)]).toEqual([255, 255]);
      expect(await failureOf(press('region', {}))).toMatchObject({ codeName: 'job_unsuitable' });

      expect(delivered(await press('zoom', { zoom: 135 }))).toHaveLength(2);
      expect(mock.asked.at(-1)?.body['prompt']).toBe('a red lantern --v 6 --zoom 1.35');
    },
  );

  test('takes a base picture and references as it can', async () => {
    const base = await paint(64, 64, '#112233');
    await imagine(watch(), { base, strength: 80, prompt: 'x --ar 16:9 --no fog' });
    expect(mock.asked.at(-1)?.body).toMatchObject({
      prompt: 'x --ar 16:9 --no fog --iw 0.40',
      base64Array: [expect.stringMatching(/^data:image\/png;base64,/)],
    });
    await imagine(watch(), { base, strength: 50 });
    expect(mock.asked.at(-1)?.body['prompt']).toBe('a magpie on a bridge');
    const shown = (name: string) => ({ data: base, address: `https://images.test/${name}.png` });
    const references = { character: [shown('a')], style: [shown('b'), shown('c')] };
    await imagine(watch(), { references });
    if (plus) {
      const at = (number: number) => `https://cdn.discordapp.com/attachments/1/2/${number}.png`;
      expect(mock.asked.at(-1)?.body['prompt']).toBe(
        `a magpie on a bridge --cref ${at(0)} --sref ${at(1)} ${at(2)}`,
      );
    } else {
      // It takes none itself: Midjourney fetches them where they lie, if it can.
      const at = (name: string) => `https://images.test/${name}.png`;
      expect(mock.asked.at(-1)?.body['prompt']).toBe(
        `a magpie on a bridge --cref ${at('a')} --sref ${at('b')} ${at('c')}`,
      );
      for (const address of ['', 'https://images.test/a.png --v 1', 'file:///etc/passwd']) {
        const hidden = { character: [{ data: base, address }], style: [] };
        const error = await failureOf(imagine(watch(), { references: hidden }));
        expect(error, address).toMatchObject({ codeName: 'job_unsuitable' });
        expect(error.message).toContain('参考图');
      }
    }
  });

  test('makes one of several pictures, with words and without', async () => {
    const blend = [await paint(64, 64, '#112233'), await paint(64, 64, '#332211')];
    const wide = { parameters: { aspect: '16:9' } };
    expect(delivered(await imagine(watch(), { prompt: ' --v 6', blend, ...wide }))).toHaveLength(4);
    expect(mock.asked.at(-1)).toMatchObject({
      path: '/mj/submit/blend',
      body: { dimensions: 'LANDSCAPE' },
    });
    for (const [aspect, dimensions] of [
      ['2:3', 'PORTRAIT'],
      [undefined, 'SQUARE'],
    ] as const) {
      await imagine(watch(), { prompt: '', blend, parameters: aspect ? { aspect } : {} });
      expect(mock.asked.at(-1)?.body).toMatchObject({ dimensions });
    }
    await imagine(watch(), { prompt: 'as one', blend });
    expect(mock.asked.at(-1)).toMatchObject({
      path: '/mj/submit/imagine',
      body: { prompt: 'as one' },
    });
    expect(mock.asked.at(-1)?.body['base64Array']).toHaveLength(2);
  });

  test('tells what is seen in a picture', async () => {
    const base = await paint(64, 64, '#112233');
    const read = await engine.interrogate(
      { image: base, model: 'clip' },
      AbortSignal.timeout(5000),
    );
    expect(read).toEqual({ text: 'a red square', chinese: '红色方块' });
  });

  test('waits in the queue, through broken connections, and confirms what is asked', async () => {
    for (const scenario of ['queued', 'flaky', 'modal', 'backwards'] as const) {
      mock.scenario = scenario;
      const io = watch();
      expect(delivered(await imagine(io)), scenario).toEqual([true, true, true, true]);
      expectRising(io);
      const modal = mock.asked.filter(({ path }) => path.endsWith('/modal'));
      expect(modal).toHaveLength(scenario === 'modal' || scenario === 'backwards' ? 1 : 0);
    }
  });

  test('a worker that takes over goes on asking; a work that is lost is ordered anew', async () => {
    mock.scenario = 'endless';
    const gone = new AbortController();
    const before = watch({ signal: gone.signal });
    const lost = imagine(before).catch(() => undefined);
    await expect.poll(() => before.fractions.length).toBeGreaterThan(1);
    const [remote] = before.remembered;
    for (const task of mock.tasks.values())
      if (task.scenario === 'endless') task.scenario = 'normal';
    const orders = () => mock.asked.filter(({ path }) => path.endsWith('/imagine')).length;
    expect(delivered(await imagine(watch({ resume: remote })))).toHaveLength(4);
    expect(orders()).toBe(1);
    await lost;
    mock.forget();
    mock.scenario = 'normal';
    const anew = watch({ resume: remote });
    expect(delivered(await imagine(anew))).toHaveLength(4);
    expect(orders()).toBe(2);
    expect(anew.remembered).toHaveLength(1);
  });

  test('is told when a work is not wanted any more', async () => {
    mock.scenario = 'endless';
    const stop = new AbortController();
    const io = watch({ signal: stop.signal });
    const work = imagine(io);
    await expect.poll(() => io.fractions.length).toBeGreaterThan(2);
    stop.abort(new Error('cancelled'));
    await expect(work).rejects.toThrow('cancelled');
    expect(mock.cancels).toBe(1);
  });

  test('failures say whose fault they are', async () => {
    const asker = { askerAtFault: true, retriable: false };
    const service = { codeName: 'engine_failed', retriable: true };
    const expected = {
      full: { ...service, against: 'nothing' },
      refused: service,
      html: { ...service, against: 'failed' },
      '429': { ...service, against: 'full' },
      failure: service,
      cancelled: service,
      'no-picture': service,
      'private-picture': service,
      banned: { ...asker, codeName: 'prompt_banned' },
      'banned-later': { ...asker, codeName: 'prompt_banned' },
      'invalid-later': { ...asker, codeName: 'job_unsuitable' },
    } as const;
    for (const [scenario, like] of Object.entries(expected)) {
      mock.scenario = scenario as keyof typeof expected;
      expect(await failureOf(imagine()), scenario).toMatchObject(like);
    }
    mock.scenario = 'wrong-type';
    expect(delivered(await imagine())).toEqual([false]);
    mock.scenario = 'normal';
    const stranger = createMidjourneyEngine({ baseUrl: mock.url, secret: 'x', fetch });
    expect((await failureOf(stranger.run(order(), watch()))).message).toContain('密钥');
    expect(mock.strangers).toBeGreaterThan(0);
  });
});

describe('OpenAI-compatible images', () => {
  let mock: MockOpenAiImages;
  let engine: ImageEngine;
  beforeAll(async () => {
    mock = await startMockOpenAiImages({ apiKey: 'sk-images', elsewhere: inHouse.url });
    engine = createOpenAiImageEngine({
      baseUrl: `${mock.url}/v1`,
      apiKey: 'sk-images',
      fetch,
      imageOf: (name) => imageOfferOf(name)?.image ?? null,
    });
  });
  afterEach(() => {
    expect(mock.faults).toEqual([]);
    mock.scenario = 'normal';
    mock.next.length = 0;
    mock.asked.length = 0;
  });
  afterAll(() => mock.close());

  const run = (model: string, more: Partial<ImageOrder> = {}, io: ImageIo = watch()) =>
    engine.run(order({ model, width: 1024, height: 1024, ...more }), io);

  test('a model that makes one at a time is asked for each, in its own terms', async () => {
    const io = watch();
    const result = await run(
      'dall-e-3',
      { n: 3, width: 1792, parameters: { hd: true, style: 'natural' } },
      io,
    );
    expect(delivered(result)).toEqual([true, true, true]);
    expect(result.revisedPrompt).toBe('a detailed picture of a magpie on a bridge');
    expect(mock.asked).toHaveLength(3);
    expect(mock.asked[0]?.fields).toEqual({
      model: 'dall-e-3',
      prompt: 'a magpie on a bridge',
      n: 1,
      size: '1792x1024',
      response_format: 'b64_json',
      quality: 'hd',
      style: 'natural',
    });
    expectRising(io);
    expect(io.fractions.at(-1)).toBe(1);
  });

  test('others make several at once, in a size that they have', async () => {
    const result = await run('gpt-image-1', { n: 2, width: 1024, height: 768 });
    expect(delivered(result)).toEqual([true, true]);
    expect(mock.asked.map(({ fields }) => fields)).toEqual([
      { model: 'gpt-image-1', prompt: 'a magpie on a bridge', n: 2, size: '1536x1024' },
    ]);
    await run('qwen-image', {
      n: 1,
      parameters: { style: 'shuimo', logo_add: false, revise: true },
    });
    expect(mock.asked[1]?.fields).toMatchObject({
      style: 'shuimo',
      watermark: false,
      prompt_extend: true,
    });
    await run('stable-diffusion-3.5', { n: 1, parameters: { negative_prompt: 'fog', seed: 5 } });
    expect(mock.asked[2]?.fields).toMatchObject({ negative_prompt: 'fog', seed: 5 });
    await run('sd3.5-large', { n: 1, base: await paint(64, 64, '#112233'), strength: 60 });
    expect(mock.asked[3]).toMatchObject({
      path: '/v1/images/generations',
      fields: { image: expect.stringMatching(/^data:image\/png;base64,/), strength: 0.6 },
    });
  });

  test('a part of a picture is drawn anew where the mask has a hole', async () => {
    const base = await paint(400, 300, '#446688');
    const mask = { left: 10, top: 20, width: 30, height: 40 };
    const size = { width: 400, height: 300 };
    await run('gpt-image-1', { task: 'edit', n: 1, base, parameters: { mask }, ...size });
    const [asked] = mock.asked;
    expect(asked?.path).toBe('/v1/images/edits');
    // It lies in the middle of the size that the service makes.
    const holeAt = async (at: number) => {
      const { data, info } = await sharp(mock.asked[at]?.files['mask'])
        .extractChannel('alpha')
        .raw()
        .toBuffer({ resolveWithObject: true });
      expect(`${info.width}x${info.height}`).toBe(mock.asked[at]?.fields['size']);
      const scale = info.height / 300;
      const left = Math.floor((info.width - Math.round(400 * scale)) / 2);
      return (x: number, y: number) =>
        data[Math.round((y + 0.5) * scale) * info.width + left + Math.round((x + 0.5) * scale)];
    };
    const hole = await holeAt(0);
    expect([hole(11, 21), hole(38, 58)]).toEqual([0, 0]);
    expect([hole(0, 0), hole(10, 62), hole(43, 20)]).toEqual([255, 255, 255]);
    const brush = [{ size: 8, points: [14, 40, 36, 40] }];
    await run('gpt-image-1', { task: 'edit', n: 1, base, parameters: { mask, brush }, ...size });
    const painted = await holeAt(1);
    expect([painted(25, 40), painted(25, 30)]).toEqual([0, 255]);
    await run('gpt-image-1', { n: 1, base });
    expect(mock.asked[2]?.files['mask']).toBeUndefined();
    const error = await failureOf(run('dall-e-3', { n: 1, base }));
    expect(error).toMatchObject({ codeName: 'job_unsuitable', askerAtFault: true });
  });

  test('fields that a service refuses are left out, from then on at once', async () => {
    const parameters = { seed: 9, negative_prompt: 'fog' };
    await run('gpt-image-1', { n: 1, parameters });
    expect(mock.asked).toHaveLength(3);
    await run('gpt-image-1', { n: 1, parameters });
    expect(mock.asked).toHaveLength(4);
    await run('picky-image', { n: 1, parameters });
    expect(mock.asked).toHaveLength(6);
  });

  test('addresses are fetched from its own host or the public internet alone', async () => {
    mock.scenario = 'url';
    expect(delivered(await run('gpt-image-1'))).toEqual([true, true]);
    for (const scenario of ['private-url', 'redirecting-url'] as const) {
      mock.scenario = scenario;
      expect(delivered(await run('gpt-image-1')), scenario).toEqual([false, false]);
    }
  });

  test('what is too much goes, what is missing or broken says so, picture by picture', async () => {
    for (const [scenario, expected] of Object.entries({
      more: [true, true],
      fewer: [true, false],
      'wrong-type': [false, true],
      truncated: [false, true],
    })) {
      mock.scenario = scenario as 'more';
      const result = await run('gpt-image-1');
      expect(delivered(result), scenario).toEqual(expected);
    }
    // Of a model that is asked for each, one may fail alone.
    mock.scenario = 'normal';
    mock.next.push('500');
    const partly = await run('dall-e-3', { n: 3 });
    expect(delivered(partly).filter(Boolean)).toHaveLength(2);
    expect(partly.images.find(({ data }) => data === null)?.error).toContain('画图服务');
  });

  test('failures say whose fault they are, and a work that is not wanted is given up', async () => {
    const service = { codeName: 'engine_failed', against: 'failed', retriable: true };
    const expected = {
      policy: { codeName: 'prompt_banned', against: 'nothing', retriable: false },
      'policy-in-200': { codeName: 'prompt_banned', against: 'nothing', retriable: false },
      'error-in-200': service,
      empty: { ...service, against: 'nothing' },
      '401': service,
      '429': { ...service, against: 'full' },
      '500': service,
      quota: service,
      html: service,
      cut: service,
    } as const;
    for (const [scenario, like] of Object.entries(expected)) {
      mock.scenario = scenario as keyof typeof expected;
      for (const model of ['gpt-image-1', 'dall-e-3'])
        expect(await failureOf(run(model)), scenario).toMatchObject(like);
    }
    mock.scenario = 'endless';
    const stop = new AbortController();
    const work = run('gpt-image-1', {}, watch({ signal: stop.signal }));
    await sleep(50);
    stop.abort(new Error('cancelled'));
    await expect(work).rejects.toThrow('cancelled');
    await expect.poll(() => mock.hungUp).toBe(1);
  });
});
