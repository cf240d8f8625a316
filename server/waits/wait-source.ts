import { waitKind, type WaitKind, type WaitRef, type WaitResult } from '#contract/wait.ts';
import type { Executor } from '../db/database.ts';
import { plainLine } from './plain-line.ts';

/** What a notification says of something that is waited for. */
export type WaitNews = Pick<WaitResult, 'state' | 'title' | 'body' | 'url'>;

/**
 * How things of one kind stand, each asked about by somebody: news in the order of the questions,
 * null for what there is not, and for what is not that person's.
 */
export type WaitSource = (
  db: Executor,
  asked: readonly { id: string; userId: number }[],
) => Promise<(WaitNews | null)[]>;

/** Letters of a notification: phones show fewer, and push services take 4 KB in all. */
const titleMost = 80;
const bodyMost = 240;

const gone: WaitNews = { state: 'gone', title: '', body: '', url: '/' };

/** How things stand that people ask about; `gone` is also what is not theirs. */
export const readWaits = async (
  sources: Record<WaitKind, WaitSource>,
  executor: Executor,
  asked: readonly (WaitRef & { userId: number })[],
): Promise<WaitResult[]> => {
  const results: WaitResult[] = asked.map(({ kind, id }) => ({ kind, id, ...gone }));
  for (const kind of waitKind.options) {
    const places = [...asked.keys()].filter((at) => asked[at]!.kind === kind);
    if (places.length === 0) continue;
    const news = await sources[kind](
      executor,
      places.map((at) => asked[at]!),
    );
    for (const [nth, at] of places.entries()) {
      const found = news[nth];
      if (!found) continue;
      const title = plainLine(found.title, titleMost) || '鹊桥';
      Object.assign(results[at]!, found, { title, body: plainLine(found.body, bodyMost) });
    }
  }
  return results;
};
