import { ApiRefusal } from '#server/http/open-failure.ts';
import type { ApiCaller } from '#server/http/open-routes.ts';

/** What a request is refused with that names no model which its key may use. */
export const noSuchModel = (name: string): ApiRefusal =>
  new ApiRefusal(
    'model_unavailable',
    `没有模型 ${name.slice(0, 100)}，或这个 API-KEY 不能使用它；可用的见 GET /v1/models`,
  );

export const mayUseModel = (caller: ApiCaller, name: string): boolean =>
  caller.models.length === 0 || caller.models.includes(name);
