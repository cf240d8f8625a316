import { limits } from '#contract/limits.ts';
import { isFree } from '#contract/price.ts';
import type { Database } from '#server/db/database.ts';
import { wantsMarks } from './areas/compliance/foot.ts';
import { markedRelay } from './areas/compliance/marked-relay.ts';
import type { ModelService } from './areas/model/model.service.ts';
import { type Judge, mostByModel } from './areas/moderation/safety-judges.ts';
import type { SafetyService } from './areas/moderation/safety.service.ts';
import { guarded, guardedRelay } from './areas/moderation/stream-guard.ts';

/** Models as they judge: whoever judges is not judged. */
export const judgingModels =
  (db: Database, models: Pick<ModelService, 'find' | 'engine'>): Judge =>
  async (model, userId) => {
    const found = await models.find(db, model, { id: userId });
    const engine = found && (await models.engine(db, { model, userId, firstMs: 5_000 }));
    return engine && { engine, most: mostByModel(found.maxPrompt ?? limits.defaultMaxPrompt) };
  };

/** The same models, of which the questions and answers are checked. */
export const checkedModels = (
  db: Database,
  models: ModelService,
  safety: SafetyService,
): ModelService => {
  /** Whether what a model is asked is paid for; looked up where it is wanted, and once. */
  const paidFor = ({ model, userId }: { model: string; userId: number }) => {
    let known: Promise<boolean> | null = null;
    const find = async () => {
      const found = await models.find(db, model, { id: userId });
      return found !== null && !isFree(found);
    };
    return () => (known ??= find());
  };
  return {
    ...models,
    engine: async (executor, asked) => {
      const engine = await models.engine(executor, asked);
      const of = { userId: asked.userId, keep: asked.keep === true, paid: paidFor(asked) };
      return engine && guarded(engine, safety, of);
    },
    relay: async (executor, asked) => {
      const relay = await models.relay(executor, asked);
      if (!relay) return null;
      const of = { userId: asked.userId, keep: true, paid: paidFor(asked) };
      const checked = guardedRelay(relay, safety, of);
      return (await wantsMarks(executor)) ? markedRelay(checked) : checked;
    },
  };
};
