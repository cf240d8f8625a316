import { chanceOf, clamp } from './chance.ts';
import { type Lab, toLab } from './colour.ts';
import type { Photo } from './photo.ts';

/** What can be measured in an image, in words that a prompt can use. */

interface Words {
  text: string;
  chinese: string;
}

const hues: readonly [until: number, text: string, chinese: string][] = [
  [15, 'pink', '粉色'],
  [45, 'red', '红色'],
  [75, 'orange', '橙色'],
  [118, 'yellow', '黄色'],
  [162, 'green', '绿色'],
  [215, 'cyan', '青色'],
  [285, 'blue', '蓝色'],
  [335, 'purple', '紫色'],
  [360, 'pink', '粉色'],
];

/** A name for a colour, as people say it. */
export const colourName = ([lightness, a, b]: Lab): Words => {
  const colourful = Math.hypot(a, b);
  if (lightness < 0.2 && colourful < 0.05) return { text: 'black', chinese: '黑色' };
  if (lightness > 0.93 && colourful < 0.035) return { text: 'white', chinese: '白色' };
  if (colourful < 0.028) {
    if (lightness < 0.4) return { text: 'dark grey', chinese: '深灰' };
    return lightness > 0.75
      ? { text: 'light grey', chinese: '浅灰' }
      : { text: 'grey', chinese: '灰色' };
  }
  const hue = ((Math.atan2(b, a) * 180) / Math.PI + 360) % 360;
  const [, text, chinese] = hues.find(([until]) => hue <= until)!;
  if ((text === 'orange' || text === 'red') && lightness < 0.55 && colourful < 0.12)
    return { text: 'brown', chinese: '棕色' };
  if (lightness < 0.4) return { text: `dark ${text}`, chinese: `深${chinese}` };
  if (lightness > 0.82 && colourful < 0.12)
    return { text: `pale ${text}`, chinese: `浅${chinese}` };
  return { text, chinese };
};

/** The colours of which there is most, with their share of the image. */
const dominant = (colours: readonly Lab[]): { name: Words; share: number }[] => {
  const random = chanceOf(1);
  let middles = Array.from({ length: 6 }, () => random.pick(colours));
  let sizes: number[] = [];
  for (let round = 0; round < 8; round += 1) {
    const sums = middles.map(() => [0, 0, 0, 0]);
    for (const lab of colours) {
      let best = 0;
      let least = Infinity;
      middles.forEach((middle, at) => {
        const far =
          (lab[0] - middle[0]) ** 2 + (lab[1] - middle[1]) ** 2 + (lab[2] - middle[2]) ** 2;
        if (far < least) {
          least = far;
          best = at;
        }
      });
      const sum = sums[best]!;
      for (let axis = 0; axis < 3; axis += 1) sum[axis] = sum[axis]! + lab[axis]!;
      sum[3] = sum[3]! + 1;
    }
    middles = middles.map((middle, at): Lab => {
      const [l, a, b, n] = sums[at] as [number, number, number, number];
      return n > 0 ? [l / n, a / n, b / n] : middle;
    });
    sizes = sums.map((sum) => sum[3]! / colours.length);
  }
  const byName = new Map<string, { name: Words; share: number }>();
  middles.forEach((middle, at) => {
    const name = colourName(middle);
    const known = byName.get(name.text);
    if (known) known.share += sizes[at]!;
    else byName.set(name.text, { name, share: sizes[at]! });
  });
  return [...byName.values()]
    .filter(({ share }) => share >= 0.06)
    .sort((a, b) => b.share - a.share);
};

const ratios: readonly [number, string][] = [
  [1, '1:1'],
  [4 / 3, '4:3'],
  [3 / 2, '3:2'],
  [16 / 9, '16:9'],
  [2, '2:1'],
];

