import type { Executor } from '#server/db/database.ts';
import type { ToolSpec } from '#server/engines/chat-engine.ts';
import type { GuardedFetch } from '#server/net/guarded-fetch.ts';
import type { KnowledgeService } from '../embedding/embedding.service.ts';
import { createReadPage } from './read-page.ts';
import { reckonAny, reckoning } from './reckon.ts';
import { createSearchHere } from './search-here.ts';
import type { ResolvedModel } from '../model/resolved-model.ts';
import type { SideServices } from '../model/side-services.ts';
import type { Tool, ToolUser } from './tool.ts';
import type { ForeignTool } from './foreign-tool.ts';
import type { ToolServers } from './tool-servers.ts';
import { createWebSearch } from './web-search.ts';

/** A model as far as its tools go. */
type Caller = Pick<ResolvedModel, 'tools' | 'builtIn'>;

export interface Toolbox {
  /**
   * Names of what a model may be offered; none: it calls no tools.
   * @param web its person let it search the web, which is offered to nobody else
   * @param only nothing but what that needs
   */
  offered: (model: Caller, asked?: { web: boolean; only?: boolean }) => string[];
  /** Tools of servers that a model may be offered for this person; none where it calls no tools. */
  foreign: (
    db: Executor,
    model: Caller,
    user: Pick<ToolUser, 'id' | 'guest'>,
  ) => Promise<ForeignTool[]>;
  /** @param foreign those of servers among them */
  specs: (names: readonly string[], foreign?: readonly ForeignTool[]) => ToolSpec[];
  /** Null: there is none of this name. */
  find: (name: string, foreign?: readonly ForeignTool[]) => Tool | null;
}

/** All tools that this server has. */
export const createToolbox = ({
  knowledge,
  fetch,
  services,
  servers,
  made,
}: {
  knowledge: Pick<KnowledgeService, 'list' | 'tryOut' | 'mayAsk'>;
  fetch: GuardedFetch;
  services: Pick<SideServices, 'find'>;
  servers: Pick<ToolServers, 'offered' | 'tool'>;
  /** Tools of areas that stand above this one. */
  made: readonly Tool[];
}): Toolbox => {
  const readPage = createReadPage(fetch);
  const webSearch = createWebSearch(fetch, services);
  const more = [createSearchHere(knowledge), readPage, ...made];
  const usual = [reckonAny, ...more];
  const all = [...reckoning, ...usual, webSearch];
  const byName = new Map(all.map((tool) => [tool.spec.name, tool]));
  const namesOf = (tools: readonly Tool[]) => tools.map(({ spec }) => spec.name);
  const find = (name: string, foreign: readonly ForeignTool[] = []): Tool | null => {
    const other = foreign.find((each) => each.name === name);
    return byName.get(name) ?? (other ? servers.tool(other) : null);
  };
  return {
    offered: (model, { web, only = false } = { web: false }) => {
      if (!model.tools) return [];
      if (only) return web ? namesOf([webSearch, readPage]) : [];
      const tools = model.builtIn ? [...reckoning, ...more] : usual;
      return namesOf(web ? [...tools, webSearch] : tools);
    },
    // The assistant calls by rules of its own, which know none of them.
    foreign: async (db, model, user) =>
      model.builtIn || !model.tools ? [] : servers.offered(db, user),
    specs: (wanted, foreign) => wanted.flatMap((name) => find(name, foreign)?.spec ?? []),
    find,
  };
};
