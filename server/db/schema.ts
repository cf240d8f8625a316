import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  doublePrecision,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  real,
  smallint,
  text,
  uuid,
} from 'drizzle-orm/pg-core';
import type { Settings } from '#contract/auth.ts';
import type { StoredSource } from '#contract/embedding.ts';
import type { ReplyState, StructuredMessage } from '#contract/chat.ts';
import type { MadeBy } from '#contract/file.ts';
import type { ImageModel, ImageOrigin, ImageParameters, ImageTask } from '#contract/image.ts';
import type { Maker } from '#contract/makers.ts';
import type { ImageChoice, SearchKind, SearchPaths } from '#contract/manage-model.ts';
import type { StoredTool } from '#contract/tool.ts';
import type { JobKind, JobState, SubjectKind } from '#contract/job.ts';
import type { Voices } from '#contract/speech.ts';
import type { WaitKind } from '#contract/wait.ts';
import type { ThinkingWords } from '#common/thinking-models.ts';
import { bigId, bytes, instant, reference, tokens } from './columns.ts';

/** The tables as migrations/ makes them; tests/contract compares the two. */

/** People who pay a part, or a multiple, of each price. */
export const peopleGroups = pgTable('people_groups', {
  id: bigId(),
  name: text('name').notNull().unique(),
  /** Times each price. */
  factor: doublePrecision('factor').notNull().default(1),
  createdAt: instant('created_at').notNull().defaultNow(),
});

export const users = pgTable('users', {
  id: bigId(),
  /** Lower-cased; null for a guest. */
  account: text('account').unique(),
  userName: text('user_name').notNull(),
  passwordHash: text('password_hash'),
  email: text('email').notNull().default(''),
  avatar: text('avatar').notNull().default(''),
  guest: boolean('guest').notNull().default(false),
  /** A digest of the network that a guest was made in. */
  madeIn: text('made_in'),
  /** The same of the provider of that network; empty: it cannot be told. */
  madeInProvider: text('made_in_provider').notNull().default(''),
  manager: boolean('manager').notNull().default(false),
  /** A manager who may make others managers. */
  owner: boolean('owner').notNull().default(false),
  /** Looks at what managers see and changes nothing. */
  auditor: boolean('auditor').notNull().default(false),
  disabled: boolean('disabled').notNull().default(false),
  sessionBlacklist: boolean('session_blacklist').notNull().default(false),
  sessionPrivate: boolean('session_private').notNull().default(false),
  vipActivatedAt: instant('vip_activated_at'),
  vipExpiredAt: instant('vip_expired_at'),
  /** The end of the membership that was told by push, and the one that was seen coming. */
  vipEndTold: instant('vip_end_told'),
  vipEndSeen: instant('vip_end_seen'),
  subscribe: smallint('subscribe').notNull().default(0),
  /** Null: of none, which pays each price once. */
  peopleGroup: bigint('people_group', { mode: 'number' }),
  /** API keys are shown when they are made, and never again. */
  apiKeysOnce: boolean('api_keys_once').notNull().default(false),
  setting: jsonb('setting').$type<Settings>().notNull().default({}),
  /** The account that took over this guest. */
  mergedInto: bigint('merged_into', { mode: 'number' }),
  /** Its person goes; orders and spends remain without a name. */
  deletedAt: instant('deleted_at'),
  /** All that was the person's is gone, and nothing comes back. */
  erasedAt: instant('erased_at'),
  createdAt: instant('created_at').notNull().defaultNow(),
});

export const logins = pgTable('logins', {
  jti: uuid('jti').primaryKey(),
  userId: bigint('user_id', { mode: 'number' }).notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
  expiresAt: instant('expires_at').notNull(),
  revokedAt: instant('revoked_at'),
  /** When its person last proved by their password that it is they. */
  confirmedAt: instant('confirmed_at').notNull().defaultNow(),
  /** What the browser says it is. */
  agent: text('agent').notNull().default(''),
  /** It came from a browser that had not been used for its account before. */
  fresh: boolean('fresh').notNull().default(false),
  /** A mark of the network that it was made from; empty: it is not known. */
  network: text('network').notNull().default(''),
  /** It was told of fresh ones elsewhere up to here. */
  toldAt: instant('told_at').notNull().defaultNow(),
});

