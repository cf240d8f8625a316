import type { Executor } from '#server/db/database.ts';
import { statement } from '#server/db/statement.ts';
import { settlingTogether, timesFactor } from '../ledger/holds-together.ts';
import { today } from './developer.store.ts';

/** SQL that counts calls: key, model, person, calls, tokens of two kinds, taken for each, cached, reasoning. */
const count = (values: string): string => `
   INSERT INTO api_usage AS u (key_id, day, model, user_id, count, prompt_tokens, completion_tokens,
     deduct_prompt, deduct_completion, cached_tokens, reasoning_tokens)
   SELECT use.k, ${today}, use.m, use.u, use.n, use.p, use.c, use.dp, use.dc, use.cached, use.thought
   FROM (SELECT ${values}) AS use (k, m, u, n, p, c, dp, dc, cached, thought)
   ON CONFLICT (key_id, day, model) DO UPDATE SET count = u.count + excluded.count,
     prompt_tokens = u.prompt_tokens + excluded.prompt_tokens,
     completion_tokens = u.completion_tokens + excluded.completion_tokens,
     deduct_prompt = u.deduct_prompt + excluded.deduct_prompt,
     deduct_completion = u.deduct_completion + excluded.deduct_completion,
     cached_tokens = u.cached_tokens + excluded.cached_tokens,
     reasoning_tokens = u.reasoning_tokens + excluded.reasoning_tokens`;

const endOne = statement(
  'api_call_end',
  `WITH gone AS (
     UPDATE api_running SET ended_at = clock_timestamp(), tokens = $5::bigint + $6::bigint,
       taken = $7::bigint + $8::bigint,
       -- A minute's bounds still count it, unless nothing came of it.
       expires_at = CASE WHEN $3::text IS NULL THEN clock_timestamp() ELSE begun_at + interval '1 minute' END
     WHERE id = $1::uuid
   )
   ${count('$2::bigint, $3::text, $4::bigint, 1, $5::bigint, $6::bigint, $7::bigint, $8::bigint, $9::bigint, $10::bigint WHERE $3::text IS NOT NULL')}`,
);

export interface EndedCall {
  id: string;
  keyId: number;
  userId: number;
  /** Null: nothing was used, and nothing is counted. */
  model: string | null;
  promptTokens: number;
  completionTokens: number;
  deductPrompt: number;
  deductCompletion: number;
  /** Of the prompt and of the answer. */
  cachedTokens?: number;
  reasoningTokens?: number;
}

/** Gives back what was set aside for a call, and counts what it used. */
export const endCall = async (db: Executor, call: EndedCall): Promise<void> => {
  await endOne(db, [
    call.id,
    call.keyId,
    call.model,
    call.userId,
    call.promptTokens,
    call.completionTokens,
    call.deductPrompt,
    call.deductCompletion,
    call.cachedTokens ?? 0,
    call.reasoningTokens ?? 0,
  ]);
};

const payAll = statement<{ id: string; spent: number }>(
  'api_calls_pay',
  settlingTogether(
    `SELECT *, $12::text AS human
     FROM unnest($1::uuid[], $2::bigint[], $3::smallint[], $4::text[], $5::bigint[], $6::int[],
       $7::int[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[]) WITH ORDINALITY
       AS each (id, actual, type, model, channel_id, prompt_tokens, completion_tokens, key_id,
         of_prompt, cached_tokens, reasoning_tokens, n)`,
    count(`key_id, model, user_id, count(*), sum(prompt_tokens), sum(completion_tokens),
       sum(prompt), sum(spent - prompt), sum(cached_tokens), sum(reasoning_tokens)
     FROM paid, LATERAL (SELECT least(${timesFactor('of_prompt')}, spent) AS prompt) AS split
     GROUP BY key_id, model, user_id ORDER BY key_id, model`),
  ),
);

/** A call whose hold is to pay for it. */
export interface PaidCall extends Omit<EndedCall, 'model' | 'deductPrompt' | 'deductCompletion'> {
  model: string;
  /** Of `sessionTypes` or `modelTypes`. */
  type: number;
  channelId: number | null;
  /** Tokens to take for the prompt, and in all, before the factor of the person's group. */
  ofPrompt: number;
  actual: number;
}

/**
 * Pays calls of keys without bounds from their holds and counts them, in one statement that waits for
 * nobody. Gives what was taken of each by its id; what is missing there is to be paid by itself.
 * @param human what is written of them among a person's spends
 */
export const payCalls = async (
  db: Executor,
  calls: readonly PaidCall[],
  human: string,
): Promise<Map<string, number>> => {
  const rows = await payAll(db, [
    calls.map((call) => call.id),
    calls.map((call) => call.actual),
    calls.map((call) => call.type),
    calls.map((call) => call.model),
    calls.map((call) => call.channelId ?? 0),
    calls.map((call) => call.promptTokens),
    calls.map((call) => call.completionTokens),
    calls.map((call) => call.keyId),
    calls.map((call) => call.ofPrompt),
    calls.map((call) => call.cachedTokens ?? 0),
    calls.map((call) => call.reasoningTokens ?? 0),
    human,
  ]);
  return new Map(rows.map(({ id, spent }) => [id, spent]));
};
