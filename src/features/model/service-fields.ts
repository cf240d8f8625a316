import { bounds } from '#contract/bounds.ts';
import { makers, type Maker } from '#contract/makers.ts';
import type { ChannelKind } from '#contract/manage-model.ts';
import type { PeopleGroup } from '#contract/people-group.ts';
import type { Field } from '#src/ui/form/field.ts';
import { chats, namesModels, serves, type ServiceDraft } from './service-draft.ts';

const makerNames: Readonly<Record<Maker, string>> = {
  openai: 'OpenAI',
  azure: 'Azure OpenAI',
  deepseek: 'DeepSeek',
  qwen: '通义千问（百炼）',
  glm: '智谱 GLM',
  kimi: 'Kimi（月之暗面）',
  doubao: '豆包（火山方舟）',
  qianfan: '百度千帆',
  hunyuan: '腾讯混元',
  minimax: 'MiniMax',
  siliconflow: '硅基流动',
  openrouter: 'OpenRouter',
  'new-api': 'new-api / one-api',
  ollama: 'Ollama',
  vllm: 'vLLM',
};

/** Of any service with models of its own: whom it serves. */
const groupsField = (groups: readonly PeopleGroup[]): Field[] =>
  groups.length === 0
    ? []
    : [
        {
          name: 'groups',
          kind: 'many',
          options: groups.map(({ id, name }) => ({ value: String(id), label: name })),
          hint: '一个都不选：所有人都能用',
        },
      ];

/** Of a service in OpenAI's words: whose ways it has. */
const makerField: Field = {
  name: 'maker',
  kind: 'choice',
  options: [
    { value: '', label: '按地址判断' },
    ...makers.map((maker) => ({ value: maker, label: makerNames[maker] })),
  ],
  hint: '它决定密钥放在哪里、有哪些参数、怎样查余额',
};

/** Of any service with models of its own: how many calls at once. */
const parallelField: Field = {
  name: 'parallel',
  kind: 'number',
  min: 1,
  max: 10_000,
  hint: '同时最多几个请求，所有服务器进程合起来算；留空不限，满了先用别的服务，都满了排队',
};

/** Of any chat service: what it costs here, what goes along, and the way it takes. */
const chatFields: readonly Field[] = [
  {
    name: 'factor',
    label: '价格倍率',
    kind: 'number',
    required: true,
    min: 0.01,
    max: 100,
    step: 0.01,
    hint: '由它回答的聊天，价格乘以这个数；预扣按能用到的最贵的一个，结算按回答的那一个',
  },
  {
    name: 'headers',
    kind: 'long',
    lines: 2,
    mono: true,
    max: 8_000,
    placeholder: '{"HTTP-Referer": "https://example.com"}',
    hint: 'JSON，每个请求附带；保存以后只显示值的开头和结尾，照样存回去就不变。密钥请填在“密钥”里',
  },
  {
    name: 'body',
    kind: 'long',
    lines: 2,
    mono: true,
    max: 8_000,
    placeholder: '{"enable_thinking": false}',
    hint: 'JSON，加进聊天请求的正文；会改变费用的不能加',
  },
  {
    name: 'proxy',
    kind: 'text',
    max: 300,
    placeholder: 'http://10.0.0.3:3128',
    hint: '请求经这个 HTTP 代理出去；只有所有者可以改',
  },
];

const trainerFields: readonly Field[] = [
  {
    name: 'trainer',
    kind: 'text',
    required: true,
    max: 200,
    placeholder: '作者/训练器:版本',
  },
  {
    name: 'destination',
    kind: 'text',
    required: true,
    max: 200,
    placeholder: '作者/模型',
  },
];

/** Of a search by JSON: where its answer holds what. */
const pathFields: readonly Field[] = [
  {
    name: 'path_list',
    kind: 'text',
    max: 100,
    label: '结果在哪里',
    placeholder: 'data.results',
    hint: '回答里那一列结果的位置，用点相连；回答本身就是一列时留空',
  },
  { name: 'path_title', kind: 'text', max: 100, label: '标题', required: true },
  { name: 'path_url', kind: 'text', max: 100, label: '网址', required: true },
  { name: 'path_text', kind: 'text', max: 100, label: '摘要', required: true },
];

