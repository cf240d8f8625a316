import { isHarmless } from '#contract/open-fields.ts';
import type { Maker } from '#contract/makers.ts';
import { type Adjusted, RelayError } from '../chat-relay.ts';
import { apiUrl } from './address.ts';

type Fields = Record<string, unknown>;

interface Way {
  /** Where its services are, by the end of the name of their host. */
  hosts: RegExp;
  /** Numbers outside of these are refused there: they are brought to the nearest. */
  within?: Readonly<Record<string, readonly [least: number, most: number]>>;
  /** The only models that these ranges are for; left out: all. */
  withinOf?: RegExp;
  /** What a field of OpenAI's is called there. */
  names?: Readonly<Record<string, string>>;
  /** Fields that it has not, with values that ask for nothing. */
  lacks?: Readonly<Record<string, readonly unknown[]>>;
  /** Values that it has not, of fields that it has. */
  refuses?: Readonly<Record<string, readonly unknown[]>>;
  /** The most sequences that may end an answer. */
  stops?: number;
  /** Models that have one value for these fields, whatever is asked: they are asked without. */
  fixed?: { models: RegExp; fields: readonly string[] };
}

const aboveZeroToOne = [0.01, 1] as const;

/**
 * What each maker documents of chat completions that is not as OpenAI has it. Which of it was read in
 * a published document and which was not stands in docs/decisions/developer.md.
 */
const ways: Readonly<Record<Maker, Way>> = {
  openai: { hosts: /(?:^|\.)api\.openai\.com$/ },
  azure: {
    hosts: /\.(?:openai\.azure\.com|cognitiveservices\.azure\.com|services\.ai\.azure\.com)$/,
  },
  deepseek: {
    hosts: /(?:^|\.)deepseek\.com$/,
    lacks: { n: [1], logit_bias: [{}], seed: [] },
    stops: 16,
  },
  qwen: {
    hosts: /(?:^|\.)(?:aliyuncs\.com|qwencloud\.com)$/,
    within: { temperature: [0, 1.99], top_p: [0.01, 1] },
    lacks: { logit_bias: [{}], frequency_penalty: [0] },
  },
  glm: {
    hosts: /(?:^|\.)(?:bigmodel\.cn|z\.ai)$/,
    within: { temperature: [0, 1], top_p: aboveZeroToOne },
    names: { user: 'user_id' },
    lacks: {
      n: [1],
      logit_bias: [{}],
      frequency_penalty: [0],
      presence_penalty: [0],
      logprobs: [false],
      seed: [],
      tool_choice: ['auto'],
    },
    stops: 1,
  },
  kimi: {
    hosts: /(?:^|\.)moonshot\.(?:cn|ai)$/,
    within: { temperature: [0, 1] },
    lacks: { logit_bias: [{}], logprobs: [false], seed: [], functions: [[]] },
    refuses: { tool_choice: ['required'] },
    stops: 5,
    fixed: {
      models: /^kimi-k2\.\d/,
      fields: ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty'],
    },
  },
  doubao: {
    hosts: /(?:^|\.)(?:volces|bytepluses)\.com$/,
    lacks: { n: [1], seed: [] },
    stops: 4,
  },
  qianfan: {
    hosts: /(?:^|\.)baidubce\.com$/,
    // Its own models; those of others that it runs have the usual range.
    within: { temperature: aboveZeroToOne },
    withinOf: /^ernie/i,
    lacks: { n: [1], logit_bias: [{}], logprobs: [false] },
    stops: 4,
  },
  hunyuan: {
    hosts: /(?:^|\.)hunyuan\.cloud\.tencent\.com$/,
    lacks: {
      n: [1],
      logit_bias: [{}],
      frequency_penalty: [0],
      presence_penalty: [0],
      logprobs: [false],
    },
  },
  minimax: {
    hosts: /(?:^|\.)(?:minimaxi?\.(?:com|io|chat))$/,
    within: { temperature: aboveZeroToOne, top_p: aboveZeroToOne },
    lacks: {
      n: [1],
      logit_bias: [{}],
      frequency_penalty: [0],
      presence_penalty: [0],
      seed: [],
      stop: [[]],
    },
  },
  siliconflow: {
    hosts: /(?:^|\.)siliconflow\.(?:cn|com)$/,
    lacks: { presence_penalty: [0], logit_bias: [{}], logprobs: [false], seed: [] },
    stops: 4,
  },
  openrouter: { hosts: /(?:^|\.)openrouter\.ai$/ },
  // Relays of other people: which service stands behind one nobody knows.
  'new-api': { hosts: /(?!)/ },
  ollama: {
    hosts: /^ollama\.com$/,
    lacks: { n: [1], logit_bias: [{}], tool_choice: ['auto'] },
  },
  vllm: { hosts: /(?!)/ },
};

