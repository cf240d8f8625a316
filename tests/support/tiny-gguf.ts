/**
 * A language model of a few thousand random numbers in the form that llama.cpp reads (GGUF 3): it
 * writes nonsense, but as a real one does.
 */

const types = { u32: 4, f32: 6, string: 8, array: 9 } as const;

class Bytes {
  readonly parts: Buffer[] = [];
  u32(value: number) {
    const part = Buffer.alloc(4);
    part.writeUInt32LE(value);
    this.parts.push(part);
  }
  i32(value: number) {
    const part = Buffer.alloc(4);
    part.writeInt32LE(value);
    this.parts.push(part);
  }
  f32(value: number) {
    const part = Buffer.alloc(4);
    part.writeFloatLE(value);
    this.parts.push(part);
  }
  u64(value: number) {
    const part = Buffer.alloc(8);
    part.writeBigUInt64LE(BigInt(value));
    this.parts.push(part);
  }
  string(text: string) {
    const part = Buffer.from(text);
    this.u64(part.length);
    this.parts.push(part);
  }
}

/** Numbers that look random and are the same each time. */
const noise = () => {
  let state = 12_345;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x7fffffff - 0.5;
  };
};

const width = 32;
const inner = 64;
const layers = 2;

const vocabulary = [
  ...['<unk>', '<s>', '</s>'].map((text, at) => ({ text, type: at === 0 ? 2 : 3 })),
  ...Array.from({ length: 256 }, (_, byte) => ({
    text: `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`,
    type: 6,
  })),
  ...Array.from('▁鹊桥通向许多模型你好山间明月清风问答').map((text) => ({ text, type: 1 })),
];

/** `rank` says how well a text answers a question, as a reranker; it is of another make. */
export type TinyKind = 'chat' | 'rank';

const tensors = (kind: TinyKind): { name: string; shape: number[]; ones: boolean }[] => [
  { name: 'token_embd.weight', shape: [width, vocabulary.length], ones: false },
  { name: 'output_norm.weight', shape: [width], ones: true },
  { name: 'output.weight', shape: [width, vocabulary.length], ones: false },
  ...(kind === 'rank' ? [{ name: 'cls.output.weight', shape: [width, 2], ones: false }] : []),
  ...Array.from({ length: layers }, (_, at) => [
    ...(kind === 'rank' ? ['attn_q_norm', 'attn_k_norm'] : []).map((each) => ({
      name: `blk.${at}.${each}.weight`,
      shape: [width / 2],
      ones: true,
    })),
    { name: `blk.${at}.attn_norm.weight`, shape: [width], ones: true },
    { name: `blk.${at}.ffn_norm.weight`, shape: [width], ones: true },
    ...['attn_q', 'attn_k', 'attn_v', 'attn_output'].map((each) => ({
      name: `blk.${at}.${each}.weight`,
      shape: [width, width],
      ones: false,
    })),
    { name: `blk.${at}.ffn_gate.weight`, shape: [width, inner], ones: false },
    { name: `blk.${at}.ffn_up.weight`, shape: [width, inner], ones: false },
    { name: `blk.${at}.ffn_down.weight`, shape: [inner, width], ones: false },
  ]).flat(),
];

const makes = { chat: 'llama', rank: 'qwen3' } as const;
type Meta = [key: string, type: 'u32' | 'f32' | 'string', value: number | string];
const metaOf = (kind: TinyKind): Meta[] => [
  ['general.architecture', 'string', makes[kind]],
  ['general.name', 'string', 'tiny'],
  [`${makes[kind]}.context_length`, 'u32', 4096],
  [`${makes[kind]}.embedding_length`, 'u32', width],
  [`${makes[kind]}.block_count`, 'u32', layers],
  [`${makes[kind]}.feed_forward_length`, 'u32', inner],
  [`${makes[kind]}.attention.head_count`, 'u32', 2],
  [`${makes[kind]}.attention.head_count_kv`, 'u32', 2],
  [`${makes[kind]}.attention.layer_norm_rms_epsilon`, 'f32', 1e-5],
  [`${makes[kind]}.rope.dimension_count`, 'u32', width / 2],
  ...(kind === 'rank'
    ? ([
        ['qwen3.attention.key_length', 'u32', width / 2],
        ['qwen3.attention.value_length', 'u32', width / 2],
        ['qwen3.pooling_type', 'u32', 4],
        ['tokenizer.chat_template.rerank', 'string', '{query}</s>{document}'],
      ] satisfies Meta[])
    : []),
  ['tokenizer.ggml.model', 'string', 'llama'],
  ['tokenizer.ggml.bos_token_id', 'u32', 1],
  ['tokenizer.ggml.eos_token_id', 'u32', 2],
  ['tokenizer.ggml.unknown_token_id', 'u32', 0],
];

export const tinyGguf = (kind: TinyKind = 'chat'): Buffer => {
  const meta = metaOf(kind);
  const head = new Bytes();
  const list = tensors(kind);
  head.parts.push(Buffer.from('GGUF'));
  head.u32(3);
  head.u64(list.length);
  const labels = kind === 'rank' ? ['yes', 'no'] : [];
  head.u64(meta.length + 3 + (labels.length > 0 ? 1 : 0));
  for (const [key, type, value] of meta) {
    head.string(key);
    head.u32(types[type]);
    if (type === 'string') head.string(String(value));
    else head[type](Number(value));
  }
  if (labels.length > 0) {
    head.string('qwen3.classifier.output_labels');
    head.u32(types.array);
    head.u32(types.string);
    head.u64(labels.length);
    for (const label of labels) head.string(label);
  }
  const lists = [
    ['tokens', types.string, ({ text }: { text: string }) => head.string(text)],
    ['scores', types.f32, () => head.f32(0)],
    ['token_type', 5, ({ type }: { type: number }) => head.i32(type)],
  ] as const;
  for (const [name, type, write] of lists) {
    head.string(`tokenizer.ggml.${name}`);
    head.u32(types.array);
    head.u32(type);
    head.u64(vocabulary.length);
    for (const token of vocabulary) write(token);
  }
  let offset = 0;
  for (const { name, shape } of list) {
    head.string(name);
    head.u32(shape.length);
    for (const side of shape) head.u64(side);
    head.u32(0);
    head.u64(offset);
    offset += Math.ceil((shape.reduce((a, b) => a * b) * 4) / 32) * 32;
  }
  const before = Buffer.concat(head.parts);
  const next = noise();
  const data = list.map(({ shape, ones }) =>
    Buffer.from(
      Float32Array.from({ length: shape.reduce((a, b) => a * b) }, () => (ones ? 1 : next()))
        .buffer,
    ),
  );
  return Buffer.concat([before, Buffer.alloc((32 - (before.length % 32)) % 32), ...data]);
};
