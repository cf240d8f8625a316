import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import {
  bodyOf,
  listen,
  paint,
  reply,
  replyPicture,
  sizeOf,
  truncated,
  type FakeService,
} from './fake-service.ts';

export type OpenAiImagesScenario =
  | 'normal'
  /** Addresses instead of pictures: of its own host, of a private one, of one that leads there. */
  | 'url'
  | 'private-url'
  | 'redirecting-url'
  | 'fewer'
  | 'more'
  | 'wrong-type'
  | 'truncated'
  | 'html'
  | 'policy'
  /** A refusal, and an empty list, in answers of 200. */
  | 'policy-in-200'
  | 'error-in-200'
  | 'empty'
  | '401'
  | '429'
  | '500'
  | 'quota'
  | 'cut'
  /** It takes its time: until the asker hangs up. */
  | 'endless'
  /** The picture comes once the scenario is another one. */
  | 'late';

export interface MockOpenAiImages extends FakeService {
  scenario: OpenAiImagesScenario;
  /** What the next requests get, one each, before the scenario counts. */
  next: OpenAiImagesScenario[];
  asked: { path: string; fields: Record<string, unknown>; files: Record<string, Buffer> }[];
  faults: string[];
  /** Requests that the asker gave up. */
  hungUp: number;
  /** GET /v1/models. */
  models: string[];
}

const sizes: Record<string, readonly string[]> = {
  'dall-e-3': ['1024x1024', '1792x1024', '1024x1792'],
  'dall-e-2': ['256x256', '512x512', '1024x1024'],
  'gpt-image-1': ['1024x1024', '1536x1024', '1024x1536', 'auto'],
};
const error = (code: string | null, type: string, param: string | null = null) => ({
  error: { message: 'no', type, param, code },
});

