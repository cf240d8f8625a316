import type { Executor } from '#server/db/database.ts';
import { statement } from '#server/db/statement.ts';
import { addUse, noteUse } from './ledger.store.ts';

/*
 * What a program that calls often does to its wallet, for many calls in one statement. Where that
 * waits for nobody, calls of a locked wallet, or of one that does not pay for all, are left out: each
 * of them is to be done by itself.
 */

/** SQL of what the group of the person `u` pays of each price. */
const factor = 'coalesce((SELECT g.factor FROM people_groups g WHERE g.id = u.people_group), 1)';

/** SQL of an amount times a `factor`, in whole tokens. */
export const timesFactor = (amount: string): string =>
  `ceil(round((${amount} * factor)::numeric, 6))::bigint`;

const holding = (locked: 'SKIP LOCKED' | '') =>
  `WITH free AS (
     SELECT asked.*, w.balance AS left_now, ${factor} AS factor
     FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::text[]) WITH ORDINALITY
       AS asked (id, user_id, wanted, reference, n)
     JOIN wallets w ON w.user_id = asked.user_id JOIN users u ON u.id = asked.user_id
     FOR UPDATE OF w ${locked} FOR KEY SHARE OF u ${locked}
   ), priced AS (
     SELECT *, ${timesFactor('wanted')} AS amount FROM free
   ), summed AS (
     SELECT *, sum(amount) OVER (PARTITION BY user_id ORDER BY n) AS up_to_here FROM priced
   ), paid AS (
     SELECT * FROM summed WHERE up_to_here <= left_now
   ), wallet AS (
     UPDATE wallets w SET balance = w.balance - taken.amount
     FROM (SELECT user_id, sum(amount) AS amount FROM paid GROUP BY user_id) AS taken
     WHERE w.user_id = taken.user_id
   ), entry AS (
     INSERT INTO ledger (user_id, pot, kind, amount, reference, remark)
     SELECT user_id, 'balance', 'hold', -amount, id::text, '' FROM paid ORDER BY n
   )
   INSERT INTO holds (id, user_id, balance, vip, vip_allowed, state, reference, expires_at, owner)
   SELECT id, user_id, amount, 0, false, 'open', reference,
     now() + $5::float8 * interval '1 millisecond', $6::bigint FROM paid RETURNING id`;
const holdTogether = statement<{ id: string }>('holds_together', holding('SKIP LOCKED'));
const holdWaiting = statement<{ id: string }>('holds_waiting', holding(''));

export interface NewHold {
  id: string;
  userId: number;
  /** Tokens, before the factor of the person's group. */
  amount: number;
  reference: string;
}

/**
 * Sets aside parts of balances for one process; gives the ids of the holds that were made.
 * @param options.waits for wallets that are locked; they are passed over otherwise
 */
export const insertHolds = async (
  db: Executor,
  made: readonly NewHold[],
  { ttlMs, owner, waits }: { ttlMs: number; owner: number; waits: boolean },
): Promise<Set<string>> => {
  const rows = await (waits ? holdWaiting : holdTogether)(db, [
    made.map(({ id }) => id),
    made.map(({ userId }) => userId),
    made.map(({ amount }) => amount),
    made.map(({ reference }) => reference),
    ttlMs,
    owner,
  ]);
  return new Set(rows.map(({ id }) => id));
};

/**
 * SQL that settles holds of balances alone, each with its record of use.
 * @param asked SQL of rows with `n, id, actual, type, model, human, channel_id, prompt_tokens,
 *   completion_tokens`; `channel_id` 0 is none. Further columns are handed on
 * @param alongside SQL that counts the same calls elsewhere, from `paid`: the rows of `asked` that
 *   were settled, with `user_id`, its group's `factor`, and `spent`, the tokens that were taken
 */
export const settlingTogether = (asked: string, alongside: string): string =>
  `WITH asked AS (${asked}), free AS (
     SELECT asked.*, h.user_id, h.balance AS held, w.balance, w.vip_balance, ${factor} AS factor
     FROM asked JOIN holds h ON h.id = asked.id AND h.state = 'open' AND h.vip = 0 AND NOT h.vip_allowed
     JOIN wallets w ON w.user_id = h.user_id AND NOT w.closed JOIN users u ON u.id = h.user_id
     FOR UPDATE OF w, h SKIP LOCKED FOR KEY SHARE OF u SKIP LOCKED
   ), priced AS (
     SELECT *, ${timesFactor('actual')} AS spent FROM free
   ), summed AS (
     SELECT *, sum(held) OVER whole AS all_held, sum(spent) OVER whole AS all_spent,
       coalesce(sum(spent) OVER earlier, 0) AS spent_before
     FROM priced WINDOW whole AS (PARTITION BY user_id), earlier AS (PARTITION BY user_id ORDER BY n
       ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
   ), paid AS (
     SELECT * FROM summed WHERE all_spent <= balance + all_held
   ), wallet AS (
     UPDATE wallets w SET balance = w.balance + change.amount
     FROM (SELECT user_id, sum(held - spent) AS amount FROM paid GROUP BY user_id) AS change
     WHERE w.user_id = change.user_id
   ), hold AS (
     UPDATE holds h SET state = 'settled', spent = paid.spent FROM paid WHERE h.id = paid.id
   ), entry AS (
     INSERT INTO ledger (user_id, pot, kind, amount, reference, remark)
     SELECT user_id, 'balance', moved.kind, moved.amount, id::text, '' FROM paid,
       LATERAL (VALUES (1, 'release', held), (2, 'spend', -spent)) AS moved (step, kind, amount)
     WHERE moved.amount <> 0 ORDER BY n, moved.step
   ), noted AS (
     ${noteUse('user_id, type, model, nullif(channel_id, 0), prompt_tokens, completion_tokens, spent FROM paid')}
   ), used AS (
     ${addUse(`user_id, type, model, count(*), count(*) FILTER (WHERE spent > 0), sum(prompt_tokens),
       sum(completion_tokens), sum(spent) FROM paid GROUP BY user_id, type, model ORDER BY user_id, type, model`)}
   ), consumption AS (
     INSERT INTO consumptions (user_id, type, model, human, prompt_tokens, completion_tokens,
       deduct_tokens, current_balance)
     SELECT user_id, type, model, human, prompt_tokens, completion_tokens, spent,
       -- What is set aside for another answer is not spent.
       balance + vip_balance + all_held - spent_before
         + coalesce((SELECT sum(other.balance + other.vip) FROM holds other
           WHERE other.user_id = paid.user_id AND other.state = 'open'
             AND other.id NOT IN (SELECT id FROM paid)), 0)
     FROM paid WHERE spent > 0 ORDER BY n
   ), alongside AS (${alongside})
   SELECT id, spent::float8 FROM paid`;
