import type { EmbeddingModels } from '#server/engines/embedding/embedding-models.ts';
import type { MayAsk } from './may-ask.ts';

/** How long a question waits for its vector before it is looked up by words alone, ms. */
const vectorMs = 2_500;
/** Vectors of questions that are kept. */
const mostQuestions = 500;

export type QuestionVectors = ReturnType<typeof createQuestionVectors>;

/** Vectors of questions, of which the last ones are kept. */
export const createQuestionVectors = (embeddings: Pick<EmbeddingModels, 'exact'>) => {
  const questions = new Map<string, Buffer>();

  /** The question's vector by the model of the passages; null: none can be had now. */
  return async (question: string, model: string, mayAsk: MayAsk) => {
    const key = `${model}\n${question}`;
    const known = questions.get(key);
    if (known) return { bytes: new Uint8Array(known), model };
    try {
      const engine = await embeddings.exact(model);
      if (!engine || !(engine.free || (await mayAsk()))) return null;
      const { vectors } = await engine.embed([question], AbortSignal.timeout(vectorMs), true);
      const [vector] = vectors;
      if (!vector) return null;
      questions.set(key, vector);
      const [oldest] = questions.keys();
      if (questions.size > mostQuestions && oldest !== undefined) questions.delete(oldest);
      return { bytes: new Uint8Array(vector), model };
    } catch {
      // Words alone find most of it.
      return null;
    }
  };
};
