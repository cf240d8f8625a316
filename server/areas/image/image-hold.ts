import type { Transaction } from '#server/db/database.ts';
import { Refusal } from '#server/http/handlers.ts';
import { hold } from '../ledger/ledger.service.ts';
import type { ResolvedImageModel } from '../model/resolved-model.ts';
import { priceOf, type ImagePlan } from './image-plan.ts';

/** What images take of somebody at most: VIP pay for excluded models alone. */
export const costOf = (
  plan: Pick<ImagePlan, 'price' | 'n'>,
  model: Pick<ResolvedImageModel, 'vipExcluded'>,
  vip: boolean,
): number => (vip && !model.vipExcluded ? 0 : priceOf(plan.price, plan.n));

/** Sets aside what the images cost; null: nothing. @throws Refusal balance, balance_excluded */
export const holdFor = async (
  tx: Transaction,
  plan: Pick<ImagePlan, 'price' | 'n'>,
  model: Pick<ResolvedImageModel, 'vipExcluded'>,
  payer: { id: number; vip: boolean; reference: string },
): Promise<{ holdId: string | null; heldTokens: number }> => {
  const amount = costOf(plan, model, payer.vip);
  if (amount === 0) return { holdId: null, heldTokens: 0 };
  const holdId = await hold(tx, {
    userId: payer.id,
    amount,
    reference: payer.reference,
    vipAllowed: !model.vipExcluded,
  });
  if (!holdId) throw new Refusal(payer.vip ? 'balance_excluded' : 'balance');
  return { holdId, heldTokens: amount };
};
