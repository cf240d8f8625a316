import type { ImageFamily, ImageModel, ImageParameters, ImageTask } from './image.ts';
import { limits } from './limits.ts';

// The syntax of prompts for images and what each family of models takes: one reading of it for
// the server, which decides, and for the page, which shows beforehand what will be sent. Nothing
// here throws, and every function reads its text in one pass.

// ---- sizes -----------------------------------------------------------------

/** A size of images: the code by which requests name it, and what it costs (document 2 §9). */
export interface ImageSize {
  code: number;
  width: number;
  height: number;
}

/** Codes 8 and 9 are DALL-E 3's wide ones, those above other models' own; 3 is the default. */
export const imageSizes: readonly ImageSize[] = [
  { code: 0, width: 256, height: 256 },
  { code: 1, width: 512, height: 512 },
  { code: 2, width: 768, height: 768 },
  { code: 3, width: 1024, height: 1024 },
  { code: 4, width: 1024, height: 768 },
  { code: 5, width: 768, height: 1024 },
  { code: 6, width: 1024, height: 576 },
  { code: 7, width: 576, height: 1024 },
  { code: 8, width: 1792, height: 1024 },
  { code: 9, width: 1024, height: 1792 },
  { code: 10, width: 1536, height: 1024 },
  { code: 11, width: 1024, height: 1536 },
  { code: 12, width: 1344, height: 768 },
  { code: 13, width: 768, height: 1344 },
  { code: 14, width: 1152, height: 896 },
  { code: 15, width: 896, height: 1152 },
  { code: 16, width: 1280, height: 720 },
  { code: 17, width: 720, height: 1280 },
];

const usualSize: ImageSize = { code: limits.defaultImageSize, width: 1024, height: 1024 };
/** What every model without a list of its own offers: all before DALL-E's wide ones. */
const usualCodes = { first: 0, last: 7 };

/** The sizes that a model makes, smallest code first; never empty. */
export const sizesOf = (model: Pick<ImageModel, 'family' | 'sizes'>): readonly ImageSize[] => {
  // Its images are as wide as the aspect says; the size only names the price.
  if (model.family === 'midjourney') return [usualSize];
  const named =
    model.sizes.length === 0
      ? imageSizes.filter(({ code }) => code >= usualCodes.first && code <= usualCodes.last)
      : imageSizes.filter(({ width, height }) => model.sizes.includes(`${width}x${height}`));
  return named.length === 0 ? [usualSize] : named;
};

/** The one whose aspect ratio is nearest, and among those of the same ratio the nearest in area. */
export const closestSize = <T extends { width: number; height: number }>(
  sizes: readonly T[],
  width: number,
  height: number,
): T | null => {
  const ratio = Math.log(Math.max(1, width) / Math.max(1, height));
  const area = Math.log(Math.max(1, width) * Math.max(1, height));
  let best: { size: T; shape: number; area: number } | null = null;
  for (const size of sizes) {
    // Ratios this close look alike: 1344×768 is 16:9 to everybody but a ruler.
    const shape = Math.round(Math.abs(Math.log(size.width / size.height) - ratio) * 50);
    const apart = Math.abs(Math.log(size.width * size.height) - area);
    if (!best || shape < best.shape || (shape === best.shape && apart < best.area))
      best = { size, shape, area: apart };
  }
  return best?.size ?? null;
};

/**
 * The size that a code means to a model: that very one, or the nearest that the model makes. A code
 * that does not pay for DALL-E 3's wide ones means none of them.
 */
export const sizeFor = (model: Pick<ImageModel, 'family' | 'sizes'>, code: number): ImageSize => {
  const wanted = imageSizes.find((each) => each.code === code) ?? usualSize;
  const sizes = sizesOf(model).filter(
    (each) =>
      model.family !== 'dalle' || wanted.code > usualCodes.last || each.code <= usualCodes.last,
  );
  return (
    sizes.find((each) => each.code === wanted.code) ??
    closestSize(sizes, wanted.width, wanted.height) ??
    usualSize
  );
};

