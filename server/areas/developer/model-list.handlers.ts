import { yuanOfMillion } from '#contract/goods.ts';
import { modelTypes } from '#contract/kinds.ts';
import type { Model } from '#contract/model.ts';
import type { Database } from '#server/db/database.ts';
import type { EmbeddingModels } from '#server/engines/embedding/embedding-models.ts';
import type { ApiCaller, OpenHandlers } from '#server/http/open-handlers.ts';
import type { ModelService } from '../model/model.service.ts';
import { mayUseModel, noSuchModel, openToKey } from './key-models.ts';
import { builtInEmbeddingModel } from './embedding.handlers.ts';

const typeNames: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(modelTypes).map(([name, type]) => [type, name]),
);

/** What a million tokens of each kind cost, yuan. */
const yuanPrices = (model: Model) => {
  const prompt = model.prompt_factor ?? model.factor;
  return {
    prompt: yuanOfMillion(prompt),
    cached_prompt: yuanOfMillion(Math.min(prompt, model.cached_factor ?? prompt)),
    ...(model.written_factor === null
      ? {}
      : { written_prompt: yuanOfMillion(model.written_factor) }),
    completion: yuanOfMillion(model.factor),
  };
};

/** The models that a key may ask. */
export const createModelList = (deps: {
  db: Database;
  models: Pick<ModelService, 'usable' | 'closedToApi'>;
  embeddings: Pick<EmbeddingModels, 'names'>;
}): Pick<OpenHandlers, 'apiModels' | 'apiModel'> => {
  const { db, models, embeddings } = deps;

  const modelRows = async (caller: ApiCaller) => {
    const mayUse = await openToKey(deps, caller);
    const embedding = [builtInEmbeddingModel, ...(await embeddings.names())]
      .filter((name) => mayUseModel(caller, name))
      .map((name) => ({
        id: name,
        object: 'model' as const,
        created: 0,
        owned_by: name === builtInEmbeddingModel ? 'queqiao' : 'service',
        name,
        type: 'embedding',
      }));
    const listed = (await models.usable(db, caller.user))
      .filter(({ name, display }) => display && mayUse(name))
      .map((model) => ({
        id: model.name,
        object: 'model' as const,
        created: 0,
        owned_by: model.built_in ? 'queqiao' : 'service',
        name: model.label,
        type: typeNames[model.type] ?? '',
        vision: model.vision,
        factor: model.factor,
        prompt_factor: model.prompt_factor,
        cached_factor: model.cached_factor,
        written_factor: model.written_factor,
        ...(model.type === modelTypes.chat ? { yuan_per_million: yuanPrices(model) } : {}),
      }));
    return [...listed, ...embedding];
  };

  return {
    async apiModels(_input, { caller }) {
      return { json: { object: 'list', data: await modelRows(caller), result: true } };
    },

    async apiModel({ model }, { caller }) {
      const row = (await modelRows(caller)).find(({ id }) => id === model);
      if (!row) throw noSuchModel(model);
      return { json: row };
    },
  };
};
