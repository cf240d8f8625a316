import type { Reading } from './question.ts';
import { searchedLetters } from './letters.ts';
import { squeeze } from './terms.ts';

/** How a passage holds what a reading of a question asks for, looked at letter by letter. */
export interface Relevance {
  /** Share of what was asked that is in it, rare words counting more; 0 to 1. */
  coverage: number;
  /** As coverage, of the words that stand within a few lines of each other. */
  together: number;
  /** The longest run of the question's letters that it holds, as a share of them. */
  run: number;
  /** Words of the question that it holds, the rarest first. */
  terms: string[];
}

/** Letters within which words belong to each other. */
const span = 60;
/** Letters of a question whose longest run is looked for. */
const runLetters = 60;
/** Places of one word that are looked at. */
const mostPlaces = 8;

const longestRun = (asked: string, text: string): number => {
  let best = 0;
  for (let from = 0; from + best < asked.length; from += 1)
    while (from + best < asked.length && text.includes(asked.slice(from, from + best + 1)))
      best += 1;
  return asked.length === 0 ? 0 : best / asked.length;
};

interface Place {
  at: number;
  slot: number;
}

/** The most of what was asked that stands within one span. */
const mostTogether = (places: readonly Place[], values: readonly number[]): number => {
  const inside = new Map<number, number>();
  let sum = 0;
  let best = 0;
  let first = 0;
  for (const { at, slot } of places) {
    const count = inside.get(slot) ?? 0;
    if (count === 0) sum += values[slot] ?? 0;
    inside.set(slot, count + 1);
    for (let left = places[first]; left && at - left.at > span; left = places[first]) {
      const rest = (inside.get(left.slot) ?? 1) - 1;
      inside.set(left.slot, rest);
      if (rest === 0) sum -= values[left.slot] ?? 0;
      first += 1;
    }
    best = Math.max(best, sum);
  }
  return best;
};

/** A text made ready to be looked at for several readings. */
export interface SearchedText {
  text: string;
  squeezed: string;
}

export const searchedText = (text: string): SearchedText => {
  const even = searchedLetters(text);
  return { text: even, squeezed: squeeze(even) };
};

/** @param values of the reading's slots, by their rarity among the passages */
export const relevanceOf = (
  reading: Reading,
  values: readonly number[],
  { text, squeezed }: SearchedText,
): Relevance => {
  const places: Place[] = [];
  const held: { term: string; value: number }[] = [];
  let whole = 0;
  let covered = 0;
  let long = 0;
  for (const [slot, { words }] of reading.slots.entries()) {
    const value = values[slot] ?? 0;
    whole += value;
    const longer = words.filter((word) => word.text.length > 1);
    if (longer.length > 0) long += value;
    const there = words.filter((word) => text.includes(word.text));
    if (there.length === 0) continue;
    covered += value;
    for (const { text: term } of there) {
      if (term.length < 2) continue;
      held.push({ term, value });
      let at = text.indexOf(term);
      for (let count = 0; at >= 0 && count < mostPlaces; count += 1) {
        places.push({ at, slot });
        at = text.indexOf(term, at + 1);
      }
    }
  }
  if (whole === 0) return { coverage: 0, together: 0, run: 0, terms: [] };
  places.sort((one, other) => one.at - other.at);
  held.sort((one, other) => other.value - one.value);
  return {
    coverage: covered / whole,
    together: long === 0 ? 0 : mostTogether(places, values) / long,
    run: longestRun(squeeze(reading.text).slice(0, runLetters), squeezed),
    terms: [...new Set(held.map(({ term }) => term))].slice(0, 12),
  };
};
