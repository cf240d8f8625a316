import type { Database } from '#server/db/database.ts';
import { ApiRefusal } from '#server/http/open-failure.ts';
import type { ApiCaller } from '#server/http/open-handlers.ts';
import type { ModelService } from '../model/model.service.ts';

/** What a request is refused with that names no model which its key may use. */
export const noSuchModel = (name: string): ApiRefusal =>
  new ApiRefusal(
    'model_unavailable',
    `没有模型 ${name.slice(0, 100)}，或这个 API-KEY 不能使用它；可用的见 GET /v1/models`,
  );

export const mayUseModel = (caller: ApiCaller, name: string): boolean =>
  caller.models.length === 0 || caller.models.includes(name);

/** Which models a key may use: those that are open to programs, and of them what it is limited to. */
export const openToKey = async (
  { db, models }: { db: Database; models: Pick<ModelService, 'closedToApi'> },
  caller: ApiCaller,
): Promise<(name: string) => boolean> => {
  const closed = await models.closedToApi(db);
  return (name) => !closed.has(name) && mayUseModel(caller, name);
};
