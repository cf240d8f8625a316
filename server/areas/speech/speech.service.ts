import { createHash, randomUUID } from 'node:crypto';
import { PassThrough, Readable } from 'node:stream';
import type { FastifyBaseLogger } from 'fastify';
import { speechText, spokenLength } from '#common/speech-text.ts';
import type { Answer, Parsed } from '#contract/calls.ts';
import { limits, tooLongText } from '#contract/limits.ts';
import { modelTypes } from '#contract/kinds.ts';
import { hearingDeduction, speakingDeduction } from '#contract/price.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { lookAtMedia } from '#server/engines/media.ts';
import {
  SpeechEngineError,
  type OnPart,
  type Spoken,
} from '#server/engines/speech/speech-engine.ts';
import { createFairQueue } from '#server/fair-queue.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import { labelledSound, labelParts } from '#server/labels/sound.ts';
import { timeLimit } from '#server/net/time-limit.ts';
import type { Storage } from '#server/storage/storage-interface.ts';
import { newKey } from '#server/storage/storage.ts';
import { excerptOf } from '#common/markdown/digest.ts';
import type { Sign } from '../file/stored-images.ts';
import { spokenText } from '../compliance/foot.ts';
import { makeLabel } from '../compliance/labels.service.ts';
import { readableReply } from '../chat/reply.service.ts';
import { countFreeUse, noteFailedUse, hold, release, settling } from '../ledger/ledger.service.ts';
import type { ModelService } from '../model/model.service.ts';
import type { MediaChannel, MediaType, ResolvedMediaModel } from '../model/resolved-model.ts';
import { requireUsable } from '../model/usable.ts';
import * as store from './speech.store.ts';

/** The voice stays for ten minutes; it is not made ready again before these, ms. */
const prepareMs = 5 * 60_000;
/** Where there is nothing to read with. */
const noVoice =
  '服务器上没有安装朗读的声音：管理员可以连接一个语音服务，安装 text2wav，或设置 VOICE_MODEL_DIR';
/** How long a reading or a listening may take, ms. */
const longestMs = 5 * 60_000;
/** Of these that one person may ask for at once. */
const atOnce = 2;
/** Of these that all guests together may have at once, each network one of them; a queue's last is never theirs. */
const guestsAtOnce = 4;

/** The name of a reading's file in the storage. */
export const speechKey = (key: string, mime: string): string =>
  `${key}.${mime === 'audio/wav' ? 'wav' : 'mp3'}`;

/** Beyond the range it is the usual one (decisions: above 2 becomes 1). */
const speedOf = (speed: number): number => {
  const { min, max, usual } = limits.speech.speed;
  if (speed > max) return usual;
  return Math.round(Math.max(min, speed) * 100) / 100;
};

/** Who has something read or written down. */
type Listener = Pick<Identity, 'id' | 'guest' | 'person'>;

/** A sound, maybe still being made. */
export interface Sound {
  mime: Spoken['mime'];
  stream: Readable;
  /** Bytes; null: not known before it is made. */
  size: number | null;
}

/**
 * A sound that can be heard from its first part on. It ends once `make` has, and breaks when that
 * fails; what fails before the first part is thrown.
 */
const soundOf = (
  make: (onPart: OnPart) => Promise<void>,
  onBroken: (error: unknown) => void,
): Promise<Sound> =>
  new Promise((resolve, reject) => {
    const stream = new PassThrough();
    // Who hears it may leave; it is made all the same.
    stream.on('error', () => {});
    let begun = false;
    const hear: OnPart = (part, mime) => {
      if (!stream.destroyed) stream.write(part);
      begun = true;
      resolve({ mime, stream, size: null });
    };
    const run = async () => {
      try {
        await make(hear);
        stream.end();
        if (!begun) reject(new Refusal('engine_failed'));
      } catch (error) {
        if (begun) onBroken(error);
        reject(error);
        stream.destroy(error as Error);
      }
    };
    void run();
  });

