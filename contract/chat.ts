import * as z from 'zod/mini';
import {
  call,
  flag,
  id,
  listOf,
  page,
  sessionRef,
  stream,
  text,
  time,
  wholeNumber,
} from './call.ts';
import { limits } from './limits.ts';

/**
 * How a message's reply stands: none was asked for, it is being written, it is whole, its owner
 * stopped it, it failed, or the server went away in mid-answer.
 */
export const replyState = z.enum(['none', 'streaming', 'done', 'stopped', 'error', 'interrupted']);
export type ReplyState = z.output<typeof replyState>;

export const message = z.object({
  id: z.int(),
  human: z.string(),
  ai: z.string(),
  reasoning: z.string(),
  type: z.int(),
  model: z.string(),
  state: replyState,
  /** Code and text of what ended the reply early; empty when nothing did. */
  error_code: z.string(),
  error_message: z.string(),
  user_id: z.int(),
  user_name: z.string(),
  created_at: time,
  /** 0 for everybody but the owner of the session. */
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  deduct_tokens: z.int(),
  like_count: z.int(),
  liked: z.boolean(),
  in_favorites: z.boolean(),
});
export type Message = z.output<typeof message>;

/** One event of a reply: text, the model's thinking, or the error that ends it. `[DONE]` is bare. */
export const streamEvent = z.union([
  z.string(),
  z.object({ reasoning: z.string() }),
  z.object({ code: z.string(), message: z.string() }),
]);
export type StreamEvent = z.output<typeof streamEvent>;

/** What a reply is made with; what is left out comes from the person's saved settings. */
const generation = {
  temperature: z.optional(wholeNumber(1, 20)),
  presence_penalty: z.optional(wholeNumber(0, 10)),
  frequency_penalty: z.optional(wholeNumber(0, 10)),
  max_history: z.optional(wholeNumber(0, 10)),
};

export const chatCalls = {
  historyList: call({
    method: 'GET',
    path: '/api/history_list',
    access: 'public',
    summary: '会话的消息。newest=1 时最新的在前',
    input: z.object({
      session_id: sessionRef,
      page,
      page_size: z._default(wholeNumber(1, 100), limits.historyPageSize),
      newest: z._default(flag, 0),
      /** Only this message (favourite view). */
      id: z.optional(id),
      /** Only messages older than this one: keeps pages stable while new ones arrive. */
      before: z.optional(id),
    }),
    output: z.object(listOf(message)),
    codes: ['private_session', 'session_deleted', 'account_disabled'],
  }),
  lastMessages: call({
    method: 'POST',
    path: '/api/last_messages',
    access: 'public',
    summary: '比 maxHistoryId 新的消息，旧的在前，至多 100 条',
    input: z.object({
      sessionId: sessionRef,
      maxHistoryId: wholeNumber(0, Number.MAX_SAFE_INTEGER),
    }),
    output: z.array(message),
    codes: ['private_session', 'session_deleted', 'account_disabled'],
  }),
  sendMessage: call({
    method: 'POST',
    path: '/api/send_message',
    access: 'guest',
    idempotent: true,
    summary: '发送消息并开始回复；回复由 event_stream 读取',
    inQuery: ['session_id'],
    input: z.object({
      session_id: sessionRef,
      msg: text(2_000_000),
      with_template: z._default(flag, 0),
      /** 0 text. Structured messages (1) come with pictures. */
      format: z._default(
        z.pipe(flag, z.literal(0, { error: '目前只接受文字消息（format 0）' })),
        0,
      ),
      /** From a suggestion chip of the page: the minimum length does not apply. */
      suggestion: z._default(flag, 0),
      ...generation,
    }),
    output: z.object({ id: z.int(), msg: z.string(), created_at: time }),
    codes: [
      'login_required',
      'balance',
      'session_busy',
      'prompt_too_long',
      'prompt_too_short',
      'model_unavailable',
      'not_owner',
      'private_session',
      'session_deleted',
      'account_disabled',
    ],
  }),
  retryMessage: call({
    method: 'POST',
    path: '/api/retry_message',
    access: 'guest',
    idempotent: true,
    summary: '为最后一条没有完整回复的消息重新生成回复',
    input: z.object({ session_id: sessionRef, history_id: id, ...generation }),
    output: z.object({ id: z.int() }),
    codes: [
      'login_required',
      'balance',
      'session_busy',
      'nothing_to_retry',
      'model_unavailable',
      'not_owner',
      'private_session',
      'session_deleted',
      'account_disabled',
    ],
  }),
  eventStream: stream({
    method: 'GET',
    path: '/api/event_stream',
    access: 'public',
    summary: '读取一条回复。带 last-event-id 时从断处继续',
    input: z.object({
      history_id: id,
      session_id: sessionRef,
      ticket: z.optional(text(100)),
      /** For clients that cannot set the header last-event-id; the header wins. */
      last_event_id: z.optional(wholeNumber(0, Number.MAX_SAFE_INTEGER)),
      /** Accepted for clients that send them; the reply was begun with send_message's. */
      ...generation,
      checkpoint: z.optional(text(200)),
      strict_mode: z.optional(flag),
      at_ai: z.optional(flag),
      model: z.optional(text(100)),
    }),
    output: streamEvent,
    codes: ['private_session', 'session_deleted', 'account_disabled'],
  }),
  stopStream: call({
    method: 'POST',
    path: '/api/stop_stream',
    access: 'guest',
    summary: '停止一条正在写的回复；已写出的保留并计费',
    input: z.object({ history_id: id }),
    output: z.object({ stopped: z.boolean() }),
    codes: ['account_disabled'],
  }),
  deleteHistory: call({
    method: 'DELETE',
    path: '/api/delete_history',
    access: 'guest',
    summary: '删除一条消息。is_session 说明整个会话也随之删除',
    input: z.object({ id, session_id: sessionRef }),
    output: z.object({ is_session: z.boolean() }),
    codes: ['session_busy', 'not_owner', 'private_session', 'session_deleted', 'account_disabled'],
  }),
};
