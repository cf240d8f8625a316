interface Memory {
  readonly buffer: ArrayBuffer;
  grow: (pages: number) => number;
}
/** What is used of it; the server has no types of browsers. */
declare const WebAssembly: {
  Memory: new (size: { initial: number; maximum: number }) => Memory;
  Module: new (program: Uint8Array) => object;
  Instance: new (
    module: object,
    imports: { it: { memory: Memory } },
  ) => { exports: Record<string, unknown> };
};

/**
 * Comparing vectors with the processor's instructions for 16 bytes at once, as WebAssembly. The few
 * instructions are written here by their names, so nothing has to be compiled or shipped beside it.
 */
export interface VectorKernel {
  memory: Memory;
  /**
   * How alike the signs of `count` vectors are to the question's: for each the numbers whose signs
   * agree less those that differ, as 16 bits at `out`. A vector's signs are `pieces` × 16 bytes of
   * those above 0, then as many of those below.
   */
  agree: (signs: number, count: number, pieces: number, question: number, out: number) => void;
  /** The product of two vectors of `size` bytes, a multiple of 16. */
  dot: (one: number, other: number, size: number) => number;
}

type Code = number | readonly Code[];
const flat = (code: Code): number[] => (typeof code === 'number' ? [code] : code.flatMap(flat));
const leb = (value: number): Code =>
  value < 128 ? value : [(value & 127) | 128, leb(value >>> 7)];
const sized = (code: Code): Code => [leb(flat(code).length), code];
const text = (word: string): Code => sized([...Buffer.from(word)]);
const section = (id: number, code: Code): Code => [id, sized(code)];
const simd = (code: number): Code => [0xfd, leb(code)];

const i32 = 0x7f;
const v128 = 0x7b;
const end = 0x0b;
const below = 0x49;
const add = 0x6a;
const subtract = 0x6b;
const shiftLeft = 0x74;
const again = [0x0d, 0];
const store16 = [0x3b, 1, 0];
const load = [simd(0x00), 0, 0];
const zeros = [simd(0x0c), Array.from({ length: 16 }, () => 0)];
const and = simd(0x4e);
const or = simd(0x50);
const bits = simd(0x62);
const subtractBytes = simd(0x71);
const pairsOfBytes = simd(0x7c);
const pairsOfShorts = simd(0x7e);
const lowAsShorts = simd(0x87);
const highAsShorts = simd(0x88);
const addShorts = simd(0x8e);
const addInts = simd(0xae);
const productOfShorts = simd(0xba);

const get = (local: number): Code => [0x20, local];
const set = (local: number, value: Code): Code => [value, 0x21, local];
const constant = (value: number): Code => [0x41, value];
const repeat = (code: Code): Code => [0x03, 0x40, code, end];
const plus = (local: number, value: Code): Code => set(local, [get(local), value, add]);
const lane = (local: number, at: number): Code => [get(local), simd(0x1b), at];
const sumOfInts = (local: number): Code => [
  [lane(local, 0), lane(local, 1), add],
  [lane(local, 2), add, lane(local, 3), add],
];

const agree = (): Code => {
  const [signs, count, pieces, question, out] = [0, 1, 2, 3, 4] as const;
  const [half, at, sum, high, low, up, down] = [5, 6, 7, 8, 9, 10, 11] as const;
  const above16 = (base: number): Code => [get(base), get(at), add, load];
  const below16 = (base: number): Code => [get(base), get(at), add, get(half), add, load];
  const both = (one: number, other: number): Code => [get(one), get(other), and];
  const each16 = [
    set(high, above16(signs)),
    set(low, below16(signs)),
    set(up, above16(question)),
    set(down, below16(question)),
    get(sum),
    [both(high, up), both(low, down), or, bits],
    [both(high, down), both(low, up), or, bits],
    set(sum, [subtractBytes, pairsOfBytes, addShorts]),
    plus(at, constant(16)),
    [get(at), get(half), below, again],
  ];
  const eachVector = [
    set(sum, zeros),
    set(at, constant(0)),
    repeat(each16),
    set(sum, [get(sum), pairsOfShorts]),
    [get(out), sumOfInts(sum), store16],
    plus(signs, [get(half), constant(1), shiftLeft]),
    plus(out, constant(2)),
    set(count, [get(count), constant(1), subtract]),
    [get(count), again],
  ];
  const locals = [2, [2, i32], [5, v128]];
  return [locals, set(half, [get(pieces), constant(4), shiftLeft]), repeat(eachVector), end];
};

const dot = (): Code => {
  const [one, other, size, at, sum, left, right] = [0, 1, 2, 3, 4, 5, 6] as const;
  const load16 = (base: number): Code => [get(base), get(at), add, load];
  const product = (half: Code): Code => [get(left), half, get(right), half, productOfShorts];
  const each16 = [
    set(left, load16(one)),
    set(right, load16(other)),
    [get(sum), product(lowAsShorts), product(highAsShorts)],
    set(sum, [addInts, addInts]),
    plus(at, constant(16)),
    [get(at), get(size), below, again],
  ];
  const locals = [2, [1, i32], [3, v128]];
  return [locals, repeat(each16), sumOfInts(sum), end];
};

const program = Uint8Array.from(
  flat([
    [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    section(1, [2, [0x60, 5, i32, i32, i32, i32, i32, 0], [0x60, 3, i32, i32, i32, 1, i32]]),
    section(2, [1, text('it'), text('memory'), 2, 0, 1]),
    section(3, [2, 0, 1]),
    section(7, [2, text('agree'), 0, 0, text('dot'), 0, 1]),
    section(10, [2, sized(agree()), sized(dot())]),
  ]),
);

/** null: this processor or this much memory is not to be had. */
export const vectorKernel = (pages: number): VectorKernel | null => {
  try {
    const memory = new WebAssembly.Memory({ initial: pages, maximum: 65_536 });
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(program), {
      it: { memory },
    });
    return { ...(exports as unknown as Pick<VectorKernel, 'agree' | 'dot'>), memory };
  } catch {
    return null;
  }
};
