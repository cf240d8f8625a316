import { streamCodes } from '#contract/page-errors.ts';
import { deduction, isFree, priceAt } from '#contract/price.ts';
import { ApiRefusal } from '#server/http/open-failure.ts';
import { noteUnanswered } from '../ledger/unanswered.ts';
import type { Asking, ChatWorks } from './chat-asking.ts';
import type { Counted } from './chat-text.ts';
import { isRestart } from './work-signal.ts';

/** Bills a call that has ended; gives what was taken. */
export const settle = async (
  { gate }: Pick<ChatWorks, 'gate'>,
  asking: Asking,
  counted: Counted,
  answer?: unknown,
): Promise<number> => {
  const { model, charge, context } = asking;
  const { priceFactor = 1 } = context.caller;
  gate.addTokens(context.caller, counted.completionTokens);
  const { promptTokens, completionTokens } = counted;
  const price = priceAt(model, asking.channelId);
  const all = deduction(price, promptTokens, completionTokens, counted);
  const total = Math.ceil(all * priceFactor);
  const prompt = Math.min(
    total,
    Math.ceil(deduction(price, promptTokens, 0, counted) * priceFactor),
  );
  return charge.settle({ ...counted, prompt, completion: total - prompt }, answer);
};

/** Whoever leaves a service at work pays for the question at least. */
export const settleFailure = async (
  works: Pick<ChatWorks, 'gate' | 'count'>,
  asking: Asking,
  produced: string,
): Promise<void> => {
  const { aborted, reason } = asking.signal;
  const left = aborted && asking.sent && !isRestart(reason);
  if (produced !== '' || left)
    await settle(works, asking, await works.count(asking, null, produced));
  else await asking.charge.release(asking.sent || !aborted);
};

/**
 * The refusal of an answer in which there is nothing: it is not paid, so its service's bill for it
 * is noted.
 * @param told what the service counted of it; null: nothing
 */
export const saidNothing = async (
  { context, model, rough, body }: Asking,
  told: Counted | null,
): Promise<ApiRefusal> => {
  // It may have thought unseen; a count that cannot be is not believed.
  const thought = Math.min(told?.completionTokens ?? 0, Number(body['max_tokens']));
  if (!isFree(model)) await noteUnanswered(context.caller.user.id, model.name, rough + thought);
  return new ApiRefusal('upstream', streamCodes.empty, { code: 'empty' });
};
