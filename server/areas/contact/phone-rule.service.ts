import { sessionTypes } from '#contract/kinds.ts';
import type { Executor } from '#server/db/database.ts';
import { statement } from '#server/db/statement.ts';
import { type Identity, Refusal } from '#server/http/handlers.ts';

const lackingOf = statement<{ lacks: boolean }>(
  'lacks_phone',
  `SELECT EXISTS (SELECT FROM sign_in_settings WHERE settings->>'phone_to_write' = '1')
     AND EXISTS (SELECT FROM users u WHERE u.id = $1 AND NOT u.manager
       AND NOT EXISTS (SELECT FROM contacts c WHERE c.user_id = u.id AND c.kind = 'phone')) AS lacks`,
);

/** Whether the operator asks for a bound phone number and this person has none; managers need none. */
export const lacksPhone = async (db: Executor, userId: number): Promise<boolean> =>
  (await lackingOf(db, [userId]))[0]?.lacks ?? false;

/** Before somebody writes what others read. @throws Refusal phone_needed, login_required */
export const requirePhone = async (
  db: Executor,
  user: Pick<Identity, 'id' | 'guest'>,
): Promise<void> => {
  if (!(await lacksPhone(db, user.id))) return;
  if (user.guest) throw new Refusal('login_required', '登录并绑定手机号之后，才能公开发表');
  throw new Refusal('phone_needed');
};

/** Before somebody writes in a session that others read, those of two people among them. */
export const requirePhoneIn = async (
  db: Executor,
  session: { type: number; private: boolean },
  user: Pick<Identity, 'id' | 'guest'>,
): Promise<void> => {
  if (session.type === sessionTypes.people || !session.private) await requirePhone(db, user);
};
