import type { GivenAnswer, ToolFile, ToolQuestion } from '#contract/tool.ts';
import type { Executor } from '#server/db/database.ts';
import type { ToolSpec } from '#server/engines/chat-engine.ts';

/** For whom a tool works. */
export interface ToolUser {
  id: number;
  guest: boolean;
  /** Who they are where people are counted. */
  person: string;
  /** The model of images that they chose; empty: none. */
  painter?: string;
  /** They may sign in at everybody's servers of tools. */
  manager?: boolean;
  /** They draw for nothing what members do. */
  vip?: boolean;
}

/** What a person answered to a question of a server of tools, by the names of its fields. */
export interface ToolAnswer {
  question: ToolQuestion;
  content: Record<string, GivenAnswer>;
}

export interface ToolContext {
  db: Executor;
  user: ToolUser;
  sessionId: number;
  /** The message whose reply calls it. */
  historyId: number;
  /** Rounds of calls of that reply before this one. */
  round: number;
  /** Addresses that may be opened without a question: its person wrote them, or a search gave them. */
  trusted: ReadonlySet<string>;
  /** Names this call wherever it is taken up again. */
  key: string;
  /** What was asked in this call when it was made before, and answered; left out: nobody can be asked. */
  answers?: readonly ToolAnswer[];
  /** What it may take is over, or it was stopped. */
  signal: AbortSignal;
}

/** A page that was opened: what a reply can be asked to rest on. */
export interface OpenedPage {
  title: string;
  url: string;
  text: string;
}

export interface ToolResult {
  /** For the model, and for who unfolds the card. */
  text: string;
  /** Pages that were opened, to be numbered as sources. */
  pages?: readonly OpenedPage[];
  /** Addresses that it found, which may be opened from now on without a question. */
  found?: readonly string[];
  files?: readonly ToolFile[];
}

/** It could not be done; the message is for people and the model. */
export class ToolFailure extends Error {}

/** One tool: what a model is told of it, what it may take, and what it does. */
export interface Tool {
  spec: ToolSpec;
  /** What it is called on the page. */
  label: string;
  /** It is ended after so long, s. */
  seconds: number;
  /** What it gives is for its person alone: nobody who reads along sees it. */
  own?: boolean;
  /** It may be taken up again after its process died: by its key it finds what it began. */
  again?: boolean;
  /** Calls of one reply. */
  perReply?: number;
  /**
   * What its person is asked first, in plain words; null: nothing. Left out: it never asks.
   * @throws ToolFailure where the arguments are wrong
   */
  asks?: (
    given: Record<string, unknown>,
    /** `open`: others may read the session. */
    context: Omit<ToolContext, 'signal' | 'key'> & { open: boolean },
  ) => Promise<string | null> | string | null;
  /** @throws ToolFailure */
  run: (given: Record<string, unknown>, context: ToolContext) => Promise<ToolResult> | ToolResult;
}

/** Its person has to sign in at this server of tools first: nothing was done, and it may be tried again. */
export class SignInWanted extends ToolFailure {
  readonly server: number;
  constructor(server: number, message: string) {
    super(message);
    this.server = server;
  }
}

/** A server asks its person first: the call was left there, and is made again with what they answer. */
export class AnswerWanted extends ToolFailure {
  readonly question: ToolQuestion;
  constructor(question: ToolQuestion) {
    super('它要先问您');
    this.question = question;
  }
}

/** A text among the arguments. @throws ToolFailure */
export const textOf = (given: Record<string, unknown>, name: string, most: number): string => {
  const value = given[name];
  if (typeof value !== 'string' || value.trim() === '')
    throw new ToolFailure(`缺少参数 ${name}，它应是一段文字`);
  if (value.length > most) throw new ToolFailure(`参数 ${name} 太长，至多 ${most} 个字符`);
  return value.trim();
};

/** JSON Schema of arguments that are all texts; an empty description is left out: each word is paid for. */
export const texts = (fields: Record<string, string>): Record<string, unknown> => ({
  type: 'object',
  properties: Object.fromEntries(
    Object.entries(fields).map(([name, description]) => [
      name,
      { type: 'string', ...(description === '' ? {} : { description }) },
    ]),
  ),
  required: Object.keys(fields),
});
