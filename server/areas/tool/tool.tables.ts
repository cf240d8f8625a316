import { integer, jsonb, pgTable, primaryKey, text, boolean, uuid } from 'drizzle-orm/pg-core';
import { bigId, bytes, instant, reference } from '#server/db/columns.ts';

/** Servers of tools: everybody's without an owner, else a person's own. */
export const toolServers = pgTable('tool_servers', {
  id: bigId(),
  /** What its secret is bound to. */
  key: uuid('key').notNull(),
  userId: reference('user_id'),
  name: text('name').notNull(),
  url: text('url').notNull(),
  header: text('header').notNull().default('Authorization'),
  /** AES-256-GCM: iv, tag, text. */
  secretEncrypted: bytes('secret_encrypted'),
  /** Whether it wants a sign-in of its own, and whether that stands. */
  login: text('login').$type<'' | 'wanted' | 'given' | 'lost'>().notNull().default(''),
  /** What this site is called there, entered by hand; empty: it registers itself. */
  clientId: text('client_id').notNull().default(''),
  clientSecretEncrypted: bytes('client_secret_encrypted'),
  /** Sealed as the secret: what the sign-in gave, and one that is on its way. */
  loginEncrypted: bytes('login_encrypted'),
  pendingEncrypted: bytes('pending_encrypted'),
  /** Its resources and prompts are offered, too. */
  more: boolean('more').notNull().default(false),
  enabled: boolean('enabled').notNull().default(true),
  lastError: text('last_error').notNull().default(''),
  lastOkAt: instant('last_ok_at'),
  createdAt: instant('created_at').notNull().defaultNow(),
});

/** What they offer, as they told it last. One is on only as it was when somebody agreed to it. */
export const toolServerTools = pgTable(
  'tool_server_tools',
  {
    serverId: reference('server_id').notNull(),
    name: text('name').notNull(),
    description: text('description').notNull(),
    parameters: jsonb('parameters').$type<Record<string, unknown>>().notNull(),
    digest: text('digest').notNull(),
    agreedDigest: text('agreed_digest').notNull().default(''),
    sort: integer('sort').notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.serverId, table.name] })],
);
