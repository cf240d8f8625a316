import { oneOf, words, type RawSearch } from '#src/platform/search.ts';

export const modelKinds = ['chat', 'image', 'video', 'speech', 'hearing', 'free'] as const;
export type ModelKind = (typeof modelKinds)[number];

export interface ModelSearch {
  /** What is shown; all when left out. */
  kind?: ModelKind;
  /** Words that are all said of a model. */
  query?: string;
}
export const modelSearch = (raw: RawSearch): ModelSearch => ({
  kind: oneOf(modelKinds)(raw, 'kind'),
  query: words(raw, 'query'),
});
