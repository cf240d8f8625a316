import { queryTerms } from '../help/search.ts';
import { Best } from './best-passages.ts';
import { TermCounter } from './term-counter.ts';
import { grown, VectorShelf } from './vector-shelf.ts';
import { WordPlaces } from './word-places.ts';

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
const mostTouched = 200_000;

const k = 1.2;
const b = 0.5;

/** Words count in steps of this: a single letter counts less than once. */
const countStep = 0.05;
/** A passage and how much a word counts in it, in one number. */
const posting = (place: number, count: number): number =>
  place * 256 + Math.min(Math.max(1, Math.round(count / countStep)), 255);

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

const terms = new TermCounter();

const shelfKey = (model: string, size: number): string => `${size} ${model}`;

/**
 * The passages of one knowledge base in memory: BM25 over words and pairs of letters, and vectors by
 * their cosine. Made anew from the rows, file by file.
 */
export class PassageIndex {
  private count = 0;
  private ids = new Float64Array(0);
  /** Letters of each; below 0: it is gone. */
  private lengths = new Float32Array(0);
  private readonly files = new Map<number, { from: number; count: number }>();
  private readonly words = new WordPlaces();
  /** By model and size. */
  private readonly shelves = new Map<string, { model: string; vectors: VectorShelf }>();
  private total = 0;
  private live = 0;
  /** Of every passage, 0 between questions. */
  private scores = new Float32Array(0);

  get size(): number {
    return this.live;
  }

  /** Most of it belongs to files that are gone. */
  get stale(): boolean {
    return this.count > 200 && this.live < this.count / 2;
  }

  add({ mark, ids, texts, vectors, model }: IndexedFile): void {
    const from = this.count;
    this.count += texts.length;
    this.ids = grown(this.ids, this.count);
    this.lengths = grown(this.lengths, this.count);
    for (const [at, text] of texts.entries()) {
      const place = from + at;
      this.ids[place] = ids[at] ?? 0;
      this.lengths[place] = text.length;
      this.total += text.length;
      terms.count(text);
      const { size, highs, lows, counts } = terms;
      for (let term = 0; term < size; term += 1)
        this.words.add(highs[term]!, lows[term]!, posting(place, counts[term]!));
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
    const key = shelfKey(model, size);
    const shelf = this.shelves.get(key) ?? { model, vectors: new VectorShelf(size) };
    this.shelves.set(key, shelf);
    shelf.vectors.add(numbers, from);
  }

  drop(mark: number): void {
    const file = this.files.get(mark);
    if (!file) return;
    this.files.delete(mark);
    const to = file.from + file.count;
    for (let at = file.from; at < to; at += 1) {
      this.total -= this.lengths[at] ?? 0;
      this.lengths[at] = -1;
    }
    for (const { vectors } of this.shelves.values()) vectors.drop(file.from, to);
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
    this.scores = grown(this.scores, this.count);
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
        if (lengths[place]! >= 0) best.consider(place, score);
      }
    return { best: best.all, rarity };
  }

  /** The model that most passages were embedded with; null: none was. */
  get model(): string | null {
    const counts = new Map<string, number>();
    for (const { model, vectors } of this.shelves.values())
      counts.set(model, (counts.get(model) ?? 0) + vectors.length);
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
      const { numbers, model } = vector;
      const shelf = this.shelves.get(shelfKey(model, numbers.length));
      const alike = shelf?.vectors.nearest(numbers, eachList, exact) ?? [];
      for (const [at, [place, value]] of alike.entries()) {
        const candidate = of(place);
        candidate.vectorRank = at + 1;
        candidate.likeness = value;
      }
    }
    return { candidates: [...found.values()], rarity };
  }
}
