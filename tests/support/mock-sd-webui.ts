import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  bodyOf,
  listen,
  paint,
  reply,
  sizeOf,
  truncated,
  type FakeService,
} from './fake-service.ts';

/** How it does its work, well or badly. */
export type SdScenario =
  | 'normal'
  /** The grid of all before the pictures, and what the controlnet saw behind them. */
  | 'with-extras'
  | 'fewer'
  | 'none'
  /** Text where a picture should be; half a picture. */
  | 'wrong-type'
  | 'truncated'
  | 'html'
  | '500'
  | '422'
  | 'cut'
  /** Its progress falls now and then. */
  | 'backwards'
  /** It never gets done unless it is interrupted. */
  | 'endless';

export interface MockSdWebui extends FakeService {
  scenario: SdScenario;
  /** How long a picture takes, ms. */
  pictureMs: number;
  /** An old version: progress of everything alone, by nobody's number. */
  old: boolean;
  /** Somebody at the service's own pages is working there. */
  foreignTask: string | null;
  /** What came, by path. */
  asked: { path: string; body: Record<string, unknown> }[];
  /** What was wrong with what came; empty when all was well. */
  faults: string[];
  interrupts: number;
  /** Calls with a wrong name or password. */
  strangers: number;
  running: number;
}

const checkpoint = 'dreamshaper_8.safetensors [879db523c3]';
const samplers = ['Euler', 'DPM++ 2M'];
const usualUpscalers = ['None', 'Lanczos', 'R-ESRGAN 4x+', '4x-UltraSharp'];
const controlModel = 'control_v11p_sd15_canny [d14c016b]';

