import { maskName } from '#contract/mask-name.ts';
import { type Aigc, aigcText } from '#server/labels/aigc.ts';
import { isPage } from '../chat/page-sources.ts';
import { withoutIds } from '../chat/question.ts';
import { type Names, withName } from '../chat/spoken-to.ts';
import { viewTool } from '../chat/stored-tool.ts';
import type { SessionRow } from '../session/session.service.ts';
import type { ExportRow } from './export.store.ts';

/** One message as it stands in our own export; `import-own.ts` reads the same fields. */
export const jsonMessage = (row: ExportRow, viewer: number | null, names: Names) => ({
  id: row.id,
  /** The message that it follows; 0: the first. */
  prev: row.prevId,
  shown: row.shown,
  rank: row.rank,
  /** Two answers beside each other carry the same number, and 0 and 1 as their place. */
  beside: row.besideGroup,
  place: row.place,
  user: maskName(row.userName),
  human: row.human,
  request: withName(row.userId === viewer ? row.request : withoutIds(row.request), names),
  title: row.title,
  ai: row.ai,
  reasoning: row.reasoning,
  /** Names of what the answer rests on, of pages with their addresses; its texts stay where they are. */
  sources: (row.sources ?? []).map((each) => {
    const { n, title, place, base, url, at } = each;
    return { n, title, place, base, ...(isPage(each) && { url, at }) };
  }),
  /** Calls of tools, as this reader may see them. */
  tools: (row.tools ?? []).map((tool) => viewTool(tool, row.userId === viewer ? 'asker' : 'other')),
  parts: row.parts,
  type: row.type,
  model: row.model,
  state: row.state,
  error_code: row.errorCode,
  error_message: row.errorMessage,
  prompt_tokens: row.promptTokens,
  completion_tokens: row.completionTokens,
  created_at: row.createdAt.toISOString(),
  answered_at: row.answeredAt?.toISOString() ?? null,
  edited_at: row.editedAt?.toISOString() ?? null,
});

/**
 * What stands before and behind the messages, which have a comma between them.
 * @param label that a model had a part in it; null: none had
 */
export const jsonSession = (
  session: SessionRow,
  label: Aigc | null,
): { before: string; after: string } => {
  const head = JSON.stringify({
    title: session.prompt,
    type: session.type,
    model: session.model,
    user: maskName(session.userName),
    created_at: session.createdAt.toISOString(),
    updated_at: session.updatedAt.toISOString(),
  });
  const made = label ? `"AIGC":${aigcText(label)},` : '';
  return {
    before: `{"queqiao":1,${made}"exported_at":${JSON.stringify(new Date().toISOString())},"sessions":[\n${head.slice(0, -1)},"messages":[\n`,
    after: '\n]}\n]}\n',
  };
};
