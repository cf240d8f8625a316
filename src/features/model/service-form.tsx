import { bounds } from '#contract/bounds.ts';
import { useAct } from '#src/platform/use-act.ts';
import { api } from '#src/platform/api.ts';
import { queryClient } from '#src/platform/query-client.ts';
import { prefsStore } from '#src/platform/prefs.ts';
import { refreshSite } from '#src/platform/site.ts';
import { toast } from '#src/platform/toast.ts';
import { Button } from '#src/ui/button.tsx';
import { Form } from '#src/ui/form/form.tsx';
import type { Field, FormValues } from '#src/ui/form/field.ts';
import { Icon } from '#src/ui/icon.tsx';
import { errorText } from '#src/platform/api-error.ts';
import type { In, Out } from '#contract/calls.ts';
import { useCall } from '#src/platform/call-query.ts';
import { makers, type Maker } from '#contract/makers.ts';
import {
  searches,
  type AdminChannel,
  type ChannelKind,
  type SearchPaths,
} from '#contract/manage-model.ts';
import { useState } from 'react';
import { chatFields, groupsField, makerField, parallelField } from './service-fields.ts';
import css from './manage-model.module.css';

type Preset = Out<'channelPresets'>['list'][number];
type Trial = Out<'testChannel'>;

/** What a new service begins with, or what one that exists has. */
export interface ServiceDraft {
  id?: number;
  kind: ChannelKind;
  label: string;
  base_url: string;
  key_url: string;
  needs_key: boolean;
  maker: Maker | null;
  models: readonly { name: string; upstream?: string | undefined; factor?: number | undefined }[];
  headers?: string;
  body?: string;
  proxy?: string;
  tag?: string;
  parallel?: number | null;
  factor?: number;
  groups?: readonly number[];
  trainer?: string;
  destination?: string;
  search?: SearchPaths | null;
  weight: number;
  priority: number;
  enabled: 0 | 1;
}

export const draftOf = (preset: Preset): ServiceDraft => ({
  kind: preset.kind,
  label: preset.key === 'other' ? '' : preset.label,
  base_url: preset.base_url,
  key_url: preset.key_url,
  needs_key: preset.needs_key,
  maker: preset.maker,
  models: preset.models,
  weight: 1,
  priority: 0,
  enabled: 1,
});

export const draftOfChannel = (channel: AdminChannel): ServiceDraft => ({
  id: channel.id,
  kind: channel.kind as ChannelKind,
  label: channel.label,
  base_url: channel.base_url,
  key_url: '',
  needs_key: false,
  maker: makers.find((maker) => maker === channel.maker) ?? null,
  models: channel.models.map((name) => ({ name, upstream: channel.mapping[name] })),
  headers: channel.headers,
  body: channel.body,
  proxy: channel.proxy,
  tag: channel.tag,
  parallel: channel.parallel,
  factor: channel.factor,
  groups: channel.groups,
  trainer: channel.trainer,
  destination: channel.destination,
  search: channel.search,
  weight: channel.weight,
  priority: channel.priority,
  enabled: channel.enabled === 1 ? 1 : 0,
});

/** Chats, in whatever words. */
export const chats = (kind: ChannelKind): kind is 'openai-compatible' | 'anthropic' | 'gemini' =>
  kind === 'openai-compatible' || kind === 'anthropic' || kind === 'gemini';

/** It has models that people choose. */
const serves = (kind: ChannelKind): boolean =>
  kind !== 'embedding' && kind !== 'replicate' && !searches(kind);

/** Its models are named by whoever connects it. */
const likeOpenAi = (kind: ChannelKind): boolean => chats(kind) || kind === 'embedding';

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
const usualPaths: SearchPaths = { list: '', title: 'title', url: 'url', text: 'content' };

const pathsIn = (values: FormValues, before: SearchPaths | null | undefined): SearchPaths => {
  const known = before ?? usualPaths;
  const path = (name: keyof SearchPaths) => String(values[`path_${name}`] ?? known[name]).trim();
  return { list: path('list'), title: path('title'), url: path('url'), text: path('text') };
};

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
  if (likeOpenAi(kind)) return '通常以 /v1 结尾';
  if (kind === 'json-search') return '搜索词放在 {query} 的地方';
  if (kind === 'searxng') return '它的设置里要允许 json；内网的地址要写进 FETCH_ALLOWED';
  return '这个服务的网址';
};

/** What a service is called that nobody named. */
const nameAt = (address: string): string =>
  (URL.canParse(address) ? new URL(address).host : address).slice(0, bounds.channel.label.max);

