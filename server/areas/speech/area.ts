import type { Area, Kit } from '../../area.ts';
import { createSpeechHandlers } from './speech.handlers.ts';
import { speechKey } from './speech.service.ts';
import { removeOrphans } from './speech.store.ts';

/** Files that are cleared away in one go. */
const atOnce = 100;

export const speechArea = ({ storage }: Kit) =>
  ({
    chores: [
      async (tx) => {
        for (const { key, mime } of await removeOrphans(tx, atOnce))
          await storage.delete(speechKey(key, mime));
      },
    ],
    serve: (host) => createSpeechHandlers(host),
  }) satisfies Area;
