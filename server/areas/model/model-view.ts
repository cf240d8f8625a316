import { modelTypes, type Model } from '../../../contract/model.ts';
import { imageOf, type ResolvedMediaModel } from './resolved-model.ts';
import type { ChannelRow, ModelRow, ServedModel } from './model.store.ts';

/** Of the size codes 0 to 3 (documents 1 and 2 §9); larger ones count as the last. */
const sizeRates = [0.7, 0.8, 0.9, 1];

/** What the specification calls things, beside our own names. */
const flatFields = (model: ModelRow) => {
  const image = imageOf(model);
  const factors = (image?.checkpoints ?? []).map(
    ({ name, factor }) => [name, factor ?? model.factor] as const,
  );
  const sizes = image?.sizes ?? [];
  return {
    unique_key: model.name,
    remarks: model.remark,
    factors: Object.fromEntries(factors),
    checkpoints: factors.map(([name]) => name),
    default_checkpoint: image?.default_checkpoint ?? '',
    sizes,
    size_limit: sizes,
    size_rate: image ? sizeRates : [],
    disable: 0,
    disable_api: model.disableApi ? 1 : 0,
    vip: model.vipExcluded ? 1 : 0,
    // Nobody has a model of their own here: what is trained is a style or a knowledge base.
    private: 0,
    // Of a model of images that nobody has told anything of there is nothing to draw with yet.
    status: model.type === modelTypes.image && image === null ? 0 : 1,
  };
};

/** A model as people and clients see it. */
export const present = (
  model: ModelRow,
  channel: ChannelRow,
  media: Pick<ResolvedMediaModel, 'video' | 'voice'>,
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
  vip_excluded: model.vipExcluded,
  max_prompt: model.maxPrompt,
  prompt_factor: model.promptFactor,
  factor: model.factor,
  accelerator: model.accelerator,
  image: imageOf(model),
  ...media,
});

/** The origins of the accelerators; what is no address of the web is left out. */
export const acceleratorsOf = (served: readonly Pick<ServedModel, 'model'>[]): string[] => [
  ...new Set(
    served.flatMap(({ model: { accelerator } }) => {
      if (!URL.canParse(accelerator)) return [];
      const { protocol, origin } = new URL(accelerator);
      return protocol === 'https:' || protocol === 'http:' ? [origin] : [];
    }),
  ),
];
