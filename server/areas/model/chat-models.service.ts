import { modelTypes } from '../../../contract/kinds.ts';
import type { Executor } from '../../db/database.ts';
import type { ChatEngine } from '../../engines/chat-engine.ts';
import type { ChatRelay } from '../../engines/chat-relay.ts';
import type { Catalogue } from './catalogue.ts';
import type { Outcome, Turns } from './channel-outcomes.ts';
import { drawOrder } from './draw.ts';
import type { ServedModel } from './model.store.ts';
import { resolve, type ResolvedModel } from './resolved-model.ts';
import { channelsWith, type RowEngines } from './row-engines.ts';
import { isUsable, type Asker } from './usable.ts';

export interface ChatModels {
  /** Null: there is no such model, or nothing serves it any more. */
  find(db: Executor, name: string): Promise<ResolvedModel | null>;
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
   * The services to try, best first. A channel that keeps failing is left out for a while where
   * there is another; where there is none this takes a moment. Not to be called in a transaction.
   * Whoever asks tells by reportOutcome how each one that was tried did.
   */
  engines(
    db: Executor,
    model: ResolvedModel,
  ): Promise<{ channelId: number; engine: ChatEngine; upstreamName: string }[]>;
  /** The same for what programs ask in OpenAI's words; `label` names the service for people. */
  relays(
    db: Executor,
    name: string,
  ): Promise<{ channelId: number; relay: ChatRelay; upstreamName: string; label: string }[]>;
  reportOutcome(outcome: Outcome): void;
}

const isChat = ({ model }: ServedModel): boolean => model.type === modelTypes.chat;

/** Models to chat with, and what serves them. */
export const createChatModels = (
  { served, named }: Catalogue,
  engines: RowEngines,
  turns: Turns,
): ChatModels => {
  const cheapestModel: ChatModels['cheapestModel'] = async (db, asker, isOffered) => {
    const rows = (await served(db)).filter(
      (row) => isChat(row) && row.model.display && isOffered(row.model.name),
    );
    // What is built in comes last, what fails before it; among equals the order of offering counts.
    const rank = ({ channel, model }: ServedModel): number =>
      channel.kind === 'built-in' ? 2 : turns.rests(channel.id, model.name) ? 1 : 0;
    const sorted = [...rows].sort(
      (a, b) =>
        rank(a) - rank(b) ||
        a.model.factor - b.model.factor ||
        (a.model.promptFactor ?? a.model.factor) - (b.model.promptFactor ?? b.model.factor),
    );
    for (const row of sorted) {
      const model = resolve(row);
      if (await isUsable(db, model, asker)) return model;
    }
    return null;
  };
  return {
    async find(db, name) {
      const [row] = await named(db, name);
      return row && isChat(row) ? resolve(row) : null;
    },

    async defaultModel(db, asker) {
      const model = await cheapestModel(db, asker, () => true);
      if (!model) throw new Error('no chat model is enabled');
      return model;
    },

    cheapestModel,

    engines: async (db, { name }) =>
      turns.inTurn(name, channelsWith(drawOrder(await named(db, name)), engines.chat)),

    async relays(db, name) {
      const rows = drawOrder((await named(db, name)).filter(isChat));
      const found = await turns.inTurn(name, channelsWith(rows, engines.relay));
      return found.map(({ engine: relay, ...channel }) => ({ ...channel, relay }));
    },

    reportOutcome: turns.report,
  };
};
