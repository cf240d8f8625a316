import type { Answer } from '#contract/calls.ts';
import { limits } from '#contract/limits.ts';
import { modelTypes } from '#contract/kinds.ts';
import { hearingDeduction } from '#contract/price.ts';
import type { Executor } from '#server/db/database.ts';
import { lookAtMedia } from '#server/engines/media.ts';
import { Refusal } from '#server/http/handlers.ts';
import { timeLimit } from '#server/net/time-limit.ts';
import {
  askEach,
  type Listener,
  longestMs,
  modelFor,
  paid,
  type SpeechDeps,
} from './paid-speech.ts';
import type { Turns } from './turns.ts';

/** Writes down what is said in a recording. */
export const hear = async (
  deps: SpeechDeps,
  taking: Turns,
  db: Executor,
  input: { model: string | undefined; data: Buffer },
  user: Listener,
): Promise<Answer<'speechToText'>> => {
  const model = await modelFor(deps, db, modelTypes.speechToText, input.model, user);
  if (!model) {
    const any = await deps.models.defaultMedia(db, modelTypes.speechToText, 'anybody');
    throw new Refusal(any ? 'model_unavailable' : 'recogniser_missing');
  }
  return taking(user, async () => {
    const signal = timeLimit(longestMs);
    const facts = await lookAtMedia(input.data, signal, user);
    if (!facts?.sound) throw new Refusal('upload_unreadable', '这段录音无法读取，请重新录一次');
    if (facts.seconds > limits.speech.seconds)
      throw new Refusal(
        'upload_unreadable',
        `录音太长，最多 ${Math.floor(limits.speech.seconds / 60)} 分钟`,
      );
    const { seconds, mime } = facts;
    const amount = hearingDeduction(model, seconds);
    const { made, spent } = await paid(
      deps,
      db,
      { amount, model, user, human: `语音识别 ${Math.ceil(seconds)} 秒` },
      (servedBy) =>
        askEach(
          deps,
          db,
          modelTypes.speechToText,
          { model, user },
          ({ channelId, engine, upstreamName }) => {
            servedBy(channelId);
            return engine.hear({ model: upstreamName, data: input.data, mime }, signal);
          },
        ),
    );
    return { text: made, duration: seconds, deduct_tokens: spent };
  });
};
