import { compactNumber } from '#common/compact-number.ts';
import { yuanOfMillion } from '#contract/goods.ts';
import { modelTypes } from '#contract/kinds.ts';
import { limits } from '#contract/limits.ts';
import type { Model } from '#contract/model.ts';

export const isFree = ({ factor, prompt_factor: prompt }: Model): boolean =>
  factor === 0 && (prompt ?? 0) === 0;

/** What a person pays, in yuan where it goes by text, and what it is counted by. */
export const priceOf = (model: Model): { price: string; unit: string } => {
  if (isFree(model)) return { price: '免费', unit: '' };
  const tokens = `${compactNumber(model.factor)} tokens`;
  if (model.type === modelTypes.image) return { price: tokens, unit: '每张起' };
  if (model.type === modelTypes.video) return { price: tokens, unit: '每个视频' };
  if (model.type === modelTypes.speechToText) return { price: tokens, unit: '每秒录音' };
  if (model.type === modelTypes.textToSpeech) return { price: tokens, unit: '每个字' };
  const asked = yuanOfMillion(model.prompt_factor ?? model.factor);
  const told = yuanOfMillion(model.factor);
  return {
    price: asked === told ? `￥${told}` : `提问 ￥${asked} · 回复 ￥${told}`,
    unit: '每 100 万 tokens',
  };
};

/** Names of models that always think: they have no choice of it. */
const thinks = /reasoner|(?:^|[-_/])(?:r1|qwq|thinking)(?=$|[-_:.])/i;

/** What it can do besides talking, a word each. */
export const talentsOf = (model: Model): string[] =>
  [
    model.vision && '看图',
    (model.thinking || thinks.test(model.name)) && '推理',
    (model.max_prompt ?? 0) > limits.defaultMaxPrompt && '长文',
  ].filter((talent) => typeof talent === 'string');
