import * as z from 'zod/mini';
import { ImageEngineError, type ImageOrder, type Reference } from '../image-engine.ts';
import { dataUrl, drawMask } from '../image-pixels.ts';
import { senselessReply, unsuitable } from '../image-wire.ts';
import { asksFor, changeOf, mostZoom } from './buttons.ts';
import { codes, type Proxy, uploaded } from './proxy.ts';

export const remembered = z.object({
  task: z.string(),
  /** One image alone will come of it. */
  single: z.optional(z.boolean()),
  /** What it wants confirmed is confirmed. */
  confirmed: z.optional(z.boolean()),
});
export type Remembered = z.output<typeof remembered>;

/** What a button's work is told in its window. @throws ImageEngineError: it was not said */
const answerTo = async (
  asks: 'region' | 'zoom',
  { prompt, parameters, width, height }: ImageOrder,
): Promise<{ prompt: string; maskBase64?: string }> => {
  if (asks === 'zoom') {
    const zoom = (parameters.zoom ?? mostZoom) / 100;
    return { prompt: `${prompt} --zoom ${zoom}` };
  }
  const { mask, brush, brush_inverted } = parameters;
  if (!mask) throw unsuitable('请先框选要重绘的区域');
  const drawn = await drawMask({ width, height }, { mask, brush, brush_inverted }, 'white');
  return { prompt, maskBase64: dataUrl(drawn) };
};

/** How two or more images are put together, by the aspect that was chosen. */
const dimensionsOf = ({ parameters }: ImageOrder): 'LANDSCAPE' | 'PORTRAIT' | 'SQUARE' => {
  const [width = 1, height = 1] = (parameters.aspect ?? '1:1').split(':').map(Number);
  if (width === height) return 'SQUARE';
  return width > height ? 'LANDSCAPE' : 'PORTRAIT';
};

/**
 * Addresses for images that the prompt can only name: the service's own, or where the dialect
 * takes no images, those by which Midjourney finds them itself. @throws ImageEngineError
 */
const addressesOf = async (
  { call }: Proxy,
  images: readonly Reference[],
  signal: AbortSignal,
): Promise<string[]> => {
  if (images.length === 0) return [];
  const answer = await call('submit/upload-discord-images', signal, {
    base64Array: images.map(({ data }) => dataUrl(data)),
  }).catch((error: unknown) => {
    signal.throwIfAborted();
    if (!(error instanceof ImageEngineError)) throw error;
    return null;
  });
  const parsed = uploaded.safeParse(answer);
  const taken = parsed.success && parsed.data.code === codes.taken;
  const addresses = taken ? parsed.data.result : images.map(({ address }) => address);
  const usable = addresses.every((url) => /^https?:\/\/[^\s"'<>]{1,2000}$/.test(url));
  if (taken && (!usable || addresses.length !== images.length)) throw senselessReply();
  if (!usable)
    throw unsuitable(
      '这个 Midjourney 服务不能接收上传的参考图：请改用公网上的图片网址，或去掉参考图再试',
    );
  return addresses;
};

/** Does what a button of a work asks for, with what the person said to it. */
const press = async (
  { submit }: Proxy,
  wanted: ImageOrder,
  signal: AbortSignal,
): Promise<Remembered> => {
  const from = remembered.safeParse(wanted.remote);
  const hash = wanted.parameters.action?.hash ?? '';
  if (!from.success || hash === '') throw unsuitable('这个操作已经不能用了，请重新作画');
  const change = changeOf(hash);
  if (change)
    return {
      task: await submit('change', { taskId: from.data.task, ...change }, signal),
      single: change.action === 'UPSCALE',
    };
  const asks = asksFor(hash);
  const said = asks && (await answerTo(asks, wanted));
  const taskId = await submit('action', { taskId: from.data.task, customId: hash }, signal);
  if (!said) return { task: taskId };
  return { task: await submit('modal', { taskId, ...said }, signal), confirmed: true };
};

/** Orders the work. Whether one image alone comes of it is told where the dialect does not. */
export const order = async (
  proxy: Proxy,
  wanted: ImageOrder,
  signal: AbortSignal,
): Promise<Remembered> => {
  const { submit } = proxy;
  const { character, style } = wanted.references;
  if (wanted.task === 'action') return press(proxy, wanted, signal);
  if (wanted.task !== 'generate') throw unsuitable('Midjourney 不能这样修改图片');
  const words = wanted.prompt.replace(/(^|\s)--.*$/s, '').trim();
  if (words === '' && wanted.blend.length > 0) {
    const body = { base64Array: wanted.blend.map(dataUrl), dimensions: dimensionsOf(wanted) };
    return { task: await submit('blend', body, signal) };
  }
  const addresses = await addressesOf(proxy, [...character, ...style], signal);
  const listed = (flag: string, urls: readonly string[]) =>
    urls.length > 0 ? ` --${flag} ${urls.join(' ')}` : '';
  const weighs = wanted.base !== null && wanted.strength !== 50 && !/\s--iw\s/.test(wanted.prompt);
  const prompt = [
    wanted.prompt,
    // How much is changed, the other way round: 50 % is Midjourney's own weight of 1.
    weighs ? ` --iw ${(2 - wanted.strength / 50).toFixed(2)}` : '',
    listed('cref', addresses.slice(0, character.length)),
    listed('sref', addresses.slice(character.length)),
  ].join('');
  const body = {
    prompt,
    // With words, images to be made into one are what Midjourney calls image prompts.
    base64Array: [...(wanted.base === null ? [] : [wanted.base]), ...wanted.blend].map(dataUrl),
    state: '',
    notifyHook: '',
  };
  return { task: await submit('imagine', body, signal) };
};
