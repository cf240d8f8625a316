import { oneOf, whole, words, type RawSearch } from '#src/platform/search.ts';

const ranks = ['upload', 'all', 'month', 'week', 'day'] as const;
const sorts = ['newest', 'most-popular'] as const;

export interface GallerySearch {
  /** Left out: the newest first. `upload`: of one's own those that were uploaded. */
  rank?: (typeof ranks)[number];
  query?: string;
  /** How far the list is read. */
  page?: number;
  /** This image is open. */
  image_id?: number;
}
export interface ExploreSearch {
  /** Left out: by likes and age. */
  sort?: (typeof sorts)[number];
  page?: number;
  image_id?: number;
}

const rankOf = oneOf(ranks);
const sortOf = oneOf(sorts);
const common = (raw: RawSearch) => ({
  page: whole(raw, 'page'),
  image_id: whole(raw, 'image_id'),
});
export const privateSearch = (raw: RawSearch): GallerySearch => ({
  rank: rankOf(raw, 'rank'),
  query: words(raw, 'query'),
  ...common(raw),
});
export const publicSearch = (raw: RawSearch): GallerySearch => {
  const search = privateSearch(raw);
  // Uploads are one's own: elsewhere there is no such order.
  return search.rank === 'upload' ? { ...search, rank: undefined } : search;
};
export const exploreSearch = (raw: RawSearch): ExploreSearch => ({
  sort: sortOf(raw, 'sort'),
  ...common(raw),
});
