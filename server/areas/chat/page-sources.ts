import type { StoredSource } from '#contract/embedding.ts';
import type { OpenedPage } from '../tool/tool.ts';

/** Characters of a page that are kept to be looked at again. */
const kept = 20_000;
/** No reply has more sources. */
const most = 30;

/** Names a page of the web among the sources of a reply. */
const webBase = '网页';

export const isPage = ({ key, base }: StoredSource): boolean => key === '' && base === webBase;

/**
 * Pages that were opened as sources with the next numbers; one that was opened before keeps its own.
 * @param before how many sources the reply had before its tools
 */
export const sourcesOf = (
  pages: readonly OpenedPage[],
  before: number,
  known: readonly StoredSource[],
): StoredSource[] =>
  pages
    .filter(({ url }) => known.every((source) => source.url !== url))
    .slice(0, Math.max(0, most - known.length))
    .map(({ title, url, text }, at) => ({
      n: before + known.length + at + 1,
      title: title.slice(0, 200),
      place: new URL(url).host,
      base: webBase,
      id: 0,
      key: '',
      url,
      text: text.slice(0, kept),
      terms: [],
      at: new Date().toISOString(),
    }));