/** The code that is paid for: the one that was asked for, but no dearer than the one that is made. */
export const pricedSize = (model: Pick<ImageModel, 'family' | 'sizes'>, code: number): number => {
  const made = sizeFor(model, code).code;
  return model.family === 'midjourney' ? made : Math.min(made, code);
};

/** The size that is made, as `WxH`, and in words that it is not the one that was asked for. */
export const toldSize = (
  asked: number | string | undefined,
  { width, height }: { width: number; height: number },
): { size: string; notice?: string } => {
  const size = `${width}x${height}`;
  if (asked === undefined) return { size };
  const known = imageSizes.find(({ code }) => code === asked);
  const wanted = known ? `${known.width}x${known.height}` : String(asked);
  const same = wanted.trim().replace(/[X×*]/, 'x') === size;
  return { size, ...(same ? {} : { notice: `没有 ${wanted} 这个尺寸，画的是 ${size}` }) };
};

/** How many images a model makes when n are asked for; Midjourney always makes its four. */
export const countFor = (
  model: Pick<ImageModel, 'family' | 'max_count'>,
  n: number,
  withBaseImage: boolean,
): number => {
  if (model.family === 'midjourney') return limits.imageCount.midjourney;
  if (model.family === 'sd3' && withBaseImage) return 1;
  const most = Math.min(limits.imageCount.most, Math.max(1, model.max_count));
  return Math.min(most, Math.max(1, Math.round(n) || 1));
};

