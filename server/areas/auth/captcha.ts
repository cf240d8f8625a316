import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import type { Out } from '#contract/calls.ts';
import type { Executor } from '#server/db/database.ts';
import * as store from './auth.store.ts';

const lifetimeMs = 5 * 60_000;
/** Hashes that the proof of work takes at most: a second of a phone. */
const work = 60_000;
const size = { width: 240, height: 90 };

/** Letters as pixels that are bent and sprinkled: from the outlines of a font they could be read off. */
const drawn = async (svg: string): Promise<string> => {
  const { default: sharp } = await import('sharp');
  const { width, height } = size;
  const { data, info } = await sharp(Buffer.from(svg))
    .resize(width, height, { fit: 'fill' })
    .flatten({ background: '#f4f6fa' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  const bent = Buffer.alloc(data.length, 0xf4);
  const wave = {
    x: 2.5 + randomInt(200) / 100,
    y: 3 + randomInt(300) / 100,
    long: 50 + randomInt(30),
    wide: 60 + randomInt(50),
    turn: randomInt(628) / 100,
  };
  // Each row moves sideways as one, each column up and down.
  const aside = Array.from({ length: height }, (_, y) =>
    Math.round(wave.x * Math.sin(y / (wave.long / 6.28) + wave.turn)),
  );
  const down = Array.from({ length: width }, (_, x) =>
    Math.round(wave.y * Math.sin(x / (wave.wide / 6.28) + wave.turn * 2)),
  );
  const grain = randomBytes(bent.length);
  for (let at = 0, y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const fromX = x + aside[y]!;
      const fromY = y + down[x]!;
      const inside = fromX >= 0 && fromX < width && fromY >= 0 && fromY < height;
      const from = (fromY * width + fromX) * info.channels;
      for (let part = 0; part < info.channels; part += 1, at += 1) {
        const value = inside ? data[from + part]! : 0xf4;
        bent[at] = Math.max(0, Math.min(255, value + (grain[at]! % 28) - 14));
      }
    }
  // Dots and dashes of the letters' own darkness.
  for (let count = 0; count < 120; count += 1) {
    const at = randomInt(width * height);
    const shade = 60 + randomInt(120);
    for (let long = 0; long <= randomInt(4); long += 1)
      for (let part = 0; part < info.channels; part += 1) {
        const place = (at + long) * info.channels + part;
        if (place < bent.length) bent[place] = shade;
      }
  }
  const png = await sharp(bent, { raw: { width, height, channels: info.channels } })
    .blur(0.5)
    .png({ palette: true, colours: 64, effort: 1 })
    .toBuffer();
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><image width="${width}" height="${height}" href="data:image/png;base64,${png.toString('base64')}"/></svg>`;
};

/** A new image, and work for the computer beside it; kept for five minutes and one try. */
export const drawCaptcha = async (db: Executor, secret: string): Promise<Out<'captcha'>> => {
  // Loaded when first asked for: it reads a whole font.
  const [{ default: svgCaptcha }, { createChallenge }] = await Promise.all([
    import('svg-captcha'),
    import('altcha-lib/v1'),
  ]);
  const { text, data } = svgCaptcha.create({
    ...size,
    size: 4,
    noise: 2,
    fontSize: 84,
    color: true,
    background: '#f4f6fa',
    ignoreChars: '0oO1iIlL5sS2zZ8B9gq',
  });
  const captchaid = randomUUID();
  const expires = new Date(Date.now() + lifetimeMs);
  const { algorithm, challenge, salt, signature } = await createChallenge({
    hmacKey: secret,
    maxNumber: work,
    expires,
    params: { captchaid },
  });
  await store.insertCaptcha(db, {
    id: captchaid,
    answer: text.toLowerCase(),
    expiresAt: expires,
  });
  return {
    captchaid,
    svg: await drawn(data),
    pow: { algorithm, challenge, maxnumber: work, salt, signature },
  };
};

/** Whether the work that came with this very captcha was done. */
export const isProven = async (
  secret: string,
  { pow = '', captchaid = '' }: { pow?: string | undefined; captchaid?: string | undefined },
): Promise<boolean> => {
  if (pow === '' || captchaid === '') return false;
  const { extractParams, verifySolution } = await import('altcha-lib/v1');
  try {
    return (await verifySolution(pow, secret)) && extractParams(pow)['captchaid'] === captchaid;
  } catch {
    return false;
  }
};

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Uses the captcha up, whatever the answer. */
export const solveCaptcha = async (
  db: Executor,
  given: { captcha?: string; captchaid?: string },
): Promise<boolean> => {
  const { captcha = '', captchaid = '' } = given;
  if (captcha === '' || !uuidPattern.test(captchaid)) return false;
  const answer = await store.takeCaptcha(db, captchaid);
  return answer !== null && answer === captcha.normalize('NFKC').trim().toLowerCase();
};
