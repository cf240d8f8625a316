import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '#server/db/database.ts';
import type { ServiceError } from '#server/engines/service-wire.ts';
import { createAskers } from './askers.ts';
import { createChannelHealth } from './channel-health.ts';
import { createChannelRoom } from './channel-room.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';
import { createLineHealth } from './line-health.ts';

/** How a service did. */
export interface Outcome {
  channelId: number;
  model: string;
  /** Who asked. */
  userId: number;
  /** False for a failure of the service itself, not for a refused prompt or a stopped reply. */
  ok: boolean;
  /** Of a failure: what the asker was told. */
  told?: string;
  /** What is to be held against the service; what a question itself brought about is not. */
  against?: ServiceError['against'];
}

/** Whose turn it is among the channels of a model, by how they did. */
export interface Turns {
  /** The channels to try, in their order, once their turn has come. */
  inTurn: <C extends { channelId: number }>(model: string, all: readonly C[]) => Promise<C[]>;
  /** It keeps failing and is left alone now. */
  rests: (channelId: number, model: string) => boolean;
  report: (outcome: Outcome) => void;
}

/** Chat, images and media each by themselves: what fails at images may well go on chatting. */
export const createOutcomes = (db: Database, instance: number, hedgeFloorMs: number) => {
  const room = createChannelRoom(db, instance);
  const health = createChannelHealth(db);
  const askers = createAskers(db);
  const createTurns = (): Turns => {
    const breaker = createCircuitBreaker();
    return {
      inTurn: async (model, all) => {
        const { channels, waitMs } = breaker.choose(model, all);
        if (waitMs > 0) await sleep(waitMs, undefined, { ref: false });
        return channels;
      },
      rests: (channelId, model) => breaker.rests(channelId, model),
      report: ({ channelId, model, userId, ok, told, against = 'failed' }) => {
        if (!ok && against === 'nothing') return;
        health.note(channelId, ok, told);
        if (ok) {
          breaker.report({ channelId, model, ok });
          return;
        }
        const full = against === 'full';
        void askers(userId)
          // Counted with all whom nobody knows.
          .catch(() => '')
          .then((person) => breaker.report({ channelId, model, ok, person, full }));
      },
    };
  };
  const chat = createLineHealth({ db, health, askers, hedgeFloorMs, room });
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