/** A job without words is called so, and its image was made so. */
export const taskNames: Readonly<Record<ImageTask, string>> = {
  txt2img: '画图',
  img2img: '参考图',
  vary: '变体',
  blend: '融图',
  upscale: '放大',
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

interface Named {
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

export interface Lora {
  key: string;
  /** Percent, 1 to 100. */
  weight: number;
}

/** What a person's words say beside what is to be seen. */
export interface ImageWords {
  /** The words that are left. */
  prompt: string;
  /** The address that they began with; empty: none. */
  baseImage: string;
  /** Percent, 1 to 100. */
  strength?: number;
  /** 0 stretch, 1 crop, 2 fill, 3 upscale. */
  resizeMode?: number;
  /** From `<lora:key:weight>`; of the cloud model none, whose words keep them. */
  loras: Lora[];
  /** What Midjourney's flags say, within their ranges; of all other families empty. */
  flags: ImageParameters;
}

const clamp = (value: number, { min, max }: { min: number; max: number }): number =>
  Math.min(max, Math.max(min, value));

/** A plain decimal number, or null. */
const numberIn = (text: string): number | null =>
  /^-?(\d{1,12}(\.\d{0,6})?|\.\d{1,6})$/.test(text) ? Number(text) : null;

const isSpace = (letter: string | undefined): boolean => letter !== undefined && /\s/.test(letter);
/** Chinese letters and punctuation: people set no space between them and a flag. */
const isWide = (letter: string | undefined): boolean =>
  letter !== undefined && letter.charCodeAt(0) > 0x2e7f;

/** `--name` at this place: where its name ends, or 0. */
const flagAt = (text: string, at: number): number => {
  if (text[at] !== '-' || text[at + 1] !== '-') return 0;
  const before = text[at - 1];
  if (at > 0 && !isSpace(before) && !isWide(before)) return 0;
  let end = at + 2;
  if (!/[a-z]/i.test(text[end] ?? '')) return 0;
  while (/\w/.test(text[end] ?? '')) end += 1;
  return end === text.length || isSpace(text[end]) || isWide(text[end]) ? end : 0;
};

interface Flag {
  name: string;
  /** What stands between its name and the next flag or the end. */
  rest: string;
  start: number;
  /** Where `rest` begins. */
  restStart: number;
}

const flagsIn = (text: string): Flag[] => {
  const found: { name: string; start: number; end: number }[] = [];
  for (let at = text.indexOf('--'); at >= 0; at = text.indexOf('--', at)) {
    const end = flagAt(text, at);
    if (end > 0) found.push({ name: text.slice(at + 2, end).toLowerCase(), start: at, end });
    at = Math.max(end, at + 1);
  }
  return found.map(({ name, start, end }, index) => ({
    name,
    start,
    restStart: end,
    rest: text.slice(end, found[index + 1]?.start ?? text.length),
  }));
};

/** The first word of what follows a flag, and where it ends in it. Chinese letters end others. */
const firstValue = (rest: string): { value: string; end: number } => {
  let start = 0;
  while (start < rest.length && isSpace(rest[start])) start += 1;
  // A value follows after a space: what is glued to the flag's name is the prompt going on.
  if (start === 0) return { value: '', end: 0 };
  const ends = isWide(rest[start])
    ? isSpace
    : (letter: string | undefined) => isSpace(letter) || isWide(letter);
  let end = start;
  while (end < rest.length && !ends(rest[end])) end += 1;
  return { value: rest.slice(start, end), end };
};

interface Read {
  parameters: ImageParameters;
  /** How much of what follows the flag belongs to it. */
  end: number;
}

type Slider = keyof (typeof familyRules)['midjourney']['ranges'];

const slider =
  (name: Slider, scale = 1) =>
  (rest: string): Read | null => {
    const { value, end } = firstValue(rest);
    const number = numberIn(value);
    if (number === null) return null;
    const range = familyRules.midjourney.ranges[name];
    return { parameters: { [name]: clamp(Math.round(number * scale), range) }, end };
  };

/** `--ar` takes whole numbers: 1.85:1 is written 37:20. */
const wholeAspect = (aspect: string): string => {
  const [width = 1, height = 1] = aspect.split(':').map(Number);
  let [a, b] = [Math.round(width * 1000), Math.round(height * 1000)];
  const product = [a, b] as const;
  while (b > 0) [a, b] = [b, a % b];
  return a > 0 ? `${product[0] / a}:${product[1] / a}` : familyRules.midjourney.aspect;
};

/** The addresses that follow a flag, each once, at most as many as references may be. */
const addresses = (rest: string): { urls: { url: string }[]; end: number } => {
  const urls = new Set<string>();
  let end = 0;
  for (;;) {
    const { value, end: length } = firstValue(rest.slice(end, end + 2100));
    if (!/^https?:\/\/\S/i.test(value) || value.length > 2000) break;
    if (urls.size < limits.styleReferences) urls.add(value);
    end += length;
  }
  return { urls: [...urls].map((url) => ({ url })), end };
};

const version =
  (niji: boolean) =>
  (rest: string): Read | null => {
    const { value, end } = firstValue(rest);
    if (/^\d(\.\d)?$/.test(value)) return { parameters: { is_niji: niji, version: value }, end };
    return niji ? { parameters: { is_niji: true }, end: 0 } : null;
  };

const qualities: Readonly<Record<string, '.25' | '.5' | '1'>> = {
  '.25': '.25',
  '0.25': '.25',
  '.5': '.5',
  '0.5': '.5',
  '1': '1',
};

/** Midjourney's flags that are parameters here; null: not understood, it stays in the words. */
const midjourneyFlags: Readonly<Record<string, (rest: string) => Read | null>> = {
  ar: (rest) => {
    const { value, end } = firstValue(rest);
    const match = /^(\d{1,4}(?:\.\d{1,3})?)[:：](\d{1,4}(?:\.\d{1,3})?)$/.exec(value);
    if (!match || !(Number(match[1]) > 0) || !(Number(match[2]) > 0)) return null;
    const whole = wholeAspect(`${match[1]}:${match[2]}`);
    const named = familyRules.midjourney.aspects.find((each) => wholeAspect(each) === whole);
    return { parameters: { aspect: named ?? `${match[1]}:${match[2]}` }, end };
  },
  v: version(false),
  niji: version(true),
  style: (rest) => {
    const { value, end } = firstValue(rest);
    return /^[a-z]{1,20}$/i.test(value)
      ? { parameters: { style: value.toLowerCase() }, end }
      : null;
  },
  stylize: slider('stylize'),
  chaos: slider('chaos'),
  weird: slider('weird'),
  stop: slider('stop'),
  repeat: slider('repeat'),
  iw: slider('weight', 100),
  cw: slider('cw'),
  sw: slider('sw'),
  sv: (rest) => {
    const { value, end } = firstValue(rest);
    return /^[1-4]$/.test(value) ? { parameters: { style_version: Number(value) }, end } : null;
  },
  quality: (rest) => {
    const { value, end } = firstValue(rest);
    const quality = qualities[value];
    return quality ? { parameters: { quality }, end } : null;
  },
  seed: (rest) => {
    const { value, end } = firstValue(rest);
    const seed = /^\d{1,10}$/.test(value) ? Number(value) : null;
    return seed !== null && seed <= 4_294_967_295 ? { parameters: { seed }, end } : null;
  },
  tile: () => ({ parameters: { tile: true }, end: 0 }),
  no: (rest) => {
    const no = rest.trim().slice(0, 500);
    return no === '' ? null : { parameters: { no }, end: rest.length };
  },
  cref: (rest) => {
    const { urls, end } = addresses(rest);
    return urls.length > 0 ? { parameters: { cref: urls }, end } : null;
  },
  sref: (rest) => {
    const { urls, end } = addresses(rest);
    if (urls.length > 0) return { parameters: { sref: urls }, end };
    const { value, end: length } = firstValue(rest);
    return value === 'random' ? { parameters: { random_style: true }, end: length } : null;
  },
};

const otherNames: Readonly<Record<string, string>> = {
  aspect: 'ar',
  version: 'v',
  s: 'stylize',
  c: 'chaos',
  w: 'weird',
  r: 'repeat',
  q: 'quality',
};

const own = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/** Takes the flags out of a text; what is left, and what they said. */
const readFlags = (
  text: string,
  family: ImageFamily,
): Pick<ImageWords, 'prompt' | 'strength' | 'resizeMode' | 'flags'> & { taken: string[] } => {
  const left: string[] = [];
  const taken: string[] = [];
  let read: Pick<ImageWords, 'strength' | 'resizeMode'> = {};
  let flags: ImageParameters = {};
  let at = 0;
  for (const { name, rest, start, restStart } of flagsIn(text)) {
    left.push(text.slice(at, start));
    at = start;
    const { value, end } = firstValue(rest);
    const number = numberIn(value);
    const midjourney = own(midjourneyFlags, own(otherNames, name) ?? name)?.(rest);
    if (name === 'strength' || name === 'resize_mode') {
      if (number !== null && name === 'strength')
        read = { ...read, strength: clamp(Math.round(number), familyRules.strength) };
      if (number !== null && name === 'resize_mode')
        read = { ...read, resizeMode: clamp(Math.round(number), { min: 0, max: 3 }) };
      at = restStart + end;
    } else if (family !== 'midjourney') {
      // What is excluded from an image may be many words; so may the addresses of references be.
      at = restStart + Math.max(end, midjourney?.end ?? 0);
      if (midjourney?.end === 0) at = restStart;
    } else if (midjourney) {
      flags = { ...flags, ...midjourney.parameters };
      at = restStart + midjourney.end;
    }
    taken.push(text.slice(start, at));
  }
  left.push(text.slice(at));
  return { prompt: joined(left), ...read, flags, taken };
};

/** What is left between things that were taken out, set apart by one space. */
const joined = (pieces: readonly string[]): string =>
  pieces
    .map((piece) => piece.trim())
    .filter((piece) => piece !== '')
    .join(' ');

const loraTag = /<lora:([^:<>\n]{1,200})(?::([^:<>\n]{0,16}))?>/gi;

/** A weight as it is written in a tag, where 0.7 is 70 %. Plain percents are understood too. */
const loraWeight = (text: string | undefined): number => {
  const number = numberIn((text ?? '').trim());
  if (number === null) return familyRules.lora.default;
  return clamp(Math.round(number <= 2 ? number * 100 : number), familyRules.lora);
};

const mostLoras = 10;

/** Each LoRA once, the last word on it counting, at most as many as a request takes. */
const eachOnce = (loras: readonly Lora[]): Lora[] =>
  [...new Map(loras.map((lora) => [lora.key, lora])).values()].slice(0, mostLoras);

/** An address of the web, or of an image that is kept here. */
const leadingAddress =
  /^\s*(https?:\/\/[^\s]{1,1990}|\/files\/[0-9a-f]{40}\.(?:jpg|png)(?:\?[^\s]{0,40})?)\s/i;

const dissect = (text: string, family: ImageFamily): { words: ImageWords; taken: string[] } => {
  const address = leadingAddress.exec(text.slice(0, 4000));
  let rest = address ? text.slice(address[0].length) : text;
  const loras: Lora[] = [];
  const tags: string[] = [];
  if (family !== 'cloud') {
    // A space in its place, so that what stood on both sides cannot make a tag together.
    rest = rest.replace(loraTag, (tag: string, key: string, weight: string | undefined) => {
      if (key.trim() !== '') loras.push({ key: key.trim(), weight: loraWeight(weight) });
      tags.push(tag);
      return ' ';
    });
  }
  const { taken, ...read } = readFlags(rest, family);
  return {
    words: { ...read, baseImage: address?.[1] ?? '', loras: eachOnce(loras) },
    taken: [...tags, ...taken],
  };
};

/**
 * Reads a person's words for an image (documents 1 and 2 §5). A leading http(s) address, or
 * that of an image kept here, with a space after it is the base image; `--strength` and `--resize_mode` are read; LoRA tags are taken
 * out except for the cloud model; flags with their values are taken out, and for Midjourney read.
 */
export const readImageWords = (text: string, family: ImageFamily): ImageWords =>
  dissect(text, family).words;

/** The text with other words, and with the address, the tags and the flags that it had. */
export const replaceWords = (text: string, family: ImageFamily, prompt: string): string => {
  const { words, taken } = dissect(text, family);
  return joined([words.baseImage, prompt, ...taken]);
};

// ---- writing -------------------------------------------------------------------

/** The parameters that count: those of the tool, and over them what the words themselves say. */
export const parametersOf = (words: ImageWords, parameters: ImageParameters): ImageParameters => {
  const lora = eachOnce([...(parameters.lora ?? []), ...words.loras]);
  return { ...parameters, ...words.flags, ...(lora.length > 0 ? { lora } : {}) };
};

/** Whether the version can be chosen for the anime or the usual model; else the default counts. */
export const versionOf = ({ is_niji: niji, version: wanted }: ImageParameters): string => {
  const { version: usual, versions, nijiVersions } = familyRules.midjourney;
  if (wanted === undefined) return usual;
  const known = (versions as readonly string[]).includes(wanted);
  // A version that a person typed and that is newer than this list is theirs to choose.
  if (!known) return /^\d(\.\d)?$/.test(wanted) ? wanted : usual;
  return niji && !(nijiVersions as readonly string[]).includes(wanted) ? usual : wanted;
};

/** The style if the anime or the usual model has it, else none. */
export const styleOf = ({ is_niji: niji, style }: ImageParameters): string => {
  const { styles, nijiStyles } = familyRules.midjourney;
  const names: readonly Named[] = niji ? nijiStyles : styles;
  return names.some(({ name }) => name === style) ? (style ?? '') : '';
};

const flagText = (words: ImageWords, parameters: ImageParameters): string[] => {
  const { ranges, aspect, quality } = familyRules.midjourney;
  const written: string[] = [];
  const write = (name: string, value: string | number | undefined, usual?: string | number) => {
    if (value !== undefined && value !== '' && value !== usual) written.push(`--${name} ${value}`);
  };
  const slide = (name: string, key: Slider) => write(name, parameters[key], ranges[key].default);
  write('ar', wholeAspect(parameters.aspect ?? aspect), wholeAspect(aspect));
  // Always said: which version a service takes by itself changes over the years.
  write(parameters.is_niji ? 'niji' : 'v', versionOf(parameters));
  write('style', styleOf(parameters));
  slide('stylize', 'stylize');
  slide('chaos', 'chaos');
  slide('weird', 'weird');
  write('quality', parameters.quality, quality);
  slide('stop', 'stop');
  if (parameters.tile) written.push('--tile');
  write('seed', parameters.seed);
  slide('repeat', 'repeat');
  if (words.baseImage !== '')
    write('iw', parameters.weight === undefined ? undefined : parameters.weight / 100, 1);
  if ((parameters.cref?.length ?? 0) > 0) slide('cw', 'cw');
  const styled = (parameters.sref?.length ?? 0) > 0;
  if (!styled && parameters.random_style) written.push('--sref random');
  if (styled || parameters.random_style) {
    slide('sw', 'sw');
    write('sv', parameters.style_version);
  }
  // Last, for its words go on to the end. A flag in them would end it.
  const no = readFlags(parameters.no ?? '', 'stable-diffusion').prompt;
  write('no', no);
  return written;
};

/**
 * What the service is given: Midjourney's flags behind the words in their usual order, defaults left
 * out; LoRA tags behind those of Stable Diffusion and 内置画板. The base image and the references of
 * Midjourney (cref, sref) are not in it: engines hand images over, not addresses, and add them
 * behind it. `baseImage` of the words must be filled in from the request where they have none.
 */
export const writePrompt = (
  words: ImageWords,
  family: ImageFamily,
  parameters: ImageParameters,
): string => {
  const all = parametersOf(words, parameters);
  if (family === 'midjourney') return joined([words.prompt, ...flagText(words, all)]);
  if (family !== 'stable-diffusion' && family !== 'built-in') return words.prompt;
  const tags = (all.lora ?? []).map(({ key, weight }) => `<lora:${key}:${weight / 100}>`);
  return joined([words.prompt, ...tags]);
};

/** The same for people to read before they send it: with the images' addresses in their places. */
export const previewPrompt = (
  words: ImageWords,
  family: ImageFamily,
  parameters: ImageParameters,
): string => {
  const text = writePrompt(words, family, parameters);
  if (family !== 'midjourney') return text;
  const { cref = [], sref = [] } = parametersOf(words, parameters);
  const listed = (name: string, images: readonly { url: string }[]) =>
    images.length > 0 ? `--${name} ${images.map(({ url }) => url).join(' ')}` : '';
  return joined([words.baseImage, text, listed('cref', cref), listed('sref', sref)]);
};

/** Whether the words tell what is made, so that a translation of them is worth its tokens. */
export const saysWhat = (task: ImageTask, { mask, zoom }: ImageParameters): boolean =>
  task === 'action'
    ? mask !== undefined || zoom !== undefined
    : task !== 'upscale' && task !== 'remove-bg';

// ---- translation ---------------------------------------------------------------

/** Texts with less Chinese than this share are not translated into English. */
const leastChinese = 0.1;

/** Whether so much of the text is Chinese that it is worth translating into English. */
export const needsTranslation = (text: string): boolean => {
  let letters = 0;
  let chinese = 0;
  for (const letter of text) {
    if (!/[\p{L}\p{N}]/u.test(letter)) continue;
    letters += 1;
    if (/\p{Script=Han}/u.test(letter)) chinese += 1;
  }
  return chinese > 0 && chinese / letters >= leastChinese;
};
