import { api } from '#src/platform/api.ts';
import { createStore } from '#src/platform/store.ts';
import type { MadeBy } from '#contract/file.ts';
import { useEffect, useSyncExternalStore } from 'react';
import css from './made-mark.module.css';

/** How long addresses are gathered before the server is asked for all of them, ms. */
const gatherMs = 40;
/** Addresses that one call asks for. */
const most = 60;

const known = createStore<ReadonlyMap<string, MadeBy | null>>(new Map());
const wanted = new Set<string>();
let timer: ReturnType<typeof setTimeout> | undefined;

const put = (of: readonly (readonly [string, MadeBy | null])[]) =>
  known.set(new Map([...known.get(), ...of]));

const ask = async (): Promise<void> => {
  timer = undefined;
  const urls = [...wanted].slice(0, most);
  for (const url of urls) wanted.delete(url);
  if (wanted.size > 0) timer = setTimeout(() => void ask(), gatherMs);
  try {
    const { list } = await api.imageOrigins({ urls: urls.join(',') }, { quiet: true });
    const made = new Map(list.map((each) => [each.url, each.made]));
    put(urls.map((url) => [url, made.get(url) ?? null]));
  } catch {
    // Without an answer nothing is said of them; the next time that they stand somewhere asks again.
  }
};

/** What is known of an image's making from elsewhere, such as after its owner declared it. */
export const noteMade = (url: string, made: MadeBy): void => put([[url, made]]);

export const madeWords: Readonly<Record<MadeBy, readonly [short: string, whole: string]>> = {
  generated: ['AI 生成', '由人工智能生成'],
  declared: ['声明 AI 生成', '上传的人声明它由人工智能生成'],
  suspected: ['疑似 AI 生成', '文件里有其他生成工具的痕迹，疑似由人工智能生成'],
};

/** The words on an image in a corner, where its making is known already. */
export const MadeTag = ({ made }: { made: MadeBy }) => (
  <span className={css.mark} title={madeWords[made][1]}>
    {madeWords[made][0]}
  </span>
);

/**
 * Says in the corner of an image of this server that a model made it, where that is known. It stands
 * in something that is positioned.
 */
const MadeMark = ({ url }: { url: string }) => {
  const address = url.split('?')[0] ?? '';
  const made = useSyncExternalStore(known.subscribe, () => known.get().get(address));
  useEffect(() => {
    if (made !== undefined || !/^\/files\/[0-9a-f]{40}\.(jpg|png)$/.test(address)) return;
    wanted.add(address);
    timer ??= setTimeout(() => void ask(), gatherMs);
  }, [address, made]);
  return made ? <MadeTag made={made} /> : null;
};

export default MadeMark;
