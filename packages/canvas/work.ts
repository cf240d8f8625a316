import {
  type CanvasAnswer,
  type CanvasIo,
  type CanvasOrder,
  CanvasRefusal,
  type CanvasTask,
} from './task.ts';
import { blend, hex } from './colour.ts';
import { describePhoto } from './describe.ts';
import { edgeKindOf, follow, linesOf } from './edges.ts';
import { encodePng, previewOf } from './encode.ts';
import {
  enlarge,
  fitPhoto,
  framed,
  layInto,
  onto,
  paintedOver,
  type Photo,
  readPhoto,
  regionIn,
  remake,
  softened,
  toCanvas,
  withoutBackground,
} from './photo.ts';
import { measureStyle } from './measure-style.ts';
import { applyProfiles } from './profiles.ts';
import { imageOf } from './image.ts';
import { type Canvas, toBytes } from './raster.ts';
import type { Scene } from './scene.ts';
import { applyStyle } from './styles.ts';
import { readWish, styles, type Wish } from './words.ts';

/** Pixels of a side that can be drawn. */
const sides = { least: 64, most: 2048 };
const mostImages = 10;

const side = (asked: number): number => {
  if (!Number.isFinite(asked)) throw new CanvasRefusal('job_unsuitable', '图片尺寸有误');
  return Math.round(Math.min(sides.most, Math.max(sides.least, asked)));
};

const share = (percent: number): number =>
  Number.isFinite(percent) ? Math.min(1, Math.max(0, percent / 100)) : 0.75;

const wishOf = ({ prompt, parameters }: CanvasOrder): Wish => {
  const wish = readWish(prompt, `${parameters.negative_prompt ?? ''} ${parameters.no ?? ''}`);
  const style = styles.find((each) => each === parameters.style);
  return style ? { ...wish, style } : wish;
};

const baseOf = ({ base }: CanvasOrder): Uint8Array => {
  if (!base) throw new CanvasRefusal('job_unsuitable', '请先选择一张图片');
  return base;
};

/** A part of a whole work, from and to so much of it. */
type Part = readonly [from: number, to: number];

/** Draws an image from nothing but words. */
const draw = async (
  wish: Wish,
  seed: number,
  size: { width: number; height: number },
  io: CanvasIo,
  [from, to]: Part,
): Promise<Scene> => {
  const { scene, layers } = imageOf(wish, seed, size.width, size.height);
  const whole = layers.reduce((sum, layer) => sum + layer.share, 0);
  let done = 0;
  for (const layer of layers) {
    layer.paint();
    done += layer.share;
    await io.progress(from + (to - from) * (done / whole), () => previewOf(scene.canvas));
  }
  return scene;
};

interface Made {
  data: Uint8Array;
  seed: number | null;
}

/** As many images as are wanted, each with the next seed. */
const several = async (
  { n, seed }: CanvasOrder,
  one: (seed: number, part: Part) => Promise<Uint8Array>,
): Promise<Made[]> => {
  const count = Math.min(mostImages, Math.max(1, Math.floor(n) || 1));
  const images: Made[] = [];
  for (let at = 0; at < count; at += 1) {
    const own = (seed + at) % 2 ** 32;
    images.push({ data: await one(own, [at / count, (at + 1) / count]), seed: own });
  }
  return images;
};

const generate = async (order: CanvasOrder, io: CanvasIo): Promise<Made[]> => {
  const size = { width: side(order.width), height: side(order.height) };
  const wish = wishOf(order);
  const { base, control } = order;
  const kind = control ? edgeKindOf(control.module) : null;
  if (control && !kind) throw new CanvasRefusal('job_unsuitable', '内置画板没有这种构图控制');
  const strength = share(order.strength);
  return several(order, async (seed, part) => {
    // What changes little of its base is not painted over with a style either.
    const own = base ? { ...wish, style: wish.style === 'ink' ? wish.style : null } : wish;
    const scene = await draw(own, seed, size, io, part);
    let { canvas } = scene;
    if (base) {
      const photo = await fitPhoto(base, size.width, size.height, order.resizeMode);
      remake(photo, canvas, strength);
      if (strength >= 0.2) applyStyle(photo, wish.style, seed);
      canvas = photo;
      await io.progress(part[1], () => previewOf(canvas));
    }
    applyProfiles(canvas, order.parameters.lora ?? [], seed, order.profiles);
    if (control && kind) {
      const guide = await fitPhoto(control.image, size.width, size.height, 1);
      const { look } = scene;
      const shines = look.hour === 'night' || look.neon;
      const line = shines ? blend(look.light, hex('#ffffff'), 0.3) : look.front;
      follow(canvas, guide, kind, control.mode, { line, shines });
      await io.progress(part[1], () => previewOf(canvas));
    }
    return encodePng(toBytes(canvas), size.width, size.height);
  });
};

const encodePhoto = (photo: Photo): Promise<Uint8Array> => {
  const { width, height, data } = photo;
  let opaque = true;
  for (let at = 3; at < data.length && opaque; at += 4) opaque = data[at] === 255;
  if (!opaque) return encodePng(data, width, height, 4);
  const plain = new Uint8Array(width * height * 3);
  for (let at = 0; at < width * height; at += 1)
    for (let each = 0; each < 3; each += 1) plain[at * 3 + each] = data[at * 4 + each]!;
  return encodePng(plain, width, height);
};

