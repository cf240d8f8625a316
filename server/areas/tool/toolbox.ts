import { callsTools } from '#common/tool-models.ts';
import type { ToolSpec } from '#server/engines/chat-engine.ts';
import type { GuardedFetch } from '#server/net/guarded-fetch.ts';
import type { KnowledgeService } from '../embedding/embedding.service.ts';
import { createReadPage } from './read-page.ts';
import { reckoning } from './reckon.ts';
import { runCode } from './run-code.ts';
import { createSearchHere } from './search-here.ts';
import type { Tool } from './tool.ts';

export interface Toolbox {
  /** Names of what a model may be offered; none: it calls no tools. */
  offered: (model: { name: string; builtIn: boolean }) => string[];
  specs: (names: readonly string[]) => ToolSpec[];
  /** Null: there is none of this name. */
  find: (name: string) => Tool | null;
}

/** All tools that this server has. */
export const createToolbox = ({
  knowledge,
  fetch,
}: {
  knowledge: Pick<KnowledgeService, 'list' | 'tryOut'>;
  fetch: GuardedFetch;
}): Toolbox => {
  const all = [...reckoning, createSearchHere(knowledge), createReadPage(fetch), runCode];
  const byName = new Map(all.map((tool) => [tool.spec.name, tool]));
  const names = [...byName.keys()];
  return {
    offered: (model) => (model.builtIn || callsTools(model.name) ? names : []),
    specs: (wanted) => wanted.flatMap((name) => byName.get(name)?.spec ?? []),
    find: (name) => byName.get(name) ?? null,
  };
};