const fieldsOf = (draft: ServiceDraft): Field[] => [
  { name: 'label', kind: 'text', ...bounds.channel.label, placeholder: '不填就用它的网址' },
  {
    name: 'base_url',
    kind: 'text',
    required: true,
    ...bounds.channel.address,
    placeholder:
      draft.kind === 'json-search'
        ? 'https://api.example.com/search?q={query}'
        : 'https://api.example.com/v1',
    hint: addressHint(draft.kind),
    check: (value) =>
      /^https?:\/\/\S+$/.test(String(value)) ? undefined : '应为 http:// 或 https:// 开头的地址',
  },
  {
    name: 'api_key',
    kind: 'long',
    lines: 1,
    mono: true,
    required: draft.needs_key && draft.id === undefined,
    ...secretWords(draft.kind),
    ...(draft.id === undefined ? {} : { placeholder: '不改就留空' }),
  },
  ...(draft.kind === 'replicate' ? trainerFields : []),
  ...(draft.kind === 'json-search' ? pathFields : []),
];

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

/** What a first service does without. */
const moreFieldsOf = ({ kind }: ServiceDraft, groups: Out<'peopleGroups'>['list']): Field[] => [
  ...extras,
  ...(serves(kind) ? [...groupsField(groups), parallelField] : []),
  ...(kind === 'openai-compatible' ? [makerField] : []),
  ...(chats(kind) ? chatFields : []),
];

const linesOf = (models: ServiceDraft['models']): string =>
  models
    .map(({ name, upstream, factor }) =>
      [upstream ? `${name} → ${upstream}` : name, ...(factor === undefined ? [] : [factor])].join(
        ' ',
      ),
    )
    .join('\n');

const modelsIn = (text: string): { name: string; upstream?: string; factor?: number }[] =>
  text
    .split('\n')
    .map((line) => /^\s*(\S+)(?:\s*(?:→|=>|->)\s*(\S+))?(?:\s+([\d.]+))?\s*$/.exec(line))
    .flatMap((match) => {
      const [, name, upstream, price] = match ?? [];
      if (!name) return [];
      const factor = price === undefined ? NaN : Number(price);
      return [
        {
          name,
          ...(upstream === undefined ? {} : { upstream }),
          ...(Number.isNaN(factor) ? {} : { factor }),
        },
      ];
    });

/** What a trial said. */
const Said = ({ trial }: { trial: Trial }) => (
  <p className={css.trial} data-ok={trial.ok || undefined} role="status">
    <Icon name={trial.ok ? 'check' : 'warning'} size={18} />
    <span>
      {trial.message}
      {trial.latency !== null && `（${(trial.latency / 1000).toFixed(1)} 秒）`}
    </span>
  </p>
);

const beginning = (draft: ServiceDraft): FormValues => ({
  label: draft.label,
  base_url: draft.base_url,
  trainer: draft.trainer ?? '',
  destination: draft.destination ?? '',
  ...Object.fromEntries(
    Object.entries(draft.search ?? usualPaths).map(([name, path]) => [`path_${name}`, path]),
  ),
  weight: draft.weight,
  priority: draft.priority,
  tag: draft.tag ?? '',
  parallel: draft.parallel ?? null,
  factor: draft.factor ?? 1,
  groups: (draft.groups ?? []).map(String),
  maker: draft.maker ?? '',
  headers: draft.headers ?? '',
  body: draft.body ?? '',
  proxy: draft.proxy ?? '',
});

const makerIn = (draft: ServiceDraft, values: FormValues): Maker | null =>
  makers.find((each) => each === (values['maker'] ?? draft.maker)) ?? null;

/** What is tried: the service as the form says it now. */
const trialOf = (
  draft: ServiceDraft,
  values: FormValues,
  { models, full }: { models: ReturnType<typeof modelsIn>; full: boolean },
): In<'testChannel'> => {
  const { id, kind } = draft;
  const typed = (name: 'headers' | 'body' | 'proxy') => String(values[name] ?? draft[name] ?? '');
  return {
    ...(id === undefined ? {} : { id }),
    kind,
    base_url: String(values['base_url'] ?? draft.base_url),
    ...(kind === 'openai-compatible' ? { maker: makerIn(draft, values) } : {}),
    ...(full && chats(kind)
      ? { headers: typed('headers'), body: typed('body'), proxy: typed('proxy') }
      : {}),
    ...(values['api_key'] ? { api_key: String(values['api_key']) } : {}),
    model: models.map(({ name, upstream = name }) => upstream)[0],
    ...(kind === 'json-search' ? { search: pathsIn(values, draft.search) } : {}),
  };
};

