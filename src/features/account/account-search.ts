import { oneOf, whole, words, type RawSearch } from '#src/platform/search.ts';

export const accountTabs = [
  'usage',
  'recharge',
  'vip',
  'order',
  'transaction',
  'invite',
  'profile',
  'security',
  'settings',
] as const;
export type AccountTab = (typeof accountTabs)[number];

const tab = oneOf(accountTabs);

export interface AccountSearch {
  tab?: AccountTab;
  /** Of the lists. */
  page?: number;
  /** Of what was spent. */
  sort?: string;
  /** Of the usage, 2026-11. */
  month?: string;
  /** Days of the usage: a quick range of `lastSpans`, or one's own, 2026-11-29. */
  range?: string;
  from?: string;
  to?: string;
}

export const accountSearch = (raw: RawSearch): AccountSearch => ({
  tab: tab(raw, 'tab'),
  page: whole(raw, 'page'),
  sort: words(raw, 'sort', 40),
  month: words(raw, 'month', 7),
  range: words(raw, 'range', 3),
  from: words(raw, 'from', 10),
  to: words(raw, 'to', 10),
});
