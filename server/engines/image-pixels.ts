import pLimit from 'p-limit';
import type { Dispatcher } from 'undici';
import type { ImageParameters } from '#contract/image.ts';
import type { GuardedFetch } from '../net/guarded-fetch.ts';
import { brushSvg } from '#packages/canvas/brush.ts';
import { loadSharp, mostPixels, openImage } from '../open-image.ts';
import { ImageEngineError, type EngineImage } from './image-engine.ts';
import { ask } from './image-wire.ts';

/** Most bytes of one image that a service gives. */
const most = { bytes: 48 * 1024 * 1024 };
/** Shapes that differ by less than this are the same to the eye: the logarithm of their ratio. */
const nearlySame = 0.03;
/** How long an image may take to be fetched, ms. */
const fetchMs = 60_000;

/** An image takes up to 400 MB while it is looked at: one at a time. */
const limit = pLimit(1);

/** Whether the bytes begin like a PNG, JPEG, WebP or GIF. */
const looksLikeImage = (data: Buffer): boolean => {
  const head = data.subarray(0, 12).toString('latin1');
  return (
    head.startsWith('\x89PNG\r\n\x1a\n') ||
    head.startsWith('\xff\xd8\xff') ||
    (head.startsWith('RIFF') && head.slice(8) === 'WEBP') ||
    head.startsWith('GIF8')
  );
};

/** An image of a service, or one of ours that is sent to it. */
const openService = (data: Buffer, failOn?: 'truncated') =>
  openImage(data, { pixels: mostPixels.service, ...(failOn && { failOn }) });

/** Width and height of an image whose every row can be read; null for anything else. */
export const measure = async (data: Buffer): Promise<{ width: number; height: number } | null> => {
  if (data.length > most.bytes || !looksLikeImage(data)) return null;
  return limit(async () => {
    try {
      const { image, width, height } = await openService(data, 'truncated');
      await image.resize(8, 8, { fit: 'fill', fastShrinkOnLoad: false }).raw().toBuffer();
      return { width, height };
    } catch {
      return null;
    }
  });
};

/** The bytes of a base64 text, with or without `data:…;base64,` before it; null: it is none. */
export const fromBase64 = (value: unknown): Buffer | null => {
  if (typeof value !== 'string' || value.length > most.bytes * 1.4) return null;
  const from = value.startsWith('data:') ? value.indexOf(',') + 1 : 0;
  const data = Buffer.from(value.slice(from), 'base64');
  return data.length === 0 ? null : data;
};

export const dataUrl = (data: Buffer): string =>
  `data:${data[0] === 0xff ? 'image/jpeg' : 'image/png'};base64,${data.toString('base64')}`;

/** What a service gave as the image of a place in the result, looked at before anybody trusts it. */
export const made = async (data: Buffer | null, seed: number | null): Promise<EngineImage> =>
  data !== null && (await measure(data)) !== null
    ? { data, error: '', seed }
    : { data: null, error: '服务给的不是一张完整的图片', seed };

const missing: EngineImage = { data: null, error: '服务少给了这一张', seed: null };

/**
 * Exactly as many as were asked for: what is too many goes, what is missing says so.
 * @throws ImageEngineError engine_failed where there is none at all
 */
export const exactly = (images: readonly EngineImage[], n: number): EngineImage[] => {
  if (images.length === 0)
    throw new ImageEngineError('engine_failed', '画图服务没有给出图片，没有扣费，请重试', {
      retriable: true,
      against: 'nothing',
      taken: true,
    });
  return Array.from({ length: n }, (_, at) => images[at] ?? missing);
};

const types = [
  'image/png',
  'image/jpeg',
  'image/webp',
  'image/gif',
  'application/octet-stream',
  '',
];

/**
 * Fetches an image by an address that a service told. Its own host is asked as it is; any other
 * address must be a public one. Null: it cannot be had.
 */
export type ImageFetch = (address: string, signal: AbortSignal) => Promise<Buffer | null>;

export const createImageFetch =
  (
    service: URL,
    guarded: GuardedFetch,
    headers: Record<string, string>,
    proxy?: Dispatcher,
  ): ImageFetch =>
  async (address, signal) => {
    if (address.startsWith('data:')) return fromBase64(address);
    if (!URL.canParse(address, service.href)) return null;
    let url = new URL(address, service);
    if (url.origin === service.origin && url.username === '') {
      const patience = { firstByteMs: 30_000, idleMs: 20_000, totalMs: fetchMs };
      const reply = await ask(url, {
        signal,
        headers,
        dispatcher: proxy,
        patience,
        maxBytes: most.bytes,
      }).catch(() => null);
      signal.throwIfAborted();
      if (reply?.status === 200) return reply.body;
      if (!reply || reply.status < 300 || reply.status >= 400 || reply.location === '') return null;
      url = new URL(reply.location, url);
    }
    const found = await guarded(url.href, {
      maxBytes: most.bytes,
      types,
      signal,
      proxy,
      totalMs: fetchMs,
    });
    signal.throwIfAborted();
    return found?.data ?? null;
  };

/**
 * A mask of an image's size as PNG: what is to be drawn anew, which is the part or what of it was
 * painted over, is white on black, or for services that want it so a hole in white.
 */
