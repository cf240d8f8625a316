import { hashOf } from './term-hash.ts';

/** Numbers of a page of lists. */
const pageSize = 2 ** 20;
const shortest = 4;
const longest = 1024;
/** A list grows by pieces, each as long as all before it; the last number of one says where the next is. */
const pieceAfter = (entries: number): number => {
  let size = shortest;
  while (size <= entries && size < longest) size *= 2;
  return size;
};

/** What is kept of a word, side by side: one look at the memory finds all of it. */
const high = 0;
const low = 1;
/** How many places; 0: the slot is free. */
const count = 2;
/** The only place; of several, where their list begins. */
const head = 3;
const tail = 4;
/** What is left in the last piece of the list. */
const room = 5;
const width = 6;

/**
 * Where each word stands, as numbers of 32 bits. Millions of words and lists of a few places each
 * would fill the heap as objects; here they are numbers in a few long arrays.
 */
export class WordPlaces {
  private slots = 0;
  private words = 0;
  private table = new Int32Array(0);
  private readonly pages: Int32Array[] = [];
  private end = 0;
  private scratch = new Int32Array(0);

  /** Where in the table a word is, or is to be. */
  private find(highs: number, lows: number): number {
    const { table } = this;
    const mask = this.slots - 1;
    let slot = lows & mask;
    for (;;) {
      const at = slot * width;
      if (table[at + count] === 0 || (table[at + low] === lows && table[at + high] === highs))
        return at;
      slot = (slot + 1) & mask;
    }
  }

  private widen(): void {
    const { table } = this;
    this.slots = Math.max(1024, this.slots * 2);
    this.table = new Int32Array(this.slots * width);
    for (let from = 0; from < table.length; from += width)
      if (table[from + count] !== 0)
        this.table.set(
          table.subarray(from, from + width),
          this.find(table[from + high]!, table[from + low]!),
        );
  }

  private piece(size: number): number {
    const page = Math.floor(this.end / pageSize);
    const from = this.end + size > (page + 1) * pageSize ? (page + 1) * pageSize : this.end;
    if (this.pages.length * pageSize < from + size) this.pages.push(new Int32Array(pageSize));
    this.end = from + size;
    return from;
  }

  private write(at: number, value: number): void {
    this.pages[at >>> 20]![at & (pageSize - 1)] = value;
  }

  /** @param highs @param lows the word's hash */
  add(highs: number, lows: number, place: number): void {
    if (this.words >= this.slots * 0.6) this.widen();
    const at = this.find(highs, lows);
    const { table } = this;
    const size = table[at + count]!;
    table[at + count] = size + 1;
    if (size === 0) {
      this.words += 1;
      table[at + high] = highs;
      table[at + low] = lows;
      table[at + head] = place;
      return;
    }
    if (size === 1) {
      const from = this.piece(shortest);
      this.write(from, table[at + head]!);
      table[at + head] = from;
      table[at + tail] = from + 1;
      table[at + room] = shortest - 2;
    } else if (table[at + room] === 0) {
      const long = pieceAfter(size);
      const from = this.piece(long);
      this.write(table[at + tail]!, from);
      table[at + tail] = from;
      table[at + room] = long - 1;
    }
    const end = table[at + tail]!;
    this.write(end, place);
    table[at + tail] = end + 1;
    table[at + room] = table[at + room]! - 1;
  }

  sizeOf(word: string): number {
    if (this.slots === 0) return 0;
    const hash = hashOf(word);
    return this.table[this.find(hash.high, hash.low) + count]!;
  }

  /** What was added for a word; empty: it stands nowhere. */
  of(word: string): Int32Array {
    return this.read(word).slice();
  }

  /** The same, until the next word is read: long lists made anew are most of what a search leaves behind. */
  read(word: string): Int32Array {
    const size = this.sizeOf(word);
    if (this.scratch.length < size) this.scratch = new Int32Array(size * 2);
    const all = this.scratch.subarray(0, size);
    if (size === 0) return all;
    const hash = hashOf(word);
    let at = this.table[this.find(hash.high, hash.low) + head]!;
    if (size === 1) {
      all[0] = at;
      return all;
    }
    for (let taken = 0; taken < size;) {
      const long = taken === 0 ? shortest : pieceAfter(taken);
      const page = this.pages[at >>> 20]!;
      const from = at & (pageSize - 1);
      const some = Math.min(long - 1, size - taken);
      all.set(page.subarray(from, from + some), taken);
      taken += some;
      at = page[from + long - 1]!;
    }
    return all;
  }
}
