import {
  type CanvasAnswer,
  type CanvasIo,
  type CanvasOrder,
  CanvasRefusal,
  type CanvasTask,
} from './canvas-task.ts';
import { encodePng, previewOf } from './encode.ts';
import { pictureOf } from './picture.ts';
import { type Canvas, toBytes } from './raster.ts';
import { readWish, styles, type Wish } from './words.ts';

/** Pixels of a side that can be drawn. */
const sides = { least: 64, most: 2048 };
const mostPictures = 10;

const side = (asked: number): number => {
  if (!Number.isFinite(asked)) throw new CanvasRefusal('job_unsuitable', '图片尺寸有误');
  return Math.round(Math.min(sides.most, Math.max(sides.least, asked)));
};

const wishOf = ({ prompt, parameters }: CanvasOrder): Wish => {
  const wish = readWish(prompt, `${parameters.negative_prompt ?? ''} ${parameters.no ?? ''}`);
  const style = styles.find((each) => each === parameters.style);
  return style ? { ...wish, style } : wish;
};

/** Draws a picture from nothing but words; `from` to `to`: its part of the whole work. */
const draw = async (
  wish: Wish,
  seed: number,
  size: { width: number; height: number },
  io: CanvasIo,
  [from, to]: readonly [from: number, to: number],
): Promise<Canvas> => {
  const { scene, layers } = pictureOf(wish, seed, size.width, size.height);
  const whole = layers.reduce((sum, { share }) => sum + share, 0);
  let done = 0;
  for (const layer of layers) {
    layer.paint();
    done += layer.share;
    await io.progress(from + (to - from) * (done / whole), () => previewOf(scene.canvas));
  }
  return scene.canvas;
};

const make = async (order: CanvasOrder, io: CanvasIo): Promise<CanvasAnswer> => {
  const size = { width: side(order.width), height: side(order.height) };
  const wish = wishOf(order);
  const n = Math.min(mostPictures, Math.max(1, order.n));
  const pictures = [];
  for (let at = 0; at < n; at += 1) {
    const seed = (order.seed + at) % 2 ** 32;
    const canvas = await draw(wish, seed, size, io, [at / n, (at + 1) / n]);
    pictures.push({ data: await encodePng(toBytes(canvas), canvas.width, canvas.height), seed });
  }
  return { kind: 'made', pictures };
};

/** Does what is asked for. @throws CanvasRefusal; whatever `io.progress` rejects with */
export const workOn = async (task: CanvasTask, io: CanvasIo): Promise<CanvasAnswer> => {
  if (task.kind === 'make' && task.order.task === 'generate') return make(task.order, io);
  throw new CanvasRefusal('job_unsuitable', '内置画板不能这样作画');
};
