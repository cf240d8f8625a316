import type { FastifyBaseLogger } from 'fastify';
import { limits } from '#contract/limits.ts';
import { speechFields, transcriptionFields, translationFields } from '#contract/open-fields.ts';
import { modelTypes } from '#contract/kinds.ts';
import { hearingDeduction, speakingDeduction } from '#contract/price.ts';
import type { Database } from '#server/db/database.ts';
import { createFairQueue } from '#server/fair-queue.ts';
import { lookAtMedia } from '#server/engines/media.ts';
import { SpeechEngineError } from '#server/engines/speech/speech-engine.ts';
import { Refusal } from '#server/http/handlers.ts';
import { labelledSound } from '#server/labels/sound.ts';
import { ApiRefusal } from '#server/http/open-failure.ts';
import type { OpenContext, OpenHandlers } from '#server/http/open-handlers.ts';
import { spokenText } from '../compliance/foot.ts';
import { makeLabel } from '../compliance/labels.service.ts';
import type { Sign } from '../file/stored-images.ts';
import type { ModelService } from '../model/model.service.ts';
import type { ResolvedMediaModel } from '../model/resolved-model.ts';
import { isUsable } from '../model/usable.ts';
import { longestMs } from '../speech/paid-speech.ts';
import { lengthToSay, voiceOf } from '../speech/read-aloud.ts';
import { openCharge } from './charge.ts';
import { noSuchModel, openToKey } from './key-models.ts';
import { takeFields } from './fields.ts';
import { tellPrice } from './price-told.ts';
import { workSignal } from './work-signal.ts';

type SpeechType = (typeof modelTypes)['speechToText'] | (typeof modelTypes)['textToSpeech'];

/** What costs nothing is made by this machine: of each person one at a time, and so many may wait. */
const forNothing = createFairQueue(2, 8);

interface SpeechApiDeps {
  db: Database;
  sign: Sign;
  models: Pick<
    ModelService,
    'findMedia' | 'defaultMedia' | 'mediaEngines' | 'reportMediaOutcome' | 'closedToApi'
  >;
  /** A text in English; null: nobody is here who could translate it. */
  inEnglish: (context: OpenContext, text: string) => Promise<string | null>;
  log: FastifyBaseLogger;
}

/** The named model, or the usual one. @throws Refusal, where this key may not use it */
const modelFor = async (
  { db, models }: SpeechApiDeps,
  { caller }: OpenContext,
  type: SpeechType,
  named: string | undefined,
): Promise<ResolvedMediaModel> => {
  const model =
    named === undefined
      ? await models.defaultMedia(db, type, caller.user)
      : await models.findMedia(db, type, named);
  if (!model && named === undefined)
    throw new Refusal(
      type === modelTypes.speechToText ? 'recogniser_missing' : 'model_unavailable',
    );
  const mayUse = await openToKey({ db, models }, caller);
  if (!model || !mayUse(model.name)) throw noSuchModel(named ?? model?.name ?? '');
  if (!(await isUsable(db, model, caller.user))) throw noSuchModel(model.name);
  return model;
};

/** Asks the services of a model one after the other, and bills what one of them gave. */
const paid = async <T extends SpeechType, R>(
  deps: SpeechApiDeps,
  context: OpenContext,
  { type, model, amount }: { type: T; model: ResolvedMediaModel; amount: number },
  act: (
    channel: Awaited<ReturnType<typeof deps.models.mediaEngines<T>>>[number],
    signal: AbortSignal,
  ) => Promise<R>,
): Promise<R> => {
  const { db, models, log } = deps;
  const { caller } = context;
  const charge = await openCharge(deps, caller, { model: model.name, type, amount });
  const work = workSignal(context.signal, amount > 0);
  const signal = AbortSignal.any([work, AbortSignal.timeout(longestMs)]);
  let failure: unknown = new Refusal('model_unavailable');
  for (const channel of await models.mediaEngines(db, type, model.name, caller.user.id)) {
    // Nobody is asked anew for who has gone.
    if (context.signal.aborted) break;
    const { channelId, label } = channel;
    charge.servedBy(channelId);
    const outcome = { channel, model: model.name, userId: caller.user.id };
    try {
      const making = () => act(channel, signal);
      const made = await (amount > 0 ? making() : forNothing(caller.user, making));
      models.reportMediaOutcome({ ...outcome, failure: null });
      context.header('x-channel', encodeURIComponent(label));
      const deducted = await charge.settle({
        promptTokens: 0,
        completionTokens: 0,
        prompt: amount,
        completion: 0,
      });
      tellPrice(context, deducted);
      return made;
    } catch (error) {
      failure = work.aborted ? work.reason : error;
      if (!(error instanceof SpeechEngineError) || work.aborted) break;
      log.warn({ err: error, channelId }, 'a service of speech failed a call of the API');
      models.reportMediaOutcome({ ...outcome, failure: error });
      failure = new Refusal(error.codeName, error.message);
      if (!error.retriable) break;
    }
  }
  await charge.release(true);
  throw failure;
};

