import { Best } from './best-passages.ts';
import { type VectorKernel, vectorKernel } from './vector-kernel.ts';

/** Vectors from which on only those are compared whole whose signs are alike. */
const signsFrom = 20_000;
/** Vectors whose signs lie together, behind them their numbers. */
const together = 128;
const memoryPage = 65_536;
const mostMemory = 65_536 * memoryPage;

/** An array that has room for so many. */
export const grown = <T extends Float32Array | Float64Array | Int32Array>(
  array: T,
  count: number,
): T => {
  if (count <= array.length) return array;
  const longer = new (array.constructor as new (size: number) => T)(Math.ceil(count * 1.5));
  longer.set(array);
  return longer;
};

const lengthOf = (numbers: Int8Array): number => {
  let sum = 0;
  for (const value of numbers) sum += value * value;
  return Math.sqrt(sum);
};

/** A bit a number: above 0, and behind those of all, below. */
const writeSigns = (numbers: Int8Array, to: Uint8Array): void => {
  const half = to.length / 2;
  to.fill(0);
  for (let at = 0; at < numbers.length; at += 1) {
    const value = numbers[at]!;
    const byte = (value > 0 ? 0 : half) + (at >>> 3);
    if (value !== 0) to[byte] = to[byte]! | (1 << (at & 7));
  }
};

/**
 * Vectors of one model, a byte a number, by their cosine to a question. Few are compared one after
 * the other. Of many, a look at all signs (a quarter of the bytes, 16 at once) says which are worth
 * it, so nothing has to be grouped beforehand and every vector is found from when it was added.
 */
export class VectorShelf {
  private readonly size: number;
  /** Of the signs above (or below) of a vector, in 16 bytes. */
  private readonly pieces: number;
  private readonly stride: number;
  /** Where the question's signs, its numbers and the answers lie, before all vectors. */
  private readonly answers: number;
  private readonly shelves: number;
  private bytes = new Uint8Array(0);
  private kernel: VectorKernel | null = null;
  private count = 0;
  private places = new Int32Array(0);
  /** 1 / length of each; 0: it is gone. */
  private norms = new Float32Array(0);
  private likenesses = new Int16Array(0);

  constructor(size: number) {
    this.size = size;
    this.pieces = Math.ceil(size / 128);
    this.stride = this.pieces * 32 + this.pieces * 128;
    this.answers = this.stride;
    this.shelves = this.answers + together * 2;
  }

  get length(): number {
    return this.count;
  }

  private signsAt(at: number): number {
    const group = Math.floor(at / together);
    return this.shelves + group * together * this.stride + (at % together) * this.pieces * 32;
  }

  private numbersAt(at: number): number {
    const group = Math.floor(at / together);
    const behind = together * this.pieces * 32 + (at % together) * this.pieces * 128;
    return this.shelves + group * together * this.stride + behind;
  }

  private makeRoom(count: number): void {
    const groups = Math.ceil(count / together);
    const bytes = this.shelves + groups * together * this.stride;
    if (count >= signsFrom && !this.kernel && bytes < mostMemory) {
      this.kernel = vectorKernel(Math.ceil(Math.max(bytes, this.bytes.length) / memoryPage));
      if (this.kernel) {
        const moved = new Uint8Array(this.kernel.memory.buffer);
        moved.set(this.bytes);
        this.bytes = moved;
      }
    }
    if (bytes <= this.bytes.length) return;
    const { kernel } = this;
    if (kernel) {
      const step = Math.ceil((bytes * 1.1 - this.bytes.length) / memoryPage);
      kernel.memory.grow(Math.min(step, 65_536 - this.bytes.length / memoryPage));
      this.bytes = new Uint8Array(kernel.memory.buffer);
    } else {
      const longer = new Uint8Array(Math.ceil(bytes * 1.5));
      longer.set(this.bytes);
      this.bytes = longer;
    }
  }

  private write(numbers: Int8Array, signs: number, to: number): void {
    writeSigns(numbers, this.bytes.subarray(signs, signs + this.pieces * 32));
    this.bytes.set(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.length), to);
  }

  /** @param vectors one after the other; the first is of the passage at `from`, and so on. */
  add(vectors: Int8Array, from: number): void {
    const count = vectors.length / this.size;
    this.makeRoom(this.count + count);
    this.places = grown(this.places, this.count + count);
    this.norms = grown(this.norms, this.count + count);
    for (let at = 0; at < count; at += 1) {
      const numbers = vectors.subarray(at * this.size, (at + 1) * this.size);
      const own = this.count + at;
      this.write(numbers, this.signsAt(own), this.numbersAt(own));
      this.places[own] = from + at;
      this.norms[own] = 1 / Math.max(1, lengthOf(numbers));
    }
    this.count += count;
  }

  /** Those of the passages from `from` up to `to` are found no longer. */
  drop(from: number, to: number): void {
    let [first, last] = [0, this.count];
    // Passages only ever come behind those that are there.
    while (first < last) {
      const middle = (first + last) >>> 1;
      if (this.places[middle]! < from) first = middle + 1;
      else last = middle;
    }
    for (let at = first; at < this.count && this.places[at]! < to; at += 1) this.norms[at] = 0;
  }

  private product(at: number, question: Int8Array): number {
    const { bytes, size, kernel } = this;
    const from = this.numbersAt(at);
    if (kernel) return kernel.dot(from, this.pieces * 32, this.pieces * 128);
    let sum = 0;
    for (let each = 0; each < size; each += 1)
      sum += ((bytes[from + each]! << 24) >> 24) * question[each]!;
    return sum;
  }

  /** What a look at the signs alone finds nearest: so many, and those that are as near as the last. */
  private nearBySigns(kernel: VectorKernel, most: number): number[] {
    const { pieces, count, size, answers } = this;
    if (this.likenesses.length < count) this.likenesses = new Int16Array(Math.ceil(count * 1.2));
    const { likenesses } = this;
    const said = new Int16Array(kernel.memory.buffer, answers, together);
    const seen = new Uint32Array(2 * size + 1);
    for (let from = 0; from < count; from += together) {
      const some = Math.min(together, count - from);
      kernel.agree(this.signsAt(from), some, pieces, 0, answers);
      for (let at = 0; at < some; at += 1) {
        const alike = said[at]!;
        likenesses[from + at] = alike;
        seen[alike + size] = seen[alike + size]! + 1;
      }
    }
    let least = size;
    for (let all = seen[2 * size]!; all < most && least > -size;) {
      least -= 1;
      all += seen[least + size]!;
    }
    const near: number[] = [];
    for (let at = 0; at < count; at += 1) if (likenesses[at]! >= least) near.push(at);
    return near;
  }

  /** The passages nearest to the question, and how near; exactly: all are compared whole. */
  nearest(question: Int8Array, most: number, exactly = false): [place: number, score: number][] {
    const best = new Best(most);
    if (this.count === 0) return [];
    this.write(question, 0, this.pieces * 32);
    const own = 1 / Math.max(1, lengthOf(question));
    const consider = (at: number) => {
      const norm = this.norms[at]!;
      if (norm > 0) best.consider(this.places[at]!, this.product(at, question) * norm * own);
    };
    if (this.kernel && !exactly)
      for (const at of this.nearBySigns(this.kernel, Math.max(3000, this.count / 100)))
        consider(at);
    else for (let at = 0; at < this.count; at += 1) consider(at);
    return best.all;
  }
}
