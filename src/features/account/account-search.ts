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

export interface AccountSearch {
  tab?: AccountTab;
  /** Of the lists. */
  page?: number;
  /** Of the usage, 2026-11. */
  month?: string;
}
const tab = oneOf(accountTabs);
export const accountSearch = (raw: RawSearch): AccountSearch => ({
  tab: tab(raw, 'tab'),
  page: whole(raw, 'page'),
  month: words(raw, 'month', 7),
});
