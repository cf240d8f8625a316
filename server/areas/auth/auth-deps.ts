import type { FastifyBaseLogger } from 'fastify';
import type { Database, Executor, Transaction } from '#server/db/database.ts';
import type { Authenticator } from '#server/http/handlers.ts';
import type { Settings } from '#server/settings.ts';
import type { Contacts } from '../contact/contact.service.ts';
import type { KeyBox } from '../model/channel-key.ts';
import type { createLoginAttempts } from './login-attempts.ts';
import type { createRegistrationAttempts } from './registration-attempts.ts';
import type { Marks } from './marks.ts';
import type { SecondFactor } from './second-factor.service.ts';

/**
 * What was wrong: the account, its password, its code; it is disabled; a signed-in person's password;
 * a code that was sent, or a passkey.
 */
export type FailedProof =
  | 'account'
  | 'password'
  | 'totp'
  | 'disabled'
  | 'confirm'
  | 'code'
  | 'passkey';

export interface AuthDeps {
  db: Database;
  settings: Settings;
  /** Tokens of the account, from the ledger. */
  balances: (
    db: Executor,
    userId: number,
  ) => Promise<{ balance: number; vip: number; low: boolean }>;
  openWallet: (db: Executor, userId: number, tokens: number) => Promise<void>;
  /**
   * Locks, in the order of all others, what letting somebody into an account touches before its own row:
   * the sessions of the guest that they were, and the account's wallet.
   */
  lockEntered: (tx: Transaction, guestId: number | null, userId: number) => Promise<void>;
  /** Gives what a guest made to an account. */
  takeOver: (db: Executor, fromUserId: number, toUserId: number) => Promise<void>;
  secondFactor: Pick<SecondFactor, 'isOn' | 'prove'>;
  /** Seals what is kept of services. */
  keys: KeyBox;
  log: FastifyBaseLogger;
  /** Ends the keys for programs of a person; gives how many. */
  deleteKeysOf: (db: Executor, userId: number) => Promise<number>;
  /** Counts a password or code that was not right, for whoever watches. */
  signInFailed: (reason: FailedProof) => void;
  /** Somebody registered, by somebody's link perhaps. */
  registered: (
    tx: Transaction,
    userId: number,
    invite: { code: string | undefined; network: string; provider: string },
  ) => Promise<void>;
  /** Why nobody can register without, or with, this link; null: they may. */
  whyNoAccount: (db: Executor, invite: string | undefined) => Promise<string | null>;
  /** @throws Refusal login_required */
  requireGuests: (db: Executor) => Promise<void>;
  /** @throws Refusal words_blocked */
  refuseBlocked: (db: Executor, text: string) => Promise<void>;
  /** Sessions made this calendar month, counted no further than `most`. */
  countThisMonth: (db: Executor, userId: number, most: number) => Promise<number>;
  unreadNews: (db: Executor, userId: number) => Promise<number>;
}

/** What the parts of the service share. */
export interface AuthContext extends AuthDeps {
  secret: string;
  marks: Marks;
  contacts: Contacts;
  attempts: ReturnType<typeof createLoginAttempts> & ReturnType<typeof createRegistrationAttempts>;
  issueToken: Authenticator['issueToken'];
}
