import type { Model } from '#contract/model.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { draftSaid, type ImageDraft, requestOf } from './image-draft.ts';
import { imagePrice, type ImagePrice } from './image-price.ts';
import { useTranslationCost } from './translation-price.ts';

/** Tells what a box with this draft and these words would take, with the translation of the words. */
export const useDraftPrice = (): ((
  draft: ImageDraft,
  text: string,
  model: Model,
) => ImagePrice) => {
  const { user } = useAuth();
  const costOf = useTranslationCost();
  return (draft, text, model) => {
    const image = requestOf(draftSaid(draft, text, model), model);
    return imagePrice(image, model, user, costOf({ type: 'txt2img', prompt: text, image }, model));
  };
};
