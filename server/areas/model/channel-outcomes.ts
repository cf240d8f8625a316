import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '#server/db/database.ts';
import { workFault } from '#server/engines/channel-fault.ts';
import type { ServiceError } from '#server/engines/service-wire.ts';
import { createAskers } from './askers.ts';
import { createChannelHealth } from './channel-health.ts';
import type { KeyMark } from './channel-figures.store.ts';
import { inPlaces } from './channel-places.ts';
import { createChannelRoom, NoRoom } from './channel-room.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';
import { createLineHealth } from './line-health.ts';
import type { WorkChannel } from './resolved-model.ts';

/** How a service did. */
export interface Outcome {
  channel: Pick<WorkChannel, 'channelId' | 'since'>;
  model: string;
  /** Who asked. */
  userId: number;
  /** Null: it did its work. */
  failure: ServiceError | null;
}

/** Which key of a channel did a work is not known. */
export const someKey: KeyMark = { mark: '', hint: '' };

/** Whose turn it is among the channels of a model, by how they did. */
export interface Turns {
  /** The channels to try, in their order, once their turn has come. */
  inTurn: <C extends WorkChannel & { engine: object }>(
    model: string,
    all: readonly C[],
    Failure: typeof ServiceError,
  ) => Promise<C[]>;
  /** It keeps failing and is left alone now. */
  rests: (channelId: number, model: string) => boolean;
  report: (outcome: Outcome) => void;
}

/** Chat, images and media each by themselves: what fails at images may well go on chatting. */
export const createOutcomes = (db: Database, instance: number, hedgeFloorMs: number) => {
  const room = createChannelRoom(db, instance);
  const health = createChannelHealth(db);
  const askers = createAskers(db);
  const chat = createLineHealth({ db, health, askers, hedgeFloorMs, room });
  const createTurns = (): Turns => {
    const breaker = createCircuitBreaker();
    return {
      inTurn: async (model, all, Failure) => {
        const { channels, waitMs } = breaker.choose(model, all);
        if (waitMs > 0) await sleep(waitMs, undefined, { ref: false });
        return inPlaces(channels, room, Failure);
      },
      rests: (channelId, model) => breaker.rests(channelId, model),
      report: ({ channel: { channelId, since }, model, userId, failure }) => {
        // It was not even asked.
        if (failure?.cause instanceof NoRoom) return;
        const { kind, status } = failure ? workFault(failure) : { kind: 'ok', status: 200 };
        const ms = performance.now() - since;
        chat.note({ channelId, model, key: someKey }, { result: kind, ms, status });
        if (failure?.against === 'nothing') return;
        const ok = failure === null;
        health.note(channelId, ok, failure?.message);
        if (ok) {
          breaker.report({ channelId, model, ok });
          return;
        }
        const full = failure.against === 'full';
        void askers(userId)
          // Counted with all whom nobody knows.
          .catch(() => '')
          .then((person) => breaker.report({ channelId, model, ok, person, full }));
      },
    };
  };
  return {
    chat,
    image: createTurns(),
    media: createTurns(),
    close: () => {
      health.close();
      chat.close();
      room.close();
    },
  };
};
