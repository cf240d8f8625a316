import { eq, sql } from 'drizzle-orm';
import type { Database, Executor } from '#server/db/database.ts';
import { users } from '#server/db/schema.ts';
import type { Aside } from './key-rests.ts';

/** What a channel did since it was last written down. */
export interface HealthCounts {
  successes: number;
  failures: number;
  reason: string;
}

export const addHealth = async (
  db: Database,
  channelId: number,
  { successes, failures, reason }: HealthCounts,
): Promise<void> => {
  await db.execute(sql`INSERT INTO channel_health
            (channel_id, successes, failures, last_success_at, last_failure_at, last_error)
          SELECT id, ${successes}, ${failures},
            CASE WHEN ${successes} > 0 THEN now() END, CASE WHEN ${failures} > 0 THEN now() END,
            ${reason}
          FROM channels WHERE id = ${channelId}
          ON CONFLICT (channel_id) DO UPDATE SET
            successes = channel_health.successes + excluded.successes,
            failures = channel_health.failures + excluded.failures,
            last_success_at = coalesce(excluded.last_success_at, channel_health.last_success_at),
            last_failure_at = coalesce(excluded.last_failure_at, channel_health.last_failure_at),
            last_error = CASE WHEN excluded.failures > 0 THEN excluded.last_error
              ELSE channel_health.last_error END`);
};

/** How many outcomes of a line are kept. */
export const keptOutcomes = 100;

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

/** What a line did since it was last written down. */
export interface LineCounts {
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

export const writeLine = async (db: Database, each: LineCounts): Promise<void> => {
  const { channelId, model, key, outcomes, aside, cutCalls, cutTokens } = each;
  const newest = JSON.stringify(outcomes.reverse().slice(0, keptOutcomes));
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
        WHERE one.place <= ${keptOutcomes}),
      ${change}
      cut_calls = line.cut_calls + excluded.cut_calls,
      cut_tokens = line.cut_tokens + excluded.cut_tokens, updated_at = now()`);
};

/** What any process set aside and has not taken back. */
export const linesAside = async (db: Database): Promise<AsideRow[]> => {
  const { rows } = await db.execute<AsideRow>(sql`
    SELECT channel_id, key_mark, model, aside_until, aside_reason, strikes FROM channel_lines
    WHERE aside_until > now()`);
  return rows;
};

/** What tells who somebody is where people are counted. */
export const madeAs = async (db: Executor, userId: number) => {
  const [row] = await db
    .select({ guest: users.guest, madeIn: users.madeIn })
    .from(users)
    .where(eq(users.id, userId));
  return row;
};
