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

/** Two numbers of 32 bits for a word: no two words of a base have the same. */
let high = 0;
let low = 0;
const hash = (word: string): void => {
  let one = 0x811c9dc5;
  let other = 0x9e3779b9;
  for (let at = 0; at < word.length; at += 1) {
    const code = word.charCodeAt(at);
    one = Math.imul(one ^ code, 0x01000193);
    other = Math.imul(other ^ code, 0x85ebca6b);
    other ^= other >>> 13;
  }
  one = Math.imul(one ^ (one >>> 16), 0x7feb352d);
  high = (one ^ (one >>> 15)) >>> 0;
  other = Math.imul(other ^ (other >>> 16), 0x846ca68b);
  low = (other ^ (other >>> 16)) >>> 0;
};

/**
 * Where each word stands, as numbers of 32 bits. Millions of words and lists of a few places each
 * would fill the heap as objects; here they are numbers in a few long arrays.
 */
export class WordPlaces {
  private slots = 0;
  private words = 0;
  private highs = new Uint32Array(0);
  private lows = new Uint32Array(0);
  /** How many places; 0: the slot is free. */
  private sizes = new Int32Array(0);
  /** The only place; of several, where their list begins. */
  private heads = new Int32Array(0);
  private tails = new Int32Array(0);
  /** What is left in the last piece of the list. */
  private rooms = new Int16Array(0);
  private readonly pages: Int32Array[] = [];
  private end = 0;

  private slotOf(word: string): number {
    hash(word);
    const { highs, lows, sizes } = this;
    const mask = this.slots - 1;
    let slot = low & mask;
    while (sizes[slot] !== 0 && (highs[slot] !== high || lows[slot] !== low))
      slot = (slot + 1) & mask;
    return slot;
  }

  private widen(): void {
    const { highs, lows, sizes, heads, tails, rooms } = this;
    const before = this.slots;
    this.slots = Math.max(1024, before * 2);
    this.highs = new Uint32Array(this.slots);
    this.lows = new Uint32Array(this.slots);
    this.sizes = new Int32Array(this.slots);
    this.heads = new Int32Array(this.slots);
    this.tails = new Int32Array(this.slots);
    this.rooms = new Int16Array(this.slots);
    const mask = this.slots - 1;
    for (let from = 0; from < before; from += 1) {
      if (sizes[from] === 0) continue;
      let slot = lows[from]! & mask;
      while (this.sizes[slot] !== 0) slot = (slot + 1) & mask;
      this.highs[slot] = highs[from]!;
      this.lows[slot] = lows[from]!;
      this.sizes[slot] = sizes[from]!;
      this.heads[slot] = heads[from]!;
      this.tails[slot] = tails[from]!;
      this.rooms[slot] = rooms[from]!;
    }
  }

  private piece(size: number): number {
    const page = Math.floor(this.end / pageSize);
    const from = this.end + size > (page + 1) * pageSize ? (page + 1) * pageSize : this.end;
    if (this.pages.length * pageSize < from + size) this.pages.push(new Int32Array(pageSize));
    this.end = from + size;
    return from;
  }

  private write(at: number, value: number): void {
    this.pages[Math.floor(at / pageSize)]![at % pageSize] = value;
  }

  add(word: string, place: number): void {
    if (this.words >= this.slots * 0.6) this.widen();
    const slot = this.slotOf(word);
    const size = this.sizes[slot]!;
    this.sizes[slot] = size + 1;
    if (size === 0) {
      this.words += 1;
      this.highs[slot] = high;
      this.lows[slot] = low;
      this.heads[slot] = place;
      return;
    }
    if (size === 1) {
      const only = this.heads[slot]!;
      const from = this.piece(shortest);
      this.write(from, only);
      this.heads[slot] = from;
      this.tails[slot] = from + 1;
      this.rooms[slot] = shortest - 2;
    } else if (this.rooms[slot] === 0) {
      const long = pieceAfter(size);
      const from = this.piece(long);
      this.write(this.tails[slot]!, from);
      this.tails[slot] = from;
      this.rooms[slot] = long - 1;
    }
    const tail = this.tails[slot]!;
    this.write(tail, place);
    this.tails[slot] = tail + 1;
    this.rooms[slot] = this.rooms[slot]! - 1;
  }

  sizeOf(word: string): number {
    return this.slots === 0 ? 0 : this.sizes[this.slotOf(word)]!;
  }

  /** What was added for a word; empty: it stands nowhere. */
  of(word: string): Int32Array {
    const size = this.sizeOf(word);
    const all = new Int32Array(size);
    if (size === 0) return all;
    let at = this.heads[this.slotOf(word)]!;
    if (size === 1) {
      all[0] = at;
      return all;
    }
    for (let count = 0; count < size;) {
      const long = count === 0 ? shortest : pieceAfter(count);
      const page = this.pages[Math.floor(at / pageSize)]!;
      const from = at % pageSize;
      const taken = Math.min(long - 1, size - count);
      all.set(page.subarray(from, from + taken), count);
      count += taken;
      at = page[from + long - 1]!;
    }
    return all;
  }

  get bytes(): number {
    return this.slots * 22 + this.pages.length * pageSize * 4;
  }
}