export const createSpeechService = (deps: {
  models: Pick<ModelService, 'findMedia' | 'defaultMedia' | 'mediaEngines' | 'reportMediaOutcome'>;
  storage: Storage;
  sign: Sign;
  log: FastifyBaseLogger;
  /** This process. */
  owner: number;
  /** Bytes of readings that are kept of one person's sessions. */
  room: number;
}) => {
  const { models, storage, sign, log, owner, room } = deps;
  const busy = new Map<string, number>();
  const guestLane = createFairQueue(guestsAtOnce + 1, atOnce);

  /** Nobody has more than a few of these at once. */
  const taking = async <T>(user: Listener, act: () => Promise<T>): Promise<T> => {
    const { person } = user;
    const running = busy.get(person) ?? 0;
    if (running >= atOnce) throw new Refusal('too_many_jobs', '上一段还没有完成，请稍候');
    busy.set(person, running + 1);
    try {
      return await (user.guest ? guestLane(user, act) : act());
    } finally {
      const left = (busy.get(person) ?? 1) - 1;
      if (left === 0) busy.delete(person);
      else busy.set(person, left);
    }
  };

  const modelFor = async (
    db: Executor,
    type: MediaType,
    name: string | undefined,
    user: Listener,
  ): Promise<ResolvedMediaModel | null> => {
    const model =
      name === undefined || name === ''
        ? await models.defaultMedia(db, type, user)
        : await models.findMedia(db, type, name);
    if (model) await requireUsable(db, model, user);
    return model;
  };

  /** Asks the services of a model one after the other. @throws Refusal */
  const askEach = async <T extends MediaType, R>(
    db: Executor,
    type: T,
    { model, user }: { model: ResolvedMediaModel; user: Listener },
    act: (channel: MediaChannel<T>) => Promise<R>,
    delivered: () => boolean = () => false,
  ): Promise<R> => {
    let failure = new Refusal('model_unavailable');
    for (const channel of await models.mediaEngines(db, type, model.name, user.id)) {
      const { channelId } = channel;
      const outcome = { channelId, model: model.name, userId: user.id };
      try {
        const made = await act(channel);
        models.reportMediaOutcome({ ...outcome, ok: true });
        return made;
      } catch (error) {
        if (!(error instanceof SpeechEngineError)) throw error;
        log.warn({ err: error, channelId }, 'a service of speech failed');
        const { message: told, against } = error;
        models.reportMediaOutcome({ ...outcome, ok: false, told, against });
        failure = new Refusal(error.codeName, error.message);
        if (!error.retriable || delivered()) break;
      }
    }
    throw failure;
  };

  /**
   * Holds the price, does the work, and takes the price in the transaction that keeps what was
   * made; of what failed nothing is taken.
   */
  const paid = async <R>(
    db: Executor,
    bill: { amount: number; model: ResolvedMediaModel; user: Listener; human: string },
    act: (servedBy: (channelId: number) => void) => Promise<R>,
    keep: (tx: Transaction, made: R) => Promise<void> = async () => {},
  ): Promise<{ made: R; spent: number }> => {
    const { amount, model, user, human } = bill;
    const holdId =
      amount === 0
        ? null
        : await hold(db, {
            userId: user.id,
            amount,
            reference: `speech:${randomUUID()}`,
            vipAllowed: !model.vipExcluded,
            owner,
          });
    if (amount > 0 && holdId === null) throw new Refusal('balance');
    let channelId: number | null = null;
    const servedBy = (id: number) => {
      channelId = id;
    };
    try {
      const made = await act(servedBy);
      const spent = await inTransaction(db, async (tx) => {
        await keep(tx, made);
        const use = {
          type: model.type,
          model: model.name,
          prompt_tokens: 0,
          completion_tokens: 0,
          channelId,
        };
        if (holdId === null) {
          await countFreeUse(tx, user.id, use);
          return 0;
        }
        const settled = await settling(tx, holdId, amount, { ...use, human: excerptOf(human) });
        await settled.save();
        return settled.spent;
      });
      return { made, spent };
    } catch (error) {
      if (holdId !== null) await release(db, holdId);
      if (error instanceof Refusal)
        await noteFailedUse(db, user.id, { type: model.type, model: model.name, channelId });
      throw error;
    }
  };

  const voiceFor = async (
    db: Executor,
    name: string | undefined,
    user: Listener,
  ): Promise<ResolvedMediaModel> => {
    const model = await modelFor(db, modelTypes.textToSpeech, name, user);
    if (model) return model;
    const any = await models.defaultMedia(db, modelTypes.textToSpeech, 'anybody');
    throw new Refusal('model_unavailable', any ? undefined : noVoice);
  };

  /** The words as they are said, and by which voice. @throws Refusal prompt_too_short, prompt_too_long */
  const toBeSaid = async (
    db: Executor,
    asked: { text: string; voice: string },
    model: ResolvedMediaModel,
  ) => {
    const words = speechText(asked.text);
    const length = spokenLength(words);
    if (!/[\p{L}\p{N}]/u.test(words)) throw new Refusal('prompt_too_short', '没有可以念的文字');
    if (length > limits.speech.characters)
      throw new Refusal('prompt_too_long', tooLongText(limits.speech.characters));
    const said = await spokenText(db, words, 'mark_sound');
    const known = Object.keys(model.voice ?? {});
    const named = asked.voice !== '' && (!model.builtIn || known.includes(asked.voice));
    return { words, length, said, voice: named ? asked.voice : (known[0] ?? '') };
  };

  /** Reads words aloud, says in the sound what made it, and takes its price. */
  const read = async (
    db: Executor,
    bill: Parameters<typeof paid>[1],
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
      db,
      bill,
      async (servedBy) => {
        const spoken = await askEach(
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
        const data = await sign(labelledSound(spoken.data, mime, label), mime);
        const sound = { data, mime };
        await put(sound);
        return sound;
      },
      keep,
    );
    return spent;
  };

  let prepared = -Infinity;
  /** Makes the built-in voice ready, at most once in a while whoever asks. */
  const prepare = async (
    db: Executor,
    model: ResolvedMediaModel,
    user: Identity,
  ): Promise<void> => {
    if (!model.builtIn || performance.now() - prepared < prepareMs) return;
    prepared = performance.now();
    const channels = await models.mediaEngines(db, modelTypes.textToSpeech, model.name, user.id);
    await channels[0]?.engine.prepare?.();
  };

  return {
    /** Writes down what is said in a recording. */
    async hear(
      db: Executor,
      input: { model: string | undefined; data: Buffer },
      user: Listener,
    ): Promise<Answer<'speechToText'>> {
      const model = await modelFor(db, modelTypes.speechToText, input.model, user);
      if (!model) {
        const any = await models.defaultMedia(db, modelTypes.speechToText, 'anybody');
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
          db,
          { amount, model, user, human: `语音识别 ${Math.ceil(seconds)} 秒` },
          (servedBy) =>
            askEach(
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
    },

    /** What reading so many words takes, and of which model. @throws Refusal */
    async quote(
      db: Executor,
      text: string,
      user: Listener,
    ): Promise<{ label: string; tokens: number; length: number }> {
      const model = await voiceFor(db, undefined, user);
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
      const model = await voiceFor(db, undefined, user);
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
      return taking(user, () => read(db, bill, work, async () => {}, keep));
    },

    /** Reads words aloud, or gives what was read before. */
    async speak(db: Executor, input: Parsed<'textToSpeech'>, user: Identity): Promise<Sound> {
      const model = await voiceFor(db, input.model, user);
      if (input.prepare === 1) {
        await prepare(db, model, user);
        return { stream: Readable.from([]), size: 0, mime: 'audio/mpeg' };
      }
      const historyId = input.history_id;
      const reply = historyId === undefined ? null : await readableReply(db, historyId, user);
      const { words, length, said, voice } = await toBeSaid(
        db,
        { text: input.text || (reply?.ai ?? ''), voice: input.voice },
        model,
      );
      const speed = speedOf(input.speed);
      const place = reply &&
        historyId !== undefined && {
          historyId,
          model: model.name,
          voice,
          speed: Math.round(speed * 100),
          words: createHash('sha256').update(said).digest(),
        };
      const anew = input.refresh === 1;
      const before = place && !anew ? await store.findSpeech(db, place) : null;
      const found = before && (await storage.get(speechKey(before.key, before.mime)));
      if (before && found) return { ...found, mime: before.mime };
      const make = async (onPart: OnPart): Promise<void> => {
        const signal = timeLimit(longestMs);
        const amount = speakingDeduction(model, length);
        const key = newKey();
        const old: string[] = [];
        const bill = { amount, model, user, human: words };
        const work = { text: said, voice, speed, signal, onPart };
        await read(
          db,
          bill,
          work,
          async ({ data, mime }) => {
            if (place) await storage.put(speechKey(key, mime), data, mime);
          },
          async (tx, { data, mime }) => {
            if (!place || !reply) return;
            const { sessionId } = reply;
            const row = { ...place, sessionId, key, mime, size: data.length };
            const before = await store.keepSpeech(tx, row);
            if (before !== null) old.push(speechKey(before, mime));
            // Anybody may have anything read in a session that they may read: it is no shelf of theirs.
            for (const gone of await store.removeBeyond(tx, sessionId, room))
              old.push(speechKey(gone.key, gone.mime));
          },
        );
        for (const key of old) await storage.delete(key);
      };
      return soundOf(
        (onPart) => taking(user, () => make(onPart)),
        (error) => log.warn({ err: error }, 'a reading broke off'),
      );
    },
  };
};

export type SpeechService = ReturnType<typeof createSpeechService>;
