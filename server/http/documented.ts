import type * as z from 'zod/mini';
import { closestSize, imageSizes } from '#contract/image-size.ts';
import { Refusal } from './handlers.ts';
import { readJson } from './json-text.ts';

/** Input as the screens of the specification send it, brought to the contract's own shapes. */

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The number of nothing; a query has it as text. */
export const isZero = (value: unknown): boolean => value === 0 || value === '0';
const isIdName = /(?:^id|_id|Id)$/;

/** The fields of an object's schema; undefined: it is of another kind. */
export const fieldsOf = (schema: z.ZodMiniType): Record<string, z.ZodMiniType> | undefined =>
  (schema as unknown as { def: { shape?: Record<string, z.ZodMiniType> } }).def.shape;

/**
 * A form sends an empty text or null for what was not chosen, and 0 for the id of what is new or of
 * nothing. Where that is no value of an optional field, it is as if the field had been left out.
 */
export const withoutBlanks = (schema: z.ZodMiniType, given: unknown): unknown => {
  const fields = fieldsOf(schema);
  if (!fields || !isRecord(given)) return given;
  const isBlank = ([name, value]: [string, unknown]): boolean => {
    const field = fields[name];
    const isNone = value === '' || value === null || (isIdName.test(name) && isZero(value));
    if (!isNone || field === undefined) return false;
    return !field.safeParse(value).success && field.safeParse(undefined).success;
  };
  const blank = Object.entries(given).filter(isBlank);
  if (blank.length === 0) return given;
  const names = new Set(blank.map(([name]) => name));
  return Object.fromEntries(Object.entries(given).filter(([name]) => !names.has(name)));
};

/** One address, a list of addresses, or a list of `{ url }`. */
const references = (given: unknown): unknown => {
  if (!Array.isArray(given)) return typeof given === 'string' ? [{ url: given }] : given;
  const listed = given.map((each: unknown) => (typeof each === 'string' ? { url: each } : each));
  const urls = listed.map((each) => (isRecord(each) ? each['url'] : each));
  // The same one twice counts once.
  return listed.filter((_, at) => urls.indexOf(urls[at]) === at);
};

/** A size as models list them, `WxH`, becomes the code that is nearest to it. */
export const sizeCode = (given: unknown): unknown => {
  const [, width, height] =
    (typeof given === 'string' && /^(\d{2,5})[x×*](\d{2,5})$/i.exec(given.trim())) || [];
  return width === undefined || height === undefined
    ? given
    : (closestSize(imageSizes, Number(width), Number(height))?.code ?? given);
};

const isGiven = (part: unknown): boolean => part !== undefined && part !== null && part !== '';

/** Document 2 §3 has the size among an image's parameters: there it goes before the one beside them. */
export const withOwnSize = (given: Record<string, unknown>): Record<string, unknown> => {
  const { parameters } = given;
  const size = isRecord(parameters) ? parameters['size'] : undefined;
  return isGiven(size) ? { ...given, size } : given;
};

/** Fields that the documents call JSON are taken as such and as its text. */
export const fromJsonText = (given: unknown): unknown => {
  if (typeof given !== 'string' || !given.trimStart().startsWith('{')) return given;
  try {
    return readJson(given);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    return given;
  }
};

/** What a switch sends: 0 and 1 as well as true and false. */
const onOrOff = (given: unknown): unknown => (given === 0 || given === 1 ? given === 1 : given);

/** LoRAs with their weights: the key of each may be called its name. */
const loraList = (given: unknown): unknown =>
  Array.isArray(given)
    ? given.map((each: unknown) =>
        isRecord(each) ? { ...each, key: each['key'] ?? each['name'] } : each,
      )
    : given;

/** Values of an image's parameters as document 2 §3 writes them. */
const shapes: Readonly<Record<string, (given: unknown) => unknown>> = {
  aspect: (given) =>
    isRecord(given) ? `${String(given['width'])}:${String(given['height'])}` : given,
  version: (given) => (typeof given === 'number' ? String(given) : given),
  quality: (given) => (typeof given === 'number' ? String(given).replace(/^0\./, '.') : given),
  cref: references,
  sref: references,
  lora: loraList,
  tile: onOrOff,
  random_style: onOrOff,
  logo_add: onOrOff,
  revise: onOrOff,
};

/**
 * An image's parameters as document 2 §3 has them: `aspect` with width and height, `version` with
 * isNiji and value, references as bare addresses, `logoAdd`, `loras` as image/metadata calls them.
 * What is blank is left out.
 */
export const imageParameters = (given: unknown): unknown => {
  if (!isRecord(given)) return given;
  const { logoAdd, loras, version, ...rest } = given;
  const { isNiji, value } = isRecord(version) ? version : { isNiji: undefined, value: version };
  const all = { is_niji: onOrOff(isNiji), logo_add: logoAdd, lora: loras, ...rest, version: value };
  return Object.fromEntries(
    Object.entries(all)
      .filter(([, part]) => isGiven(part))
      .map(([name, part]) => [name, shapes[name]?.(part) ?? part]),
  );
};
