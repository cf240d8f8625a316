import type { ImageFamily, ImageParameters, ImageTask } from './image.ts';
import { familyRules, type Named } from './image-family.ts';
import { limits } from './limits.ts';

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
  write('no', asOneOrder(no));
  return written;
};

/** Flags without a field here that make nothing dearer. */
const harmless: ReadonlySet<string> = new Set([
  'raw',
  'p',
  'profile',
  'exp',
  'draft',
  'relax',
  'ow',
]);

/** What shows nothing, but for what joins the parts of an emoji or picks its look. */
const unseen = /(?<!\p{Extended_Pictographic}\uFE0F?)[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
/** What can be taken for a hyphen, and what for two at once. */
const hyphens = '\\-\u2010\u2011\u2043\u2212\u02d7\uFE63\uFF0D';
const dashes = '\u2012-\u2015\u2E3A\u2E3B\uFE58';
const marks = `[${hyphens}${dashes}]`;
const wide = '\uFF10-\uFF19\uFF21-\uFF3A\uFF41-\uFF5A';
/** Looked for once in each run of blanks and of marks, however long they are. */
const flagLike = new RegExp(
  `(?:(?<!\\s)\\s+|(?<!${marks}))(${marks}+)\\s*([a-z\uFF41-\uFF5A][\\w${wide}]*)`,
  'giu',
);
const oneHyphen = new RegExp(`^[${hyphens}]$`, 'u');

/**
 * Words in which Midjourney finds no flag that makes one order many or dearer, however it is written:
 * it reads dashes as two hyphens, flags behind any letter, and alternatives in braces as an order each.
 */
const asOneOrder = (text: string): string =>
  text
    .replace(unseen, '')
    .replace(flagLike, (all, mark: string, written: string) => {
      if (oneHyphen.test(mark)) return all;
      const name = written.normalize('NFKC');
      return harmless.has(name.toLowerCase()) ? ` --${name}` : ` ${name}`;
    })
    .replace(/[{\uFE5B\uFF5B]/g, '(')
    .replace(/[}\uFE5C\uFF5D]/g, ')')
    .trim();

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
  if (family === 'midjourney') return joined([asOneOrder(words.prompt), ...flagText(words, all)]);
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
