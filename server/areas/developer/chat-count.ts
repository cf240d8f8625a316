import type { FastifyBaseLogger } from 'fastify';
import { estimateTokens, isFree } from '#contract/price.ts';
import { countInThread } from '#server/engines/token-thread.ts';
import { believable } from '../ledger/believable.ts';
import type { ResolvedModel } from '../model/resolved-model.ts';
import type { Asked } from './chat-request.ts';
import { countedAs, type Counted, isTooFew } from './chat-text.ts';
import type { Thinkers } from './unseen-thinking.ts';

type Asking = Asked & { model: ResolvedModel; held: number };

/** What a call used: by the service's own count, unless it is far from what went and came. */
export const createCounter = (thinkers: Thinkers, log: Pick<FastifyBaseLogger, 'warn'>) => {
  const countAs = async (
    { model, counted: countAsked, beside, rough }: Asking,
    told: Counted | null,
    produced: string,
  ): Promise<Counted> => {
    const guessed = rough - beside;
    const said = estimateTokens(produced);
    if (told) thinkers.learn(model.name, said, told.completionTokens);
    if (told && (isFree(model) || !isTooFew(told.promptTokens, guessed)))
      if (isFree(model) || !isTooFew(told.completionTokens, said)) return told;
    if (isFree(model)) return countedAs(told, { promptTokens: rough, completionTokens: said });
    const [promptTokens, [completionTokens = 0]] = await Promise.all([
      countAsked(model.name),
      countInThread([produced], model.name),
    ]);
    const words = promptTokens - beside;
    const own = { promptTokens, completionTokens };
    if (!told) return countedAs(null, own);
    return countedAs(told, {
      promptTokens: isTooFew(told.promptTokens, words) ? own.promptTokens : told.promptTokens,
      completionTokens: isTooFew(told.completionTokens, completionTokens)
        ? completionTokens
        : told.completionTokens,
    });
  };
  return async (asking: Asking, told: Counted | null, produced: string): Promise<Counted> => {
    const counted = await countAs(asking, told, produced);
    const { model, held } = asking;
    if (!told || isFree(model)) return counted;
    const own = () => countAs(asking, null, produced);
    const taken = await believable(model, counted, { held, own });
    if (taken === counted) return counted;
    log.warn(
      { model: model.name, told, taken },
      'a service counts more tokens than is likely, and is not believed',
    );
    return countedAs(told, taken);
  };
};

export type Counter = ReturnType<typeof createCounter>;