const speak = async (
  deps: SpeechApiDeps,
  context: OpenContext,
  asked: {
    text: string;
    voice: string | null | undefined;
    speed: number | null | undefined;
    model: string | undefined;
  },
): Promise<{ bytes: Buffer; type: string }> => {
  const type = modelTypes.textToSpeech;
  const model = await modelFor(deps, context, type, asked.model);
  const { text } = asked;
  const length = lengthToSay(text);
  const voice = voiceOf(model, asked.voice ?? '');
  const { min, max, usual } = limits.speech.speed;
  const speed = Math.min(max, Math.max(min, asked.speed ?? usual));
  const said = await spokenText(deps.db, text, 'mark_api');
  const { data, mime } = await paid(
    deps,
    context,
    { type, model, amount: speakingDeduction(model, length) },
    ({ engine, upstreamName }, signal) =>
      engine.speak({ model: upstreamName, text: said, voice, speed }, signal),
  );
  const userId = context.caller.user.id;
  const label = await makeLabel(deps.db, { kind: 'speech', userId, model: model.name });
  return { bytes: await deps.sign(labelledSound(data, mime, label), mime), type: mime };
};

const hear = async (
  deps: SpeechApiDeps,
  context: OpenContext,
  named: string | undefined,
  told: { language?: string | undefined; hint?: string | undefined },
): Promise<string> => {
  const type = modelTypes.speechToText;
  const model = await modelFor(deps, context, type, named);
  const [file] = context.files;
  if (!file) throw new Refusal('bad_input', 'file：请选择一段录音');
  const facts = await lookAtMedia(file.data, AbortSignal.timeout(longestMs), context.caller.user);
  if (!facts?.sound) throw new Refusal('upload_unreadable', 'file：这段录音无法读取');
  const { seconds, mime } = facts;
  if (seconds > limits.speech.seconds)
    throw new Refusal(
      'upload_unreadable',
      `file：录音太长，最多 ${Math.floor(limits.speech.seconds / 60)} 分钟`,
    );
  return paid(
    deps,
    context,
    { type, model, amount: hearingDeduction(model, seconds) },
    ({ engine, upstreamName }, signal) =>
      engine.hear({ model: upstreamName, data: file.data, mime, ...told }, signal),
  );
};

const written = (text: string, format: string | null | undefined) =>
  format === 'text' ? { text, type: 'text/plain; charset=utf-8' } : { json: { text } };

/** Speech for programs. */
export const createSpeechApi = (
  deps: SpeechApiDeps,
): Pick<
  OpenHandlers,
  'createSpeech' | 'createTranscription' | 'createTranslation' | 'apiSpeech' | 'apiTranscribe'
> => ({
  async createSpeech(input, context) {
    takeFields(context, speechFields, input, 'service');
    const { input: text, voice, speed, model } = input;
    return speak(deps, context, { text, voice, speed, model });
  },

  apiSpeech: ({ text, voice, speed, model }, context) =>
    speak(deps, context, { text, voice, speed, model }),

  async createTranscription(input, context) {
    takeFields(context, transcriptionFields, input, 'service');
    const { model, response_format: format, language, prompt } = input;
    const text = await hear(deps, context, model, {
      language: language ?? undefined,
      hint: prompt ?? undefined,
    });
    return written(text, format);
  },

  async createTranslation(input, context) {
    takeFields(context, translationFields, input, 'service');
    const heard = await hear(deps, context, input.model, { hint: input.prompt ?? undefined });
    const text = heard === '' ? '' : await deps.inEnglish(context, heard);
    if (text === null)
      throw new ApiRefusal(
        'model_unavailable',
        '没有能翻译的对话模型；听写的文字请用 /v1/audio/transcriptions',
      );
    return written(text, input.response_format);
  },

  apiTranscribe: async ({ model, language }, context) => ({
    json: { result: true, text: await hear(deps, context, model, { language }) },
  }),
});
