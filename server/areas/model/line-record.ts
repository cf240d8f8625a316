import type { Database } from '#server/db/database.ts';
import {
  type AsideRow,
  type KeyMark,
  keptOutcomes as kept,
  type LineCounts,
  type LineOutcome,
  linesAside,
  writeLine,
} from './channel-figures.store.ts';
import type { Aside } from './key-rests.ts';

/** How long outcomes are gathered before they are written, ms. */
const gatherMs = 3_000;
/** What lines did, a few writes for many calls; what other processes set aside is read with them. */
export const createLineRecord = (db: Database, heard?: (row: AsideRow) => void) => {
  let gathered = new Map<string, LineCounts>();
  let timer: NodeJS.Timeout | undefined;

  const listen = async (): Promise<void> => {
    if (heard) for (const row of await linesAside(db)) heard(row);
  };

  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const some = gathered;
    gathered = new Map();
    for (const each of some.values()) await writeLine(db, each);
    await listen();
  };

  const of = (channelId: number, model: string, key: KeyMark): LineCounts => {
    const name = `${channelId} ${key.mark} ${model}`;
    const known = gathered.get(name) ?? {
      channelId,
      model,
      key,
      outcomes: [],
      aside: undefined,
      cutCalls: 0,
      cutTokens: 0,
    };
    gathered.set(name, known);
    timer ??= setTimeout(() => {
      // Figures: what cannot be written is lost without harm.
      flush().catch(() => undefined);
    }, gatherMs).unref();
    return known;
  };

  return {
    /** @param aside until when it is set aside now; null: it is not any more; left out: as it was */
    note: (
      line: { channelId: number; model: string; key: KeyMark },
      outcome: Omit<LineOutcome, 'at'>,
      aside?: Aside | null,
    ): void => {
      const known = of(line.channelId, line.model, line.key);
      if (known.outcomes.length >= kept) known.outcomes.shift();
      known.outcomes.push({ ...outcome, ms: Math.round(outcome.ms), at: new Date().toISOString() });
      if (aside !== undefined) known.aside = aside;
    },
    /** It was cut while nothing had come of it; what it was sent is its house's cost. */
    noteCut: (line: { channelId: number; model: string; key: KeyMark }, tokens: number): void => {
      const known = of(line.channelId, line.model, line.key);
      known.cutCalls += 1;
      known.cutTokens += tokens;
    },
    close: (): void => clearTimeout(timer),
  };
};