/** Names and keys that are made once and kept (JWT secret, key of the channel keys). */
export const secrets = pgTable('secrets', {
  name: text('name').primaryKey(),
  value: text('value').notNull(),
});

export const channels = pgTable('channels', {
  id: bigId(),
  key: text('key').notNull().unique(),
  kind: text('kind')
    .$type<
      | 'built-in'
      | 'openai-compatible'
      | 'anthropic'
      | 'gemini'
      | 'stable-diffusion-webui'
      | 'midjourney'
      | 'stability'
      | 'embedding'
      | 'replicate'
      | SearchKind
    >()
    .notNull(),
  label: text('label').notNull(),
  baseUrl: text('base_url').notNull().default(''),
  /** AES-256-GCM: iv, tag, text. */
  keyEncrypted: bytes('key_encrypted'),
  /** local: found on this machine. */
  source: text('source').$type<'built-in' | 'environment' | 'manager' | 'local'>().notNull(),
  enabled: boolean('enabled').notNull().default(true),
  /** Given to what it serves: its share among equals, and its turn, smaller first. */
  weight: integer('weight').notNull().default(1),
  priority: integer('priority').notNull().default(0),
  /** Of one that embeds its models; of one that trains its trainer, and where results go. */
  options: jsonb('options')
    .$type<{
      models?: string[];
      trainer?: string;
      destination?: string;
      /** Of one that searches by JSON: where its answer holds what. */
      search?: SearchPaths;
      /** What is added to each request of a chat, and the way that it takes. */
      headers?: Record<string, string>;
      body?: Record<string, unknown>;
      proxy?: string;
      /** Whose ways it has; left out: as its address tells. */
      maker?: Maker;
      /** What managers sort it by. */
      tag?: string;
      /** Chats that one process may have running there; left out: any number. */
      parallel?: number;
      /** Times the price of a chat that it answers; left out: once. */
      factor?: number;
      /** The only groups of people whom it serves; left out: everybody. */
      groups?: number[];
    }>()
    .notNull()
    .default({}),
  createdAt: instant('created_at').notNull().defaultNow(),
});

export const models = pgTable('models', {
  id: bigId(),
  name: text('name').notNull().unique(),
  label: text('label').notNull(),
  type: smallint('type').notNull(),
  color: text('color').notNull().default('#2563eb'),
  logo: text('logo').notNull().default(''),
  remark: text('remark').notNull().default(''),
  display: boolean('display').notNull().default(true),
  vision: boolean('vision').notNull().default(false),
  /** How it is told to think long or little, where a trial learned it; null: as its name says. */
  thinking: text('thinking').$type<ThinkingWords>(),
  /** It calls tools, or does not, where a trial learned it; null: as its name says. */
  tools: boolean('tools'),
  vipExcluded: boolean('vip_excluded').notNull().default(false),
  /** Whoever never paid cannot use it. */
  paidOnly: boolean('paid_only').notNull().default(false),
  managersOnly: boolean('managers_only').notNull().default(false),
  /** What its sizes cost, by their codes from 0; null: as usual. */
  sizeRates: jsonb('size_rates').$type<number[]>(),
  maxPrompt: integer('max_prompt'),
  maxTokens: integer('max_tokens'),
  factor: doublePrecision('factor').notNull().default(1),
  promptFactor: doublePrecision('prompt_factor'),
  cachedFactor: doublePrecision('cached_factor'),
  writtenFactor: doublePrecision('written_factor'),
  accelerator: text('accelerator').notNull().default(''),
  /** The public API may not use it. */
  disableApi: boolean('disable_api').notNull().default(false),
  /** Most tokens of a call of the public API, prompt and answer together; null: limits.apiTokens. */
  apiMaxTokens: integer('api_max_tokens'),
  /** Of a model of images. */
  image: jsonb('image').$type<ImageModel>(),
  /** What a manager chose of that. */
  imageChoice: jsonb('image_choice').$type<ImageChoice>(),
  /** Of a model that speaks, where a manager said so. */
  voice: jsonb('voice').$type<Voices>(),
  sort: integer('sort').notNull().default(100),
  enabled: boolean('enabled').notNull().default(true),
  createdAt: instant('created_at').notNull().defaultNow(),
});

