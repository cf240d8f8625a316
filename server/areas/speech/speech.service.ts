import { Readable } from 'node:stream';
import type { Parsed } from '#contract/calls.ts';
import { limits } from '#contract/limits.ts';
import { modelTypes } from '#contract/kinds.ts';
import { speakingDeduction } from '#contract/price.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import type { Spoken } from '#server/engines/speech/speech-engine.ts';
import type { Identity } from '#server/http/handlers.ts';
import { timeLimit } from '#server/net/time-limit.ts';
import type { ResolvedMediaModel } from '../model/resolved-model.ts';
import { hear } from './hear.ts';
import { type Listener, longestMs, type SpeechDeps } from './paid-speech.ts';
import { read, toBeSaid, voiceFor } from './read-aloud.ts';
import type { Sound } from './sound.ts';
import { speak } from './speak.ts';
import { createTurns } from './turns.ts';

/** The voice stays for ten minutes; it is not made ready again before these, ms. */
const prepareMs = 5 * 60_000;
/** Reads aloud and writes down what is said. */
export const createSpeechService = (deps: SpeechDeps) => {
  const taking = createTurns();

  let prepared = -Infinity;
  /** Makes the built-in voice ready, at most once in a while whoever asks. */
  const prepare = async (
    db: Executor,
    model: ResolvedMediaModel,
    user: Identity,
  ): Promise<void> => {
    if (!model.builtIn || performance.now() - prepared < prepareMs) return;
    prepared = performance.now();
    const channels = await deps.models.mediaEngines(
      db,
      modelTypes.textToSpeech,
      model.name,
      user.id,
    );
    await channels[0]?.engine.prepare?.();
  };

  return {
    /** Writes down what is said in a recording. */
    hear: (db: Executor, input: { model: string | undefined; data: Buffer }, user: Listener) =>
      hear(deps, taking, db, input, user),

    /** What reading so many words takes, and of which model. @throws Refusal */
    async quote(
      db: Executor,
      text: string,
      user: Listener,
    ): Promise<{ label: string; tokens: number; length: number }> {
      const model = await voiceFor(deps, db, undefined, user);
      const { length } = await toBeSaid(db, { text, voice: '' }, model);
      return { label: model.label, tokens: speakingDeduction(model, length), length };
    },

    /** Reads words aloud as a whole; `keep` runs in the transaction that takes the price. Gives that. */
    async say(
      db: Executor,
      asked: { text: string; signal: AbortSignal },
      user: Listener,
      keep: (tx: Transaction, sound: Spoken) => Promise<void>,
    ): Promise<number> {
      const model = await voiceFor(deps, db, undefined, user);
      const { words, length, said, voice } = await toBeSaid(db, { ...asked, voice: '' }, model);
      const bill = { amount: speakingDeduction(model, length), model, user, human: words };
      const signal = AbortSignal.any([asked.signal, timeLimit(longestMs)]);
      const work = {
        text: said,
        voice,
        speed: limits.speech.speed.usual,
        signal,
        onPart: () => {},
      };
      return taking(user, () => read(deps, db, bill, work, async () => {}, keep));
    },

    /** Reads words aloud (see `speak`), or makes ready for it. */
    async speak(db: Executor, input: Parsed<'textToSpeech'>, user: Identity): Promise<Sound> {
      const model = await voiceFor(deps, db, input.model, user);
      if (input.prepare !== 1) return speak(deps, taking, db, input, { model, user });
      await prepare(db, model, user);
      return { stream: Readable.from([]), size: 0, mime: 'audio/mpeg' };
    },
  };
};

export type SpeechService = ReturnType<typeof createSpeechService>;
