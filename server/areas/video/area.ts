import type { Area, Kit } from '#server/area.ts';
import { createFilmFiles } from './film-files.ts';
import { createVideoWork } from './video-work.ts';
import { createVideoHandlers } from './video.handlers.ts';
import { registerFilms } from './video.route.ts';
import { filmKeysOf, moveVideos, removeOrphans } from './video.store.ts';

/** Films that are cleared away in one go. */
const atOnce = 50;

export const videoArea = ({ db, models, files, storage, signing, log }: Kit) => {
  const films = createFilmFiles(storage, signing.sign);
  return {
    holds: [
      {
        table: 'videos',
        of: ['user_id'],
        end: 'delete',
        take: ['uuid', 'prompt', 'model', 'created_at'],
      },
    ],
    leave: async (tx, userId) => {
      const keys = await filmKeysOf(tx, userId);
      return async () => {
        for (const key of keys) await films.drop(key);
      };
    },
    jobKinds: [createVideoWork({ db, models, files, films, log })],
    takeOver: moveVideos,
    chores: [
      async (tx) => {
        for (const key of await removeOrphans(tx, atOnce)) await films.drop(key);
      },
    ],
    serve: (host) => createVideoHandlers(host),
    routes: (http) => registerFilms(http, { db, storage, films }),
  } satisfies Area;
};