export const startMockSdWebui = async (
  options: {
    auth?: string;
    controlnet?: boolean;
    rembg?: boolean;
    upscalers?: readonly string[];
  } = {},
): Promise<MockSdWebui> => {
  const upscalers = options.upscalers ?? usualUpscalers;
  let task = { id: '', from: 0, ms: 1, interrupted: false };
  const ended = new Set<string>();

  const mock: Omit<MockSdWebui, 'url' | 'close'> = {
    scenario: 'normal',
    pictureMs: 20,
    old: false,
    foreignTask: null,
    asked: [],
    faults: [],
    interrupts: 0,
    strangers: 0,
    running: 0,
  };

  const whole = (body: Record<string, unknown>, name: string, min: number, max: number) => {
    const value = body[name];
    if (!Number.isInteger(value) || Number(value) < min || Number(value) > max)
      mock.faults.push(`${name} = ${JSON.stringify(value)}`);
    return Number(value);
  };
  const oneOf = (name: string, value: unknown, list: readonly string[]) => {
    if (typeof value !== 'string' || !list.includes(value))
      mock.faults.push(`${name} = ${JSON.stringify(value)}`);
  };

  /** As the API's description of its fields has them. */
  const check = async (body: Record<string, unknown>, fromPicture: boolean): Promise<void> => {
    for (const name of ['prompt', 'negative_prompt'])
      if (typeof body[name] !== 'string') mock.faults.push(`${name} is no text`);
    const width = whole(body, 'width', 64, 2048);
    const height = whole(body, 'height', 64, 2048);
    if (width % 8 !== 0 || height % 8 !== 0) mock.faults.push('the size is no multiple of 8');
    whole(body, 'steps', 1, 150);
    whole(body, 'n_iter', 1, 100);
    whole(body, 'batch_size', 1, 8);
    whole(body, 'seed', -1, 4_294_967_295);
    const cfg = Number(body['cfg_scale']);
    if (!(cfg >= 1 && cfg <= 30)) mock.faults.push(`cfg_scale = ${cfg}`);
    if (body['sampler_name'] !== undefined) oneOf('sampler_name', body['sampler_name'], samplers);
    if (body['styles'] !== undefined && !Array.isArray(body['styles']))
      mock.faults.push('styles are no list');
    const override = body['override_settings'] as Record<string, unknown> | undefined;
    if (override) oneOf('sd_model_checkpoint', override['sd_model_checkpoint'], [checkpoint]);
    if (fromPicture) {
      const [first] = (body['init_images'] ?? []) as unknown[];
      const size = await sizeOf(first);
      if (!size) mock.faults.push('init_images has no picture');
      const strength = Number(body['denoising_strength']);
      if (!(strength > 0 && strength <= 1)) mock.faults.push(`denoising_strength = ${strength}`);
      whole(body, 'resize_mode', 0, 3);
      if (body['mask'] !== undefined) {
        const mask = await sizeOf(body['mask']);
        if (mask?.width !== size?.width || mask?.height !== size?.height)
          mock.faults.push('the mask is not as large as the picture');
        whole(body, 'inpainting_fill', 0, 3);
      }
    }
    const scripts = body['alwayson_scripts'] as
      | { controlnet?: { args?: Record<string, unknown>[] } }
      | undefined;
    for (const unit of scripts?.controlnet?.args ?? []) {
      if (!(await sizeOf(unit['image']))) mock.faults.push('the unit has no picture');
      oneOf('module', unit['module'], ['none', 'canny']);
      oneOf('model', unit['model'], [controlModel]);
      whole(unit, 'control_mode', 0, 2);
      whole(unit, 'resize_mode', 0, 2);
    }
  };

  const fractionNow = (): number => {
    if (mock.scenario === 'endless') return 0.5;
    const fraction = Math.min(0.99, (Date.now() - task.from) / task.ms);
    return mock.scenario === 'backwards' && Math.floor(fraction * 10) % 2 === 1
      ? fraction / 3
      : fraction;
  };

  const make = async (body: Record<string, unknown>, response: ServerResponse): Promise<void> => {
    const n = Number(body['n_iter']);
    const id = typeof body['force_task_id'] === 'string' ? body['force_task_id'] : 'task(own)';
    task = { id, from: Date.now(), ms: mock.pictureMs * n, interrupted: false };
    mock.running += 1;
    const own = task;
    const { scenario } = mock;
    try {
      const ms = scenario === 'endless' ? Infinity : own.ms;
      while (!own.interrupted && Date.now() - own.from < ms) await sleep(5);
    } finally {
      mock.running -= 1;
      ended.add(id);
      if (task === own) task = { id: '', from: 0, ms: 1, interrupted: false };
    }
    const [width, height] = [Number(body['width']), Number(body['height'])];
    const seed = Number(body['seed']) === -1 ? 1234 : Number(body['seed']);
    const images: string[] = [];
    for (let at = 0; at < n; at += 1)
      images.push((await paint(width, height, '#3366cc')).toString('base64'));
    let first = 0;
    if (scenario === 'with-extras') {
      images.unshift((await paint(width * 2, height, '#000000')).toString('base64'));
      images.push((await paint(width, height, '#ffffff')).toString('base64'));
      first = 1;
    }
    if (scenario === 'fewer') images.pop();
    if (scenario === 'none') images.length = 0;
    if (scenario === 'wrong-type') images[0] = Buffer.from('<html>no</html>').toString('base64');
    if (scenario === 'truncated') images[0] = (await truncated(width, height)).toString('base64');
    if (scenario === 'cut') {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"images": ["');
      await sleep(20);
      response.destroy();
      return;
    }
    reply(response, 200, {
      images,
      parameters: body,
      info: JSON.stringify({
        all_seeds: images.map((_, at) => seed + at),
        index_of_first_image: first,
      }),
    });
  };

  const lists: Record<string, unknown> = {
    '/sdapi/v1/sd-models': [
      {
        title: checkpoint,
        model_name: 'dreamshaper_8',
        hash: '879db523c3',
        filename: '/models/dreamshaper_8.safetensors',
      },
    ],
    '/sdapi/v1/options': { sd_model_checkpoint: checkpoint, samples_format: 'png' },
    '/sdapi/v1/loras': [{ name: 'ink', alias: '水墨', path: '/l/ink.safetensors', metadata: {} }],
    '/sdapi/v1/prompt-styles': [{ name: 'None' }, { name: 'cinematic', prompt: 'film' }],
    '/sdapi/v1/samplers': samplers.map((name) => ({ name, aliases: [], options: {} })),
    '/sdapi/v1/upscalers': upscalers.map((name) => ({ name, scale: 4 })),
    ...(options.controlnet
      ? {
          '/controlnet/control_types': {
            control_types: {
              All: { module_list: ['none', 'canny', 'depth'], model_list: ['None', controlModel] },
              Canny: {
                module_list: ['none', 'canny'],
                model_list: ['None', controlModel],
                default_option: 'canny',
                default_model: controlModel,
              },
            },
          },
        }
      : {}),
  };

  const service = await listen(async (request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const raw = await bodyOf(request);
    const body = (raw.length > 0 ? JSON.parse(raw.toString('utf8')) : {}) as Record<
      string,
      unknown
    >;
    if (options.auth !== undefined) {
      const expected = `Basic ${Buffer.from(options.auth).toString('base64')}`;
      if (request.headers.authorization !== expected) {
        mock.strangers += 1;
        response.writeHead(401, { 'www-authenticate': 'Basic' });
        response.end('{"detail":"Incorrect username or password"}');
        return;
      }
    }
    if (request.method === 'POST') mock.asked.push({ path, body });
    if (path in lists) return reply(response, 200, lists[path]);
    const preview = (await paint(64, 64, '#224466')).toString('base64');
    switch (path) {
      case '/internal/progress': {
        if (mock.old) return reply(response, 404, { detail: 'Not Found' });
        const active = body['id_task'] === task.id && task.id !== '';
        return reply(response, 200, {
          active,
          queued: false,
          completed: ended.has(String(body['id_task'])),
          progress: active ? fractionNow() : null,
          eta: null,
          live_preview: active ? `data:image/png;base64,${preview}` : null,
          id_live_preview: 1,
          textinfo: '',
        });
      }
      case '/sdapi/v1/progress':
        return reply(response, 200, {
          progress: mock.foreignTask !== null ? 0.9 : task.id === '' ? 0 : fractionNow(),
          eta_relative: 1,
          state: { job_count: task.id === '' ? 0 : 1 },
          current_image: task.id === '' && mock.foreignTask === null ? null : preview,
          textinfo: null,
          ...(mock.foreignTask === null ? {} : { current_task: mock.foreignTask }),
        });
      case '/sdapi/v1/interrupt':
        mock.interrupts += 1;
        task.interrupted = true;
        return reply(response, 200, {});
      case '/rembg':
        if (!options.rembg) break;
        if (request.method !== 'POST')
          return reply(response, 405, { detail: 'Method Not Allowed' });
        if (!(await sizeOf(body['input_image']))) mock.faults.push('rembg got no picture');
        oneOf('model', body['model'], ['u2net', 'isnet-general-use']);
        return reply(response, 200, { image: body['input_image'] });
      case '/controlnet/detect': {
        if (!options.controlnet) break;
        const [image] = (body['controlnet_input_images'] ?? []) as unknown[];
        if (!(await sizeOf(image))) mock.faults.push('detect got no picture');
        oneOf('controlnet_module', body['controlnet_module'], ['canny', 'depth']);
        return reply(response, 200, { images: [preview], info: 'Success' });
      }
      case '/sdapi/v1/interrogate':
        if (!(await sizeOf(body['image']))) mock.faults.push('interrogate got no picture');
        oneOf('model', body['model'], ['clip', 'deepdanbooru']);
        return reply(response, 200, {
          caption: body['model'] === 'clip' ? 'a blue square' : 'square, blue',
        });
      case '/sdapi/v1/extra-single-image': {
        const size = await sizeOf(body['image']);
        if (!size) mock.faults.push('upscale got no picture');
        oneOf('upscaler_1', body['upscaler_1'], upscalers);
        const times = whole(body, 'upscaling_resize', 1, 8);
        const big = await paint((size?.width ?? 1) * times, (size?.height ?? 1) * times, '#3366cc');
        return reply(response, 200, { html_info: '', image: big.toString('base64') });
      }
      case '/sdapi/v1/txt2img':
      case '/sdapi/v1/img2img':
        if (mock.scenario === '500') return reply(response, 500, { error: 'OutOfMemoryError' });
        if (mock.scenario === '422') return reply(response, 422, { detail: [] });
        if (mock.scenario === 'html') {
          response.writeHead(200, { 'content-type': 'text/html' });
          response.end('<html>busy</html>');
          return undefined;
        }
        await check(body, path.endsWith('img2img'));
        return make(body, response);
      default:
    }
    return reply(response, 404, { detail: 'Not Found' });
  });
  return Object.assign(mock, service);
};
