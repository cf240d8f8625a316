import { createHash } from 'node:crypto';
import type { Parsed } from '#contract/calls.ts';
import { limits } from '#contract/limits.ts';
import { speakingDeduction } from '#contract/price.ts';
import type { Executor } from '#server/db/database.ts';
import type { OnPart } from '#server/engines/speech/speech-engine.ts';
import type { Identity } from '#server/http/handlers.ts';
import { timeLimit } from '#server/net/time-limit.ts';
import { newKey } from '#server/storage/storage.ts';
import { readableReply } from '../chat/reply.service.ts';
import type { ResolvedMediaModel } from '../model/resolved-model.ts';
import { longestMs, type SpeechDeps } from './paid-speech.ts';
import { read, toBeSaid } from './read-aloud.ts';
import { type Sound, soundOf } from './sound.ts';
import * as store from './speech.store.ts';
import type { Turns } from './turns.ts';

/** The name of a reading's file in the storage. */
export const speechKey = (key: string, mime: string): string =>
  `${key}.${mime === 'audio/wav' ? 'wav' : 'mp3'}`;

/** Beyond the range it is the usual one (decisions: above 2 becomes 1). */
const speedOf = (speed: number): number => {
  const { min, max, usual } = limits.speech.speed;
  if (speed > max) return usual;
  return Math.round(Math.max(min, speed) * 100) / 100;
};

const letters = (text: string): string => text.replaceAll(/[^\p{L}\p{N}]+/gu, '');
const isOf = (said: string, reply: string): boolean => letters(reply).includes(letters(said));

/** Reads words aloud; of a reply it gives what was read before, and keeps what is read. */
export const speak = async (
  deps: SpeechDeps,
  taking: Turns,
  db: Executor,
  input: Parsed<'textToSpeech'>,
  { model, user }: { model: ResolvedMediaModel; user: Identity },
): Promise<Sound> => {
  const { storage } = deps;
  const historyId = input.history_id;
  const reply = historyId === undefined ? null : await readableReply(db, historyId, user);
  const { words, length, said, voice } = await toBeSaid(
    db,
    { text: input.text || (reply?.ai ?? ''), voice: input.voice },
    model,
  );
  const speed = speedOf(input.speed);
  // On the shelf of a session lies what is said in it, or what its owner had read.
  const shelved = reply !== null && (reply.own || isOf(words, reply.ai));
  const place = shelved &&
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
      deps,
      db,
      bill,
      work,
      async ({ data, mime }) => {
        if (place) await storage.put(speechKey(key, mime), data, mime);
      },
      async (tx, { data, mime }) => {
        if (!place || !reply) return;
        const { sessionId, own } = reply;
        const row = { ...place, sessionId, own, key, mime, size: data.length };
        const before = await store.keepSpeech(tx, row);
        if (before !== null) old.push(speechKey(before, mime));
        // Anybody may have anything read in a session that they may read: it is no shelf of theirs.
        for (const gone of await store.removeBeyond(tx, sessionId, deps.room))
          old.push(speechKey(gone.key, gone.mime));
      },
    );
    for (const key of old) await storage.delete(key);
  };
  return soundOf(
    (onPart) => taking(user, () => make(onPart)),
    (error) => deps.log.warn({ err: error }, 'a reading broke off'),
  );
};
