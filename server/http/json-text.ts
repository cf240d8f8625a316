import { storable } from '#server/storable.ts';
import { Refusal } from './handlers.ts';

/** What JSON of people may be made of: parts are keys, texts, lists, objects and commas. */
export interface JsonBounds {
  parts: number;
  depth: number;
}

/** Keys of one object: to copy and check one of 70,000 takes a third of a second. */
const mostKeys = 1000;

/** Of calls that name no others, and of JSON within a field. */
export const usualBounds: JsonBounds = { parts: 50_000, depth: 64 };

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
/** Brackets and braces. */
const opens = (letter: number): boolean => letter === 0x5b || letter === 0x7b;
const closes = (letter: number): boolean => letter === 0x5d || letter === 0x7d;

/** Where a text of JSON ends that begins at `at`; -1: it does not. */
const endOfText = (json: Buffer, at: number): number => {
  let end = at;
  for (;;) {
    end = json.indexOf(quote, end + 1);
    if (end < 0) return -1;
    let before = end;
    while (json[before - 1] === backslash) before -= 1;
    if ((end - before) % 2 === 0) return end;
  }
};

/**
 * Refuses JSON of too many parts or levels without making anything of it: to read 10 MB of keys
 * takes more than half a second in which nobody else is served, to look through them 20 ms.
 * @throws Refusal too_large
 */
const requireBounded = (json: Buffer, { parts, depth }: JsonBounds): void => {
  let seen = 0;
  let level = 0;
  /** By level: of the object that is open there. */
  const keys = new Uint32Array(depth + 1);
  for (let at = 0; at < json.length; at += 1) {
    const letter = json[at]!;
    if (letter === quote) {
      at = endOfText(json, at);
      // What never ends is no JSON: whoever reads it says so at once.
      if (at < 0) return;
      seen += 1;
    } else if (letter === comma) seen += 1;
    else if (letter === colon) {
      const count = (keys[level] ?? 0) + 1;
      keys[level] = count;
      if (count > mostKeys)
        throw new Refusal('too_large', `请求内容里的字段太多，最多 ${mostKeys} 个`);
    } else if (opens(letter)) {
      seen += 1;
      level += 1;
      keys[level] = 0;
      if (level > depth) throw new Refusal('too_large', `请求内容的层次太深，最多 ${depth} 层`);
    } else if (closes(letter)) level -= 1;
    if (seen > parts) throw new Refusal('too_large', '请求内容里的字段或项目太多，请分几次发送');
  }
};

/** Escapes of NUL and of halves of a pair: such a text may hold what PostgreSQL cannot keep. */
const escaped = /\\u(?:0000|d[89a-f])/i;

/**
 * The value of JSON that people sent, as it can be stored. @throws Refusal too_large beyond the bounds, SyntaxError for
 * what is no JSON
 */
export const readJson = (json: Buffer | string, bounds: JsonBounds = usualBounds): unknown => {
  requireBounded(typeof json === 'string' ? Buffer.from(json) : json, bounds);
  const text = json.toString();
  const value: unknown = JSON.parse(text);
  return escaped.test(text) ? storable(value) : value;
};
