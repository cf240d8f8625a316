import type { Parsed } from '#contract/calls.ts';
import type { Executor } from '#server/db/database.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import type { ModelService } from './model.service.ts';
import { healthOfDay, insertStat, type HealthRow } from './model-stat.store.ts';

export { removeOldStats } from './model-stat.store.ts';

/** What was counted is told again for so long, ms. */
const countedMs = 60_000;

/** Gives how models did in the last day, counted anew at most once a minute in this process. */
export const createHealth = (): ((
  db: Executor,
  models: Pick<ModelService, 'list'>,
) => Promise<HealthRow[]>) => {
  let counted: { rows: HealthRow[]; at: number } | null = null;
  return async (db, models) => {
    if (!counted || Date.now() - counted.at > countedMs)
      counted = { rows: await healthOfDay(db), at: Date.now() };
    const names = new Set((await models.list(db, 'anybody')).map(({ name }) => name));
    return counted.rows.filter(({ model }) => names.has(model));
  };
};

/** Fewer ms are no time since 1970 but how long something took. */
const longAgo = 24 * 3_600_000;

/** A device's clock may be wrong, but not by this much. */
const sensible = { from: Date.UTC(2000), to: Date.UTC(2100) };

/** Keeps what a person's device saw of one request; of a model that is none nothing is kept. */
export const keepStat = async (
  db: Executor,
  models: Pick<ModelService, 'list'>,
  input: Parsed<'modelStat'>,
  user: Identity,
): Promise<void> => {
  const given = input.request_time ?? Date.now();
  const requestTime = new Date(
    typeof given === 'number' && given >= 0 && given < longAgo ? Date.now() - given : given,
  );
  const at = requestTime.getTime();
  if (!(at >= sensible.from && at < sensible.to))
    throw new Refusal('bad_input', 'request_time：应为一个时间');
  if (!(await models.list(db, 'anybody')).some((model) => model.name === input.model)) return;
  await insertStat(db, {
    userId: user.id,
    model: input.model,
    state: input.state,
    firstTime: input.first_time,
    time: input.time,
    requestTime,
  });
};
