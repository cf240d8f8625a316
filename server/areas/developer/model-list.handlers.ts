import type { Parsed } from '#contract/calls.ts';
import { yuanOfMillion } from '#contract/goods.ts';
import { modelTypes } from '#contract/kinds.ts';
import type { Model } from '#contract/model.ts';
import type { Database } from '#server/db/database.ts';
import type { EmbeddingModels } from '#server/engines/embedding/embedding-models.ts';
import type { ApiCaller, OpenContext, OpenHandlers } from '#server/http/open-handlers.ts';
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

type Row = { id: string; name: string; type: string };

/** As Anthropic has it; when a model was made nobody knows, which it writes as 1970. */
const asAnthropic = ({ id, name }: Row) => ({
  type: 'model' as const,
  id,
  display_name: name,
  created_at: '1970-01-01T00:00:00Z',
  max_input_tokens: null,
  max_tokens: null,
  capabilities: null,
});

/** The caller speaks as Anthropic's clients do. */
const isAnthropic = ({ asked }: Pick<OpenContext, 'asked'>): boolean =>
  asked('anthropic-version') !== '';

const pageOf = <R extends Row>(
  rows: readonly R[],
  { limit = 1000, after_id: after, before_id: before }: Parsed<'apiModels'>,
) => {
  const placeOf = (id: string): number => {
    const place = rows.findIndex((row) => row.id === id);
    if (place < 0) throw noSuchModel(id);
    return place;
  };
  const from = after === undefined ? 0 : placeOf(after) + 1;
  const to = before === undefined ? rows.length : placeOf(before);
  const within = rows.slice(from, to);
  const data = before === undefined ? within.slice(0, limit) : within.slice(-limit);
  return {
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: within.length > data.length,
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
    async apiModels(input, context) {
      const rows = await modelRows(context.caller);
      if (!isAnthropic(context))
        return { json: { object: 'list', ...pageOf(rows, input), result: true } };
      const page = pageOf(
        rows.filter(({ type }) => type === 'chat'),
        input,
      );
      return { json: { ...page, data: page.data.map(asAnthropic) } };
    },

    async apiModel({ model }, context) {
      const row = (await modelRows(context.caller)).find(({ id }) => id === model);
      if (!row) throw noSuchModel(model);
      return { json: isAnthropic(context) ? asAnthropic(row) : row };
    },
  };
};
