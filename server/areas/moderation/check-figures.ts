import type { FastifyBaseLogger } from 'fastify';
import type { Safety } from '#contract/safety.ts';
import type { Database } from '#server/db/database.ts';
import { passed, type Verdict } from './safety-forms.ts';
import { addToDay, type Counted } from './safety.store.ts';

/** Figures are written so often, ms. */
const writtenMs = 2_000;

/** How many checks there were and what they found, by who judged; kept in memory for moments. */
export const createCheckFigures = (db: Database, log: Pick<FastifyBaseLogger, 'warn'>) => {
  const figures = new Map<string, Counted>();
  const flush = async (): Promise<void> => {
    const all = [...figures];
    figures.clear();
    for (const [by, counted] of all)
      await addToDay(db, by, counted).catch((error: unknown) =>
        log.warn({ err: error }, 'figures of checks were not kept'),
      );
  };
  const timer = setInterval(() => void flush(), writtenMs).unref();

  /** Judges, and counts it; what cannot be judged passes or not, as the operator wants. */
  const counting = async (
    by: string,
    characters: number,
    settings: Safety,
    judge: () => Verdict | Promise<Verdict>,
  ): Promise<Verdict> => {
    const begun = performance.now();
    const row = figures.get(by) ?? {
      checks: 0,
      characters: 0,
      reviews: 0,
      refusals: 0,
      failures: 0,
      ms: 0,
    };
    figures.set(by, row);
    let verdict: Verdict;
    try {
      verdict = await judge();
    } catch (error) {
      row.failures += 1;
      log.warn({ err: error, by }, 'a check could not be made');
      verdict =
        settings.unchecked === 'refuse'
          ? { level: 'refuse', reason: '现在不能检查，请稍后再试' }
          : passed;
    }
    row.checks += 1;
    row.characters += characters;
    row.ms += performance.now() - begun;
    if (verdict.level === 'review') row.reviews += 1;
    if (verdict.level === 'refuse') row.refusals += 1;
    return verdict;
  };

  return {
    counting,
    flush,
    close: (): Promise<void> => {
      clearInterval(timer);
      return flush();
    },
  };
};