/** A service that speaks OpenAI's images: generations and edits, as strict as OpenAI's own. */
export const startMockOpenAiImages = async (
  options: { apiKey?: string; elsewhere?: string } = {},
): Promise<MockOpenAiImages> => {
  const mock: Omit<MockOpenAiImages, 'url' | 'close'> = {
    scenario: 'normal',
    next: [],
    asked: [],
    faults: [],
    hungUp: 0,
    models: ['gpt-4o-mini', 'dall-e-3', 'gpt-image-1', 'qwen-image', 'text-embedding-3-small'],
  };

  /** The answer to fields that the model does not take; null: it takes them. */
  const refusal = (fields: Record<string, unknown>): unknown => {
    const model = String(fields['model']);
    const bad = (param: string) => error('invalid_value', 'invalid_request_error', param);
    const n = Number(fields['n']);
    if (typeof fields['prompt'] !== 'string') return bad('prompt');
    if (!Number.isInteger(n) || n < 1 || n > 10) return bad('n');
    if (model === 'dall-e-3' && n !== 1) return bad('n');
    const known = sizes[model];
    if (known && !known.includes(String(fields['size']))) return bad('size');
    if (model === 'gpt-image-1') {
      for (const name of ['response_format', 'style', 'seed', 'negative_prompt'])
        if (name in fields) return error('unknown_parameter', 'invalid_request_error', name);
      if ('quality' in fields && !['low', 'medium', 'high'].includes(String(fields['quality'])))
        return bad('quality');
    }
    const { quality = 'standard', style = 'vivid' } = fields;
    if (model === 'dall-e-3') {
      if (quality !== 'hd' && quality !== 'standard') return bad('quality');
      if (style !== 'vivid' && style !== 'natural') return bad('style');
    }
    // A service that says no without saying to what.
    if (model === 'picky-image' && 'seed' in fields) return { code: 20_015, message: 'invalid' };
    return null;
  };

  const service = await listen(async (request, response) => {
    const path = request.url ?? '';
    const raw = await bodyOf(request);
    if (path === '/files/elsewhere.png') {
      response.writeHead(302, { location: `${options.elsewhere}/secret.png` });
      response.end();
      return undefined;
    }
    if (path.startsWith('/files/')) return replyPicture(response, await paint(64, 64, '#884422'));
    if (
      options.apiKey !== undefined &&
      request.headers.authorization !== `Bearer ${options.apiKey}`
    )
      return reply(response, 401, error('invalid_api_key', 'invalid_request_error'));
    if (path === '/v1/models')
      return reply(response, 200, { data: mock.models.map((id) => ({ id, object: 'model' })) });
    if (path === '/v1/chat/completions') {
      // It translates, and has one answer.
      const said = { choices: [{ index: 0, delta: { content: '蓝色方块' } }] };
      const end = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(
        `data: ${JSON.stringify(said)}\n\ndata: ${JSON.stringify(end)}\n\ndata: [DONE]\n\n`,
      );
      return undefined;
    }
    const scenario = mock.next.shift() ?? mock.scenario;
    const fields: Record<string, unknown> = {};
    const files: Record<string, Buffer> = {};
    if (path === '/v1/images/generations') Object.assign(fields, JSON.parse(raw.toString('utf8')));
    else if (path === '/v1/images/edits') {
      const type = request.headers['content-type'] ?? '';
      const form = await new Response(new Uint8Array(raw), {
        headers: { 'content-type': type },
      }).formData();
      for (const [name, value] of form)
        if (typeof value === 'string') fields[name] = value;
        else files[name] = Buffer.from(await value.arrayBuffer());
      const image = await sizeOf(files['image']?.toString('base64'));
      if (!image) mock.faults.push('edits without a picture');
      if (files['mask']) {
        const { width, height, hasAlpha } = await sharp(files['mask']).metadata();
        if (width !== image?.width || height !== image.height || !hasAlpha)
          mock.faults.push('the mask does not fit the picture');
      }
    } else return reply(response, 404, error(null, 'invalid_request_error'));
    mock.asked.push({ path, fields, files });
    const no = refusal(fields);
    if (no !== null) return reply(response, 400, no);
    const [width = 64, height = 64] = String(fields['size']).split('x').map(Number);
    let n = Number(fields['n']);
    switch (scenario) {
      case 'policy':
        return reply(response, 400, error('content_policy_violation', 'invalid_request_error'));
      case 'policy-in-200':
        return reply(response, 200, { code: 'DataInspectionFailed', message: 'no' });
      case 'error-in-200':
        return reply(response, 200, error('server_error', 'server_error'));
      case 'empty':
        return reply(response, 200, { created: 1, data: [] });
      case '401':
        return reply(response, 401, error('invalid_api_key', 'invalid_request_error'));
      case '429':
        return reply(response, 429, error('rate_limit_exceeded', 'requests'));
      case '500':
        return reply(response, 500, error(null, 'server_error'));
      case 'quota':
        return reply(response, 429, error('insufficient_quota', 'insufficient_quota'));
      case 'html':
        response.writeHead(200, { 'content-type': 'text/html' });
        response.end('<html>busy</html>');
        return undefined;
      case 'cut':
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{"data":[');
        await sleep(20);
        response.destroy();
        return undefined;
      case 'endless': {
        await new Promise<void>((resolve) => response.once('close', resolve));
        mock.hungUp += 1;
        return undefined;
      }
      case 'late':
        while (mock.scenario === 'late') await sleep(20);
        break;
      case 'fewer':
        n -= 1;
        break;
      case 'more':
        n += 2;
        break;
      default:
    }
    const data = [];
    for (let at = 0; at < n; at += 1) {
      const revised = { revised_prompt: `a detailed picture of ${String(fields['prompt'])}` };
      const own = `http://${request.headers.host ?? ''}/files`;
      if (scenario === 'url') data.push({ url: `${own}/${at}.png`, ...revised });
      else if (scenario === 'redirecting-url')
        data.push({ url: `${own}/elsewhere.png`, ...revised });
      else if (scenario === 'private-url')
        data.push({ url: `${options.elsewhere}/secret.png`, ...revised });
      else {
        let picture = await paint(width, height, '#886644');
        if (scenario === 'wrong-type' && at === 0) picture = Buffer.from('{"not":"a picture"}');
        if (scenario === 'truncated' && at === 0) picture = await truncated(128, 128);
        data.push({ b64_json: picture.toString('base64'), ...revised });
      }
    }
    return reply(response, 200, { created: 1, data });
  });
  return Object.assign(mock, service);
};
