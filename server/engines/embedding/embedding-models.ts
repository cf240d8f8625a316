import type { Settings } from '#server/settings.ts';
import { listModels } from '../openai-compatible/list-models.ts';
import { EmbeddingError, type EmbeddingEngine } from './embedding-engine.ts';
import { isKnowledgeModel, isReranker } from './model-names.ts';
import type { LocalKnowledgeModels } from './local-embedding.ts';
import { createOpenAiEmbedding } from './openai-embedding.ts';
import { createReranker, type Reranker } from './rerank.ts';

/** The service is asked for its models again after this, ms; after a failure sooner. */
const askAgainMs = { known: 30 * 60_000, failed: 60_000 };

export interface EmbeddingModels {
  /** Where the named ones are; an empty address: nowhere. `channelId` null: the settings name it. */
  service: () => Promise<{
    baseUrl: string;
    apiKey: string;
    channelId: number | null;
    /** As of a service that a manager connected. */
    begin: (model: string) => (failure?: Error) => void;
  }>;
  /** Names of what can embed, the first being the usual one: connected services before this machine. */
  names: () => Promise<string[]>;
  /** Those of this machine, which take nothing. */
  freeNames: () => Promise<string[]>;
  /** The one of that name, else the usual one; null: `built-in` is asked for, or none is connected. */
  engine: (name: string) => Promise<EmbeddingEngine | null>;
  /** That very one, as texts were embedded with it; null: it is not there any more. */
  exact: (name: string) => Promise<EmbeddingEngine | null>;
  /** What puts passages in order, of the same service or of this machine; null: there is none. */
  reranker: () => Promise<{ free: boolean; rank: Reranker } | null>;
}

/**
 * `EMBEDDING_MODEL` names the models (by comma) of `EMBEDDING_BASE_URL`, which is the OpenAI-compatible
 * service where it is not set; without names the service is asked what it has.
 */
export const createEmbeddingModels = (
  settings: Pick<
    Settings,
    | 'embeddingBaseUrl'
    | 'embeddingApiKey'
    | 'embeddingModels'
    | 'openaiBaseUrl'
    | 'openaiApiKey'
    | 'openaiModels'
  >,
  /** The service that a manager connected instead; null: none. */
  connected: () => Promise<{
    channelId: number;
    baseUrl: string;
    nextKey: () => string;
    models: string[];
    begin: (model: string) => (failure?: Error) => void;
  } | null>,
  local: LocalKnowledgeModels,
): EmbeddingModels => {
  const own = settings.embeddingBaseUrl !== '';
  const apiKey = own ? settings.embeddingApiKey : settings.openaiApiKey;
  const baseUrl = own
    ? settings.embeddingBaseUrl
    : settings.openaiBaseUrl || (apiKey === '' ? '' : 'https://api.openai.com/v1');
  let known: { names: string[]; until: number } | null = null;
  const ask = async (): Promise<string[]> => {
    const instead = await connected();
    if (instead) return instead.models;
    if (baseUrl === '') return [];
    if (settings.embeddingModels.length > 0) return settings.embeddingModels;
    const told = own ? [] : settings.openaiModels;
    const fits = isKnowledgeModel;
    if (told.length > 0) return told.filter(fits);
    if (known && Date.now() < known.until) return known.names;
    try {
      const names = (await listModels({ baseUrl, apiKey }, AbortSignal.timeout(5_000))).filter(
        fits,
      );
      known = { names, until: Date.now() + askAgainMs.known };
    } catch {
      known = { names: known?.names ?? [], until: Date.now() + askAgainMs.failed };
    }
    return known.names;
  };
  const ofService = async () => (await ask()).filter((name) => !isReranker(name));
  const embedding = async () => [...new Set([...(await ofService()), ...(await local.names())])];
  const service = async () => {
    const instead = await connected();
    return instead
      ? { ...instead, apiKey: instead.nextKey() }
      : { baseUrl, apiKey, channelId: null, begin: () => () => {} };
  };
  const of = async (model: string): Promise<EmbeddingEngine | null> => {
    if (!(await ask()).includes(model)) return local.engine(model);
    const instead = await connected();
    if (!instead) return createOpenAiEmbedding({ baseUrl, nextKey: () => apiKey, model });
    const engine = createOpenAiEmbedding({ ...instead, model });
    return {
      ...engine,
      channelId: instead.channelId,
      embed: async (texts, signal) => {
        const told = instead.begin(model);
        try {
          const made = await engine.embed(texts, signal);
          told();
          return made;
        } catch (error) {
          if (error instanceof EmbeddingError) told(error);
          throw error;
        }
      },
    };
  };
  return {
    service,
    names: embedding,
    freeNames: async () => {
      const asked = await ofService();
      return (await local.names()).filter((name) => !asked.includes(name));
    },
    engine: async (name) => {
      if (name === 'built-in') return null;
      const names = await embedding();
      const chosen = names.find((each) => each === name) ?? names[0];
      return chosen === undefined ? null : of(chosen);
    },
    exact: of,
    reranker: async () => {
      const model = (await ask()).find((name) => isReranker(name));
      if (model === undefined) {
        const rank = await local.reranker();
        return rank && { free: true, rank };
      }
      const instead = await connected();
      const at = instead ?? { baseUrl, nextKey: () => apiKey };
      return { free: false, rank: createReranker({ ...at, model }) };
    },
  };
};
