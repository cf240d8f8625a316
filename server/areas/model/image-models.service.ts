import { modelTypes } from '#contract/kinds.ts';
import type { Executor } from '#server/db/database.ts';
import { type ImageChoices, ImageEngineError } from '#server/engines/image-engine.ts';
import type { Catalogue } from './catalogue.ts';
import type { Outcome, Turns } from './channel-outcomes.ts';
import { drawOrder } from './draw.ts';
import type { createImageChoices } from './image-choices.ts';
import type { ServedModel } from './model.store.ts';
import { byModel, openRows, openTo, rowsFor } from './open-rows.ts';
import { resolveImage, type ImageChannel, type ResolvedImageModel } from './resolved-model.ts';
import { channelsWith, type RowEngines } from './row-engines.ts';
import { isUsable, type Asker } from './usable.ts';

export interface ImageModels {
  /** Null: there is no such model of images, or nothing serves it any more. */
  findImage(db: Executor, name: string): Promise<ResolvedImageModel | null>;
  /**
   * What a session of images gets that names no model: Midjourney's where there is one, else what
   * is built in, of those that this person may use. Null: there is none.
   */
  defaultImageModel(db: Executor, asker: Asker): Promise<ResolvedImageModel | null>;
  /**
   * The services of a person to try for a model of images, in this order: by priority, and among
   * equals drawn by weight. One that keeps failing is left out for a while, as of `engines`.
   */
  imageEngines(db: Executor, name: string, userId: number): Promise<ImageChannel[]>;
  /**
   * What can be chosen of a model of images, as its services say; of one that says nothing now,
   * what it said last. Null: there is no such model.
   */
  imageChoices(db: Executor, name: string): Promise<ImageChoices | null>;
  /** As reportOutcome; what fails at images may well go on chatting. */
  reportImageOutcome(outcome: Outcome): void;
}

/** Models of images, and what draws with them. */
export const createImageModels = (
  { served, named }: Catalogue,
  engines: RowEngines,
  turns: Turns,
  choicesOf: ReturnType<typeof createImageChoices>,
): ImageModels => {
  const rowsOf = async (db: Executor, name: string): Promise<ServedModel[]> =>
    (await named(db, name)).filter(({ model }) => model.type === modelTypes.image);
  return {
    async findImage(db, name) {
      const [row, ...more] = await named(db, name);
      return row ? resolveImage(row, openTo([row, ...more])) : null;
    },

    async defaultImageModel(db, asker) {
      const found = [];
      for (const rows of byModel(await served(db)).values()) {
        const model = resolveImage(rows[0], openTo(rows));
        if (model && (await isUsable(db, model, asker))) found.push(model);
      }
      return (
        found.find((model) => model.image.family === 'midjourney') ??
        found.find((model) => model.builtIn) ??
        found[0] ??
        null
      );
    },

    async imageEngines(db, name, userId) {
      const rows = drawOrder(await rowsFor(db, await rowsOf(db, name), userId));
      return turns.inTurn(name, channelsWith(rows, engines.image), ImageEngineError);
    },

    async imageChoices(db, name) {
      const rows = openRows(await rowsOf(db, name));
      return rows.length === 0 ? null : choicesOf(channelsWith(rows, engines.image));
    },

    reportImageOutcome: turns.report,
  };
};
