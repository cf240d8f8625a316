import type { ImageFamily, ImageModel, ImageParameters, ImageTask } from './image.ts';
import { countFor } from './image-size.ts';
import { limits } from './limits.ts';

/** A job without words is called so, and its image was made so. */
export const taskNames: Readonly<Record<ImageTask, string>> = {
  txt2img: '画图',
  img2img: '参考图',
  vary: '再来几张',
  blend: '融图',
  upscale: '高清放大',
  edit: '局部重绘',
  'remove-bg': '抠图',
  'edit-bg': '换背景',
  action: '继续处理',
};

/** Tasks that make one image from one. */
const oneFromOne: ReadonlySet<ImageTask> = new Set(['upscale', 'remove-bg', 'edit-bg']);
/** Buttons of Midjourney services that make one of four large; all others make four. */
const upscaling = /^(?:MJ::JOB::upsample|CHANGE::UPSCALE::)/;

/** How many images a task makes of a model: what is set aside for it, and at most what it takes. */
export const imagesOf = (
  task: ImageTask,
  model: Pick<ImageModel, 'family' | 'max_count'>,
  asked: { n: number; parameters: ImageParameters; withBaseImage: boolean },
): number => {
  if (oneFromOne.has(task)) return 1;
  if (task === 'action' && upscaling.test(asked.parameters.action?.hash ?? '')) return 1;
  return countFor(model, asked.n, asked.withBaseImage);
};

// ---- what families take ------------------------------------------------------

/** The kinds of controlnet (document 2 §9). */
export const controlKinds = [
  'Canny',
  'Lineart',
  'SoftEdge',
  'Scribble',
  'MLSD',
  'Seg',
  'Depth',
  'OpenPose',
  'Normal',
  'IP2P',
  'Tile',
  'Reference',
  'Shuffle',
] as const;

export interface NumberRange {
  min: number;
  max: number;
  default: number;
}

export interface Named {
  name: string;
  /** Chinese. */
  label: string;
}

/** Ranges, defaults and options of the parameters (document 2 §3–5, §9), by family. */
export const familyRules = {
  midjourney: {
    aspects: ['1:1', '16:9', '1.85:1', '2:3', '5:4', '4:3', '9:16', '3:2'],
    aspect: '1:1',
    versions: ['5', '5.1', '5.2', '6'],
    /** The anime model has no 5.1 and no 5.2. */
    nijiVersions: ['5', '6'],
    version: '6',
    styles: [{ name: 'raw', label: '原始' }] satisfies Named[],
    nijiStyles: [
      { name: 'original', label: '原版' },
      { name: 'cute', label: '可爱' },
      { name: 'scenic', label: '场景' },
      { name: 'expressive', label: '表现力' },
    ] satisfies Named[],
    qualities: ['.25', '.5', '1'],
    quality: '1',
    styleVersions: [1, 2, 3, 4],
    ranges: {
      chaos: { min: 0, max: 100, default: 0 },
      stylize: { min: 0, max: 1000, default: 100 },
      stop: { min: 10, max: 100, default: 100 },
      weird: { min: 0, max: 3000, default: 0 },
      cw: { min: 0, max: 100, default: 100 },
      sw: { min: 0, max: 1000, default: 100 },
      /** Hundredths: Midjourney writes 0 to 2. */
      weight: { min: 0, max: 200, default: 100 },
      repeat: { min: 1, max: 10, default: 1 },
    } satisfies Record<string, NumberRange>,
  },
  diffusion: {
    ranges: {
      steps: { min: 1, max: 150, default: 25 },
      cfg_scale: { min: 1, max: 30, default: 7 },
    } satisfies Record<string, NumberRange>,
  },
  dalle: {
    styles: [
      { name: 'vivid', label: '鲜明' },
      { name: 'natural', label: '自然' },
    ] satisfies Named[],
    style: 'vivid',
  },
  cloud: {
    styles: [
      { name: 'riman', label: '日漫动画' },
      { name: 'shuimo', label: '水墨画' },
      { name: 'monai', label: '莫奈' },
      { name: 'bianping', label: '扁平插画' },
      { name: 'xiangsu', label: '像素插画' },
      { name: 'ertonghuiben', label: '儿童绘本' },
      { name: '3dxuanran', label: '3D 渲染' },
      { name: 'manhua', label: '漫画' },
      { name: 'heibaimanhua', label: '黑白漫画' },
      { name: 'xieshi', label: '写实' },
      { name: 'dongman', label: '动漫' },
      { name: 'bijiasuo', label: '毕加索' },
      { name: 'saibopengke', label: '赛博朋克' },
      { name: 'youhua', label: '油画' },
      { name: 'masaike', label: '马赛克' },
      { name: 'qinghuaci', label: '青花瓷' },
      { name: 'xinnianjianzhi', label: '新年剪纸' },
      { name: 'xinnianhuayi', label: '新年花艺' },
    ] satisfies Named[],
  },
  builtIn: {
    styles: [
      { name: 'ink', label: '水墨' },
      { name: 'oil', label: '油画' },
      { name: 'watercolour', label: '水彩' },
      { name: 'flat', label: '扁平插画' },
      { name: 'print', label: '版画' },
      { name: 'sketch', label: '素描' },
      { name: 'pixel', label: '像素' },
      { name: 'neon', label: '赛博朋克' },
      { name: 'anime', label: '动漫' },
    ] satisfies Named[],
  },
  lora: { min: 1, max: 100, default: limits.loraWeight } satisfies NumberRange,
  strength: { min: 1, max: 100 },
  resizeModes: [
    { mode: 0, label: '拉伸' },
    { mode: 1, label: '裁剪' },
    { mode: 2, label: '填充' },
    { mode: 3, label: '放大' },
  ],
  controlModes: [
    { mode: 0, label: '均衡' },
    { mode: 1, label: '提示词优先' },
    { mode: 2, label: '控制图优先' },
  ],
} as const;

/** Ways to put an image into words (document 2 §2): of photos, of drawn figures. */
export const imageWays = ['clip', 'DeepBooru'] as const;

/** Families whose services are told how much of a base image changes. */
export const takesStrength = (family: ImageFamily): boolean =>
  family !== 'openai' && family !== 'dalle' && family !== 'cloud';

/** Families that are told how a base image of another shape is brought to the size. */
export const takesResizeMode = (family: ImageFamily): boolean =>
  family === 'built-in' || family === 'stable-diffusion';

/** What people call a style of any family; a service's own name of one that is not known here. */
export const styleLabel = (name: string): string => {
  const { midjourney, dalle, cloud, builtIn } = familyRules;
  const all: Named[] = [
    ...midjourney.styles,
    ...midjourney.nijiStyles,
    ...dalle.styles,
    ...cloud.styles,
    ...builtIn.styles,
  ];
  return all.find((each) => each.name === name)?.label ?? name;
};

/** How much of a base image is changed where nothing else is said, percent. */
export const defaultStrength = (family: ImageFamily): number =>
  family === 'midjourney' ? limits.strength.midjourney : limits.strength.otherwise;

// ---- reading -----------------------------------------------------------------
