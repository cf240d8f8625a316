import { randomUUID } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import { excerptOf } from '#common/markdown/digest.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { SpeechEngineError } from '#server/engines/speech/speech-engine.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import type { Storage } from '#server/storage/storage-interface.ts';
import type { Sign } from '../file/stored-images.ts';
import {
  countFreeUse,
  noteFailedUse,
  holdPrice,
  release,
  settling,
} from '../ledger/ledger.service.ts';
import type { ModelService } from '../model/model.service.ts';
import type { MediaChannel, MediaType, ResolvedMediaModel } from '../model/resolved-model.ts';
import { requireUsable } from '../model/usable.ts';

/** How a service is asked to read or to write down, and how that is paid. */

export interface SpeechDeps {
  models: Pick<ModelService, 'findMedia' | 'defaultMedia' | 'mediaEngines' | 'reportMediaOutcome'>;
  storage: Storage;
  sign: Sign;
  log: FastifyBaseLogger;
  /** This process. */
  owner: number;
  /** Bytes of readings that are kept of one person's sessions. */
  room: number;
}

/** How long a reading or a listening may take, ms. */
export const longestMs = 5 * 60_000;
/** Who has something read or written down. */
export type Listener = Pick<Identity, 'id' | 'guest' | 'person'>;

export interface Bill {
  amount: number;
  model: ResolvedMediaModel;
  user: Listener;
  /** What stands among the person's spends. */
  human: string;
}

/** The named model, or the usual one; null: there is none. @throws Refusal, where it is not theirs to use */
export const modelFor = async (
  { models }: Pick<SpeechDeps, 'models'>,
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
export const askEach = async <T extends MediaType, R>(
  { models, log }: Pick<SpeechDeps, 'models' | 'log'>,
  db: Executor,
  type: T,
  { model, user }: { model: ResolvedMediaModel; user: Listener },
  act: (channel: MediaChannel<T>) => Promise<R>,
  delivered: () => boolean = () => false,
): Promise<R> => {
  let failure = new Refusal('model_unavailable');
  for (const channel of await models.mediaEngines(db, type, model.name, user.id)) {
    const { channelId } = channel;
    const outcome = { channel, model: model.name, userId: user.id };
    try {
      const made = await act(channel);
      models.reportMediaOutcome({ ...outcome, failure: null });
      return made;
    } catch (error) {
      if (!(error instanceof SpeechEngineError)) throw error;
      log.warn({ err: error, channelId }, 'a service of speech failed');
      models.reportMediaOutcome({ ...outcome, failure: error });
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
export const paid = async <R>(
  { owner }: Pick<SpeechDeps, 'owner'>,
  db: Executor,
  bill: Bill,
  act: (servedBy: (channelId: number) => void) => Promise<R>,
  keep: (tx: Transaction, made: R) => Promise<void> = async () => {},
): Promise<{ made: R; spent: number }> => {
  const { amount, model, user, human } = bill;
  const holdId = await holdPrice(db, {
    userId: user.id,
    amount,
    reference: `speech:${randomUUID()}`,
    vipAllowed: !model.vipExcluded,
    owner,
  });
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
