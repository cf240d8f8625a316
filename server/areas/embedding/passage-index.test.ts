import { expect, test } from 'vitest';
import { chanceOf } from '#packages/canvas/chance.ts';
import { searchedLetters } from '#server/search/letters.ts';
import { readingsOf } from '#server/search/question.ts';
import { termsOf } from '#server/search/terms.ts';
import { PassageIndex, questionBytes } from './passage-index.ts';
import { hashOf } from './term-hash.ts';
import { TermCounter } from './term-counter.ts';
import { VectorShelf } from './vector-shelf.ts';
import { WordPlaces } from './word-places.ts';

const size = 144;
const count = 15_000;

/** Compared one by one, in the plainest way. */
const nearestOf = (
  vectors: Int8Array,
  question: Int8Array,
  most: number,
  gone: (at: number) => boolean,
) => {
  const alike: [number, number][] = [];
  for (let at = 0; at < vectors.length / size; at += 1) {
    if (gone(at)) continue;
    let [sum, own, asked] = [0, 0, 0];
    for (let each = 0; each < size; each += 1) {
      const [one, other] = [vectors[at * size + each] ?? 0, question[each] ?? 0];
      sum += one * other;
      own += one * one;
      asked += other * other;
    }
    alike.push([at, sum / Math.sqrt(own * asked)]);
  }
  return alike.sort((one, other) => other[1] - one[1]).slice(0, most);
};

const made = {
  anywhere: (random: ReturnType<typeof chanceOf>) => {
    const vectors = Int8Array.from({ length: count * size }, () => random.next() * 255 - 127);
    return {
      vectors,
      question: () => Int8Array.from({ length: size }, () => random.next() * 255 - 127),
    };
  },
  'in groups': (random: ReturnType<typeof chanceOf>) => {
    const middles = Array.from({ length: 300 }, () =>
      Int8Array.from({ length: size }, () => random.next() * 200 - 100),
    );
    const near = (group: number) =>
      (middles[group] ?? new Int8Array()).map((value) => value + random.next() * 40 - 20);
    const vectors = new Int8Array(count * size);
    for (let at = 0; at < count; at += 1) vectors.set(near(at % middles.length), at * size);
    return { vectors, question: () => near(Math.floor(random.next() * middles.length)) };
  },
};

for (const [name, make] of Object.entries(made))
  test(`of many vectors that lie ${name} the nearest are found, added and gone ones as well`, () => {
    const random = chanceOf(5);
    const { vectors, question } = make(random);
    const shelf = new VectorShelf(size);
    for (let from = 0; from < count; from += 700)
      shelf.add(vectors.slice(from * size, (from + 700) * size), from);
    expect(shelf.length).toBe(count);
    const recall = (gone: (at: number) => boolean) => {
      let same = 0;
      for (let round = 0; round < 12; round += 1) {
        const asked = question();
        const exact = nearestOf(vectors, asked, 10, gone);
        const whole = shelf.nearest(asked, 10, true);
        expect(whole.map(([place]) => place)).toEqual(exact.map(([place]) => place));
        expect(whole[0]?.[1]).toBeCloseTo(exact[0]?.[1] ?? 0, 4);
        const found = new Set(shelf.nearest(asked, 10).map(([place]) => place));
        expect([...found].some(gone)).toBe(false);
        same += exact.filter(([place]) => found.has(place)).length;
      }
      return same / 120;
    };
    expect(recall(() => false)).toBeGreaterThanOrEqual(0.95);
    shelf.drop(1000, 9000);
    shelf.drop(count - 10, count);
    const gone = (at: number) => (at >= 1000 && at < 9000) || at >= count - 10;
    expect(recall(gone)).toBeGreaterThanOrEqual(0.95);
    // Each finds itself, from the first to the one added last.
    const last = question();
    shelf.add(last, count + 50);
    expect(shelf.nearest(last, 1)[0]?.[0]).toBe(count + 50);
    for (const at of [0, 127, 128, 999, 9000, count - 11])
      expect(shelf.nearest(vectors.slice(at * size, (at + 1) * size), 1)[0]?.[0]).toBe(at);
  });

test('every word is found in every place it stands in', () => {
  const random = chanceOf(8);
  const places = new WordPlaces();
  const known = new Map<string, number[]>();
  for (let at = 0; at < 20_000; at += 1) {
    const word = `词${Math.floor(random.next() ** 5 * 20_000)}`;
    const { high, low } = hashOf(word);
    places.add(high, low, at * 256 + 7);
    known.set(word, [...(known.get(word) ?? []), at * 256 + 7]);
  }
  for (const [word, all] of known) {
    expect(places.sizeOf(word)).toBe(all.length);
    expect([...places.of(word)]).toEqual(all);
  }
  expect([...places.of('没有')]).toEqual([]);
});

test('the counter counts the terms of a text, traditional letters as simplified ones', () => {
  const random = chanceOf(3);
  const counter = new TermCounter();
  const some = Array.from('鹊桥的𠮷𪚥網⼿⻚9１２ ，。ﬁ〇々é한😀').concat('a', 'GPT-4', '_x.y');
  const texts = Array.from({ length: 200 }, () =>
    Array.from({ length: random.whole(0, 60) }, () => random.pick(some)).join(''),
  );
  for (const text of [...texts, '长'.repeat(5000), '鹊桥'.repeat(900)]) {
    counter.count([[text, 1]]);
    const wanted = [...termsOf(searchedLetters(text))].map(([term, count]) => {
      const { high, low } = hashOf(term);
      return [`${high} ${low}`, count] as const;
    });
    const counted = Array.from(
      { length: counter.size },
      (_, at) => [`${counter.highs[at]} ${counter.lows[at]}`, counter.counts[at] ?? 0] as const,
    );
    expect(new Map(counted)).toEqual(new Map(wanted));
  }
});

test('a passage that is gone is found neither by words nor by its vector', () => {
  const index = new PassageIndex();
  const numbers = new Float32Array([1, 0.5, 0]);
  const file = (mark: number, texts: string[]) => ({
    mark,
    ids: texts.map((_, at) => mark + at),
    headings: texts.map(() => ''),
    texts,
    vectors: new Uint8Array(texts.flatMap(() => [...new Uint8Array(numbers.buffer)])),
    model: 'm',
  });
  index.add(file(100, ['喜鹊在河上搭桥', '牛郎挑着担子']));
  index.add(file(200, ['喜鹊在河上搭桥，七夕相会']));
  const ask = (question: string) =>
    index
      .search(readingsOf(question), {
        numbers: questionBytes(new Uint8Array(numbers.buffer)),
        model: 'm',
      })
      .candidates.sort((one, other) => (one.wordsRank || 99) - (other.wordsRank || 99))
      .map(({ id }) => id);
  expect(new Set(ask('喜鹊搭桥'))).toEqual(new Set([100, 101, 200]));
  index.drop(100);
  expect(ask('喜鹊搭桥')).toEqual([200]);
  index.add(file(300, ['喜鹊搭桥']));
  expect(ask('喜鹊搭桥')[0]).toBe(300);
  expect(index.size).toBe(2);
});
