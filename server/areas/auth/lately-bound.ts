import type { ContactKind } from '#contract/sign-in.ts';
import type { Executor } from '#server/db/database.ts';
import { maskAddress } from '../contact/address.ts';
import { contactsOf, showMail } from '../contact/contact.service.ts';
import * as store from './ways.store.ts';

export const contactWords: Record<ContactKind, string> = { mail: '邮箱', phone: '手机号' };

interface Ways {
  contacts: readonly { kind: ContactKind; value: string }[];
  identities: readonly { name: string; label: string }[];
}

const inWords = ({ contacts, identities }: Ways): string[] => [
  ...contacts.map(({ kind, value }) => `${contactWords[kind]} ${maskAddress(kind, value)}`),
  ...identities.map(({ name, label }) => `“${name}”账号${label === '' ? '' : ` ${label}`}`),
];

/**
 * A password that is set anew ends what was bound lately, as whoever had the old one may have bound
 * it: of the last thirty days (`limits.latelyBoundDays`), and later than the address that the new one
 * was asked for by, so that a stranger's own address takes away nothing that was there before it.
 * Gives in words what went and what is still bound, and the mail address that went.
 * @param by null: a manager set it
 */
export const dropLatelyBound = async (
  tx: Executor,
  userId: number,
  { by, agent }: { by: ContactKind | null; agent: string },
): Promise<{ gone: string[]; still: string[]; mail: string | null }> => {
  const gone = await store.takeLatelyBound(tx, userId, by);
  const events = [
    ...gone.contacts.map(({ kind: way }) => ({ kind: 'unbind', way })),
    ...gone.identities.map(() => ({ kind: 'unlink', way: 'provider' })),
  ];
  for (const event of events) await store.insertEvent(tx, { userId, agent, ...event });
  const mail = gone.contacts.find(({ kind }) => kind === 'mail')?.value ?? null;
  if (mail !== null) await showMail(tx, userId, '');
  const left = (await contactsOf(tx, userId)).filter(({ kind }) => kind !== by);
  const still = inWords({ contacts: left, identities: await store.identitiesOf(tx, userId) });
  return { gone: inWords(gone), still, mail };
};
