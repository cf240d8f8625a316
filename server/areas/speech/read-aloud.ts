import { speechText, spokenLength } from '#common/speech-text.ts';
import { limits, tooLongText } from '#contract/limits.ts';
import { modelTypes } from '#contract/kinds.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import type { OnPart, Spoken } from '#server/engines/speech/speech-engine.ts';
import { Refusal } from '#server/http/handlers.ts';
import { labelledSound, labelParts } from '#server/labels/sound.ts';
import { spokenText } from '../compliance/foot.ts';
import { makeLabel } from '../compliance/labels.service.ts';
import type { ResolvedMediaModel } from '../model/resolved-model.ts';
import {
  askEach,
  type Bill,
  type Listener,
  modelFor,
  paid,
  type SpeechDeps,
} from './paid-speech.ts';

/** What is longer is not looked at: code and addresses, which are not said, are so much at most. */
const longest = 40 * limits.speech.characters;

/** Where there is nothing to read with. */
const noVoice =
  '服务器上没有安装朗读的声音：管理员可以连接一个语音服务，安装 text2wav，或设置 VOICE_MODEL_DIR';
/** The model that reads. @throws Refusal model_unavailable */
export const voiceFor = async (
  deps: Pick<SpeechDeps, 'models'>,
  db: Executor,
  name: string | undefined,
  user: Listener,
): Promise<ResolvedMediaModel> => {
  const model = await modelFor(deps, db, modelTypes.textToSpeech, name, user);
  if (model) return model;
  const any = await deps.models.defaultMedia(db, modelTypes.textToSpeech, 'anybody');
  throw new Refusal('model_unavailable', any ? undefined : noVoice);
};

const tooLong = () => new Refusal('prompt_too_long', tooLongText(limits.speech.characters));

/** How long a text is to whoever says it. @throws Refusal prompt_too_short, prompt_too_long */
export const lengthToSay = (text: string): number => {
  const length = spokenLength(text);
  if (!/[\p{L}\p{N}]/u.test(text)) throw new Refusal('prompt_too_short', '没有可以念的文字');
  if (length > limits.speech.characters) throw tooLong();
  return length;
};

/** The voice that is asked for, where the model may have it; else its first. */
export const voiceOf = (
  { builtIn, voice }: Pick<ResolvedMediaModel, 'builtIn' | 'voice'>,
  wanted: string,
): string => {
  const known = Object.keys(voice ?? {});
  return wanted !== '' && (!builtIn || known.includes(wanted)) ? wanted : (known[0] ?? '');
};

/** The words as they are said, and by which voice. @throws Refusal prompt_too_short, prompt_too_long */
export const toBeSaid = async (
  db: Executor,
  asked: { text: string; voice: string },
  model: ResolvedMediaModel,
) => {
  if (asked.text.length > longest) throw tooLong();
  const words = speechText(asked.text);
  const length = lengthToSay(words);
  const said = await spokenText(db, words, 'mark_sound');
  return { words, length, said, voice: voiceOf(model, asked.voice) };
};

/** Reads words aloud, says in the sound what made it, and takes its price. */
export const read = async (
  deps: SpeechDeps,
  db: Executor,
  bill: Bill,
  work: { text: string; voice: string; speed: number; signal: AbortSignal; onPart: OnPart },
  put: (sound: Spoken) => Promise<void>,
  keep: (tx: Transaction, sound: Spoken) => Promise<void>,
): Promise<number> => {
  const { model, user } = bill;
  const { onPart, signal, ...words } = work;
  let delivered = false;
  const label = await makeLabel(db, { kind: 'speech', userId: user.id, model: model.name });
  const parts = labelParts(label);
  const handOn: OnPart = (part, mime) => {
    delivered = true;
    const labelled = parts.next(part, mime);
    if (labelled.length > 0) onPart(labelled, mime);
  };
  const { spent } = await paid(
    deps,
    db,
    bill,
    async (servedBy) => {
      const spoken = await askEach(
        deps,
        db,
        modelTypes.textToSpeech,
        { model, user },
        ({ channelId, engine, upstreamName }) => {
          servedBy(channelId);
          return engine.speak({ model: upstreamName, ...words }, signal, handOn);
        },
        () => delivered,
      );
      const left = parts.rest();
      if (left.length > 0) onPart(left, spoken.mime);
      const { mime } = spoken;
      // Who hears it now has heard it already: what is kept is signed.
      const data = await deps.sign(labelledSound(spoken.data, mime, label), mime);
      const sound = { data, mime };
      await put(sound);
      return sound;
    },
    keep,
  );
  return spent;
};
