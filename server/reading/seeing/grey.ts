import sharp, { type Sharp } from 'sharp';

/** A picture without its colours, one byte a pixel, dark letters on white. */
export interface Grey {
  data: Uint8Array;
  width: number;
  height: number;
}

/** Pixels of a picture that is opened at all. */
const mostPixels = 60_000_000;
/** Of the picture that is looked at: finer than that, letters are no clearer. */
const longest = 3000;
const shortest = 1400;

const rawOf = ({ data, width, height }: Grey) =>
  sharp(data, { raw: { width, height, channels: 1 }, limitInputPixels: mostPixels });

const greyOf = async (image: Sharp): Promise<Grey> => {
  const { data, info } = await image
    .toColourspace('b-w')
    .extractChannel(0)
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { data: new Uint8Array(data), width: info.width, height: info.height };
};

/** By how much of its height each row of a picture has ink, squared: lines are seen at once. */
const contrastOfRows = (ink: Grey, slope: number): number => {
  const { data, width, height } = ink;
  const rows = new Float64Array(height + Math.ceil(Math.abs(slope) * width) * 2 + 2);
  const middle = Math.ceil(Math.abs(slope) * width) + 1;
  for (let x = 0; x < width; x += 1) {
    const shift = middle + Math.round(x * slope);
    for (let y = 0; y < height; y += 1) rows[y + shift]! += data[y * width + x]!;
  }
  let sum = 0;
  for (let at = 1; at < rows.length; at += 1) sum += (rows[at]! - rows[at - 1]!) ** 2;
  return sum;
};

/** How far a picture's lines are turned, degrees; 0 where that cannot be seen. */
const skewOf = async (grey: Grey): Promise<number> => {
  const small = await greyOf(
    rawOf(grey).resize({ width: 700, height: 1000, fit: 'inside', withoutEnlargement: true }),
  );
  // Ink is what is darker than its surroundings.
  const around = await greyOf(rawOf(small).blur(8));
  const ink = small.data.map((value, at) => (value < around.data[at]! - 18 ? 1 : 0));
  const page = { ...small, data: ink };
  const scoreOf = (angle: number) => contrastOfRows(page, Math.tan((angle * Math.PI) / 180));
  const level = scoreOf(0);
  let best = { angle: 0, score: level };
  const look = (from: number, to: number, step: number) => {
    for (let angle = from; angle <= to; angle += step) {
      const score = scoreOf(angle);
      if (score > best.score) best = { angle, score };
    }
  };
  look(-8, 8, 0.5);
  look(best.angle - 0.4, best.angle + 0.4, 0.1);
  return best.score > level * 1.05 ? best.angle : 0;
};

/** How grainy a picture is: what its pixels differ by from their neighbours where it is plain. */
const grainOf = ({ data, width, height }: Grey): number => {
  const steps: number[] = [];
  for (let y = 4; y < height - 4; y += 7)
    for (let x = 4; x < width - 4; x += 7) {
      const at = y * width + x;
      steps.push(Math.abs(2 * data[at]! - data[at - 1]! - data[at + 1]!));
    }
  return (steps.sort((one, other) => one - other)[Math.floor(steps.length / 2)] ?? 0) / 1.65;
};

/**
 * A picture made ready to be read: upright, its lines level, as large as its letters need, its
 * grain and its shadows taken away. `angle`: by how many degrees it was turned for that.
 */
export const prepared = async (image: Sharp): Promise<{ grey: Grey; angle: number }> => {
  let grey = await greyOf(
    image
      .rotate()
      .flatten({ background: '#fff' })
      .resize({ width: longest, height: longest, fit: 'inside', withoutEnlargement: true }),
  );
  const angle = await skewOf(grey);
  const grain = grainOf(grey);
  let work = rawOf(grey);
  if (grain > 14) work = work.median(3);
  if (angle !== 0) work = rawOf(await greyOf(work)).rotate(angle, { background: '#fff' });
  grey = await greyOf(work);
  const long = Math.max(grey.width, grey.height);
  if (long < shortest) {
    const scale = Math.min(3, shortest / long);
    grey = await greyOf(
      rawOf(grey).resize(Math.round(grey.width * scale), Math.round(grey.height * scale), {
        kernel: 'cubic',
      }),
    );
  }
  return { grey, angle };
};

export const openPicture = (data: Uint8Array): Sharp =>
  sharp(data, { limitInputPixels: mostPixels, pages: 1 });

/** A part of a picture. */
export interface Part {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** A part of a picture at another size. */
export const partOf = async (
  grey: Grey,
  part: Part,
  size: { width: number; height: number },
): Promise<Grey> =>
  greyOf(rawOf(grey).extract(part).resize(size.width, size.height, { fit: 'fill' }));

/** The part of a picture in which anything differs from what is round it, with some room round that. */
export const inked = async (grey: Grey): Promise<Part> => {
  const small = await greyOf(rawOf(grey).resize({ width: 700, height: 1000, fit: 'inside' }));
  const { width, height } = small;
  // Grain is smoothed away, strokes of letters are not.
  const near = await greyOf(rawOf(small).blur(1.2));
  const around = await greyOf(rawOf(small).blur(8));
  let [left, top, right, bottom] = [width, height, -1, -1];
  for (let at = 0; at < near.data.length; at += 1) {
    if (Math.abs(near.data[at]! - around.data[at]!) < 12) continue;
    const x = at % width;
    const y = (at - x) / width;
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = y;
  }
  if (right < 0) return { left: 0, top: 0, width: grey.width, height: grey.height };
  const room = 14;
  // Each side has its own scale: the small one is whole pixels, which tells much where there are few.
  const span = (first: number, last: number, small: number, whole: number) => {
    const scale = whole / small;
    const from = Math.floor(Math.max(0, first - room) * scale);
    return { from, length: Math.min(whole, Math.ceil((last + 1 + room) * scale)) - from };
  };
  const across = span(left, right, width, grey.width);
  const down = span(top, bottom, height, grey.height);
  return { left: across.from, top: down.from, width: across.length, height: down.length };
};
