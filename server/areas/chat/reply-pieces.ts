import { createParser } from 'eventsource-parser';
import type { StoredTool } from '#contract/tool.ts';
import { doneData } from './frames.ts';
import type { Piece } from './reply-relay.ts';

/** What the events of a reply's stream say. */
interface Said {
  onPiece: (piece: Piece) => void;
  onTool: (id: number, tool: StoredTool) => void;
}

export interface Told extends Said {
  /** Which writing of the reply is read. */
  onWriting: (writing: string) => void;
}

/** Pieces from the events of a reply's stream. */
export const piecesFrom = (id: number, { onPiece, onTool }: Said) => {
  let error: { code: string; message: string } | null = null;
  return createParser({
    onEvent: ({ id: eventId, data }) => {
      if (data === doneData) {
        // The id of the end lies beyond every position: what was to come before it has come.
        onPiece({ id, start: 0, kind: 'text', text: '', ending: { error } });
        return;
      }
      const said = JSON.parse(data) as
        | string
        | { reasoning: string }
        | { tool: StoredTool }
        | NonNullable<typeof error>;
      if (typeof said === 'object' && 'tool' in said) {
        onTool(id, said.tool);
        return;
      }
      if (typeof said === 'object' && 'code' in said) {
        error = said;
        return;
      }
      const kind = typeof said === 'string' ? 'text' : 'reasoning';
      const text = typeof said === 'string' ? said : said.reasoning;
      onPiece({ id, start: Number(eventId) - text.length, kind, text, ending: null });
    },
  });
};
