import type { Area, Kit } from '#server/area.ts';
import { createSpeechHandlers } from './speech.handlers.ts';
import { speechKey } from './speak.ts';
import { ownReadings, readingsOf, removeOrphans } from './speech.store.ts';

/** Files that are cleared away in one go. */
const atOnce = 100;

export const speechArea = ({ storage }: Kit) =>
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
    serve: ({ speech }) => createSpeechHandlers(speech),
  }) satisfies Area;