/** Brightness, contrast, colours, warmth, where things are, how sharp: measured, not understood. */
export const describePhoto = ({ width, height, data }: Photo): Words => {
  const said: Words[] = [];
  const say = (text: string, chinese: string) => said.push({ text, chinese });
  const long = Math.max(width, height) / Math.min(width, height);
  const ratio = ratios.reduce((best, each) =>
    Math.abs(each[0] - long) < Math.abs(best[0] - long) ? each : best,
  )[1];
  if (long < 1.08) say('square composition 1:1', '方形构图 1:1');
  else if (width > height) say(`landscape format ${ratio}`, `横幅 ${ratio}`);
  else {
    const upright = ratio.split(':').reverse().join(':');
    say(`portrait format ${upright}`, `竖幅 ${upright}`);
  }

  const labs: Lab[] = [];
  for (let at = 0; at < width * height; at += 1)
    labs.push(toLab([data[at * 4]! / 255, data[at * 4 + 1]! / 255, data[at * 4 + 2]! / 255]));
  const count = labs.length;
  const mean = (of: (lab: Lab) => number) => labs.reduce((sum, lab) => sum + of(lab), 0) / count;
  const light = mean(([l]) => l);
  const contrast = Math.sqrt(mean(([l]) => (l - light) ** 2));
  if (light < 0.32) say('dark, night-like lighting', '昏暗，近似夜景的光线');
  else if (light < 0.5) say('dim light', '光线偏暗');
  else if (light < 0.72) say('medium brightness', '亮度适中');
  else say('bright, high-key', '明亮，高调');
  if (contrast > 0.22) say('strong contrast', '对比强烈');
  else if (contrast < 0.1) say('soft low contrast', '对比柔和');

  const colours = dominant(labs).slice(0, 4);
  say(
    `dominant colors ${colours.map(({ name, share }) => `${name.text} ${Math.round(share * 100)}%`).join(', ')}`,
    `主要颜色：${colours.map(({ name, share }) => `${name.chinese} ${Math.round(share * 100)}%`).join('、')}`,
  );
  const colourful = mean(([, a, b]) => Math.hypot(a, b));
  const warmth = mean(([, a, b]) => a * 0.6 + b);
  if (colourful < 0.018) say('monochrome', '近似黑白');
  else {
    if (warmth > 0.02) say('warm tones', '暖色调');
    else if (warmth < -0.015) say('cool tones', '冷色调');
    if (colourful > 0.11) say('vivid colors', '色彩鲜艳');
    else if (colourful < 0.045) say('muted colors', '色彩素雅');
  }

  // Where the details are: their middle, and how far they reach around it.
  const busy = new Float32Array(count);
  let whole = 1e-9;
  let mx = 0;
  let my = 0;
  let rough = 0;
  for (let y = 1; y < height - 1; y += 1)
    for (let x = 1; x < width - 1; x += 1) {
      const at = y * width + x;
      const here = labs[at]![0];
      const sides = [
        labs[at - 1]![0],
        labs[at + 1]![0],
        labs[at - width]![0],
        labs[at + width]![0],
      ] as const;
      const slope = Math.hypot(sides[1] - sides[0], sides[3] - sides[2]);
      rough += (sides[0] + sides[1] + sides[2] + sides[3] - here * 4) ** 2;
      busy[at] = slope;
      whole += slope;
      mx += slope * x;
      my += slope * y;
    }
  mx /= whole * width;
  my /= whole * height;
  let reach = 0;
  for (let at = 0; at < count; at += 1)
    reach +=
      (busy[at]! / whole) *
      (((at % width) / width - mx) ** 2 + (Math.floor(at / width) / height - my) ** 2);
  if (whole / count > 0.002) {
    const across = mx < 0.43 ? ['left', '左'] : mx > 0.57 ? ['right', '右'] : ['', ''];
    const down = my < 0.43 ? ['upper', '上'] : my > 0.57 ? ['lower', '下'] : ['', ''];
    if (across[0] === '' && down[0] === '')
      say(
        Math.sqrt(reach) < 0.27 ? 'centered subject' : 'evenly filled frame',
        Math.sqrt(reach) < 0.27 ? '主体居中' : '画面均匀铺满',
      );
    else
      say(
        `focus in the ${[down[0], across[0]].filter((each) => each !== '').join(' ')} part`,
        `重心在${across[1]}${down[1]}方`,
      );
  }
  // A horizon: the row at which the image changes most, if it stands out.
  const rows = Array.from({ length: height }, (_, y) => {
    let sum = 0;
    for (let x = 0; x < width; x += 1) sum += labs[y * width + x]![0];
    return sum / width;
  });
  let edge = 0;
  let jump = 0;
  const span = Math.max(1, Math.round(height * 0.02));
  for (let y = Math.round(height * 0.2); y < height * 0.8 - span; y += 1) {
    const change = Math.abs(rows[y + span]! - rows[y]!);
    if (change > jump) {
      jump = change;
      edge = y;
    }
  }
  if (jump > 0.12)
    say(
      `horizon at ${Math.round((edge / height) * 100)}% of the height`,
      `地平线约在画面 ${Math.round((edge / height) * 100)}% 的高度`,
    );
  let mirrored = 0;
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width / 2; x += 1)
      mirrored += Math.abs(labs[y * width + x]![0] - labs[y * width + width - 1 - x]![0]);
  if (mirrored / (count / 2) < contrast * 0.32 && contrast > 0.05) say('symmetrical', '左右对称');
  const sharpness = Math.sqrt(rough / count) / clamp(contrast, 0.03, 1);
  if (sharpness > 0.5) say('sharp, rich detail', '清晰，细节丰富');
  else if (sharpness < 0.12) say('soft focus, smooth', '柔焦，平滑');
  return {
    text: said.map(({ text }) => text).join(', '),
    chinese: said.map(({ chinese }) => chinese).join('，'),
  };
};
