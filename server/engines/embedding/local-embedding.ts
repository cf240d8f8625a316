import { isInstalled } from '#server/optional-packages.ts';
import { createLlamaReader } from '../local/llama-reader.ts';
import { type ModelHere, modelsHere } from '../local/model-folder.ts';
import { EmbeddingError, type EmbeddingEngine } from './embedding-engine.ts';
import type { Reranker } from './rerank.ts';

/** What was found in the folder holds for so long, ms. */
const knownMs = 2_000;
/** A reranker that was too slow so often in a row is not asked for so long, ms. */
const slow = { times: 3, restMs: 10 * 60_000 };
/** Texts of one order: a question that comes meanwhile waits for no more than these. */
const batch = 4;

/** What this machine embeds and ranks with: models whose files lie in the folder. */
export interface LocalKnowledgeModels {
  /** Names of those that embed. */
  names: () => Promise<string[]>;
  /** Null: it is not here. */
  engine: (name: string) => Promise<EmbeddingEngine | null>;
  /** Null: there is none. */
  reranker: () => Promise<Reranker | null>;
  close: () => void;
}

export const createLocalKnowledgeModels = (folder: string): LocalKnowledgeModels => {
  const vectors = createLlamaReader();
  const ranks = createLlamaReader();
  let misses = 0;
  let restsUntil = 0;
  let known: { here: ModelHere[]; until: number } | null = null;
  const here = async (kind: ModelHere['kind']): Promise<ModelHere[]> => {
    if (!known || Date.now() >= known.until)
      known = {
        here: isInstalled('node-llama-cpp') ? await modelsHere(folder) : [],
        until: Date.now() + knownMs,
      };
    return known.here.filter((model) => model.kind === kind);
  };
  return {
    names: async () => (await here('embedding')).map(({ key }) => key),
    engine: async (name) => {
      const model = (await here('embedding')).find(({ key }) => key === name);
      if (!model) return null;
      return {
        model: model.key,
        free: true,
        batch,
        embed: async (texts, signal, question = false) => {
          const asked = question ? texts.map((text) => model.question + text) : [...texts];
          const order = { kind: 'embed', file: model.path, texts: asked } as const;
          try {
            const answer = await vectors.read(order, signal, question);
            if (answer.kind !== 'vectors' || answer.vectors.length !== texts.length)
              throw new Error('the model did not read every text');
            return {
              vectors: answer.vectors.map((text) => Buffer.from(text, 'base64')),
              tokens: answer.tokens,
            };
          } catch (cause) {
            signal.throwIfAborted();
            throw new EmbeddingError('本机的向量模型没有读成', { retriable: true, cause });
          }
        },
      };
    },
    reranker: async () => {
      const [model] = await here('rerank');
      if (!model || Date.now() < restsUntil) return null;
      return async (question, texts, signal) => {
        const file = model.path;
        try {
          const answer = await ranks.read(
            { kind: 'rank', file, question, texts: [...texts] },
            signal,
            true,
          );
          misses = 0;
          return answer.kind === 'scores' && answer.scores.length === texts.length
            ? answer.scores
            : null;
        } catch {
          // Too slow, or it failed: their order by words and vectors is good enough. What is always
          // too slow would only heat the machine.
          misses += 1;
          if (misses >= slow.times) {
            misses = 0;
            restsUntil = Date.now() + slow.restMs;
          }
          return null;
        }
      };
    },
    close: () => {
      vectors.close();
      ranks.close();
    },
  };
};
