import * as z from 'zod/mini';
import { Refusal } from '#server/http/handlers.ts';
import { storableText } from '#server/storable.ts';

/** Addresses of new-api's kinds of channels, where the list has none; but for Anthropic's in OpenAI's words. */
const addresses: Readonly<Record<number, string>> = {
  1: 'https://api.openai.com/v1',
  4: 'http://127.0.0.1:11434/v1',
  14: 'https://api.anthropic.com/v1',
  17: 'https://dashscope.aliyuncs.com/compatible-mode/v1',
  20: 'https://openrouter.ai/api/v1',
  23: 'https://api.hunyuan.cloud.tencent.com/v1',
  24: 'https://generativelanguage.googleapis.com/v1beta/openai',
  25: 'https://api.moonshot.cn/v1',
  26: 'https://open.bigmodel.cn/api/paas/v4',
  27: 'https://api.perplexity.ai',
  31: 'https://api.lingyiwanwu.com/v1',
  35: 'https://api.minimaxi.com/v1',
  40: 'https://api.siliconflow.cn/v1',
  42: 'https://api.mistral.ai/v1',
  43: 'https://api.deepseek.com/v1',
  45: 'https://ark.cn-beijing.volces.com/api/v3',
  46: 'https://qianfan.baidubce.com/v2',
  48: 'https://api.x.ai/v1',
};
/** Kinds whose address in the list stands for OpenAI's words below /v1. */
const belowV1 = new Set([1, 8, 14, 20, 25, 31, 35, 40, 42, 43, 48]);

const listed = z.looseObject({
  name: z._default(z.string(), ''),
  type: z._default(z.int(), 1),
  key: z._default(z.nullable(z.string()), ''),
  base_url: z._default(z.nullable(z.string()), ''),
  models: z._default(z.nullable(z.string()), ''),
  model_mapping: z._default(z.nullable(z.string()), ''),
  param_override: z._default(z.nullable(z.string()), ''),
  header_override: z._default(z.nullable(z.string()), ''),
  tag: z._default(z.nullable(z.string()), ''),
  /** Names of groups of people by comma. */
  group: z._default(z.nullable(z.string()), ''),
  openai_organization: z._default(z.nullable(z.string()), ''),
  /** JSON, with the proxy among others. */
  setting: z._default(z.nullable(z.string()), ''),
  weight: z._default(z.nullable(z.int()), 1),
  priority: z._default(z.nullable(z.int()), 0),
  /** 1: it is used. */
  status: z._default(z.int(), 1),
});

export interface ImportedChannel {
  kind: 'openai-compatible' | 'anthropic';
  label: string;
  base_url: string;
  api_key: string;
  models: { name: string; upstream?: string }[];
  headers: string;
  body: string;
  proxy: string;
  tag: string;
  /** Names of the only groups of people whom it serves; empty: everybody. */
  groups: string[];
  weight: number;
  priority: number;
  enabled: 0 | 1;
}

const record = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;

/** JSON whose texts the database can keep. @throws Error where it is none, or is nested too deep */
const parsed = (text: string): unknown =>
  JSON.parse(text, (_, value: unknown) =>
    typeof value === 'string' ? storableText(value) : value,
  );

/** The list itself, as new-api and one-api export it: bare, in `data`, or in `data.items`. */
const rowsIn = (text: string): unknown[] => {
  let whole: unknown;
  try {
    whole = parsed(text);
  } catch {
    throw new Refusal('bad_input', 'text：读不懂，应为渠道列表的 JSON');
  }
  const data = record(whole)?.['data'] ?? whole;
  const rows = record(data)?.['items'] ?? data;
  if (!Array.isArray(rows) || rows.length === 0 || rows.length > 200)
    throw new Refusal('bad_input', 'text：应为 1 至 200 个渠道的列表');
  return rows;
};

/** What a text of the list says in JSON; nothing where it is none. */
const recordIn = (text: string | null): Record<string, unknown> => {
  try {
    return record(parsed(text || '{}')) ?? {};
  } catch {
    return {};
  }
};

const parts = (text: string | null): string[] =>
  [...new Set((text ?? '').split(',').map((part) => part.trim()))].filter((part) => part !== '');

/** There everybody is in this group. */
const everybody = 'default';

const headersIn = (text: string | null, organization: string | null): string => {
  if (!organization) return text ?? '';
  return JSON.stringify({ 'OpenAI-Organization': organization, ...recordIn(text) });
};

/** Channels of new-api's or one-api's list, and those that cannot be taken over, with the reason. @throws Refusal bad_input */
export const readChannelList = (
  text: string,
): { channels: ImportedChannel[]; skipped: { label: string; reason: string }[] } => {
  const channels: ImportedChannel[] = [];
  const skipped: { label: string; reason: string }[] = [];
  rowsIn(text).forEach((row, at) => {
    const read = listed.safeParse(row);
    const label = (read.success && read.data.name.trim().slice(0, 60)) || `第 ${at + 1} 个`;
    const skip = (reason: string) => skipped.push({ label, reason });
    if (!read.success) return skip('读不懂');
    const { type, key, base_url: base, models: names, model_mapping: map, ...rest } = read.data;
    const given = (base ?? '').trim().replace(/\/+$/, '');
    const address =
      given === ''
        ? addresses[type]
        : belowV1.has(type) && !/\/v\d/.test(given)
          ? `${given}/v1`
          : given;
    if (!address || (given !== '' && !addresses[type] && ![3, 8].includes(type)))
      return skip(`不认识的类型 ${type}，请手工添加`);
    const mapping = recordIn(map);
    const models = parts(names).map((name) => {
      const upstream = mapping[name];
      return typeof upstream === 'string' && upstream !== '' ? { name, upstream } : { name };
    });
    if (models.length === 0) return skip('没有模型');
    const { proxy } = recordIn(rest.setting);
    const groups = parts(rest.group);
    return channels.push({
      kind: type === 14 ? 'anthropic' : 'openai-compatible',
      label,
      base_url: type === 3 ? `${given.replace(/\/openai(\/v1)?$/, '')}/openai/v1` : address,
      api_key: key ?? '',
      models,
      headers: headersIn(rest.header_override, rest.openai_organization),
      body: rest.param_override ?? '',
      proxy: typeof proxy === 'string' ? proxy : '',
      groups: groups.includes(everybody) ? [] : groups,
      tag: (rest.tag ?? '').slice(0, 40),
      weight: Math.min(Math.max(rest.weight ?? 1, 1), 1000),
      // There the larger ones come first.
      priority: Math.min(Math.max(500 - (rest.priority ?? 0), 0), 1000),
      enabled: rest.status === 1 ? 1 : 0,
    });
  });
  return { channels, skipped };
};
