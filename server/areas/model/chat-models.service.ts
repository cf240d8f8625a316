import type { FastifyBaseLogger } from 'fastify';
import { mentionedIn } from '#common/mentions.ts';
import { modelTypes } from '#contract/kinds.ts';
import type { Executor } from '#server/db/database.ts';
import type { ChatEngine } from '#server/engines/chat-engine.ts';
import type { ChatRelay } from '#server/engines/chat-relay.ts';
import type { Catalogue } from './catalogue.ts';
import { engineOfLines, type Line, type LineCall, relayOfLines } from './chat-lines.ts';
import { drawOrder } from './draw.ts';
import type { LineHealth } from './line-health.ts';
import type { ServedModel } from './model.store.ts';
import { byModel, rowsFor } from './open-rows.ts';
import { resolve, type ResolvedModel } from './resolved-model.ts';
import type { RowEngines } from './row-engines.ts';
import { isUsable, type Asker } from './usable.ts';

export interface ChatModels {
  /** Null: there is no such model, or nothing serves it any more to whoever asks. */
  find(
    db: Executor,
    name: string,
    asker: Pick<NonNullable<Asker>, 'id'> | null,
  ): Promise<ResolvedModel | null>;
  /** The name of what is offered under such a name or label; null: nothing is. */
  nameOf(db: Executor, said: string): Promise<string | null>;
  /** The name of the first that a text says behind an @, by its name or label; null: none. */
  namedIn(db: Executor, text: string): Promise<string | null>;
  /**
   * What a session gets that names no model: the cheapest that this person may use and whose services
   * do not fail; what is built in where there is nothing else.
   */
  defaultModel(db: Executor, asker: Asker): Promise<ResolvedModel>;
  /** The same out of some models by their names; null: this person may use none of them. */
  cheapestModel(
    db: Executor,
    asker: Asker,
    isOffered: (name: string) => boolean,
  ): Promise<ResolvedModel | null>;
  /**
   * All services of a model as one: the next one is asked where one fails or says nothing, and how
   * each did is remembered. Null: nothing serves it. Not to be called in a transaction.
   */
  engine(db: Executor, call: LineCall): Promise<ChatEngine | null>;
  /** The same for what programs ask in OpenAI's words. */
  relay(db: Executor, call: LineCall): Promise<ChatRelay | null>;
}

/** Whose name or else whose label this is. */
const nameAmong = (offered: readonly ServedModel[], said: string): string | null => {
  const isCalled = ({ model }: ServedModel): boolean => model.name === said;
  const isLabelled = ({ model }: ServedModel): boolean => model.label === said;
  return (offered.find(isCalled) ?? offered.find(isLabelled))?.model.name ?? null;
};

const isChat = ({ model }: ServedModel): boolean => model.type === modelTypes.chat;

/** Models to chat with, and what serves them. */
export const createChatModels = (
  { served, named }: Catalogue,
  engines: RowEngines,
  health: LineHealth,
  log: Pick<FastifyBaseLogger, 'warn' | 'error'>,
): ChatModels => {
  const cheapestModel: ChatModels['cheapestModel'] = async (db, asker, isOffered) => {
    const rows = (await rowsFor(db, await served(db), asker?.id ?? null)).filter(
      (row) => isChat(row) && row.model.display && isOffered(row.model.name),
    );
    const all = byModel(rows);
    // What is built in comes last, what fails before it; among equals the order of offering counts.
    const rank = ({ channel, model }: ServedModel): number =>
      channel.kind === 'built-in' ? 2 : health.rests(channel.id, model.name) ? 1 : 0;
    const sorted = [...rows].sort(
      (a, b) =>
        rank(a) - rank(b) ||
        a.model.factor - b.model.factor ||
        (a.model.promptFactor ?? a.model.factor) - (b.model.promptFactor ?? b.model.factor),
    );
    for (const row of sorted) {
      const model = resolve(all.get(row.model.name)!);
      if (await isUsable(db, model, asker)) return model;
    }
    return null;
  };
  const linesTo = async <E>(
    db: Executor,
    { model, userId }: LineCall,
    of: (row: ServedModel) => Line<E>[],
  ): Promise<Line<E>[]> => {
    const rows = (await named(db, model)).filter(isChat);
    return drawOrder(await rowsFor(db, rows, userId)).flatMap(of);
  };

  const shown = async (db: Executor): Promise<ServedModel[]> =>
    (await served(db)).filter((row) => isChat(row) && row.model.display);

  return {
    async find(db, name, asker) {
      const rows = (await named(db, name)).filter(isChat);
      const [row, ...more] = await rowsFor(db, rows, asker?.id ?? null);
      return row ? resolve([row, ...more]) : null;
    },

    async namedIn(db, text) {
      const offered = await shown(db);
      const [said] = mentionedIn(
        text,
        offered.flatMap(({ model }) => [model.name, model.label]).filter(Boolean),
      );
      return said === undefined ? null : nameAmong(offered, said);
    },

    nameOf: async (db, said) => nameAmong(await shown(db), said),
    async defaultModel(db, asker) {
      const model = await cheapestModel(db, asker, () => true);
      if (!model) throw new Error('no chat model is enabled');
      return model;
    },

    cheapestModel,

    async engine(db, call) {
      const lines = await linesTo(db, call, engines.chat);
      return lines.length > 0 ? engineOfLines({ lines, call, health, log }) : null;
    },

    async relay(db, call) {
      const lines = await linesTo(db, call, engines.relay);
      return lines.length > 0 ? relayOfLines({ lines, call, health, log }) : null;
    },
  };
};
