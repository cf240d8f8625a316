import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * A voice as sherpa-onnx takes them (VITS with a lexicon), small enough to be written here: every
 * syllable is a hum as high as its number. Fields are numbered as in onnx.proto.
 */

const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value & 127) | 128, ...varint(Math.floor(value / 128))];
const number = (field: number, value: number): Buffer =>
  Buffer.from([...varint(field << 3), ...varint(value)]);
const bytes = (field: number, value: Uint8Array | string): Buffer => {
  const data = Buffer.from(value as string);
  return Buffer.concat([Buffer.from([...varint((field << 3) | 2), ...varint(data.length)]), data]);
};
const message = (field: number, ...parts: Buffer[]): Buffer => bytes(field, Buffer.concat(parts));

const types = { float: 1, int64: 7 } as const;
type Type = keyof typeof types;

/** A value of so many dimensions, none of them known. */
const value = (field: number, name: string, type: Type, dimensions: number): Buffer => {
  const shape = Array.from({ length: dimensions }, (_, at) =>
    message(1, bytes(2, `${name}_${at}`)),
  );
  return message(
    field,
    bytes(1, name),
    message(2, message(1, number(1, types[type]), message(2, ...shape))),
  );
};
const node = (operator: string, inputs: string[], output: string, attributes: Buffer[] = []) =>
  message(
    1,
    ...inputs.map((each) => bytes(1, each)),
    bytes(2, output),
    bytes(4, operator),
    ...attributes,
  );
const constant = (name: string, type: Type, values: number[], scalar = false): Buffer => {
  const raw = Buffer.alloc(values.length * (type === 'float' ? 4 : 8));
  for (const [at, each] of values.entries())
    if (type === 'float') raw.writeFloatLE(each, at * 4);
    else raw.writeBigInt64LE(BigInt(each), at * 8);
  return message(
    5,
    ...(scalar ? [] : [number(1, values.length)]),
    number(2, types[type]),
    bytes(8, name),
    bytes(9, raw),
  );
};

/** Samples of one syllable, and how many a second has. */
const syllable = 1600;
export const onnxVoiceRate = 16_000;

const graph = message(
  7,
  node('Cast', ['x'], 'numbers', [
    message(5, bytes(1, 'to'), number(3, types.float), number(20, 2)),
  ]),
  node('Unsqueeze', ['numbers', 'last'], 'columns'),
  node('Mul', ['columns', 'ramp'], 'phases'),
  node('Sin', ['phases'], 'waves'),
  node('Reshape', ['waves', 'flat'], 'y'),
  bytes(2, 'voice'),
  constant('last', 'int64', [2]),
  constant('flat', 'int64', [1, 1, -1]),
  constant(
    'ramp',
    'float',
    Array.from({ length: syllable }, (_, at) => at * 0.04),
  ),
  value(11, 'x', 'int64', 2),
  value(11, 'x_length', 'int64', 1),
  value(11, 'noise_scale', 'float', 1),
  value(11, 'length_scale', 'float', 1),
  value(11, 'noise_scale_w', 'float', 1),
  value(12, 'y', 'float', 3),
);

const facts = {
  sample_rate: String(onnxVoiceRate),
  n_speakers: '1',
  add_blank: '0',
  language: 'Chinese',
  punctuation: ', . ! ? ， 。 ！ ？',
  model_type: 'vits',
  comment: 'test',
};

/** Writes the voice into a folder; it can say each letter of `letters`. */
export const writeOnnxVoice = (folder: string, letters: string): void => {
  mkdirSync(folder, { recursive: true });
  const all = Array.from(letters);
  const model = Buffer.concat([
    number(1, 8),
    message(8, bytes(1, ''), number(2, 13)),
    graph,
    ...Object.entries(facts).map(([name, text]) => message(14, bytes(1, name), bytes(2, text))),
  ]);
  writeFileSync(path.join(folder, 'model.onnx'), model);
  const tokens = ['sil', 'eos', 'sp', '#0', ...all.map((_, at) => `s${at}`)];
  const lines = tokens.map((token, at) => `${token} ${at}\n`);
  writeFileSync(path.join(folder, 'tokens.txt'), lines.join(''));
  const lexicon = all.map((letter, at) => `${letter} s${at}\n`);
  writeFileSync(path.join(folder, 'lexicon.txt'), lexicon.join(''));
};
