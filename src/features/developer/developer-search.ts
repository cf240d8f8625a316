import { oneOf, whole, words, type RawSearch } from '#src/platform/search.ts';

export const apiTabs = ['api-key', 'playground', 'example', 'interface', 'usage', 'log'] as const;
export type ApiTab = (typeof apiTabs)[number];

export interface ApiSearch {
  /** Absent: api-key. */
  tab?: ApiTab;
  /** YYYY-MM and YYYY-MM-DD. */
  month?: string;
  day?: string;
  /** Number of the key whose use is shown. */
  key?: number;
  /** What the chart counts. */
  by?: 'count' | 'tokens';
  /** The call whose console is open. */
  open?: string;
}

const tab = oneOf(apiTabs);
const by = oneOf(['count', 'tokens']);

export const apiSearch = (raw: RawSearch): ApiSearch => ({
  tab: tab(raw, 'tab'),
  month: words(raw, 'month', 7),
  day: words(raw, 'day', 10),
  key: whole(raw, 'key'),
  by: by(raw, 'by'),
  open: words(raw, 'open', 60),
});
