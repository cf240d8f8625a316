import { bounds } from './bounds.ts';
import * as z from 'zod/mini';
import { modelTypes, thinkingWords } from './kinds.ts';
import { makers } from './makers.ts';
import { imageSizes } from './image-size.ts';
import {
  call,
  decimal,
  flag,
  id,
  listOf,
  page,
  slowCall,
  sortedBy,
  text,
  time,
  wholeNumber,
} from './call.ts';
import { sorts } from './sorts.ts';

const factor = decimal(0, 100_000_000);

/** A kind of model, by its number. */
const modelType = wholeNumber(0, 100).check(
  z.refine((type) => Object.values<number>(modelTypes).includes(type), '没有这种模型'),
);

const sizeName = z
  .string()
  .check(
    z.refine(
      (name) => imageSizes.some((each) => `${each.width}x${each.height}` === name),
      '没有这个尺寸',
    ),
  );

/** What a manager chose of a model of images; empty: as its service says. */
const imageChoice = z.object({
  sizes: z._default(z.array(sizeName).check(z.maxLength(100)), []),
  /** The only ones that people may choose. */
  checkpoints: z._default(z.array(text(200).check(z.minLength(1))).check(z.maxLength(500)), []),
  /** Prices by the names of checkpoints. */
  factors: z._default(z.record(text(200), factor), {}),
});
export type ImageChoice = z.output<typeof imageChoice>;

const adminModel = z.object({
  id: z.int(),
  /** The name that sessions know it by. */
  unique_key: z.string(),
  name: z.string(),
  label: z.string(),
  type: z.int(),
  color: z.string(),
  logo: z.string(),
  remarks: z.string(),
  factor: z.number(),
  prompt_factor: z.nullable(z.number()),
  cached_factor: z.nullable(z.number()),
  written_factor: z.nullable(z.number()),
  display: z.int(),
  /** 1: nobody can use it. */
  disable: z.int(),
  vip_excluded: z.int(),
  /** 1: only who paid once or is a member can use it. */
  vip: z.int(),
  /** 1: only managers can use it. */
  private: z.int(),
  /** Of a model of images: what its sizes cost, by their codes. */
  size_rate: z.array(z.number()),
  vision: z.int(),
  max_prompt: z.nullable(z.int()),
  max_tokens: z.nullable(z.int()),
  accelerator: z.string(),
  /** 1: the public API may not use it. */
  disable_api: z.int(),
  /** Most tokens of a call of the public API; null: 4096. */
  api_max_tokens: z.nullable(z.int()),
  /** Of a model of images: what it offers now. */
  sizes: z.array(z.string()),
  checkpoints: z.array(z.string()),
  factors: z.record(z.string(), z.number()),
  /** And what of that a manager chose; null: it is no model of images. */
  image_choice: z.nullable(imageChoice),
  sort: z.int(),
  /** The services that have it. */
  channels: z.array(z.object({ id: z.int(), label: z.string() })),
  created_at: time,
});
export type AdminModel = z.output<typeof adminModel>;

export const searchKinds = ['searxng', 'bocha', 'tavily', 'brave', 'json-search'] as const;
export type SearchKind = (typeof searchKinds)[number];
export const searches = (kind: string): kind is SearchKind =>
  (searchKinds as readonly string[]).includes(kind);

const fieldPath = z
  .string()
  .check(
    z.maxLength(100),
    z.regex(/^(?:[\w-]+(?:\.[\w-]+)*)?$/, '应为 data.list 这样以点相连的名字'),
  );
/** Where the answer of a search by JSON holds its results, and each result its parts. */
const searchPaths = z.object({
  list: fieldPath,
  title: fieldPath,
  url: fieldPath,
  text: fieldPath,
});
export type SearchPaths = z.output<typeof searchPaths>;

export const channelKind = z.enum([
  'openai-compatible',
  /** Anthropic's `POST /messages`. */
  'anthropic',
  /** Gemini's `generateContent`. */
  'gemini',
  'stable-diffusion-webui',
  'midjourney',
  'stability',
  /** Texts into vectors, as OpenAI's `POST /embeddings`. */
  'embedding',
  /** Trains styles by Replicate's trainings API. */
  'replicate',
  /** Search the web; the last by any address that answers in JSON. */
  ...searchKinds,
]);
export type ChannelKind = z.output<typeof channelKind>;