/** Which channels serve a model, tried in order of priority. */
export const modelChannels = pgTable(
  'model_channels',
  {
    modelId: bigint('model_id', { mode: 'number' }).notNull(),
    channelId: bigint('channel_id', { mode: 'number' }).notNull(),
    upstreamName: text('upstream_name').notNull(),
    priority: integer('priority').notNull().default(0),
    /** Of several channels of the same priority one is drawn by weight. */
    weight: integer('weight').notNull().default(1),
  },
  (table) => [primaryKey({ columns: [table.modelId, table.channelId] })],
);

export const sessions = pgTable('sessions', {
  id: bigId(),
  uuid: uuid('uuid')
    .notNull()
    .unique()
    .default(sql`gen_random_uuid()`),
  type: smallint('type').notNull().default(0),
  userId: bigint('user_id', { mode: 'number' }).notNull(),
  model: text('model').notNull(),
  /** The title. */
  prompt: text('prompt').notNull().default(''),
  summary: text('summary').notNull().default(''),
  private: boolean('private').notNull().default(true),
  /** It is private because its owner is disabled or forced to be; then it is public again. */
  closedWithOwner: boolean('closed_with_owner').notNull().default(false),
  replyCount: integer('reply_count').notNull().default(0),
  likeCount: integer('like_count').notNull().default(0),
  createdAt: instant('created_at').notNull().defaultNow(),
  updatedAt: instant('updated_at').notNull().defaultNow(),
  deletedAt: instant('deleted_at'),
  scenarioId: reference('scenario_id'),
  /** Key of the knowledge base it is asked about; empty: none. */
  embeddingKey: text('embedding_key').notNull().default(''),
  /** Keys of further ones, behind it. */
  moreEmbeddings: text('more_embeddings').array().notNull().default([]),
  /** Key of the trained style that its images are drawn in; empty: none. */
  styleKey: text('style_key').notNull().default(''),
  /** Its messages are rows without a text. */
  temporary: boolean('temporary').notNull().default(false),
  /** The session it was taken over from. */
  forkedFrom: reference('forked_from'),
  imported: boolean('imported').notNull().default(false),
  /** Of the forum. */
  groupId: reference('group_id').notNull().default(1),
  /** The message that its asker accepted as the answer. */
  acceptedId: reference('accepted_id'),
  essence: boolean('essence').notNull().default(false),
  pinned: boolean('pinned').notNull().default(false),
  /** Nobody writes in it any more. */
  closed: boolean('closed').notNull().default(false),
  /** Tools that its owner lets run without being asked again. */
  toolGrants: text('tool_grants').array().notNull().default([]),
  /** From this message on its model reads it; null: the last few exchanges, as its person chose. */
  readFrom: reference('read_from'),
  /** A process condenses it until then, or has died at it; null: none does. */
  condensingUntil: instant('condensing_until'),
});

