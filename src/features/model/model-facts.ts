import { modelTypes } from '#contract/kinds.ts';
import type { Out } from '#contract/calls.ts';
import type { Model } from '#contract/model.ts';
import { isFree, talentsOf } from '#src/widgets/model/model-words.ts';

export const typeNames: Readonly<Record<number, string>> = {
  [modelTypes.chat]: '聊天',
  [modelTypes.image]: '图片',
  [modelTypes.speechToText]: '语音识别',
  [modelTypes.textToSpeech]: '语音合成',
  [modelTypes.video]: '视频',
};

export type Health = Out<'modelHealth'>['list'][number];

export const unknown = '—';

/** The developers' interface may call it. */
export const callable = (model: Model): boolean => model.disable_api === 0;
/** Only who pays may use it. */
export const paidOnly = (model: Model): boolean => model.vip === 1;
/** A model of somebody's own that has not finished training (document 2 §4). */
export const untrained = (model: Model): boolean =>
  model.type === modelTypes.image && model.status === 0;

/** The type of a session with it; undefined: speech has none of its own. */
export const sessionTypeOf = ({ type }: Model): 0 | 1 | 4 | undefined =>
  ({
    [modelTypes.chat]: 0 as const,
    [modelTypes.image]: 1 as const,
    [modelTypes.video]: 4 as const,
  })[type];

/** What its price is counted in. */
export const rateTip = (model: Model): string => {
  if (isFree(model)) return '免费使用，不扣余额';
  if (model.type === modelTypes.image) return `每张图片 ${model.factor} tokens 起，尺寸大的更多`;
  if (model.type === modelTypes.video) return `每个视频 ${model.factor} tokens`;
  if (model.type === modelTypes.speechToText) return `每秒录音 ${model.factor} tokens`;
  if (model.type === modelTypes.textToSpeech) return `每个字 ${model.factor} tokens`;
  const prompt = model.prompt_factor ?? model.factor;
  return prompt === model.factor
    ? `提问和回复的每个 token 按 ${model.factor} 个计`
    : `提问的每个 token 按 ${prompt} 个计，回复按 ${model.factor} 个计`;
};

export const rateText = (model: Model): string =>
  model.factor === 0 ? '免费' : `×${model.factor}`;

/** Its checkpoints, or nothing. */
export const versionsOf = (model: Model): string =>
  (model.image?.checkpoints ?? []).map(({ name }) => name).join('、');

export const successText = (health: Health | undefined): string =>
  health === undefined || health.count === 0
    ? unknown
    : `${Math.round((health.success / health.count) * 100)}%`;

/** Milliseconds, as people read them. */
export const secondsText = (ms: number | undefined): string =>
  ms === undefined || ms === 0 ? unknown : `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} 秒`;

/** First words sooner than this are quick, ms. */
const quickMs = 1_500;
/** A factor up to this is cheap: as many tokens as the text has. */
const cheapFactor = 1;

/** What it is good at, a word or two each. */
export const badgesOf = (model: Model, health: Health | undefined): string[] =>
  [
    typeNames[model.type] ?? '其他',
    ...talentsOf(model),
    health !== undefined &&
      health.first_time > 0 &&
      health.first_time <= quickMs &&
      `快 · 首字 ${secondsText(health.first_time)}`,
    paidOnly(model) && '付费用户可用',
  ].filter((badge) => badge !== false);

/** Whether all words of a search are found in what is said of a model. */
export const isFound = (model: Model, health: Health | undefined, query: string): boolean => {
  const chat = model.type === modelTypes.chat;
  const said = [
    model.label,
    model.name,
    model.remark,
    versionsOf(model),
    ...badgesOf(model, health),
    isFree(model) ? '免费 便宜' : '',
    chat && model.factor <= cheapFactor ? '便宜' : '',
  ]
    .join(' ')
    .toLowerCase();
  return query
    .toLowerCase()
    .split(/[\s、，,]+/)
    .every((word) => said.includes(word));
};
