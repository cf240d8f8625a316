import { sql } from 'drizzle-orm';
import type { Database } from '#server/db/database.ts';
import type { Aside } from './key-rests.ts';

/** How long outcomes are gathered before they are written, ms. */
const gatherMs = 3_000;
/** How many outcomes of a line are kept. */
const kept = 100;

/** A key of a channel, by what tells it apart without giving it away. */
export interface KeyMark {
  mark: string;
  hint: string;
}

export interface LineOutcome {
  /** ISO. */
  at: string;
  /** ok, cut, or a kind of failure. */
  result: string;
  /** ms until its first word, or until it failed. */
  ms: number;
  /** HTTP status; 0: there was none. */
  status: number;
}

interface Gathered {
  channelId: number;
  model: string;
  key: KeyMark;
  outcomes: LineOutcome[];
  aside: Aside | null | undefined;
  cutCalls: number;
  cutTokens: number;
}

export interface AsideRow extends Record<string, unknown> {
  channel_id: string;
  key_mark: string;
  model: string;
  aside_until: Date | string;
  aside_reason: string;
  strikes: number;
}

/** What lines did, a few writes for many calls; what other processes set aside is read with them. */
export const createLineRecord = (db: Database, heard: (row: AsideRow) => void) => {
  let gathered = new Map<string, Gathered>();
  let timer: NodeJS.Timeout | undefined;

  const write = async (each: Gathered): Promise<void> => {
    const { channelId, model, key, outcomes, aside, cutCalls, cutTokens } = each;
    const newest = JSON.stringify(outcomes.reverse().slice(0, kept));
    const until = aside ? new Date(aside.until).toISOString() : null;
    const change =
      aside === undefined
        ? sql``
        : sql`aside_until = excluded.aside_until, aside_reason = excluded.aside_reason,
            strikes = excluded.strikes,`;
    await db.execute(sql`
      INSERT INTO channel_lines AS line (channel_id, key_mark, model, key_hint, outcomes, aside_until,
        aside_reason, strikes, cut_calls, cut_tokens)
      SELECT id, ${key.mark}, ${model}, ${key.hint}, ${newest}::jsonb, ${until}::timestamptz,
        ${aside?.reason ?? ''}, ${aside?.strikes ?? 0}, ${cutCalls}, ${cutTokens}
      FROM channels WHERE id = ${channelId}
      ON CONFLICT (channel_id, key_mark, model) DO UPDATE SET
        outcomes = (SELECT jsonb_agg(one.value ORDER BY one.place) FROM
          jsonb_array_elements(excluded.outcomes || line.outcomes) WITH ORDINALITY AS one (value, place)
          WHERE one.place <= ${kept}),
        ${change}
        cut_calls = line.cut_calls + excluded.cut_calls,
        cut_tokens = line.cut_tokens + excluded.cut_tokens, updated_at = now()`);
  };

  const listen = async (): Promise<void> => {
    const { rows } = await db.execute<AsideRow>(sql`
      SELECT channel_id, key_mark, model, aside_until, aside_reason, strikes FROM channel_lines
      WHERE aside_until > now()`);
    for (const row of rows) heard(row);
  };

  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const some = gathered;
    gathered = new Map();
    for (const each of some.values()) await write(each);
    await listen();
  };

  const of = (channelId: number, model: string, key: KeyMark): Gathered => {
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