const channel = z.object({
  id: z.int(),
  kind: z.string(),
  label: z.string(),
  base_url: z.string(),
  source: z.enum(['built-in', 'environment', 'manager', 'local']),
  enabled: z.int(),
  weight: z.int(),
  priority: z.int(),
  /** How many keys take turns, and how the first ends. Keys themselves never leave the server. */
  key_count: z.int(),
  key_hint: z.string(),
  models: z.array(z.string()),
  /** Names that models have there, where they are others. */
  mapping: z.record(z.string(), z.string()),
  /** Whose ways its service has, as chosen; empty: as its address tells. And as it counts now. */
  maker: z.string(),
  told_maker: z.string(),
  /** What is added to each request, of a body to a chat's, as JSON; empty: nothing. Headers are masked as keys are. */
  headers: z.string(),
  body: z.string(),
  /** The proxy that requests go through; empty: none. */
  proxy: z.string(),
  tag: z.string(),
  /** Chats that all processes together may have running there; null: any number. */
  parallel: z.nullable(z.int()),
  /** Times the price of a chat that it answers. */
  factor: z.number(),
  /** The only groups of people whom it serves; empty: everybody. */
  groups: z.array(z.int()),
  /** Of one that trains: `owner/trainer:version`, and the `owner/name` where results go. */
  trainer: z.string(),
  destination: z.string(),
  /** Of one that searches by JSON. */
  search: z.nullable(searchPaths),
  successes: z.int(),
  failures: z.int(),
  /** ms of the last trial. */
  latency: z.nullable(z.int()),
  /** What its service said last is left on the account of its key; null: it was not asked, or says nothing. */
  balance: z.nullable(z.object({ amount: z.number(), unit: z.string(), at: time })),
  last_success_at: z.nullable(time),
  last_failure_at: z.nullable(time),
  last_error: z.string(),
  /** Tokens that people spent at it in 30 days. */
  spent: z.int(),
  created_at: time,
});
export type AdminChannel = z.output<typeof channel>;

const offered = z.object({
  name: text(100).check(z.minLength(1)),
  /** What the service calls it; left out: the same. */
  upstream: z.optional(text(200).check(z.minLength(1))),
  /** Left out: as its family's. */
  factor: z.optional(factor),
});