/** What the secret of a service is called, and whether several take turns. */
const secretWords = (kind: ChannelKind): { label: string; placeholder: string; hint: string } => {
  const hint = '加密保存，不会再显示';
  if (kind === 'stable-diffusion-webui')
    return { label: '用户名与密码', placeholder: '用户名:密码，没有就留空', hint };
  if (kind === 'midjourney')
    return { label: '密码（mj-api-secret）', placeholder: '没有就留空', hint };
  if (kind === 'searxng' || kind === 'json-search')
    return { label: '密钥（API Key）', placeholder: '没有就留空', hint };
  if (kind === 'replicate') return { label: '密钥（API Key）', placeholder: 'r8_…', hint };
  return {
    label: '密钥（API Key）',
    placeholder: 'sk-…',
    hint: `${hint}。几个密钥一行一个，轮流使用`,
  };
};

const addressHint = (kind: ChannelKind): string => {
  if (namesModels(kind)) return '通常以 /v1 结尾';
  if (kind === 'json-search') return '搜索词放在 {query} 的地方';
  if (kind === 'searxng') return '它的设置里要允许 json；内网的地址要写进 FETCH_ALLOWED';
  return '这个服务的网址';
};

const labelField: Field = {
  name: 'label',
  kind: 'text',
  ...bounds.channel.label,
  placeholder: '不填就用它的网址',
};

const addressField = ({ kind }: ServiceDraft): Field => ({
  name: 'base_url',
  kind: 'text',
  required: true,
  ...bounds.channel.address,
  placeholder:
    kind === 'json-search'
      ? 'https://api.example.com/search?q={query}'
      : 'https://api.example.com/v1',
  hint: addressHint(kind),
  check: (value) =>
    /^https?:\/\/\S+$/.test(String(value)) ? undefined : '应为 http:// 或 https:// 开头的地址',
});

const keyField = ({ id, kind, needs_key: needsKey }: ServiceDraft): Field => ({
  name: 'api_key',
  kind: 'long',
  lines: 1,
  mono: true,
  required: needsKey && id === undefined,
  ...secretWords(kind),
  ...(id === undefined ? {} : { placeholder: '不改就留空' }),
});

/** A key whose service is not known yet. */
export const unknownKey: Field = {
  ...keyField({ kind: 'openai-compatible', needs_key: true } as ServiceDraft),
  check: () => '看不出是哪一家的密钥：请在上面选一家',
};

const extras: readonly Field[] = [
  {
    name: 'weight',
    kind: 'number',
    required: true,
    ...bounds.channel.weight,
    hint: '几个服务有同一个模型时，大的分到得多',
  },
  {
    name: 'priority',
    kind: 'number',
    required: true,
    ...bounds.channel.priority,
    hint: '小的先用，它出错时才用后面的',
  },
  { name: 'tag', kind: 'text', max: 40, hint: '给自己看的，例如 便宜、备用' },
];

const rareFields = ({ kind }: ServiceDraft, groups: readonly PeopleGroup[]): Field[] => [
  ...extras,
  ...(serves(kind) ? [...groupsField(groups), parallelField] : []),
  ...(kind === 'openai-compatible' ? [makerField] : []),
  ...(chats(kind) ? chatFields : []),
];

/** What must be said of a service, and what who connects it the first time does without. */
export const fieldsOf = (
  draft: ServiceDraft,
  groups: readonly PeopleGroup[],
): { main: Field[]; rest: Field[] } => {
  const own = [
    keyField(draft),
    ...(draft.kind === 'replicate' ? trainerFields : []),
    ...(draft.kind === 'json-search' ? pathFields : []),
  ];
  const rare = rareFields(draft, groups);
  if (draft.id !== undefined)
    return { main: [labelField, addressField(draft), ...own, ...rare], rest: [] };
  // Of a service of one's own, and with a gap in it, the address is filled in by hand.
  return draft.needs_key && /^https?:\/\/[\x21-\x7e]+$/.test(draft.base_url)
    ? { main: own, rest: [addressField(draft), labelField, ...rare] }
    : { main: [addressField(draft), ...own], rest: [labelField, ...rare] };
};
