import { queryTerms, termsOf } from '../help/search.ts';

/** Passages as they come into an index. */
export interface IndexedFile {
  /** Names the file as it is now. */
  mark: number;
  ids: number[];
  /** Heading and text of each. */
  texts: string[];
  /** One after the other, all of the same length; empty: they are found by words alone. */
  vectors: Uint8Array;
  model: string;
}

export interface Candidate {
  id: number;
  /** From 1; 0: not among the best there. */
  wordsRank: number;
  vectorRank: number;
  /** Cosine to the question; 0 where there is no vector. */
  likeness: number;
}

export interface Found {
  candidates: Candidate[];
  /** How rare the words of the question are in these passages. */
  rarity: Record<string, number>;
}

/** So many of each list are put together. */
const eachList = 60;
/** Passages that the words of a question touch at most, the rarest words first. */
const mostTouched = 400_000;
/** Passages from which on only those are compared whole whose signs are alike. */
const signsFrom = 40_000;

const k = 1.2;
const b = 0.5;

/** Words count in steps of this: a single letter counts less than once. */
const countStep = 0.05;
/** A passage and how much a word counts in it, in one number. */
const posting = (place: number, count: number): number =>
  place * 256 + Math.min(Math.max(1, Math.round(count / countStep)), 255);

/** Where each word stands. Most words stand in one place, which takes no list of its own. */
class Words {
  private readonly numbers = new Map<string, number>();
  private readonly sizes: number[] = [];
  private readonly first: number[] = [];
  private readonly more: (Int32Array | null)[] = [];

  add(term: string, entry: number): void {
    const word = this.numbers.get(term);
    if (word === undefined) {
      this.numbers.set(term, this.first.length);
      this.sizes.push(1);
      this.first.push(entry);
      this.more.push(null);
      return;
    }
    const at = this.sizes[word]! - 1;
    let list = this.more[word] ?? null;
    if (!list || at === list.length) {
      const longer = new Int32Array(Math.ceil(at * 1.5) + 2);
      if (list) longer.set(list);
      this.more[word] = list = longer;
    }
    list[at] = entry;
    this.sizes[word] = at + 2;
  }

  /** What was added for a word; empty: it stands nowhere. */
  of(term: string): Int32Array {
    const word = this.numbers.get(term);
    if (word === undefined) return new Int32Array();
    const size = this.sizes[word]!;
    const all = new Int32Array(size);
    all[0] = this.first[word]!;
    const list = this.more[word];
    if (list) all.set(list.subarray(0, size - 1), 1);
    return all;
  }

  sizeOf(term: string): number {
    const word = this.numbers.get(term);
    return word === undefined ? 0 : this.sizes[word]!;
  }
}

/** The best of what is considered, most of which is not among them. */
class Best {
  private kept: [place: number, score: number][] = [];
  private least = -Infinity;
  private readonly most: number;

  constructor(most: number) {
    this.most = most;
  }

  consider(place: number, score: number): void {
    if (score <= this.least) return;
    this.kept.push([place, score]);
    if (this.kept.length < this.most * 8) return;
    this.kept = this.all;
    this.least = this.kept.at(-1)?.[1] ?? -Infinity;
  }

  get all(): [place: number, score: number][] {
    return this.kept
      .sort((one, other) => other[1] - one[1] || one[0] - other[0])
      .slice(0, this.most);
  }
}

interface Block {
  model: string;
  from: number;
  count: number;
  size: number;
  /** One byte a number, scaled: of the built-in engine as it is, of others made from theirs. */
  numbers: Int8Array;
  /** 1 / length of each vector. */
  norms: Float32Array;
  /** Which numbers of each lie above 0, and which below, a bit a number. */
  signs: [above: Uint32Array, below: Uint32Array];
}

/** Of a service 32-bit numbers, of the built-in engine bytes; either way a byte a number after it. */
const bytesOf = (vectors: Uint8Array, count: number, model: string) => {
  if (model === '') {
    const numbers = new Int8Array(vectors.buffer, vectors.byteOffset, vectors.byteLength);
    return { numbers, size: numbers.length / count };
  }
  const wide = new Float32Array(vectors.slice().buffer);
  const size = wide.length / count;
  const numbers = new Int8Array(wide.length);
  for (let at = 0; at < count; at += 1) {
    let most = 1e-12;
    for (let each = at * size; each < (at + 1) * size; each += 1)
      most = Math.max(most, Math.abs(wide[each]!));
    for (let each = at * size; each < (at + 1) * size; each += 1)
      numbers[each] = Math.round((wide[each]! / most) * 127);
  }
  return { numbers, size };
};