export const history = pgTable('history', {
  id: bigId(),
  sessionId: bigint('session_id', { mode: 'number' }).notNull(),
  userId: bigint('user_id', { mode: 'number' }).notNull(),
  human: text('human').notNull(),
  ai: text('ai').notNull().default(''),
  reasoning: text('reasoning').notNull().default(''),
  /** How long it was thought, ms; 0: it was not, or nobody knows. */
  thoughtMs: integer('thought_ms').notNull().default(0),
  /**
   * In what order reasoning and text came: lengths in UTF-16 units, alternating, reasoning first
   * ([120, 3000] is 120 units of reasoning, then 3000 of text). An event's id is a position in it.
   */
  parts: jsonb('parts').$type<number[]>().notNull().default([]),
  type: smallint('type').notNull().default(0),
  model: text('model').notNull(),
  state: text('state').$type<ReplyState>().notNull().default('none'),
  errorCode: text('error_code').notNull().default(''),
  errorMessage: text('error_message').notNull().default(''),
  /** The server process that writes the reply; see instances. */
  owner: integer('owner'),
  /** Asks the owner, whichever process it is, to stop. */
  stopRequested: boolean('stop_requested').notNull().default(false),
  holdId: uuid('hold_id'),
  promptTokens: integer('prompt_tokens').notNull().default(0),
  completionTokens: integer('completion_tokens').notNull().default(0),
  deductTokens: tokens('deduct_tokens').notNull().default(0),
  /** Of the prompt's: what the service read from a cache. */
  cachedTokens: integer('cached_tokens').notNull().default(0),
  likeCount: integer('like_count').notNull().default(0),
  createdAt: instant('created_at').notNull().defaultNow(),
  answeredAt: instant('answered_at'),
  /** The message before it on its branch; 0: it is the first. */
  prevId: reference('prev_id').notNull().default(0),
  /** On the branch that is shown. Along it numbers only grow. */
  shown: boolean('shown').notNull().default(true),
  /** Of the branches behind one message the one with the highest rank was looked at last. */
  branchRank: integer('branch_rank').notNull().default(0),
  /** Number of the first of two answers beside each other; 0: there is but one. */
  besideGroup: reference('beside_group').notNull().default(0),
  /** 0 the first, 1 the second of two answers beside each other. */
  place: smallint('place').notNull().default(0),
  /** What a structured message carries beside its prompt; null: plain text. */
  request: jsonb('request').$type<Omit<StructuredMessage, 'prompt'>>(),
  /** The prompt goes to the model within its session's scenario. */
  withTemplate: boolean('with_template').notNull().default(false),
  title: text('title').notNull().default(''),
  editedAt: instant('edited_at'),
  /** What its answer was given to rest on; null: nothing. */
  sources: jsonb('sources').$type<StoredSource[]>(),
  /** Calls of tools within its answer; null: none. */
  tools: jsonb('tools').$type<StoredTool[]>(),
});

/** The one private session of two people, by their numbers in order. */
export const friends = pgTable(
  'friends',
  {
    lowUserId: reference('low_user_id').notNull(),
    highUserId: reference('high_user_id').notNull(),
    sessionId: reference('session_id').notNull().unique(),
    lowSeen: bigint('low_seen', { mode: 'number' }).notNull().default(0),
    highSeen: bigint('high_seen', { mode: 'number' }).notNull().default(0),
    createdAt: instant('created_at').notNull().defaultNow(),
    /** Who wrote first, which asks the other one to accept. */
    askedBy: reference('asked_by'),
    askedAt: instant('asked_at'),
    acceptedAt: instant('accepted_at'),
    /** That person wants nothing of the other one. */
    lowBlocks: boolean('low_blocks').notNull().default(false),
    highBlocks: boolean('high_blocks').notNull().default(false),
  },
  (table) => [primaryKey({ columns: [table.lowUserId, table.highUserId] })],
);

export const favorites = pgTable(
  'favorites',
  {
    userId: reference('user_id').notNull(),
    sessionId: reference('session_id').notNull(),
    /** 0: the session as a whole. */
    historyId: reference('history_id').notNull().default(0),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.sessionId, table.historyId] })],
);

/** Sessions that a person keeps at the top of their own list. */
export const pins = pgTable(
  'pins',
  {
    userId: reference('user_id').notNull(),
    sessionId: reference('session_id').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.sessionId] })],
);

export const likes = pgTable(
  'likes',
  {
    userId: reference('user_id').notNull(),
    historyId: reference('history_id').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.historyId, table.userId] })],
);