/** Draws a region of an image anew. */
const edit = async (order: CanvasOrder, io: CanvasIo): Promise<Made[]> => {
  const photo = await readPhoto(baseOf(order));
  const { mask, brush, brush_inverted: inverted = false } = order.parameters;
  if (!mask) throw new CanvasRefusal('job_unsuitable', '请先选择要修改的区域');
  const region = regionIn(mask, photo);
  const cover = brush ? await paintedOver(photo, region, brush, inverted) : framed(region);
  const wish = wishOf(order);
  // What is drawn has a size that is good to draw; a larger region gets it enlarged.
  const scale = Math.min(1, sides.most / Math.max(region.width, region.height));
  const size = {
    width: side(region.width * scale),
    height: side(region.height * scale),
  };
  return several(order, async (seed, part) => {
    const { canvas } = await draw(wish, seed, size, io, part);
    applyProfiles(canvas, order.parameters.lora ?? [], seed, order.profiles);
    const drawn =
      size.width === region.width && size.height === region.height
        ? canvas
        : await fitPhoto(
            await encodePng(toBytes(canvas), size.width, size.height),
            region.width,
            region.height,
            0,
          );
    const made = layInto(photo, region, drawn, cover, Math.max(0.35, share(order.strength) ** 0.5));
    return encodePhoto(made);
  });
};

/** Puts what stands before an even background on a colour, an image, or what words say. */
const editBackground = async (order: CanvasOrder, io: CanvasIo): Promise<Made[]> => {
  const photo = await readPhoto(baseOf(order));
  await io.progress(0.1);
  const subject = withoutBackground(photo);
  await io.progress(0.4, () => previewOf(toCanvas(subject)));
  const { bg_color: colour } = order.parameters;
  const { width, height } = photo;
  const lay = async (ground: Canvas): Promise<Uint8Array> => {
    const made = onto(subject, (x, y) => {
      const at = (y * ground.width + x) * 3;
      return [ground.rgb[at]!, ground.rgb[at + 1]!, ground.rgb[at + 2]!];
    });
    return encodePhoto(made);
  };
  if (order.background) {
    const ground = await fitPhoto(order.background, width, height, 1);
    return [{ data: await lay(ground), seed: null }];
  }
  if (colour && /^#[0-9a-f]{6}$/i.test(colour)) {
    const plain = hex(colour);
    return [{ data: await encodePhoto(onto(subject, () => plain)), seed: null }];
  }
  const scale = Math.min(1, sides.most / Math.max(width, height));
  const size = { width: side(width * scale), height: side(height * scale) };
  const { canvas } = await draw(wishOf(order), order.seed, size, io, [0.4, 1]);
  applyProfiles(canvas, order.parameters.lora ?? [], order.seed, order.profiles);
  // Behind a subject the distance is a little out of focus.
  canvas.rgb = softened(canvas, canvas.unit * 0.008);
  const png = await encodePng(toBytes(canvas), size.width, size.height);
  return [{ data: await lay(await fitPhoto(png, width, height, 0)), seed: order.seed }];
};

const make = async (order: CanvasOrder, io: CanvasIo): Promise<Made[]> => {
  if (order.task === 'generate') return generate(order, io);
  if (order.task === 'edit') return edit(order, io);
  if (order.task === 'edit-background') return editBackground(order, io);
  if (order.task === 'remove-background') {
    const photo = await readPhoto(baseOf(order));
    await io.progress(0.2, () => previewOf(toCanvas(photo)));
    const made = withoutBackground(photo);
    await io.progress(0.8, () => previewOf(toCanvas(made)));
    return [{ data: await encodePng(made.data, made.width, made.height, 4), seed: null }];
  }
  if (order.task === 'upscale') {
    const base = baseOf(order);
    await io.progress(0.1);
    const data = await enlarge(base, order.parameters.resize ?? 2);
    return [{ data, seed: null }];
  }
  throw new CanvasRefusal('job_unsuitable', '内置画板不能这样作画');
};

/** Pixels of the longer side of a detection's preview, and of what is measured. */
const detectSide = 1024;
const measureSide = 256;

const detect = async (
  image: Uint8Array,
  module: string,
  parameters: Record<string, number>,
): Promise<Uint8Array> => {
  const kind = edgeKindOf(module);
  if (!kind) throw new CanvasRefusal('job_unsuitable', '内置画板没有这种构图控制');
  const canvas = toCanvas(await readPhoto(image, detectSide));
  const { width, height } = canvas;
  if (kind === 'tile') {
    canvas.rgb = softened(canvas, canvas.unit * 0.03);
    return encodePng(toBytes(canvas), width, height);
  }
  const lines = linesOf(canvas, kind, parameters);
  return encodePng(
    Uint8Array.from(lines, (value) => Math.round(value * 255)),
    width,
    height,
    1,
  );
};

/** Does what is asked for. @throws CanvasRefusal; whatever `io.progress` rejects with */
export const workOn = async (task: CanvasTask, io: CanvasIo): Promise<CanvasAnswer> => {
  if (task.kind === 'detect')
    return { kind: 'detected', data: await detect(task.image, task.module, task.parameters) };
  if (task.kind === 'interrogate')
    return { kind: 'described', ...describePhoto(await readPhoto(task.image, measureSide)) };
  if (task.kind === 'measure') return { kind: 'measured', profile: await measureStyle(task, io) };
  const images = await make(task.order, io);
  await io.progress(1);
  return { kind: 'made', images };
};
