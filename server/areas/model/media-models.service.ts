import { modelTypes } from '#contract/kinds.ts';
import type { Executor } from '#server/db/database.ts';
import { SpeechEngineError } from '#server/engines/speech/speech-engine.ts';
import { VideoEngineError } from '#server/engines/video/video-engine.ts';
import type { Catalogue } from './catalogue.ts';
import type { Outcome, Turns } from './channel-outcomes.ts';
import { drawOrder } from './draw.ts';
import type { ServedModel } from './model.store.ts';
import { byModel, openTo, rowsFor } from './open-rows.ts';
import type { MediaChannel, MediaType, ResolvedMediaModel } from './resolved-model.ts';
import { channelsWith, type RowEngines } from './row-engines.ts';
import { isUsable, type Asker } from './usable.ts';

export interface MediaModels {
  /** Null: there is no such model of this kind, or nothing serves it any more. */
  findMedia(db: Executor, type: MediaType, name: string): Promise<ResolvedMediaModel | null>;
  /** What is used where no model is named: what is built in, else the first. Null: there is none. */
  defaultMedia(
    db: Executor,
    type: MediaType,
    asker: Asker | 'anybody',
  ): Promise<ResolvedMediaModel | null>;
  /** The services of a person to try, in this order; one that keeps failing is left out for a while. */
  mediaEngines<T extends MediaType>(
    db: Executor,
    type: T,
    name: string,
    userId: number,
  ): Promise<MediaChannel<T>[]>;
  /** As reportOutcome. */
  reportMediaOutcome(outcome: Outcome): void;
}

/** What a page asks for a model of films or of speech; nothing for all others. */
export const mediaOf = (
  engines: RowEngines,
  row: ServedModel,
): Pick<ResolvedMediaModel, 'video' | 'voice'> => {
  const { model, upstreamName } = row;
  const { video, textToSpeech } = modelTypes;
  const voices = () => engines.media(textToSpeech, row)?.voices(upstreamName) ?? {};
  return {
    video: engines.media(video, row)?.describe(upstreamName) ?? null,
    voice: model.type === textToSpeech ? (model.voice ?? voices()) : null,
  };
};

const resolveMedia = (
  engines: RowEngines,
  type: MediaType,
  row: ServedModel,
  groups: readonly number[] | null,
): ResolvedMediaModel | null =>
  engines.media(type, row) && {
    name: row.model.name,
    label: row.model.label,
    type,
    factor: row.model.factor,
    vipExcluded: row.model.vipExcluded,
    paidOnly: row.model.paidOnly,
    managersOnly: row.model.managersOnly,
    openTo: groups,
    builtIn: row.channel.kind === 'built-in',
    ...mediaOf(engines, row),
  };

/** Models of films and of speech, and what makes them. */
export const createMediaModels = (
  { served, named }: Catalogue,
  engines: RowEngines,
  turns: Turns,
): MediaModels => ({
  async findMedia(db, type, name) {
    const rows = await named(db, name);
    const found = rows.map((row) => resolveMedia(engines, type, row, openTo(rows)));
    return found.find((model) => model !== null) ?? null;
  },

  async defaultMedia(db, type, asker) {
    const found = [];
    const all = [...byModel(await served(db)).values()];
    for (const model of all.flatMap((rows) =>
      rows.map((row) => resolveMedia(engines, type, row, openTo(rows))),
    ))
      if (model && (asker === 'anybody' ? !model.openTo : await isUsable(db, model, asker)))
        found.push(model);
    return found.find((model) => model.builtIn) ?? found[0] ?? null;
  },

  async mediaEngines(db, type, name, userId) {
    const rows = drawOrder(await rowsFor(db, await named(db, name), userId));
    return turns.inTurn(
      name,
      channelsWith(rows, (row) => engines.media(type, row)),
      type === modelTypes.video ? VideoEngineError : SpeechEngineError,
    );
  },

  reportMediaOutcome: turns.report,
});
