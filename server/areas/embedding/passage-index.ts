import type { Reading, Slot } from '#server/search/question.ts';
import { Best } from './best-passages.ts';
import { TermCounter } from './term-counter.ts';
import { grown, VectorShelf } from './vector-shelf.ts';
import { WordPlaces } from './word-places.ts';

/** Passages as they come into an index. */
export interface IndexedFile {
  /** Names the file as it is now. */
  mark: number;
  ids: number[];
  headings: string[];
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
  /** BM25 for each reading of the question, as a share of what the reading asks for. */
  scores: number[];
}

export interface Found {
  candidates: Candidate[];
  /** For each reading what its slots count by their rarity in these passages. */
  values: number[][];
}

/** Which passages hold a slot, and how often each; null: that is in the lower byte of its place. */
interface Holding {
  size: number;
  places: () => Int32Array | number[];
  counts: number[] | null;
}

/** So many of each list are put together. */
const eachList = 60;
/** Passages that the words of a question touch at most, the rarest words first. */
const mostTouched = 20_000;
/** Of a longer list beyond them it is not even asked which of them hold its word. */
const longestList = 200_000;

/** BM25's own: how soon more of a word says nothing more, and how much a long passage loses. */
const k = 1.6;
const b = 0.75;
/** Among fewer passages a word says as much as among so many: one that all of them hold is none of form. */
const fewPassages = 50;
/** A heading names the matter: what stands in it counts so many times. */
const headingCounts = 2;

/** A passage and how often a word is in it, in one number. */
const posting = (place: number, count: number): number => place * 256 + Math.min(count, 255);

/** A service's numbers of 32 bits, each as a byte. */
const bytesOf = (vectors: Uint8Array, count: number) => {
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
export const questionBytes = (vector: Uint8Array): Int8Array => bytesOf(vector, 1).numbers;

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

  add({ mark, ids, headings, texts, vectors, model }: IndexedFile): void {
    const from = this.count;
    this.count += texts.length;
    this.ids = grown(this.ids, this.count);
    this.lengths = grown(this.lengths, this.count);
    for (const [at, text] of texts.entries()) {
      const place = from + at;
      this.ids[place] = ids[at] ?? 0;
      const heading = headings[at] ?? '';
      const length = heading.length + text.length;
      this.lengths[place] = length;
      this.total += length;
      terms.count([
        [heading, headingCounts],
        [text, 1],
      ]);
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
    // Vectors of letters, which were made without a service once, find less than the words do.
    if (count === 0 || vectors.length === 0 || model === '') return;
    const { numbers, size } = bytesOf(vectors, count);
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

  /** Whether a term stands in any passage. */
  readonly holds = (term: string): boolean => this.words.sizeOf(term) > 0;

  /**
   * The passages that hold a slot, each with how often; the best alternative counts. The places of a
   * single term are read when they are needed: the longest lists never are.
   */
  private holding({ words }: Slot): Holding {
    const [only] = words;
    const [term] = only?.terms ?? [];
    if (words.length === 1 && only?.terms.length === 1 && term !== undefined)
      return {
        size: this.words.sizeOf(term),
        places: () => this.words.read(term),
        counts: null,
      };
    const best = new Map<number, number>();
    for (const { terms, weight } of words) {
      const lists = terms.map((each) => this.words.of(each)).sort((a, b) => a.length - b.length);
      let all = new Map(Array.from(lists[0] ?? [], (entry) => [entry >>> 8, entry & 255]));
      for (const list of lists.slice(1)) {
        const both = new Map<number, number>();
        for (const entry of list) {
          const count = all.get(entry >>> 8);
          if (count !== undefined) both.set(entry >>> 8, Math.min(count, entry & 255));
        }
        all = both;
      }
      for (const [place, count] of all)
        if (count * weight > (best.get(place) ?? 0)) best.set(place, count * weight);
    }
    const places = [...best.keys()];
    return { size: places.length, places: () => places, counts: [...best.values()] };
  }

  /** The best passages for a reading, and what its slots count. */
  private byWords({ slots }: Reading): {
    best: [place: number, score: number][];
    values: number[];
  } {
    const average = this.total / (this.live || 1) || 1;
    const all = Math.max(this.live, fewPassages);
    const held = slots.map((slot) => {
      const { size, places, counts } = this.holding(slot);
      const own = slot.alike ? this.words.sizeOf(slot.words[0]?.text ?? '') : 0;
      const found =
        own > 0 ? own : counts ? counts.reduce((sum, count) => sum + Math.min(1, count), 0) : size;
      const rare = Math.log(1 + Math.max(0, all - found + 0.5) / (found + 0.5));
      // A word without a translation that stands nowhere is no part of the matter.
      const value = found === 0 && slot.words.length > 1 ? 0 : rare * slot.weight;
      return { size, places, counts, value };
    });
    const values = held.map(({ value }) => value);
    const whole = values.reduce((sum, value) => sum + value, 0) || 1;
    // In a large base the common words alone would touch nearly every passage.
    held.sort((one, other) => one.size - other.size);
    this.scores = grown(this.scores, this.count);
    const { scores, lengths } = this;
    const touchedPlaces: number[] = [];
    for (const { size: n, places: read, counts, value } of held) {
      if (n === 0 || value === 0) continue;
      // From there on words say which of those that were touched are better, and bring in no more.
      const closed = touchedPlaces.length > 0 && touchedPlaces.length + n > mostTouched;
      if (closed && n > longestList) break;
      const places = read();
      for (let at = 0; at < n; at += 1) {
        const place = counts ? places[at]! : places[at]! >>> 8;
        const count = counts ? counts[at]! : places[at]! & 255;
        if (scores[place] === 0) {
          if (closed) continue;
          touchedPlaces.push(place);
        }
        scores[place] =
          scores[place]! +
          (value * count * (k + 1)) / (count + k * (1 - b + (b * lengths[place]!) / average));
      }
    }
    const best = new Best(eachList);
    for (const place of touchedPlaces) {
      const score = scores[place]!;
      scores[place] = 0;
      if (lengths[place]! >= 0) best.consider(place, score / whole);
    }
    return { best: best.all, values };
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
    readings: readonly Reading[],
    vector: { numbers: Int8Array; model: string } | null,
    { exact = false } = {},
  ): Found {
    const found = new Map<number, Candidate>();
    const of = (place: number): Candidate => {
      let candidate = found.get(place);
      if (!candidate) {
        candidate = {
          id: this.ids[place] ?? 0,
          wordsRank: 0,
          vectorRank: 0,
          likeness: 0,
          scores: readings.map(() => 0),
        };
        found.set(place, candidate);
      }
      return candidate;
    };
    const values = readings.map((reading, at) => {
      const said = this.byWords(reading);
      for (const [place, score] of said.best) of(place).scores[at] = score;
      return said.values;
    });
    const weighed = [...found.values()]
      .map((candidate) => ({
        candidate,
        score: Math.max(...candidate.scores.map((score, at) => score * readings[at]!.weight)),
      }))
      .sort((one, other) => other.score - one.score);
    for (const [at, { candidate }] of weighed.entries()) candidate.wordsRank = at + 1;
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
    return { candidates: [...found.values()], values };
  }
}
