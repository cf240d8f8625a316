import { useAuth } from '#src/platform/auth-store.ts';
import { useModel } from '#src/platform/queries.ts';
import { useTranslationCost } from '#src/widgets/image/translation-price.ts';
import { useChatActs } from '#src/widgets/conversation/chat-context.ts';
import { priceOfAsked, type Asked } from './image-request.ts';

/** Tells what a request will take, in a few letters and in words; null: nothing. */
export const usePriceOf = (): ((asked: Asked) => { text: string; words: string } | null) => {
  const model = useModel(useChatActs().model);
  const { user } = useAuth();
  const costOf = useTranslationCost();
  return (asked) => {
    const price = model ? priceOfAsked(asked, model, user, costOf(asked, model)) : null;
    return price && price.tokens > 0 ? price : null;
  };
};
