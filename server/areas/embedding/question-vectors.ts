import type { EmbeddingModels } from '#server/engines/embedding/embedding-models.ts';
import type { MayAsk } from './may-ask.ts';

/** How long a question waits for its vector before it is looked up by words alone, ms. */
const vectorMs = 2_500;
/** Vectors of questions that are kept. */
const mostQuestions = 500;

export type QuestionVectors = ReturnType<typeof createQuestionVectors>;

/** Vectors of questions, of which the last ones are kept; several bases of one question ask once. */
export const createQuestionVectors = (embeddings: Pick<EmbeddingModels, 'exact'>) => {
  const questions = new Map<string, Promise<Buffer | null>>();

  const embed = async (question: string, model: string, mayAsk: MayAsk) => {
    try {
      const engine = await embeddings.exact(model);
      if (!engine || !(engine.free || (await mayAsk()))) return null;
      const { vectors } = await engine.embed([question], AbortSignal.timeout(vectorMs), true);
      return vectors[0] ?? null;
    } catch {
      // Words alone find most of it.
      return null;
    }
  };

  /** The question's vector by the model of the passages; null: none can be had now. */
  return async (question: string, model: string, mayAsk: MayAsk) => {
    const key = `${model}\n${question}`;
    let found = questions.get(key);
    if (!found) {
      found = embed(question, model, mayAsk);
      questions.set(key, found);
      const [oldest] = questions.keys();
      if (questions.size > mostQuestions && oldest !== undefined) questions.delete(oldest);
    }
    const vector = await found;
    // Who asks next may have more luck, or a bound of their own.
    if (!vector && questions.get(key) === found) questions.delete(key);
    return vector && { bytes: new Uint8Array(vector), model };
  };
};
