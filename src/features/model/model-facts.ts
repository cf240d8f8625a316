import { modelTypes } from '#contract/kinds.ts';
import type { Out } from '#contract/calls.ts';
import type { Model } from '#contract/model.ts';

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
  if (model.factor === 0 && (model.prompt_factor ?? 0) === 0) return '免费使用，不扣余额';
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