export const drawMask = async (
  size: { width: number; height: number },
  {
    mask: part,
    brush,
    brush_inverted: inverted,
  }: { mask: NonNullable<ImageParameters['mask']> } & ImageParameters,
  form: 'white' | 'hole',
): Promise<Buffer> => {
  const sharp = await loadSharp();
  const left = Math.min(part.left, size.width - 1);
  const top = Math.min(part.top, size.height - 1);
  const width = Math.min(part.width, size.width - left);
  const height = Math.min(part.height, size.height - top);
  const whole = { create: { width, height, channels: 4, background: '#ffffff' } } as const;
  const drawn = brush
    ? { input: brushSvg(size, brush, inverted), left: 0, top: 0 }
    : { input: whole, left, top };
  const background = form === 'white' ? '#000000' : '#ffffff';
  return sharp({ create: { ...size, channels: 4, background } })
    .composite([{ ...drawn, blend: form === 'white' ? 'over' : 'dest-out' }])
    .png()
    .toBuffer();
};

/** An image brought to a size: a shape that is nearly the same is stretched, another one cropped. */
export const broughtTo = async (
  data: Buffer,
  size: { width: number; height: number },
): Promise<Buffer> => {
  const now = await measure(data);
  if (!now || (now.width === size.width && now.height === size.height)) return data;
  const shape = Math.abs(Math.log((now.width * size.height) / (now.height * size.width)));
  return limit(async () =>
    (await openService(data)).image
      .resize(size.width, size.height, { fit: shape < nearlySame ? 'fill' : 'cover' })
      .png()
      .toBuffer(),
  );
};

/** Where an image lies in a larger one that was made around it. */
export interface Framed {
  size: { width: number; height: number };
  place: { left: number; top: number; width: number; height: number };
}

/** The place of an image, as large as it fits, in the middle of a size of another shape. */
export const frameFor = (
  image: { width: number; height: number },
  size: { width: number; height: number },
): Framed => {
  const scale = Math.min(size.width / image.width, size.height / image.height);
  const width = Math.min(size.width, Math.max(1, Math.round(image.width * scale)));
  const height = Math.min(size.height, Math.max(1, Math.round(image.height * scale)));
  const left = Math.floor((size.width - width) / 2);
  const top = Math.floor((size.height - height) / 2);
  return { size, place: { left, top, width, height } };
};

/** An image in its frame; what lies around it mirrors its edges, or is plain white. PNG. */
export const putInFrame = async (
  data: Buffer,
  { size, place }: Framed,
  around: 'mirror' | 'white',
): Promise<Buffer> => {
  const sides = {
    left: place.left,
    top: place.top,
    right: size.width - place.left - place.width,
    bottom: size.height - place.top - place.height,
  };
  return limit(async () =>
    (await openService(data)).image
      .resize(place.width, place.height, { fit: 'fill' })
      .ensureAlpha()
      .extend(
        around === 'mirror'
          ? { ...sides, extendWith: 'mirror' }
          : { ...sides, background: '#ffffff' },
      )
      .png()
      .toBuffer(),
  );
};

/** What lies in the frame's place of what was made of all of it. PNG. */
export const takenFromFrame = async (data: Buffer, { size, place }: Framed): Promise<Buffer> => {
  const whole = await broughtTo(data, size);
  return limit(async () => (await openService(whole)).image.extract(place).png().toBuffer());
};

/** A cut-out image before a colour (#rrggbb) or an image. PNG of the cut-out's size. */
export const placeBefore = async (
  cutOut: Buffer,
  behind: { colour: string | undefined; image: Buffer | null },
): Promise<Buffer> => {
  const sharp = await loadSharp();
  return limit(async () => {
    const { width, height } = await openService(cutOut);
    const ground =
      behind.image === null
        ? sharp({
            create: { width, height, channels: 4, background: behind.colour ?? '#ffffff' },
          })
        : (await openService(behind.image)).image.resize(width, height, { fit: 'cover' });
    return ground
      .composite([{ input: cutOut }])
      .png()
      .toBuffer();
  });
};

/**
 * A changed image whose changes count within a part of it alone: everything else is as it was.
 * PNG of the first one's size. @throws Error for what is no image
 */
export const changedWithin = async (
  before: Buffer,
  after: Buffer,
  part: NonNullable<ImageParameters['mask']>,
): Promise<Buffer> => {
  return limit(async () => {
    const { image: ground, width, height } = await openService(before);
    const left = Math.min(part.left, width - 1);
    const top = Math.min(part.top, height - 1);
    const box = {
      left,
      top,
      width: Math.min(part.width, width - left),
      height: Math.min(part.height, height - top),
    };
    const inside = await (
      await openService(after)
    ).image
      .resize(width, height, { fit: 'fill' })
      .ensureAlpha()
      .png()
      .toBuffer();
    const cut = await (await openService(inside)).image.extract(box).png().toBuffer();
    const hole = {
      create: { width: box.width, height: box.height, channels: 4, background: '#ffffff' },
    } as const;
    return ground
      .ensureAlpha()
      .composite([
        { input: hole, left, top, blend: 'dest-out' },
        { input: cut, left, top },
      ])
      .png()
      .toBuffer();
  });
};
