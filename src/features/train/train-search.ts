import { oneOf, whole, words, type RawSearch } from '#src/platform/search.ts';

export interface TrainSearch {
  tab?: 'public' | 'private';
  query?: string;
  page?: number;
  /** The project that is shown, or that is being made. */
  model_id?: number;
  /** The steps of a new project are open. */
  new?: number;
  /** Which of them; 1 where it is not said. */
  step?: number;
}
const tab = oneOf(['public', 'private'] as const);
export const trainSearch = (raw: RawSearch): TrainSearch => ({
  tab: tab(raw, 'tab'),
  query: words(raw, 'query', 100),
  page: whole(raw, 'page'),
  model_id: whole(raw, 'model_id'),
  new: whole(raw, 'new'),
  step: whole(raw, 'step'),
});
