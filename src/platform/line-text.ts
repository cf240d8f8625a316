import { useSyncExternalStore } from 'react';
import { lineIsWell, useLine } from './line.ts';
import { queryClient } from './query-client.ts';
import { showsKept } from './stored-first.ts';

/** What stands around every screen, or helps it: that it was kept tells nothing of what is shown. */
const around: ReadonlySet<unknown> = new Set(['userInfo', 'siteInfo', 'noticeInfo', 'models']);

const cache = queryClient.getQueryCache();
const screenShowsKept = (): boolean =>
  !lineIsWell() &&
  cache
    .findAll({ type: 'active' })
    .some((query) => showsKept(query) && !around.has(query.queryKey[0]));
const subscribe = (listener: () => void) => cache.subscribe(listener);

/** What is said of the line while it is not well; empty: nothing. */
export const useLineText = (): string => {
  const line = useLine();
  const kept = useSyncExternalStore(subscribe, screenShowsKept);
  if (line === 'well') return '';
  const what = line === 'gone' ? '现在没有网络' : '网络没有回应';
  return kept ? `${what}，显示的是已保存的内容` : what;
};
