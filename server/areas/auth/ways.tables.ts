import { bigint, boolean, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import type { ProviderKind } from '#contract/sign-in.ts';
import { bigId, bytes, instant, reference } from '#server/db/columns.ts';

/** Sign-ins, and changes of how one signs in. */
export const accountEvents = pgTable('account_events', {
  id: bigId(),
  userId: reference('user_id').notNull(),
  kind: text('kind').notNull(),
  way: text('way').notNull().default(''),
  agent: text('agent').notNull().default(''),
  createdAt: instant('created_at').notNull().defaultNow(),
});

export const providers = pgTable('sign_in_providers', {
  id: bigId(),
  kind: text('kind').$type<ProviderKind>().notNull(),
  name: text('name').notNull(),
  /** Of OpenID Connect its issuer; of others the address in place of the usual one, or empty. */
  issuer: text('issuer').notNull().default(''),
  clientId: text('client_id').notNull(),
  /** Sealed, as the keys of channels. */
  clientSecret: bytes('client_secret'),
  /** Of 企业微信. */
  agentId: text('agent_id').notNull().default(''),
  scope: text('scope').notNull().default(''),
  enabled: boolean('enabled').notNull().default(true),
  createdAt: instant('created_at').notNull().defaultNow(),
});

export const identities = pgTable('identities', {
  id: bigId(),
  userId: reference('user_id').notNull(),
  providerId: reference('provider_id').notNull(),
  /** Who vouches for the subject. */
  issuer: text('issuer').notNull(),
  subject: text('subject').notNull(),
  /** What the account elsewhere is called; empty: it did not say. */
  label: text('label').notNull().default(''),
  createdAt: instant('created_at').notNull().defaultNow(),
});

/** Ways to a provider and back that are under way. */
export const providerFlows = pgTable('provider_flows', {
  stateHash: bytes('state_hash').primaryKey(),
  secretHash: bytes('secret_hash').notNull(),
  providerId: reference('provider_id').notNull(),
  redirectUrl: text('redirect_url').notNull(),
  nonce: text('nonce').notNull(),
  verifier: text('verifier').notNull(),
  /** Of linking: the login that asked for it. */
  jti: uuid('jti'),
  /** Of linking: its person. Of a sign-in that is back: who was vouched for. */
  userId: bigint('user_id', { mode: 'number' }),
  stage: text('stage').$type<'away' | 'back'>().notNull().default('away'),
  expiresAt: instant('expires_at').notNull(),
});

export const passkeys = pgTable('passkeys', {
  id: bigId(),
  userId: reference('user_id').notNull(),
  credentialId: text('credential_id').notNull(),
  publicKey: bytes('public_key').notNull(),
  counter: bigint('counter', { mode: 'number' }).notNull().default(0),
  transports: text('transports').array().notNull().default([]),
  /** The name of the host that it was made for. */
  host: text('host').notNull(),
  name: text('name').notNull(),
  usedAt: instant('used_at'),
  createdAt: instant('created_at').notNull().defaultNow(),
});

export const passkeyQuestions = pgTable('passkey_questions', {
  id: uuid('id').primaryKey(),
  challenge: text('challenge').notNull(),
  /** Null: whoever answers says who they are. */
  userId: bigint('user_id', { mode: 'number' }),
  expiresAt: instant('expires_at').notNull(),
});
