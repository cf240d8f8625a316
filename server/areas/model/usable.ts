import type { Model } from '#contract/model.ts';
import { isFree } from '#contract/price.ts';
import type { Executor } from '#server/db/database.ts';
import { Refusal } from '#server/http/handlers.ts';
import { groupOf } from '../ledger/group-of.ts';
import { paidStanding } from '../payment/has-paid.ts';
import { isMember } from './open-rows.ts';
import type { ResolvedModel } from './resolved-model.ts';

/** Who wants to use a model; null: a visitor who has no account yet. */
export type Asker = { id: number; guest: boolean } | null;

type Usable = Pick<ResolvedModel, 'factor'> &
  Partial<Pick<ResolvedModel, 'promptFactor' | 'paidOnly' | 'managersOnly' | 'openTo'>>;

/** Why somebody may not use a model; null: they may. */
const refusalOf = async (db: Executor, model: Usable, asker: Asker): Promise<Refusal | null> => {
  if (model.openTo && !isMember(model.openTo, await groupOf(db, asker?.id ?? null)))
    return new Refusal('model_unavailable');
  const locked = model.paidOnly || model.managersOnly;
  if (!asker || asker.guest) {
    const free = isFree({ promptFactor: null, ...model });
    if (model.managersOnly) return new Refusal('model_unavailable');
    return free && !locked ? null : new Refusal('login_required', '这是付费模型，登录后才能使用');
  }
  if (!locked) return null;
  const { manager, paid } = await paidStanding(db, asker.id);
  if (model.managersOnly && !manager) return new Refusal('model_unavailable');
  return model.paidOnly && !paid ? new Refusal('paid_only') : null;
};

/**
 * Refuses a model that this person may not use.
 * @throws Refusal login_required, paid_only, model_unavailable
 */
export const requireUsable = async (db: Executor, model: Usable, asker: Asker): Promise<void> => {
  const refusal = await refusalOf(db, model, asker);
  if (refusal) throw refusal;
};

export const isUsable = async (db: Executor, model: Usable, asker: Asker): Promise<boolean> =>
  (await refusalOf(db, model, asker)) === null;

/** Those of the models that their channels offer to a person which this person may use. */
export const usableOf = async (
  db: Executor,
  models: readonly Model[],
  asker: Asker,
): Promise<Model[]> => {
  const found = [];
  for (const model of models) {
    const { factor, prompt_factor: promptFactor, vip, private: closed } = model;
    const told = { factor, promptFactor, paidOnly: vip === 1, managersOnly: closed === 1 };
    if (await isUsable(db, told, asker)) found.push(model);
  }
  return found;
};
