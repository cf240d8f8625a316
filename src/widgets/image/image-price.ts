import type { ImageRequest } from '#contract/chat.ts';
import { imageDeduction, imageFactor, qualityRate } from '#contract/price.ts';
import type { Model } from '#contract/model.ts';

/** What images take. */
export interface ImagePrice {
  /** 0: nothing. */
  tokens: number;
  /** In a few letters. */
  text: string;
  /** The same with its reason or unit. */
  words: string;
}

/** Tokens that the request takes, before any membership. */
export const imageCost = (request: ImageRequest, { factor, image, size_rate }: Model): number =>
  imageDeduction({
    n: request.n,
    factor: image ? imageFactor({ factor, image }, request.parameters.checkpoint) : factor,
    size: request.size,
    dalle3: image?.family === 'dalle',
    hd: request.parameters.hd === true,
    quality: qualityRate(image?.family ?? '', request.parameters.hd === true),
    ...(size_rate?.length > 0 ? { rates: size_rate } : {}),
  });

/** What a request will take, as the server will reckon. */
export const imagePrice = (
  request: ImageRequest,
  model: Model,
  user: { vip: number } | null,
  /** What the translation of its words will take, about. */
  translation = 0,
): ImagePrice => {
  const images = imageCost(request, model);
  const free = images > 0 && (user?.vip ?? 0) > 0 && !model.vip_excluded;
  const tokens = (free ? 0 : images) + translation;
  if (translation > 0)
    return free
      ? { tokens, text: `约 ${tokens} tokens`, words: `VIP 免费，翻译约 ${translation} tokens` }
      : {
          tokens,
          text: `约 ${tokens} tokens`,
          words: `约 ${tokens} tokens，含翻译 ${translation}`,
        };
  if (free) return { tokens, text: 'VIP 免费', words: 'VIP 免费' };
  if (tokens === 0) return { tokens, text: '免费', words: model.built_in ? '内置 免费' : '免费' };
  return { tokens, text: `${tokens} tokens`, words: `${tokens} tokens` };
};