/** The question's vector on the same scale. */
export const questionBytes = (vector: Uint8Array, model: string): Int8Array =>
  bytesOf(vector, 1, model).numbers;

const lengthOf = (numbers: Int8Array, from: number, size: number): number => {
  let sum = 0;
  for (let at = from; at < from + size; at += 1) sum += numbers[at]! * numbers[at]!;
  return Math.sqrt(sum);
};

/** Bits that are set in a number of 32. */
const bitsIn = (value: number): number => {
  let bits = value - ((value >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
};

const signsOf = (numbers: Int8Array, count: number, size: number): [Uint32Array, Uint32Array] => {
  const words = Math.ceil(size / 32);
  const above = new Uint32Array(count * words);
  const below = new Uint32Array(count * words);
  for (let at = 0; at < count; at += 1)
    for (let each = 0; each < size; each += 1) {
      const value = numbers[at * size + each]!;
      const word = at * words + (each >>> 5);
      if (value > 0) above[word] = above[word]! | (1 << (each & 31));
      else if (value < 0) below[word] = below[word]! | (1 << (each & 31));
    }
  return [above, below];
};

/**
 * The passages of one knowledge base in memory: BM25 over words and pairs of letters, and vectors by
 * their cosine. Made anew from the rows, file by file.
 */
export class PassageIndex {
  private readonly ids: number[] = [];
  private readonly lengths: number[] = [];
  private readonly files = new Map<number, { from: number; count: number }>();
  private readonly words = new Words();
  private readonly blocks: Block[] = [];
  private readonly gone = new Set<number>();
  private total = 0;
  private live = 0;
  /** Of every passage, 0 between questions. */
  private scores = new Float32Array(0);

  get size(): number {
    return this.live;
  }

  /** Most of it belongs to files that are gone. */
  get stale(): boolean {
    return this.ids.length > 200 && this.live < this.ids.length / 2;
  }

  add({ mark, ids, texts, vectors, model }: IndexedFile): void {
    const from = this.ids.length;
    for (const [at, text] of texts.entries()) {
      const place = from + at;
      this.ids.push(ids[at] ?? 0);
      this.lengths.push(text.length);
      this.total += text.length;
      for (const [term, count] of termsOf(text)) {
        this.words.add(term, posting(place, count));
      }
    }
    const count = ids.length;
    const known = this.files.get(mark);
    // A long file comes in several pieces, one behind the other.
    if (known && known.from + known.count === from) known.count += count;
    else this.files.set(mark, { from, count });
    this.live += count;
    if (count === 0 || vectors.length === 0) return;
    const { numbers, size } = bytesOf(vectors, count, model);
    if (!Number.isInteger(size) || size === 0) return;
    const norms = new Float32Array(count);
    for (let at = 0; at < count; at += 1)
      norms[at] = 1 / Math.max(1, lengthOf(numbers, at * size, size));
    this.blocks.push({
      model,
      from,
      count,
      size,
      numbers,
      norms,
      signs: signsOf(numbers, count, size),
    });
  }

  drop(mark: number): void {
    const file = this.files.get(mark);
    if (!file) return;
    this.files.delete(mark);
    for (let at = file.from; at < file.from + file.count; at += 1) {
      this.gone.add(at);
      this.total -= this.lengths[at] ?? 0;
    }
    this.live -= file.count;
  }

  private byWords(question: string): {
    best: [place: number, score: number][];
    rarity: Record<string, number>;
  } {
    const rarity: Record<string, number> = {};
    const average = this.total / (this.live || 1) || 1;
    const asked = [...queryTerms(question)].map(([term, weight]) => {
      const n = this.words.sizeOf(term);
      const rare = Math.log(1 + (this.live - n + 0.5) / (n + 0.5));
      const value = Math.max(0, rare) * Math.min(weight, 2);
      rarity[term] = value;
      return { term, value, n };
    });
    // In a large base the common words alone would touch nearly every passage.
    asked.sort((one, other) => one.n - other.n);
    if (this.scores.length < this.ids.length)
      this.scores = new Float32Array(Math.ceil(this.ids.length * 1.2));
    const { scores, lengths } = this;
    const counted: Int32Array[] = [];
    let touched = 0;
    for (const { term, value, n } of asked) {
      if (n === 0 || value === 0) continue;
      if (touched > 0 && touched + n > mostTouched) break;
      touched += n;
      const entries = this.words.of(term);
      counted.push(entries);
      for (let at = 0; at < n; at += 1) {
        const place = entries[at]! >>> 8;
        const count = (entries[at]! & 255) * countStep;
        scores[place] =
          scores[place]! +
          (value * count * (k + 1)) / (count + k * (1 - b + (b * lengths[place]!) / average));
      }
    }
    const best = new Best(eachList);
    for (const entries of counted)
      for (let at = 0; at < entries.length; at += 1) {
        const place = entries[at]! >>> 8;
        const score = scores[place]!;
        if (score === 0) continue;
        scores[place] = 0;
        if (!this.gone.has(place)) best.consider(place, score);
      }
    return { best: best.all, rarity };
  }

  private likeness(block: Block, at: number, question: Int8Array): number {
    const { numbers, size } = block;
    const from = at * size;
    let sum = 0;
    for (let each = 0; each < size; each += 1) sum += numbers[from + each]! * question[each]!;
    return sum * block.norms[at]!;
  }

  /** What a look at the signs alone finds nearest: that many, in no order. */
  private nearBySigns(
    blocks: readonly Block[],
    question: Int8Array,
    most: number,
  ): { block: Block; at: number }[] {
    const size = question.length;
    const words = Math.ceil(size / 32);
    const [up, down] = signsOf(question, 1, size);
    const agreement = blocks.map(({ count }) => new Int16Array(count));
    const seen = new Uint32Array(2 * size + 1);
    for (const [nth, { count, signs }] of blocks.entries()) {
      const [ups, downs] = signs;
      const own = agreement[nth]!;
      for (let at = 0; at < count; at += 1) {
        let sum = 0;
        for (let word = 0, from = at * words; word < words; word += 1, from += 1) {
          const high = ups[from]!;
          const low = downs[from]!;
          sum +=
            bitsIn((high & up[word]!) | (low & down[word]!)) -
            bitsIn((high & down[word]!) | (low & up[word]!));
        }
        own[at] = sum;
        seen[sum + size] = seen[sum + size]! + 1;
      }
    }
    let least = size;
    for (let all = seen[2 * size]!; all < most && least > -size;) {
      least -= 1;
      all += seen[least + size]!;
    }
    const near: { block: Block; at: number }[] = [];
    for (const [nth, block] of blocks.entries()) {
      const own = agreement[nth]!;
      for (let at = 0; at < block.count; at += 1) if (own[at]! >= least) near.push({ block, at });
    }
    return near;
  }

  private byVectors(
    question: Int8Array,
    model: string,
    exact: boolean,
  ): [place: number, score: number][] {
    const best = new Best(eachList);
    const own = 1 / Math.max(1, lengthOf(question, 0, question.length));
    const consider = (block: Block, at: number) => {
      const place = block.from + at;
      if (!this.gone.has(place)) best.consider(place, this.likeness(block, at, question) * own);
    };
    const size = question.length;
    const blocks = this.blocks.filter((block) => block.model === model && block.size === size);
    const count = blocks.reduce((sum, block) => sum + block.count, 0);
    if (count >= signsFrom && !exact)
      for (const { block, at } of this.nearBySigns(blocks, question, Math.max(3000, count / 50)))
        consider(block, at);
    else
      for (const block of blocks) for (let at = 0; at < block.count; at += 1) consider(block, at);
    return best.all;
  }

  /** The model that most passages were embedded with; null: none was. */
  get model(): string | null {
    const counts = new Map<string, number>();
    for (const { model, count } of this.blocks) counts.set(model, (counts.get(model) ?? 0) + count);
    return [...counts].sort((one, other) => other[1] - one[1])[0]?.[0] ?? null;
  }

  /** The best by words and the best by likeness, together. */
  search(
    question: string,
    vector: { numbers: Int8Array; model: string } | null,
    { exact = false } = {},
  ): Found {
    const { best, rarity } = this.byWords(question);
    const found = new Map<number, Candidate>();
    const of = (place: number): Candidate => {
      let candidate = found.get(place);
      if (!candidate) {
        candidate = { id: this.ids[place] ?? 0, wordsRank: 0, vectorRank: 0, likeness: 0 };
        found.set(place, candidate);
      }
      return candidate;
    };
    for (const [at, [place]] of best.entries()) of(place).wordsRank = at + 1;
    if (vector) {
      const alike = this.byVectors(vector.numbers, vector.model, exact);
      for (const [at, [place, value]] of alike.entries()) {
        const candidate = of(place);
        candidate.vectorRank = at + 1;
        candidate.likeness = value;
      }
    }
    return { candidates: [...found.values()], rarity };
  }
}