/** The maker that an address tells; null: nobody knows. */
export const makerAt = (baseUrl: string): Maker | null => {
  if (!URL.canParse(baseUrl)) return null;
  const { hostname, port } = new URL(baseUrl);
  const [found] = Object.entries(ways).find(([, { hosts }]) => hosts.test(hostname)) ?? [];
  if (found) return found as Maker;
  return port === '11434' ? 'ollama' : null;
};

export interface Service {
  baseUrl: string;
  /** Left out: as its address tells. */
  maker?: Maker | null;
}

const makerOf = ({ baseUrl, maker }: Service): Maker | null => maker ?? makerAt(baseUrl);

export const isMadeBy = (service: Service, maker: Maker): boolean => makerOf(service) === maker;

/** Azure's older addresses name the deployment and a version; its newer ones are as everybody's. */
const azureVersion = '2024-10-21';
const isOldAzure = (service: Service): boolean =>
  makerOf(service) === 'azure' && !/\/v1\/?$/.test(new URL(service.baseUrl).pathname);

/** The address of a call; Azure's older ones name the model in it. */
export const callUrl = (service: Service, call: string, model: string): URL => {
  if (!isOldAzure(service)) return apiUrl(service.baseUrl, call);
  const url = new URL(service.baseUrl);
  const folder = url.pathname.replace(/\/+$/, '').replace(/\/openai$/, '');
  url.pathname = `${folder}/openai/deployments/${encodeURIComponent(model)}/${call}`;
  if (!url.searchParams.has('api-version')) url.searchParams.set('api-version', azureVersion);
  return url;
};

/** Where a list of models is asked for. */
export const listUrl = (service: Service): URL => {
  if (!isOldAzure(service)) return apiUrl(service.baseUrl, 'models');
  const url = new URL(service.baseUrl);
  url.pathname = '/openai/models';
  url.searchParams.set('api-version', azureVersion);
  return url;
};

/** The header that carries a key. */
export const keyHeaders = (service: Service, apiKey: string): Record<string, string> => {
  if (apiKey === '') return {};
  return makerOf(service) === 'azure'
    ? { 'api-key': apiKey }
    : { authorization: `Bearer ${apiKey}` };
};

const worded = (service: Service, body: Fields): Adjusted & { said: Fields } => {
  const way = ways[makerOf(service) ?? 'openai'];
  const model = String(body['model']);
  const fixed = way.fixed?.models.test(model) ? way.fixed.fields : [];
  const within = way.withinOf?.test(model) === false ? {} : (way.within ?? {});
  const said: Fields = {};
  const ignored: string[] = [];
  const adjusted: string[] = [];
  for (const [name, value] of Object.entries(body)) {
    if (fixed.includes(name)) {
      ignored.push(name);
      continue;
    }
    const [least, most] = within[name] ?? [-Infinity, Infinity];
    const near = typeof value === 'number' ? Math.min(Math.max(value, least), most) : value;
    if (near !== value) adjusted.push(`${name}=${String(near)}`);
    said[way.names?.[name] ?? name] = near;
  }
  return { said, ignored, adjusted };
};

/** A request in the maker's words: its names, and numbers that it takes. */
export const inWordsOf = (service: Service, body: Fields): Fields => worded(service, body).said;

/** What those words change of it; null: nothing. */
export const adjustedBy = (service: Service, body: Fields): Adjusted | null => {
  const { ignored, adjusted } = worded(service, body);
  return ignored.length + adjusted.length > 0 ? { ignored, adjusted } : null;
};

/** Fields of a request that the maker has not; the page's chat does without them. */
export const lackedBy = (service: Service): ReadonlySet<string> =>
  new Set(Object.keys(ways[makerOf(service) ?? 'openai'].lacks ?? {}));

/** Why a request cannot be put to the maker; null: it can. */
export const refusedBy = (service: Service, body: Fields): RelayError | null => {
  const { lacks = {}, refuses = {}, stops = Infinity } = ways[makerOf(service) ?? 'openai'];
  const refuse = (param: string, message: string) =>
    new RelayError(message, {
      status: 400,
      code: 'unsupported_parameter',
      param,
      retriable: false,
      askerAtFault: true,
    });
  for (const [name, harmless] of Object.entries(lacks))
    if (body[name] !== undefined && !isHarmless(body[name], harmless))
      return refuse(name, `${name}：这个模型的服务没有这个参数`);
  for (const [name, values] of Object.entries(refuses))
    if (values.includes(body[name]))
      return refuse(name, `${name}：这个模型的服务不支持 ${String(body[name])}`);
  const { stop } = body;
  return Array.isArray(stop) && stop.length > stops
    ? refuse('stop', `stop：这个模型的服务最多 ${stops} 个`)
    : null;
};
