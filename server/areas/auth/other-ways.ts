import type { ContactKind } from '#contract/sign-in.ts';
import type { Transaction } from '#server/db/database.ts';
import { Refusal } from '#server/http/handlers.ts';
import { isSet, readSettings } from '../contact/contact.service.ts';
import * as store from './ways.store.ts';

/**
 * That a person can still sign in once this is gone. Their row stays locked until the end, so that
 * two of the last two do not go at once. @throws Refusal proof_unsuitable
 */
export const requireAnotherWay = async (
  tx: Transaction,
  userId: number,
  without: { contact: ContactKind } | { identity: number } | { passkey: number },
): Promise<void> => {
  const person = await store.lockPerson(tx, userId);
  if (person?.passwordHash) return;
  const settings = await readSettings(tx);
  const ways = await store.countWays(tx, userId);
  const left = [
    ...ways.contacts.filter(
      (kind) => isSet(settings, kind) && !('contact' in without && without.contact === kind),
    ),
    ...ways.identities.filter((id) => !('identity' in without && without.identity === id)),
    ...(settings.passkeys === 1
      ? ways.passkeys.filter((id) => !('passkey' in without && without.passkey === id))
      : []),
  ];
  if (left.length === 0)
    throw new Refusal('proof_unsuitable', '这是您唯一的登录方式：请先设一个密码，或绑定别的方式');
};