const address = text(bounds.channel.address.max).check(
  z.regex(/^https?:\/\/[^\s#]+$/, '应为 http:// 或 https:// 开头的地址'),
);

/** What goes with each request, as JSON objects, and the way it takes; left out: as they are. */
const wire = {
  headers: z.optional(text(8_000)),
  body: z.optional(text(8_000)),
  proxy: z.optional(text(300)),
};

const service = {
  /** Of a channel that exists: its key is used where none is given. */
  id: z.optional(id),
  kind: channelKind,
  base_url: address,
  /** Several, one a line, take turns. Left out: as it is. */
  api_key: z.optional(text(20_000)),
  /** Null: as its address tells; left out: as it is. */
  maker: z.optional(z.nullable(z.enum(makers))),
};

/** How a model, by its name at the service, is told to think long or little. */
const learnedThinking = z.object({ model: text(100), words: z.enum(thinkingWords) });
const learnedTools = z.object({ model: text(100), can: z.boolean() });

/** How a key of a channel did with a model. */
const channelLine = z.object({
  /** The last letters of the key; empty: there is none. */
  key_hint: z.string(),
  model: z.string(),
  /** The last hundred, newest first. */
  outcomes: z.array(
    z.object({
      at: z.string(),
      /** ok; cut: another channel was sooner; or what went wrong. */
      result: z.string(),
      /** ms until its first word, or until it failed. */
      ms: z.int(),
      /** HTTP status; 0: there was none. */
      status: z.int(),
    }),
  ),
  /** 95 of a hundred first words came within so many ms; null: there were none. */
  p95: z.nullable(z.int()),
  /** It is not asked before this, as long as there is another. */
  aside_until: z.nullable(time),
  aside_reason: z.string(),
  strikes: z.int(),
  /** Calls that were cut as another channel was sooner, and tokens, roughly, that went with them. */
  cut_calls: z.int(),
  cut_tokens: z.int(),
});
export type ChannelLine = z.output<typeof channelLine>;

export const manageModelCalls = {
  adminModelList: call({
    method: 'GET',
    path: '/api/admin/model_list',
    access: 'manager',
    summary: '管理：所有模型，不显示的也在内',
    input: z.object({
      page,
      page_size: z._default(wholeNumber(1, 100), 10),
      user_id: z.optional(id),
      name: z.optional(text(100)),
      unique_key: z.optional(text(100)),
      type: z.optional(wholeNumber(0, 100)),
      ...sortedBy(sorts.adminModelList),
    }),
    output: z.object(listOf(adminModel)),
  }),
  setModel: call({
    method: 'POST',
    path: '/api/admin/set_model',
    access: 'manager',
    summary: '管理：更改模型的名称、价格、标记与顺序，只改给出的各项',
    input: z.object({
      id,
      /** Of a row as it came; a model's kind is its service's. */
      type: z.optional(modelType),
      label: z.optional(text(bounds.model.label.max).check(z.minLength(1))),
      color: z.optional(z.string().check(z.regex(/^#[0-9a-fA-F]{6}$/))),
      logo: z.optional(text(bounds.model.address.max)),
      remarks: z.optional(text(bounds.model.remarks.max)),
      factor: z.optional(factor),
      prompt_factor: z.optional(z.nullable(factor)),
      cached_factor: z.optional(z.nullable(factor)),
      written_factor: z.optional(z.nullable(factor)),
      display: z.optional(flag),
      disable: z.optional(flag),
      vip_excluded: z.optional(flag),
      vip: z.optional(flag),
      private: z.optional(flag),
      /** Of a model of images, by the codes of sizes from 0, larger ones as the last; empty: as usual. */
      size_rate: z.optional(
        z.array(z.number().check(z.gt(0), z.lte(100))).check(z.maxLength(imageSizes.length)),
      ),
      vision: z.optional(flag),
      max_prompt: z.optional(z.nullable(wholeNumber(bounds.model.size.min, bounds.model.size.max))),
      max_tokens: z.optional(z.nullable(wholeNumber(bounds.model.size.min, bounds.model.size.max))),
      accelerator: z.optional(text(bounds.model.address.max)),
      disable_api: z.optional(flag),
      api_max_tokens: z.optional(
        z.nullable(wholeNumber(bounds.model.size.min, bounds.model.size.max)),
      ),
      /** Of a model of images; empty: as its service says. */
      sizes: z.optional(z.array(sizeName).check(z.maxLength(100))),
      checkpoints: z.optional(z.array(text(200).check(z.minLength(1))).check(z.maxLength(500))),
      factors: z.optional(z.record(text(200), factor)),
      sort: z.optional(wholeNumber(bounds.model.sort.min, bounds.model.sort.max)),
    }),
    output: z.object({}),
    codes: ['manage_unsuitable'],
  }),
  channelList: call({
    method: 'GET',
    path: '/api/admin/channel_list',
    access: 'manager',
    summary: '管理：模型服务，及它们近来怎样',
    input: z.object({}),
    output: z.object({ list: z.array(channel) }),
  }),
  channelHealth: call({
    method: 'GET',
    path: '/api/admin/channel_health',
    access: 'manager',
    summary: '管理：一个模型服务的每个密钥、每个模型最近的一百次',
    input: z.object({ id }),
    output: z.object({ list: z.array(channelLine) }),
  }),
  channelBalance: slowCall({
    method: 'POST',
    path: '/api/admin/channel_balance',
    access: 'manager',
    summary: '管理：问一个模型服务它的第一个密钥还有多少余额；有的服务不说',
    input: z.object({ id }),
    output: z.object({
      /** Null: it says nothing; `message` says why. */
      amount: z.nullable(z.number()),
      unit: z.string(),
      message: z.string(),
    }),
    effect: 'none',
    logged: false,
  }),
  channelPresets: call({
    method: 'GET',
    path: '/api/admin/channel_presets',
    access: 'manager',
    summary: '管理：常用模型服务的地址、模型与价格',
    input: z.object({}),
    output: z.object({
      list: z.array(
        z.object({
          key: z.string(),
          label: z.string(),
          kind: channelKind,
          base_url: z.string(),
          /** Where a key is got; empty: none is needed. */
          key_url: z.string(),
          needs_key: z.boolean(),
          maker: z.nullable(z.enum(makers)),
          models: z.array(z.object({ name: z.string(), factor: z.number() })),
        }),
      ),
      /** Nothing but what is built in serves people so far. */
      first: z.boolean(),
    }),
  }),
  testChannel: slowCall({
    method: 'POST',
    path: '/api/admin/test_channel',
    access: 'manager',
    summary: '管理：试一个模型服务：问它有哪些模型，并让其中一个回答一句',
    input: z.object({
      ...service,
      ...wire,
      model: z.optional(text(100)),
      /** Without `model`: those that it should have, the one to try first. */
      wanted: z.optional(z.array(text(200)).check(z.maxLength(500))),
      search: z.optional(searchPaths),
    }),
    output: z.object({
      ok: z.boolean(),
      /** What went wrong, or what it said. */
      message: z.string(),
      /** ms until the first word. */
      latency: z.nullable(z.int()),
      models: z.array(
        z.object({
          name: z.string(),
          factor: z.number(),
          /** It is offered where nobody says otherwise. */
          usual: z.boolean(),
        }),
      ),
      /** The one that answered. */
      model: z.optional(z.string()),
      /** What it learned of a model: how it is told to think long or little. */
      thinking: z.optional(learnedThinking),
      /** The same of tools, where its name says otherwise or nothing. */
      tools: z.optional(learnedTools),
    }),
    effect: 'none',
    logged: false,
    codes: ['manage_unsuitable'],
  }),
  saveChannel: call({
    method: 'POST',
    path: '/api/admin/save_channel',
    access: 'manager',
    summary: '管理：添加或更改一个模型服务',
    input: z.object({
      ...service,
      label: text(bounds.channel.label.max).check(z.minLength(1)),
      enabled: z._default(flag, 1),
      weight: z._default(wholeNumber(bounds.channel.weight.min, bounds.channel.weight.max), 1),
      priority: z._default(
        wholeNumber(bounds.channel.priority.min, bounds.channel.priority.max),
        0,
      ),
      models: z._default(z.array(offered).check(z.maxLength(500)), []),
      ...wire,
      tag: z.optional(text(40)),
      parallel: z.optional(z.nullable(wholeNumber(1, 10_000))),
      factor: z.optional(z.number().check(z.gte(0.01), z.lte(100))),
      groups: z.optional(z.array(id).check(z.maxLength(100))),
      trainer: z.optional(
        z.string().check(z.regex(/^[\w.-]+\/[\w.-]+:[\w.-]+$/, '应为 作者/训练器:版本')),
      ),
      destination: z.optional(z.string().check(z.regex(/^[\w.-]+\/[\w.-]+$/, '应为 作者/模型'))),
      search: z.optional(searchPaths),
      /** As a trial said it. */
      thinking: z.optional(learnedThinking),
      tools: z.optional(learnedTools),
    }),
    output: z.object({ id: z.int() }),
    codes: ['manage_unsuitable'],
    idempotent: true,
  }),
  importChannels: call({
    method: 'POST',
    path: '/api/admin/import_channels',
    access: 'manager',
    summary: '管理：从 new-api、one-api 的渠道列表（JSON）添加模型服务',
    input: z.object({ text: text(2_000_000) }),
    output: z.object({
      added: z.array(z.object({ id: z.int(), label: z.string() })),
      /** Those that were left out, and why. */
      skipped: z.array(z.object({ label: z.string(), reason: z.string() })),
    }),
    codes: ['manage_unsuitable'],
    idempotent: true,
  }),
  setChannel: call({
    method: 'POST',
    path: '/api/admin/set_channel',
    access: 'manager',
    summary: '管理：打开或停用一个模型服务，改它的权重',
    input: z.object({
      id,
      enabled: z.optional(flag),
      weight: z.optional(wholeNumber(bounds.channel.weight.min, bounds.channel.weight.max)),
      priority: z.optional(wholeNumber(bounds.channel.priority.min, bounds.channel.priority.max)),
    }),
    output: z.object({}),
    codes: ['manage_unsuitable'],
  }),
  delChannel: call({
    method: 'POST',
    path: '/api/admin/del_channel',
    access: 'manager',
    summary: '管理：删除自己添加的模型服务',
    input: z.object({ id }),
    output: z.object({}),
    codes: ['manage_unsuitable'],
  }),
};
