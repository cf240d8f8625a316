import { crc32 } from 'node:zlib';

/**
 * Text chunks of PNG files (PNG specification, 11.3.3): an iTXt chunk holds UTF-8. Programs that
 * make images keep prompt and parameters under the keyword `parameters`.
 */

export const parametersKeyword = 'parameters';

const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
/** Chunks that hold a text below a keyword. */
const textTypes: ReadonlySet<string> = new Set(['tEXt', 'zTXt', 'iTXt']);
/** Length, type and check sum around the data of a chunk. */
const frame = 12;

interface Chunk {
  type: string;
  /** Where the chunk begins and ends in the file, and its data. */
  start: number;
  end: number;
  data: Buffer;
}

function* chunksOf(png: Buffer): Generator<Chunk> {
  if (!png.subarray(0, signature.length).equals(signature)) throw new Error('not a PNG');
  let start = signature.length;
  for (let type = ''; type !== 'IEND';) {
    const end = start + frame <= png.length ? start + frame + png.readUInt32BE(start) : Infinity;
    if (end > png.length) throw new Error('a PNG that is cut off');
    type = png.toString('latin1', start + 4, start + 8);
    yield { type, start, end, data: png.subarray(start + 8, end - 4) };
    start = end;
  }
}

/** A PNG with a text in it, in place of another of this keyword, before the pixels. @throws Error: no PNG */
export const withPngText = (png: Buffer, keyword: string, text: string): Buffer => {
  if (!/^[ -~]{1,79}$/.test(keyword)) throw new Error('a keyword is 1 to 79 Latin characters');
  const [header] = chunksOf(png);
  if (header?.type !== 'IHDR') throw new Error('a PNG without a header');
  // Keyword, end; not compressed, method 0; no language and no translated keyword.
  const body = Buffer.concat([
    Buffer.from(`iTXt${keyword}\0\0\0\0\0`, 'latin1'),
    Buffer.from(text.replaceAll('\0', ''), 'utf8'),
  ]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length - 4);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  const start = Buffer.from(`${keyword}\0`, 'latin1');
  const rest = [...chunksOf(png)]
    .slice(1)
    .filter(
      ({ type, data }) => !textTypes.has(type) || !data.subarray(0, start.length).equals(start),
    )
    .map((chunk) => png.subarray(chunk.start, chunk.end));
  return Buffer.concat([png.subarray(0, header.end), length, body, check, ...rest]);
};

/** The text under a keyword in an uncompressed iTXt chunk; null: there is none. @throws Error: no PNG */
export const readPngText = (png: Buffer, keyword: string): string | null => {
  const start = Buffer.from(`${keyword}\0\0\0`, 'latin1');
  for (const { type, data } of chunksOf(png)) {
    if (type === 'IDAT') return null;
    if (type !== 'iTXt' || !data.subarray(0, start.length).equals(start)) continue;
    const language = data.indexOf(0, start.length);
    const translated = data.indexOf(0, language + 1);
    if (language >= 0 && translated >= 0) return data.toString('utf8', translated + 1);
  }
  return null;
};
