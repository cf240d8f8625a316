import type { ImageRequest } from '@contract/chat.ts';
import { imageDeduction, imageFactor } from '@contract/price.ts';
import type { Model } from '@contract/model.ts';

/** What pictures take. */
export interface ImagePrice {
  /** 0: nothing. */
  tokens: number;
  /** In a few letters. */
  text: string;
  /** The same with its reason or unit. */
  words: string;
}

/** Tokens that the request takes, before any membership. */
const imageCost = (request: ImageRequest, { factor, image }: Model): number =>
  imageDeduction({
    n: request.n,
    factor: image ? imageFactor({ factor, image }, request.parameters.checkpoint) : factor,
    size: request.size,
    dalle3: image?.family === 'dalle',
    hd: request.parameters.hd === true,
  });

/** What a request will take, as the server will reckon. */
export const imagePrice = (
  request: ImageRequest,
  model: Model,
  user: { vip: number } | null,
): ImagePrice => {
  const tokens = imageCost(request, model);
  if (tokens === 0) return { tokens, text: '免费', words: model.built_in ? '内置 免费' : '免费' };
  if ((user?.vip ?? 0) > 0 && !model.vip_excluded)
    return { tokens: 0, text: 'VIP 免费', words: 'VIP 免费' };
  return { tokens, text: `${tokens} token`, words: `${tokens} tokens` };
};
