import type pg from 'pg';

/** How many holds are open, and how many balances are not what their ledger adds up to. */
export const unsettled = async (database: pg.Pool): Promise<{ open: number; wrong: number }> => {
  const { rows } = await database.query<{ open: number; wrong: number }>(`
    SELECT (SELECT count(*)::int FROM holds WHERE state = 'open') AS open,
      (SELECT count(*)::int FROM wallets w WHERE w.balance <> (
        SELECT coalesce(sum(amount), 0) FROM ledger l
        WHERE l.user_id = w.user_id AND l.pot = 'balance')) AS wrong`);
  return rows[0]!;
};

export const settled = { open: 0, wrong: 0 };