/** Public links to sessions, each to the messages that were shown when it was made. */
export const shares = pgTable('shares', {
  key: text('key').primaryKey(),
  sessionId: reference('session_id').notNull(),
  userId: reference('user_id').notNull(),
  lastHistoryId: reference('last_history_id').notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
  revokedAt: instant('revoked_at'),
});

export const files = pgTable('files', {
  id: uuid('id')
    .primaryKey()
    .default(sql`gen_random_uuid()`),
  userId: reference('user_id').notNull(),
  kind: text('kind').$type<'image' | 'text' | 'other'>().notNull(),
  /** Random; the name below /files/ and in the storage. */
  key: text('key').notNull().unique(),
  /** As the person's device had it. */
  name: text('name').notNull().default(''),
  mime: text('mime').notNull(),
  /** Bytes. */
  size: integer('size').notNull(),
  width: integer('width').notNull().default(0),
  height: integer('height').notNull().default(0),
  /** Of a text file: what it says, and whether the rest of a longer text was left out. */
  text: text('text').notNull().default(''),
  cut: boolean('cut').notNull().default(false),
  /** Null: it came before they were counted. */
  tokens: integer('tokens'),
  /** When a message last took it up, or it was last found to be in use. */
  seenAt: instant('seen_at').notNull().defaultNow(),
  createdAt: instant('created_at').notNull().defaultNow(),
});

/** Files that somebody is about to fetch, such as exports. */
export const downloads = pgTable('downloads', {
  key: text('key').primaryKey(),
  userId: reference('user_id'),
  sessionId: reference('session_id'),
  storageKey: text('storage_key').notNull(),
  name: text('name').notNull(),
  mime: text('mime').notNull(),
  size: integer('size').notNull(),
  expiresAt: instant('expires_at').notNull(),
});

/** Server processes; each keeps an advisory lock of its id for as long as it lives. */
export const instances = pgTable('instances', {
  id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
  startedAt: instant('started_at').notNull().defaultNow(),
  /** Where other processes reach it, as origins by comma; null: it serves nobody. */
  address: text('address'),
  /** Keys of the channels whose services are in its environment. */
  services: text('services').array().notNull().default([]),
  /** Bytes of the disk with its data folder; null: it has none. */
  diskFree: bigint('disk_free', { mode: 'number' }),
  diskTotal: bigint('disk_total', { mode: 'number' }),
  /** What it told of itself last: its machine, how busy its thread was, 0 to 1, and bytes it holds. */
  host: text('host'),
  version: text('version'),
  load: real('load'),
  memory: bigint('memory', { mode: 'number' }),
  seenAt: instant('seen_at').notNull().defaultNow(),
});

/** Backups that were made, wherever their files are. */
export const backups = pgTable('backups', {
  name: text('name').primaryKey(),
  bytes: bigint('bytes', { mode: 'number' }).notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
  /** Where it lies in an object storage, as bucket/key; null: nowhere. */
  elsewhere: text('elsewhere'),
});

/** One row a person, locked by every change of money; its sums are those of the ledger. */
export const wallets = pgTable('wallets', {
  userId: bigint('user_id', { mode: 'number' }).primaryKey(),
  balance: tokens('balance').notNull().default(0),
  vipBalance: tokens('vip_balance').notNull().default(0),
  /** Start of the month for which the VIP's tokens were last given. */
  vipPeriod: instant('vip_period'),
  /** The balance after tokens came last, and whether its owner was told that little is left of it. */
  mark: tokens('mark').notNull().default(0),
  lowTold: boolean('low_told').notNull().default(false),
  /** Its account has ended: nothing stays in it. */
  closed: boolean('closed').notNull().default(false),
});

/** Append-only. A pot's balance is the sum of its amounts. */
export const ledger = pgTable('ledger', {
  id: bigId(),
  userId: bigint('user_id', { mode: 'number' }).notNull(),
  pot: text('pot').$type<'balance' | 'vip'>().notNull(),
  kind: text('kind')
    .$type<
      | 'grant'
      | 'expire'
      | 'hold'
      | 'release'
      | 'spend'
      | 'transfer'
      | 'purchase'
      | 'refund'
      | 'adjust'
    >()
    .notNull(),
  amount: tokens('amount').notNull(),
  /** What it belongs to, such as a hold's id. */
  reference: text('reference').notNull().default(''),
  remark: text('remark').notNull().default(''),
  createdAt: instant('created_at').notNull().defaultNow(),
});

