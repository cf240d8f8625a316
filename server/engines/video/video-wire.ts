import { setTimeout as sleep } from 'node:timers/promises';
import { openImage } from '#server/open-image.ts';
import { createWire, type Patience } from '../service-wire.ts';
import { VideoEngineError, type VideoIo, type VideoOrder } from './video-engine.ts';

/** How services of films are asked. */
export const { ask, senselessReply, unsuitable, refusedBy } = createWire(
  '视频服务',
  VideoEngineError,
);

/** Most bytes of a film. */
export const mostFilmBytes = 200 * 1024 * 1024;

/** Of a film that is fetched. */
export const fetchPatience: Patience = {
  firstByteMs: 60_000,
  idleMs: 30_000,
  totalMs: 5 * 60_000,
};

/**
 * Makes the film: services bill it when it is begun, and take none back.
 * @param make begins it, or goes on with one that was begun, and gives the film
 */
export const billedAtOnce = async <T>(
  io: Pick<VideoIo, 'sent'>,
  make: () => Promise<T>,
): Promise<T> => {
  const over = io.sent();
  try {
    return await make();
  } catch (error) {
    over();
    throw error;
  }
};

/** Words or images that a service does not want to see. */
export const bannedWords = (): VideoEngineError =>
  new VideoEngineError(
    'prompt_banned',
    '图片或描述不合视频服务的内容规则，没有扣费，请修改后再试',
    { retriable: false, askerAtFault: true },
  );

/** The image in the middle of a frame of these pixels, which it fills; PNG. */
export const coverWith = async (
  base: Buffer,
  { width, height }: Pick<VideoOrder, 'width' | 'height'>,
): Promise<Buffer> => {
  const { image } = await openImage(base);
  return image.resize(width, height, { fit: 'cover' }).removeAlpha().png().toBuffer();
};

/** Of some sizes the one most like an image in shape. */
export const nearestSize = (
  sizes: readonly string[],
  { width, height }: Pick<VideoOrder, 'width' | 'height'>,
): { width: number; height: number } => {
  const shape = Math.log(width / height);
  const known = sizes.map((size) => {
    const [wide = 1, high = 1] = size.split('x').map(Number);
    return { width: wide, height: high };
  });
  const off = (size: { width: number; height: number }) =>
    Math.abs(Math.log(size.width / size.height) - shape);
  return known.sort((a, b) => off(a) - off(b))[0] ?? { width, height };
};

/** Questions after a film in its making that may fail. */
const mostFaults = 5;
/** That it could not be asked; what the service says of the film itself is final. */
const isPassing = (error: unknown): boolean =>
  error instanceof VideoEngineError && error.retriable && !error.taken;

/**
 * Asks again and again until there is a film. A passing fault of the network is lived through: the
 * film is paid already.
 * @param look gives the film, or how far it is (null: not known)
 * @param usualMs how long such works take, for services that do not say how far they are
 */
export const waitForFilm = async (
  look: () => Promise<Buffer | { fraction: number | null }>,
  io: { signal: AbortSignal; progress: (fraction: number) => void },
  { everyMs, usualMs }: { everyMs: number; usualMs: number },
): Promise<Buffer> => {
  const begun = performance.now();
  let faults = 0;
  for (;;) {
    const found = await look().catch((error: unknown) => {
      io.signal.throwIfAborted();
      faults += 1;
      if (faults >= mostFaults || !isPassing(error)) throw error;
      return { fraction: 0 };
    });
    if (Buffer.isBuffer(found)) return found;
    const spent = (performance.now() - begun) / usualMs;
    // Without a word of the service: ever slower, never at its end.
    io.progress(Math.min(0.97, found.fraction ?? 1 - Math.exp(-spent * 2)));
    await sleep(everyMs, undefined, { signal: io.signal }).catch(() => io.signal.throwIfAborted());
  }
};
