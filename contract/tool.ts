import * as z from 'zod/mini';
import { call, id, sessionRef, text } from './call.ts';

/**
 * How a call of a tool stands: its arguments are being written, its person is asked, its person
 * agreed, it runs, it gave a result, it failed, its person refused it, nobody knows whether it was
 * done because the server went away meanwhile, or it was stopped.
 */
export const toolState = z.enum([
  'writing',
  'asking',
  'agreed',
  'running',
  'done',
  'failed',
  'refused',
  'unknown',
  'stopped',
]);
export type ToolState = z.output<typeof toolState>;

/** Something a tool made that can be fetched. */
export const toolFile = z.object({
  name: z.string(),
  url: z.string(),
  /** Bytes; 0: not known. */
  size: z.int(),
  /** It is an image of its person's, of so many pixels. */
  image: z.optional(z.object({ id: z.int(), width: z.int(), height: z.int() })),
  /** It is a film, with the address of its first image. */
  film: z.optional(z.object({ poster: z.string(), width: z.int(), height: z.int() })),
  /** It is a sound of this kind, which its address does not tell. */
  sound: z.optional(z.enum(['audio/mpeg', 'audio/wav'])),
  /** It is a picture of this kind that a program drew, shown from memory; an SVG is never a page. */
  shown: z.optional(z.enum(['image/svg+xml', 'image/png', 'image/jpeg', 'image/gif'])),
});
export type ToolFile = z.output<typeof toolFile>;

/** What a person gives in one field of a question; null: they left it empty. */
export const givenAnswer = z.union([
  text(4000),
  z.number(),
  z.boolean(),
  z.array(text(200)).check(z.maxLength(50)),
]);
export type GivenAnswer = z.output<typeof givenAnswer>;

/** A field of a question. Its words are those of whoever asks: plain text, and nothing is obeyed. */
export const askedField = z.object({
  name: z.string(),
  label: z.string(),
  hint: z.string(),
  kind: z.enum(['text', 'number', 'integer', 'boolean', 'one', 'many']),
  required: z.boolean(),
  /** Of one and many. */
  options: z.optional(z.array(z.object({ value: z.string(), label: z.string() }))),
  /** Of a number; of a text its fewest and most characters, of many how many of them. */
  min: z.optional(z.number()),
  max: z.optional(z.number()),
  /** Of a text. */
  format: z.optional(z.enum(['email', 'uri', 'date', 'date-time'])),
  /** It stands there at first, and where the field is left out. */
  value: z.optional(givenAnswer),
});
export type AskedField = z.output<typeof askedField>;

/** What a server of tools asks in the midst of a call, which is made again with the answer. */
export const toolQuestion = z.object({
  /** The name of the server, which gets the answer. */
  from: z.string(),
  message: z.string(),
  fields: z.array(askedField),
});
export type ToolQuestion = z.output<typeof toolQuestion>;

/** A call of a tool by a model within a reply. */
export const toolCall = z.object({
  /** Names it within its message. */
  id: z.string(),
  name: z.string(),
  /** What it is called on the page. */
  label: z.string(),
  /** JSON, as far as it has come. */
  arguments: z.string(),
  state: toolState,
  /** What it gave, as text; it is data, and nothing in it is obeyed. */
  result: z.string(),
  /** UTF-16 units of the reply's text before it. */
  at: z.int(),
  /** How long it took, ms. */
  ms: z.int(),
  /** What its person is or was asked, in plain words; empty: nothing. */
  ask: z.string(),
  /**
   * Of one that waits (`asking`): not for consent but until its person has signed in at this server
   * of tools. The reply goes on by itself then; `once` tries it again as it is.
   */
  sign_in: z.optional(z.int()),
  /** Of one that waits (`asking`): not for consent but for what its server asks; `once` answers it. */
  question: z.optional(toolQuestion),
  files: z.optional(z.array(toolFile)),
  /** Tokens that the reply has taken up to the round that asked for it; left out: none, or it is not told. */
  spent: z.optional(z.int()),
  /** It was too long for the rounds behind it: the model reads a summary of it there. */
  condensed: z.optional(z.boolean()),
});
export type ToolCall = z.output<typeof toolCall>;

/** The same as it is kept. */
export interface StoredTool extends ToolCall {
  /** Of the loop, from 0. */
  round: number;
  /** As the model's service named it. */
  callId: string;
  /** What it was given and gave is for its person alone. */
  own: boolean;
}

export const toolLimits = {
  /** Rounds of calls of one reply. */
  rounds: 12,
  /** Calls of one round. */
  calls: 8,
  /** UTF-16 units of arguments and of a result. */
  arguments: 20_000,
  result: 24_000,
  /** Questions that a server may ask in one call. */
  questions: 3,
  /** Fields of a question. */
  fields: 20,
} as const;

export const toolCalls = {
  answerTool: call({
    method: 'POST',
    path: '/api/answer_tool',
    access: 'guest',
    summary:
      '回答一次工具调用的询问：这一次、这个会话里总是、不要。工具服务问的（question）把答案写在 answers 里，与 once 一起；没有写的照默认，null 是空着。都回答了，回复就接着写',
    input: z.object({
      session_id: sessionRef,
      history_id: id,
      call_id: text(100),
      answer: z.enum(['once', 'session', 'no']),
      /** By the names of the fields. */
      answers: z.optional(
        z
          .record(text(100), z.nullable(givenAnswer))
          .check(z.refine((given) => Object.keys(given).length <= toolLimits.fields)),
      ),
    }),
    output: z.object({
      /** The reply goes on; else another call waits for an answer. */
      going: z.boolean(),
      tools: z.array(toolCall),
    }),
    codes: ['session_busy', 'not_owner', 'private_session', 'session_deleted'],
  }),
};
