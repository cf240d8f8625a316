import type { ChatMessage } from '#common/chat-message.ts';
import type { StoredSource } from '#contract/embedding.ts';
import type { ToolAnswer, ToolUser } from '../tool/tool.ts';
import type { ForeignTool } from '../tool/foreign-tool.ts';
import type { ReplyOrder } from './reply.ts';

/** Where the loop of a reply's calls stands: all that it needs to go on in another process. */
export interface LoopState {
  /** Rounds of calls that were made. */
  round: number;
  /** Names of the tools that were offered. */
  tools: string[];
  /** Those of servers among them. */
  foreign?: ForeignTool[];
  /** What the next round is asked, without what the calls that are not over give. */
  messages: ChatMessage[];
  sampling: ReplyOrder['sampling'];
  cites: number | null;
  /** What the rounds before took. */
  spent: {
    promptTokens: number;
    completionTokens: number;
    deductTokens: number;
    cachedTokens?: number;
  };
  /** Length of the reply when the last round ended. */
  length: number;
  /** Pages that were opened, as sources of the reply. */
  pages: StoredSource[];
  /** Addresses that may be opened without a question. */
  trusted: string[];
  /** Results that fill the window are condensed by the model; left out: by rules alone. */
  condenses?: boolean;
  /** What its person answered to servers of tools, by the calls in which they asked; gone with the loop. */
  answers?: Record<string, ToolAnswer[]>;
  /** For whom it works. */
  user: ToolUser;
  /** Names this loop; its calls are named after it. */
  run?: string;
  /** How often another process had to take it up. */
  taken: number;
}