export const holds = pgTable('holds', {
  id: uuid('id').primaryKey(),
  userId: bigint('user_id', { mode: 'number' }).notNull(),
  balance: tokens('balance').notNull(),
  vip: tokens('vip').notNull(),
  /** Whether the VIP's pot may pay for it. */
  vipAllowed: boolean('vip_allowed').notNull().default(true),
  /** What settling took; null until then. */
  spent: tokens('spent'),
  state: text('state').$type<'open' | 'settled' | 'released'>().notNull().default('open'),
  reference: text('reference').notNull().default(''),
  createdAt: instant('created_at').notNull().defaultNow(),
  expiresAt: instant('expires_at').notNull(),
  /** The process without which nobody goes on with its work; null: others do. */
  owner: bigint('owner', { mode: 'number' }),
});

export const consumptions = pgTable('consumptions', {
  id: bigId(),
  userId: bigint('user_id', { mode: 'number' }).notNull(),
  type: smallint('type').notNull(),
  model: text('model').notNull(),
  human: text('human').notNull().default(''),
  promptTokens: integer('prompt_tokens').notNull(),
  completionTokens: integer('completion_tokens').notNull(),
  deductTokens: tokens('deduct_tokens').notNull(),
  currentBalance: tokens('current_balance').notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
});

/** Replies of calls that carried an idempotency key, kept 24 hours, in the transaction they guard. */
export const idempotency = pgTable(
  'idempotency',
  {
    /** The account, or 0 for a visitor without one. */
    userId: bigint('user_id', { mode: 'number' }).notNull(),
    call: text('call').notNull(),
    key: uuid('key').notNull(),
    requestHash: bytes('request_hash').notNull(),
    /** The `data` that was answered. */
    answer: jsonb('answer'),
    /** The account for which the answer handed out a token: a repeat gets a fresh one. */
    tokenUserId: bigint('token_user_id', { mode: 'number' }),
    createdAt: instant('created_at').notNull().defaultNow(),
    /** The process that works on the request; null: it is done. See instances. */
    claimedBy: integer('claimed_by'),
    /** Of an answer that is kept while there is room for it; 0: of any other. */
    bytes: integer('bytes').notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.userId, table.call, table.key] })],
);

/** Works that take long; see jobs/. */
export const jobs = pgTable('jobs', {
  id: bigId(),
  uuid: uuid('uuid').notNull().unique(),
  userId: reference('user_id').notNull(),
  kind: text('kind').$type<JobKind>().notNull(),
  state: text('state').$type<JobState>().notNull().default('queued'),
  /** 0 to 1. */
  progress: real('progress').notNull().default(0),
  title: text('title').notNull().default(''),
  model: text('model').notNull(),
  /** The service that works on it or did, in words for people. */
  engine: text('engine').notNull().default(''),
  subjectKind: text('subject_kind').$type<SubjectKind>().notNull().default('message'),
  subjectId: reference('subject_id').notNull(),
  /** Null: it is about no message. */
  sessionId: reference('session_id'),
  historyId: reference('history_id'),
  /** What its kind needs to be worked on. */
  input: jsonb('input').notNull(),
  /** What a service calls it, so that whoever takes it over can go on asking. */
  remote: jsonb('remote'),
  errorCode: integer('error_code').notNull().default(0),
  errorMessage: text('error_message').notNull().default(''),
  holdId: uuid('hold_id'),
  heldTokens: tokens('held_tokens').notNull().default(0),
  deductTokens: tokens('deduct_tokens').notNull().default(0),
  attempts: integer('attempts').notNull().default(0),
  cancelRequested: boolean('cancel_requested').notNull().default(false),
  /** Something of it is out at a service that takes nothing back. */
  sent: boolean('sent').notNull().default(false),
  /** The server process that works on it; see instances. */
  owner: integer('owner'),
  leasedUntil: instant('leased_until'),
  /** The service that works on it, or that it waits for while all its places are taken. */
  channelId: reference('channel_id'),
  /** Who waits with it: an account, or all guests of a network; empty: before there were lines. */
  line: text('line').notNull().default(''),
  guest: boolean('guest').notNull().default(false),
  /** How many of its line were open before it; guests' stand behind some of others. */
  turn: integer('turn').notNull().default(0),
  deadline: instant('deadline').notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
  startedAt: instant('started_at'),
  finishedAt: instant('finished_at'),
});

