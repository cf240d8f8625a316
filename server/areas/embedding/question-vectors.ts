import { setTimeout as sleep } from 'node:timers/promises';
import { type Calibration, calibrate, trustIn } from '#server/engines/embedding/calibration.ts';
import type { EmbeddingEngine } from '#server/engines/embedding/embedding-engine.ts';
import type { EmbeddingModels } from '#server/engines/embedding/embedding-models.ts';
import type { MayAsk } from './may-ask.ts';

/** How long a question waits for its vector before it is looked up by words alone, ms. */
const vectorMs = 2_500;
/** Vectors of questions that are kept. */
const mostQuestions = 500;
/** How long a model may take to be measured; when it is again, as another may have its name, or it failed; ms. */
const measuring = { mostMs: 60_000, againMs: 24 * 3_600_000, failedMs: 60_000 };

/** A question by the model of the passages, and what its cosines mean. */
export interface QuestionVector {
  bytes: Uint8Array;
  model: string;
  calibration: Calibration;
  /** How far the model is trusted with it, 0 to 1. */
  trust: number;
}
export type QuestionVectors = ReturnType<typeof createQuestionVectors>;

/** What the cosines of models mean; each is measured at its first question. */
const createCalibrations = () => {
  const known = new Map<string, { measured: Promise<Calibration | null>; until: number }>();
  return (engine: EmbeddingEngine): Promise<Calibration | null> => {
    const key = `${engine.channelId ?? ''} ${engine.model}`;
    const before = known.get(key);
    if (before && Date.now() < before.until) return before.measured;
    const measured: Promise<Calibration | null> = calibrate(
      engine,
      AbortSignal.timeout(measuring.mostMs),
    ).catch(() => {
      known.set(key, { measured, until: Date.now() + measuring.failedMs });
      return null;
    });
    known.set(key, { measured, until: Date.now() + measuring.againMs });
    return measured;
  };
};

/** Vectors of questions, of which the last ones are kept; several bases of one question ask once. */
export const createQuestionVectors = (embeddings: Pick<EmbeddingModels, 'exact'>) => {
  const questions = new Map<string, Promise<QuestionVector | null>>();
  const calibrationOf = createCalibrations();

  const embed = async (
    question: string,
    model: string,
    mayAsk: MayAsk,
  ): Promise<QuestionVector | null> => {
    try {
      const engine = await embeddings.exact(model);
      // Measuring goes on where it takes longer: the next question has it.
      const calibration =
        engine &&
        (await Promise.race([calibrationOf(engine), sleep(vectorMs, null, { ref: false })]));
      const trust = calibration && trustIn(calibration, question);
      if (!calibration || trust === null) return null;
      if (!engine.free && !(await mayAsk())) return null;
      const { vectors } = await engine.embed([question], AbortSignal.timeout(vectorMs), true);
      return vectors[0] ? { bytes: new Uint8Array(vectors[0]), model, calibration, trust } : null;
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
    return vector;
  };
};
