import { sizesOf } from '#contract/image-size.ts';
import { modelTypes } from '#contract/kinds.ts';
import { type Model } from '#contract/model.ts';
import { usualSizeRates } from '#contract/price.ts';
import {
  chatPrice,
  imageOf,
  thinkingOf,
  toolsOf,
  type ResolvedMediaModel,
} from './resolved-model.ts';
import type { ChannelRow, ModelRow, ServedModel } from './model.store.ts';

export const flagOf = (value: boolean): 0 | 1 => (value ? 1 : 0);

/** What the specification calls things, beside our own names. */
const flatFields = (model: ModelRow) => {
  const image = imageOf(model);
  const factors = (image?.checkpoints ?? []).map(
    ({ name, factor }) => [name, factor ?? model.factor] as const,
  );
  const sizes = image ? sizesOf(image).map(({ width, height }) => `${width}x${height}`) : [];
  return {
    unique_key: model.name,
    remarks: model.remark,
    factors: Object.fromEntries(factors),
    checkpoints: factors.map(([name]) => name),
    default_checkpoint: image?.default_checkpoint ?? '',
    sizes,
    size_limit: sizes,
    size_rate: image ? [...(model.sizeRates ?? usualSizeRates)] : [],
    disable: 0,
    disable_api: flagOf(model.disableApi),
    vip: flagOf(model.paidOnly),
    // As to a visitor; whoever asks is looked at where the list is given.
    locked: flagOf(model.paidOnly),
    private: flagOf(model.managersOnly),
    // Of a model of images that nobody has told anything of there is nothing to draw with yet.
    status: model.type === modelTypes.image && image === null ? 0 : 1,
  };
};

/** A model as people and clients see it. */
export const present = (
  model: ModelRow,
  channel: ChannelRow,
  media: Pick<ResolvedMediaModel, 'video' | 'voice'>,
  /** The model's name at the service; left out: the same. */
  upstreamName?: string,
): Model => ({
  ...flatFields(model),
  name: model.name,
  label: model.label,
  color: model.color,
  logo: model.logo,
  remark: model.remark,
  type: model.type,
  display: model.display,
  vision: model.vision,
  built_in: channel.kind === 'built-in',
  thinking: thinkingOf(model, channel.kind, upstreamName) !== null,
  tools: toolsOf(model, channel.kind),
  vip_excluded: model.vipExcluded,
  max_prompt: model.maxPrompt,
  prompt_factor: model.promptFactor,
  cached_factor: model.cachedFactor,
  written_factor: model.writtenFactor,
  factor: model.factor,
  accelerator: model.accelerator,
  image: imageOf(model),
  ...media,
});

/**
 * The same at the prices of one person.
 * @param rows the channels that serve the person
 * @param factor what the person's group pays of each price
 */
export const presentFor = (
  model: Model,
  rows: readonly [ServedModel, ...ServedModel[]],
  factor: number,
): Model => {
  const chat = model.type === modelTypes.chat ? chatPrice(rows) : null;
  if (factor === 1 && !chat?.rates) return model;
  const times = (price: number) => Math.round(price * factor * 1e9) / 1e9;
  const maybe = (price: number | null) => (price === null ? null : times(price));
  return {
    ...model,
    factor: times(chat?.factor ?? model.factor),
    prompt_factor: maybe(chat?.promptFactor ?? model.prompt_factor),
    cached_factor: maybe(chat?.cachedFactor ?? model.cached_factor),
    written_factor: maybe(chat?.writtenFactor ?? model.written_factor),
    factors: Object.fromEntries(
      Object.entries(model.factors).map(([name, price]) => [name, times(price)]),
    ),
    image: model.image && {
      ...model.image,
      checkpoints: model.image.checkpoints.map((each) => ({
        ...each,
        factor:
          each.factor === null || each.factor === undefined ? each.factor : times(each.factor),
      })),
    },
  };
};

/** Null for what is no address of the web. */
export const acceleratorOrigin = (accelerator: string): string | null => {
  if (!URL.canParse(accelerator)) return null;
  const { protocol, origin } = new URL(accelerator);
  return protocol === 'https:' || protocol === 'http:' ? origin : null;
};

/** The origins of the accelerators. */
export const acceleratorsOf = (served: readonly Pick<ServedModel, 'model'>[]): string[] => [
  ...new Set(served.flatMap(({ model: { accelerator } }) => acceleratorOrigin(accelerator) ?? [])),
];