/** The image as it looks so far, a data URL; gone when the job ends. */
export const jobPreviews = pgTable('job_previews', {
  jobId: reference('job_id').primaryKey(),
  image: text('image').notNull(),
});

/** All images that people have here, wherever they came from. */
export const images = pgTable('images', {
  id: bigId(),
  uuid: uuid('uuid')
    .notNull()
    .unique()
    .default(sql`gen_random_uuid()`),
  userId: reference('user_id').notNull(),
  /** Null: it belongs to none; nobody but its owner sees it then. */
  sessionId: reference('session_id'),
  /** The message that it answers. */
  historyId: reference('history_id'),
  jobId: reference('job_id'),
  origin: text('origin').$type<ImageOrigin>().notNull().default('drawn'),
  /** What it was made from, and by which task; empty: by none. */
  parentId: reference('parent_id'),
  how: text('how').$type<ImageTask | ''>().notNull().default(''),
  /** The image whose words it was drawn from. */
  inspiredBy: reference('inspired_by'),
  /** The ending of its address. */
  type: text('type').$type<'jpg' | 'png'>().notNull().default('png'),
  /** Its owner shows it to nobody, whatever its session is. */
  hidden: boolean('hidden').notNull().default(false),
  /** Random; the name below /files/ and in the storage. Empty once it is deleted. */
  key: text('key').notNull(),
  width: integer('width').notNull(),
  height: integer('height').notNull(),
  /** Bytes. */
  size: integer('size').notNull(),
  model: text('model').notNull(),
  /** Of what somebody brought: whether a model made it. */
  made: text('made').$type<MadeBy | ''>().notNull().default(''),
  prompt: text('prompt').notNull(),
  seed: bigint('seed', { mode: 'number' }),
  parameters: jsonb('parameters').$type<ImageParameters>().notNull().default({}),
  /** What a service calls it: variations and actions start from it. */
  remote: jsonb('remote'),
  likedCount: integer('liked_count').notNull().default(0),
  dislikedCount: integer('disliked_count').notNull().default(0),
  createdAt: instant('created_at').notNull().defaultNow(),
  deletedAt: instant('deleted_at'),
});

/** Browsers that take Web Push. */
export const pushDevices = pgTable('push_devices', {
  device: uuid('device').primaryKey(),
  userId: reference('user_id').notNull(),
  /** The login that it was registered with: when that ends, so do its pushes. */
  jti: uuid('jti').notNull(),
  endpoint: text('endpoint').notNull().unique(),
  p256dh: text('p256dh').notNull(),
  auth: text('auth').notNull(),
  /** When the browser last said that it is still there. */
  seenAt: instant('seen_at').notNull().defaultNow(),
  createdAt: instant('created_at').notNull().defaultNow(),
});

/** What a browser whose page is out of sight wants to hear of, until it is told. */
export const watchedWaits = pgTable(
  'watched_waits',
  {
    device: uuid('device').notNull(),
    kind: text('kind').$type<WaitKind>().notNull(),
    ref: text('ref').notNull(),
    /** A process is telling it, or it is to be tried again; until then left alone by all others. */
    claimedUntil: instant('claimed_until'),
    attempts: integer('attempts').notNull().default(0),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.device, table.kind, table.ref] })],
);
