import type { Kit } from '#server/area.ts';
import { createFilmFiles } from '../video/film-files.ts';
import type { ExportDeps } from './export.service.ts';

const posterAddress = /^\/files\/video\/([0-9a-f]{40})\.webp$/;

/** What files are made with: what lies here, and nothing of the web. */
export const exportDeps = ({
  storage,
  files,
  models,
  signing,
}: Pick<Kit, 'storage' | 'files' | 'models' | 'signing'>): ExportDeps => {
  // Films are only read here.
  const films = createFilmFiles(storage, (data) => Promise.resolve(data));
  const ofFilm = async (key: string): Promise<string> => {
    const poster = await films.poster(key, null);
    return poster ? `data:image/webp;base64,${poster.toString('base64')}` : '';
  };
  return {
    storage,
    sign: signing.sign,
    image: async (address) => {
      const key = posterAddress.exec(address)?.[1];
      return files.jpegForDocument(key === undefined ? address : await ofFilm(key));
    },
    labels: async (db) =>
      new Map((await models.catalogue(db, 'anybody')).map(({ name, label }) => [name, label])),
  };
};
