import type { Area, Kit } from '#server/area.ts';
import { createSpeechHandlers } from './speech.handlers.ts';
import { speechKey } from './speech.service.ts';
import { ownReadings, readingsOf, removeOrphans } from './speech.store.ts';

/** Files that are cleared away in one go. */
const atOnce = 100;

/** Of the space that a person's files have, what readings in their sessions may take. */
const share = 0.1;

export const speechArea = ({ storage, settings }: Kit) =>
  ({
    holds: [{ table: 'speeches', of: [], where: ownReadings, end: 'delete' }],
    leave: async (tx, userId) => {
      const kept = await readingsOf(tx, userId);
      return async () => {
        for (const { key, mime } of kept) await storage.delete(speechKey(key, mime));
      };
    },
    chores: [
      async (tx) => {
        for (const { key, mime } of await removeOrphans(tx, atOnce))
          await storage.delete(speechKey(key, mime));
      },
    ],
    serve: ({ models, log }) =>
      createSpeechHandlers({ models, storage, log, room: Math.floor(settings.fileQuota * share) }),
  }) satisfies Area;