/** The service that is saved; what the form does not show stays as it is. */
const channelOf = (
  draft: ServiceDraft,
  sent: FormValues,
  {
    models,
    full,
    learned: { thinking, tools } = {},
  }: { models: ReturnType<typeof modelsIn>; full: boolean; learned: Partial<Trial> | undefined },
): In<'saveChannel'> => {
  const { id, kind, enabled } = draft;
  const text = (name: string) => String(sent[name] ?? '');
  const openAi = kind === 'openai-compatible';
  return {
    ...(id === undefined ? {} : { id }),
    kind,
    label: text('label').trim() || nameAt(text('base_url')),
    base_url: text('base_url'),
    ...(sent['api_key'] ? { api_key: text('api_key') } : {}),
    enabled,
    weight: Number(sent['weight'] ?? draft.weight),
    priority: Number(sent['priority'] ?? draft.priority),
    models: likeOpenAi(kind) ? models : [],
    ...(full && chats(kind)
      ? {
          factor: Number(sent['factor'] ?? 1),
          headers: text('headers'),
          body: text('body'),
          proxy: text('proxy'),
        }
      : {}),
    ...(openAi ? { maker: full ? makerIn(draft, sent) : draft.maker } : {}),
    ...(full ? { tag: text('tag') } : {}),
    ...(full && serves(kind)
      ? {
          groups: (sent['groups'] as readonly string[] | undefined)?.map(Number),
          parallel: sent['parallel'] ? Number(sent['parallel']) : null,
        }
      : {}),
    ...(kind === 'json-search' ? { search: pathsIn(sent, draft.search) } : {}),
    ...(thinking ? { thinking } : {}),
    ...(tools ? { tools } : {}),
    ...(kind === 'replicate'
      ? { trainer: text('trainer').trim(), destination: text('destination').trim() }
      : {}),
  };
};

/** A model service by form: address and key, a trial, and the models to offer. */
export const ServiceForm = ({
  draft,
  askedNext = false,
  onSaved,
}: {
  draft: ServiceDraft;
  /** Whoever connects it asks its first chat model next. */
  askedNext?: boolean;
  onSaved: () => void;
}) => {
  const [values, setValues] = useState<FormValues>({});
  const [trial, setTrial] = useState<Trial>();
  const { busy: testing, run } = useAct((error) =>
    setTrial({ ok: false, message: errorText(error), latency: null, models: [] }),
  );
  const [models, setModels] = useState(linesOf(draft.models));
  const openAi = likeOpenAi(draft.kind);
  // Who connects a first service needs none of the rest.
  const [full, setFull] = useState(draft.id !== undefined);
  const groups = useCall('peopleGroups', {}, { enabled: full && serves(draft.kind) });
  const test = async () => {
    setTrial(undefined);
    await run(async () => {
      const asked = trialOf(draft, values, { models: modelsIn(models), full });
      const made = await api.testChannel(asked, { quiet: true });
      setTrial(made);
      if (made.models.length > 0 && models.trim() === '')
        setModels(linesOf(made.models.slice(0, 30)));
    });
  };
  const chosen = new Set(modelsIn(models).map(({ name }) => name));
  const toggle = (name: string, factor: number) =>
    setModels(
      linesOf(
        chosen.has(name)
          ? modelsIn(models).filter((each) => each.name !== name)
          : [...modelsIn(models), { name, factor }],
      ),
    );
  return (
    <Form
      fields={[...fieldsOf(draft), ...(full ? moreFieldsOf(draft, groups.data?.list ?? []) : [])]}
      initial={beginning(draft)}
      submit={draft.id === undefined ? '接入' : '保存'}
      onChange={setValues}
      onSubmit={async (sent) => {
        const made = { models: modelsIn(models), full, learned: trial };
        await api.saveChannel(channelOf(draft, sent, made), { quiet: true });
        // Models and what this site can are read seldom: who looks now shall have the new ones.
        if (searches(draft.kind)) await refreshSite();
        await queryClient.invalidateQueries({ queryKey: ['models'] });
        toast('保存成功', 'success');
        const [first] = made.models;
        if (askedNext && first && chats(draft.kind)) prefsStore.set({ model: first.name });
        onSaved();
      }}
      renderExtra={() => (
        <>
          <Button busy={testing} onClick={() => void test()}>
            {testing ? '正在试…' : '测试'}
          </Button>
          {!full && <Button onClick={() => setFull(true)}>更多设置</Button>}
        </>
      )}
    >
      {draft.key_url !== '' && (
        <p className="field-hint">
          没有密钥？
          <a href={draft.key_url} target="_blank" rel="noreferrer">
            到这里申请
          </a>
        </p>
      )}
      {openAi && (
        <label className={css.models}>
          <span>模型</span>
          <textarea
            className="text-input"
            rows={4}
            aria-label="模型，一行一个"
            value={models}
            placeholder={'一行一个：模型名 价格\n点“测试”会自动取来'}
            onChange={(event) => setModels(event.target.value)}
          />
          <small className="field-hint">
            {draft.kind === 'embedding'
              ? '一行一个模型名，第一个是平常用的'
              : '一行一个：模型名，空格，价格（每个 token 扣多少，0 免费）。价格不写就按它的系列。服务里叫别的名字时写：模型名 → 它的名字'}
          </small>
        </label>
      )}
      {trial && <Said trial={trial} />}
      {trial && trial.models.length > 0 && (
        <details className={css.found} open={trial.models.length <= 30}>
          <summary>这个服务有 {trial.models.length} 个模型，点一下加上或去掉</summary>
          <div className={css.chips}>
            {trial.models.map(({ name, factor }) => (
              <button
                key={name}
                type="button"
                className="chip"
                aria-pressed={chosen.has(name)}
                onClick={() => toggle(name, factor)}
              >
                {name}
              </button>
            ))}
          </div>
        </details>
      )}
    </Form>
  );
};
