import * as z from 'zod/mini';
import { always, call, flag, sessionRef, text, time } from './call.ts';
import { limits } from './limits.ts';

/** What a model has before it when it is asked the next question of a conversation. */
export const sessionContext = z.object({
  /** Number of the oldest message that is read word for word; null: none is. */
  from_id: z.nullable(z.int()),
  /** Exchanges that are read word for word. */
  reads: z.int(),
  /** As many exchanges are read at most, as its person chose; null: all from a message on. */
  recent: z.nullable(z.int()),
  /** Tokens of all that is read, the summary included; estimated. */
  tokens: z.int(),
  /** Characters that it takes, and that the model takes at most. */
  used: z.int(),
  window: z.int(),
  /** Answered exchanges before those, neither read nor in the summary. */
  unread: z.int(),
  /** What 接着读更早的 adds: exchanges, and tokens with each question. */
  earlier: z.object({ exchanges: z.int(), tokens: z.int() }),
  /** What can be condensed now, and about what that takes; `cost`: tokens deducted. */
  condensable: z.object({ exchanges: z.int(), cost: z.int() }),
  /** What older exchanges were condensed into; null: nothing that is read. */
  summary: z.nullable(
    z.object({
      text: z.string(),
      exchanges: z.int(),
      edited: z.boolean(),
      made_at: time,
      /** Nobody pressed for it; and the tokens that it took so far. */
      auto: z.boolean(),
      tokens: z.int(),
    }),
  ),
  /** Older exchanges are condensed by themselves where all that is read fills the window. */
  auto: z.boolean(),
  /** That is being done now. */
  condensing: z.boolean(),
  /** Tokens of all prompts of the session, and those of them that services read from a cache. */
  prompt_tokens: z.int(),
  cached_tokens: z.int(),
});
export type SessionContext = z.output<typeof sessionContext>;

const codes = ['session_unsuitable', 'not_owner', 'private_session', 'session_deleted'] as const;

export const contextCalls = {
  sessionContext: call({
    method: 'GET',
    path: '/api/session_context',
    access: 'guest',
    summary: '自己的会话里，模型下一次会读到哪些：从哪一条起、占多少、可以怎样读更早的',
    input: z.object({ session_id: sessionRef }),
    output: sessionContext,
    codes,
  }),
  readEarlier: call({
    method: 'POST',
    path: '/api/read_earlier',
    access: 'guest',
    summary: '接着读更早的：on 为 1 时从放得下的最早一条读起，为 0 时回到最近几轮',
    input: z.object({ session_id: sessionRef, on: flag }),
    output: sessionContext,
    codes,
  }),
  condenseSession: call({
    method: 'POST',
    path: '/api/condense_session',
    access: 'guest',
    countsForGuests: always,
    idempotent: true,
    claimsKey: true,
    summary: '把较早的对话浓缩成摘要，由会话的模型来写，照常计费；内置助手按规则摘录，免费',
    input: z.object({ session_id: sessionRef }),
    output: z.object({ deduct_tokens: z.int(), context: sessionContext }),
    codes: [...codes, 'balance', 'model_unavailable', 'paid_only', 'engine_failed', 'session_busy'],
  }),
  saveSummary: call({
    method: 'POST',
    path: '/api/save_summary',
    access: 'guest',
    summary: '改写会话的摘要；空着就是不要它',
    input: z.object({ session_id: sessionRef, text: text(limits.context.summary) }),
    output: sessionContext,
    codes,
  }),
};
