import { bounds } from '#contract/bounds.ts';
import type { In, Out } from '#contract/calls.ts';
import { makers, type Maker } from '#contract/makers.ts';
import {
  searches,
  type AdminChannel,
  type ChannelKind,
  type SearchPaths,
} from '#contract/manage-model.ts';
import type { FormValues } from '#src/ui/form/field.ts';

export type Preset = Out<'channelPresets'>['list'][number];
export type Trial = Out<'testChannel'>;

interface Offered {
  name: string;
  upstream?: string | undefined;
  factor?: number | undefined;
}

/** What a new service begins with, or what one that exists has. */
export interface ServiceDraft {
  id?: number;
  kind: ChannelKind;
  label: string;
  base_url: string;
  key_url: string;
  needs_key: boolean;
  maker: Maker | null;
  models: readonly Offered[];
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

/** The preset of a service that nobody knows. */
export const otherKey = 'other';

export const draftOf = (preset: Preset): ServiceDraft => ({
  kind: preset.kind,
  label: preset.key === otherKey ? '' : preset.label,
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

/** The models of this preset answer questions. */
export const answers = ({ key, kind }: Preset): boolean =>
  chats(kind) && key !== 'speech' && key !== 'video';

/** It has models that people choose. */
export const serves = (kind: ChannelKind): boolean =>
  kind !== 'embedding' && kind !== 'replicate' && !searches(kind);

/** Its models are named by whoever connects it. */
export const namesModels = (kind: ChannelKind): boolean => chats(kind) || kind === 'embedding';

export const usualPaths: SearchPaths = { list: '', title: 'title', url: 'url', text: 'content' };

const pathsIn = (values: FormValues, before: SearchPaths | null | undefined): SearchPaths => {
  const known = before ?? usualPaths;
  const path = (name: keyof SearchPaths) => String(values[`path_${name}`] ?? known[name]).trim();
  return { list: path('list'), title: path('title'), url: path('url'), text: path('text') };
};

/** What a service is called that nobody named. */
const nameAt = (address: string): string =>
  (URL.canParse(address) ? new URL(address).host : address).slice(0, bounds.channel.label.max);

/** As people copy an address out of a program: with the path of one call behind it. */
const addressIn = (text: string): string =>
  text.trim().replace(/\/+(?:chat\/completions|models)\/*$/, '');

export const linesOf = (models: readonly Offered[]): string =>
  models
    .map(({ name, upstream, factor }) =>
      [upstream ? `${name} → ${upstream}` : name, ...(factor === undefined ? [] : [factor])].join(
        ' ',
      ),
    )
    .join('\n');

export const modelsIn = (text: string): Offered[] =>
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

/** What its form begins with. */
export const beginning = (draft: ServiceDraft, apiKey = ''): FormValues => ({
  label: draft.label,
  base_url: draft.base_url,
  api_key: apiKey,
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

const makerIn = (values: FormValues): Maker | null =>
  makers.find((each) => each === values['maker']) ?? null;

const textIn = (values: FormValues) => (name: string) => String(values[name] ?? '');

/** Whom it asks, and what goes along: of a trial and of what is saved. */
const wireOf = ({ id, kind }: ServiceDraft, values: FormValues) => {
  const text = textIn(values);
  return {
    ...(id === undefined ? {} : { id }),
    kind,
    base_url: addressIn(text('base_url')),
    ...(text('api_key').trim() === '' ? {} : { api_key: text('api_key') }),
    ...(kind === 'openai-compatible' ? { maker: makerIn(values) } : {}),
    ...(chats(kind) ? { headers: text('headers'), body: text('body'), proxy: text('proxy') } : {}),
  };
};

/** What is tried: the service as the form says it now. `models`: those that a person named. */
export const trialOf = (
  draft: ServiceDraft,
  values: FormValues,
  models: readonly Offered[] | null,
): In<'testChannel'> => {
  const called = (models ?? draft.models).map(({ name, upstream = name }) => upstream);
  return {
    ...wireOf(draft, values),
    ...(models ? { model: called[0] } : { wanted: called }),
    ...(draft.kind === 'json-search' ? { search: pathsIn(values, draft.search) } : {}),
  };
};

/** What is offered of a service that was tried: what a person named, else what is usual. */
export const offeredAfter = (
  draft: ServiceDraft,
  named: readonly Offered[] | null,
  { model, models }: Trial,
): readonly Offered[] => {
  if (named) return named;
  const usual = models.filter((each) => each.usual);
  if (usual.length === 0) return draft.models;
  const first = usual.filter(({ name }) => name === model);
  return [...first, ...usual.filter(({ name }) => name !== model)].map(({ name, factor }) => ({
    name,
    factor,
  }));
};

/** The service that is saved. */
export const channelOf = (
  draft: ServiceDraft,
  values: FormValues,
  { models, learned }: { models: readonly Offered[]; learned: Trial | undefined },
): In<'saveChannel'> => {
  const { kind, enabled } = draft;
  const text = textIn(values);
  const { thinking, tools } = learned ?? {};
  const wire = wireOf(draft, values);
  return {
    ...wire,
    label: text('label').trim() || nameAt(wire.base_url),
    enabled,
    weight: Number(values['weight']),
    priority: Number(values['priority']),
    models: namesModels(kind) ? [...models] : [],
    tag: text('tag'),
    ...(chats(kind) ? { factor: Number(values['factor']) } : {}),
    ...(serves(kind)
      ? {
          groups: (values['groups'] as readonly string[] | undefined)?.map(Number),
          parallel: values['parallel'] ? Number(values['parallel']) : null,
        }
      : {}),
    ...(kind === 'json-search' ? { search: pathsIn(values, draft.search) } : {}),
    ...(thinking ? { thinking } : {}),
    ...(tools ? { tools } : {}),
    ...(kind === 'replicate'
      ? { trainer: text('trainer').trim(), destination: text('destination').trim() }
      : {}),
  };
};
