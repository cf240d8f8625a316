import { makers, type Maker } from '#contract/makers.ts';
import type { PeopleGroup } from '#contract/people-group.ts';
import type { Field } from '#src/ui/form/field.ts';

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
export const groupsField = (groups: readonly PeopleGroup[]): Field[] =>
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
export const makerField: Field = {
  name: 'maker',
  kind: 'choice',
  options: [
    { value: '', label: '按地址判断' },
    ...makers.map((maker) => ({ value: maker, label: makerNames[maker] })),
  ],
  hint: '它决定密钥放在哪里、有哪些参数、怎样查余额',
};

/** Of any service with models of its own: how many calls at once. */
export const parallelField: Field = {
  name: 'parallel',
  kind: 'number',
  min: 1,
  max: 10_000,
  hint: '同时最多几个请求，所有服务器进程合起来算；留空不限，满了先用别的服务，都满了排队',
};

/** Of any chat service: what it costs here, what goes along, and the way it takes. */
export const chatFields: readonly Field[] = [
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
