import { pairs } from '#server/engines/embedding/calibration.ts';

const all = Object.values(pairs).flatMap((ofLanguage) =>
  ofLanguage.flatMap((pair, at) => pair.map((text) => [text, at] as const)),
);
const places = new Map<string, number>(all);

/** Of which pair a text is that models of vectors are measured with; undefined: of none. */
export const pairOf = (text: string): number | undefined => places.get(text);
