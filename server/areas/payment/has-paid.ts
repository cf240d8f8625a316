import type { Executor } from '#server/db/database.ts';
import { statement } from '#server/db/statement.ts';

const standing = statement<{ paid: boolean; manager: boolean }>(
  'paid_standing',
  `SELECT u.manager, u.manager OR u.subscribe > 0 OR coalesce(u.vip_expired_at > now(), false)
     OR EXISTS (SELECT FROM orders o WHERE o.user_id = u.id AND o.state = 'paid' AND o.amount > 0)
     AS paid
   FROM users u WHERE u.id = $1`,
  { shared: true },
);

/** Whether somebody paid once, or is a member; managers count as such. */
export const paidStanding = async (
  db: Executor,
  userId: number,
): Promise<{ paid: boolean; manager: boolean }> =>
  (await standing(db, [userId]))[0] ?? { paid: false, manager: false };
