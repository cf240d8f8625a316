import { callsTools } from '#common/tool-models.ts';
import type { ToolSpec } from '#server/engines/chat-engine.ts';
import type { GuardedFetch } from '#server/net/guarded-fetch.ts';
import type { KnowledgeService } from '../embedding/embedding.service.ts';
import { createReadPage } from './read-page.ts';
import { reckoning } from './reckon.ts';
import { runCode } from './run-code.ts';
import { createSearchHere } from './search-here.ts';
import type { SideServices } from '../model/side-services.ts';
import type { Tool } from './tool.ts';
import { createWebSearch } from './web-search.ts';

export interface Toolbox {
  /**
   * Names of what a model may be offered; none: it calls no tools.
   * @param web its person let it search the web, which is offered to nobody else
   * @param only nothing but what that needs
   */
  offered: (
    model: { name: string; builtIn: boolean },
    asked?: { web: boolean; only?: boolean },
  ) => string[];
  specs: (names: readonly string[]) => ToolSpec[];
  /** Null: there is none of this name. */
  find: (name: string) => Tool | null;
}

/** All tools that this server has. */
export const createToolbox = ({
  knowledge,
  fetch,
  services,
  draw,
}: {
  knowledge: Pick<KnowledgeService, 'list' | 'tryOut'>;
  fetch: GuardedFetch;
  services: Pick<SideServices, 'find'>;
  /** Made by the area of images, which stands above this one. */
  draw: Tool;
}): Toolbox => {
  const readPage = createReadPage(fetch);
  const webSearch = createWebSearch(fetch, services);
  const usual = [...reckoning, createSearchHere(knowledge), readPage, runCode, draw];
  const all = [...usual, webSearch];
  const byName = new Map(all.map((tool) => [tool.spec.name, tool]));
  const namesOf = (tools: readonly Tool[]) => tools.map(({ spec }) => spec.name);
  return {
    offered: (model, { web, only = false } = { web: false }) => {
      if (!model.builtIn && !callsTools(model.name)) return [];
      if (only) return web ? namesOf([webSearch, readPage]) : [];
      return namesOf(web ? [...usual, webSearch] : usual);
    },
    specs: (wanted) => wanted.flatMap((name) => byName.get(name)?.spec ?? []),
    find: (name) => byName.get(name) ?? null,
  };
};
