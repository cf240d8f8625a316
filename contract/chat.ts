import * as z from 'zod/mini';
import {
  always,
  call,
  chosen,
  flag,
  id,
  listOf,
  page,
  sessionRef,
  stream,
  text,
  time,
  uuid,
  wholeNumber,
  offlineCall,
  personName,
  many,
} from './call.ts';
import { source } from './embedding.ts';
import { imageParameters, imageReply, imageTask, resizeMode } from './image.ts';
import { job } from './job.ts';
import { thinkingChoices } from './kinds.ts';
import { limits } from './limits.ts';
import { toolCall } from './tool.ts';

/**
 * How a message's reply stands: none was asked for, it is being written, it waits until its person
 * has answered a question of a tool, it is whole, its owner stopped it, it failed, or the server went
 * away in mid-answer.
 */
export const replyState = z.enum([
  'none',
  'streaming',
  'waiting',
  'done',
  'stopped',
  'error',
  'interrupted',
]);
export type ReplyState = z.output<typeof replyState>;

/** What a message asks a session of images (type 1) for, beside its words. */
export const imageRequest = z.object({
  /** How many, and a code of `imageSizes`: kept with the message so that it can be made again. */
  n: z._default(wholeNumber(1, limits.imageCount.most), 1),
  size: z._default(wholeNumber(0, 20), limits.defaultImageSize),
  translate: z._default(flag, 0),
  /** Address of the image to start from; empty: none. */
  base_image: z._default(text(2000), ''),
  /** How much of it is changed, percent. */
  strength: z.optional(wholeNumber(1, 100)),
  resize_mode: z._default(resizeMode, 0),
  parameters: z._default(imageParameters, {}),
  controlnet_image: z._default(text(2000), ''),
  controlnet_module: z._default(text(100), ''),
  controlnet_model: z._default(text(200), ''),
  /** 0 balanced, 1 the prompt, 2 the reference is more important. */
  controlnet_control_mode: z._default(wholeNumber(0, 2), 0),
  /** The image whose words and parameters these were before somebody went on from them. */
  inspired_by: z.optional(id),
});
export type ImageRequest = z.output<typeof imageRequest>;

/** The same in a message: whoever names no number or translation gets what is usual for the model. */
export const storedImageRequest = z.extend(imageRequest, {
  n: z.optional(wholeNumber(1, limits.imageCount.most)),
  translate: z.optional(flag),
});
export type StoredImageRequest = z.output<typeof storedImageRequest>;

/**
 * What a structured message (format 1) carries in `msg` and, when read, in `human`, as JSON.
 * Documents 1 §3: prompt, type, images, image_detail, at_user, and for images what `image` holds.
 */
export const structuredMessage = z.object({
  /** chat-vision with images, else chat; in a session of images what is to be made. */
  type: z._default(z.enum(['chat', 'chat-vision', 'img2video', ...imageTask.options]), 'chat'),
  /** In a session of images alone. */
  image: z.optional(storedImageRequest),
  prompt: text(2_000_000),
  /** Addresses from `image/upload`, or public https ones. */
  images: z._default(
    z
      .array(text(2000))
      .check(z.maxLength(limits.visionImages, `最多选择 ${limits.visionImages} 张图片`)),
    [],
  ),
  image_detail: z._default(z.enum(['low', 'high']), 'low'),
  /** Attached texts, from `upload_file`. All but the uuid is filled in by the server. */
  files: z._default(
    z
      .array(
        z.object({
          uuid,
          name: z._default(text(200), ''),
          size: z._default(z.int(), 0),
          /** Characters of its text; left out of messages from before they were counted. */
          chars: z.optional(z.int()),
          /** Tokens of its text; likewise. */
          tokens: z.optional(z.int()),
        }),
      )
      .check(z.maxLength(limits.attachedFiles)),
    [],
  ),
  /** The person spoken to. The name is filled in by the server. */
  at_user: z._default(z.nullable(z.object({ id, name: z._default(text(100), '') })), null),
  /** The model mentioned in a session of people. Filled in by the server. */
  at_ai: z._default(text(100), ''),
  /** What made it, in a word of the client's; kept as given. */
  app: z.optional(text(100)),
});
export type StructuredMessage = z.output<typeof structuredMessage>;

/** The fields of `image` as document 1 §3 lists them: beside the others, each of them optional. */
export const flatImageRequest = z.partial(storedImageRequest);

const oneMessage = z.object({
  id: z.int(),
  /** The prompt; JSON of `structuredMessage` where `format` is 1. */
  human: z.string(),
  format: z.int(),
  /** Of a question to people; empty: none. */
  title: z.string(),
  /** Of a message to people: its plain text. */
  content: z.string(),
  /** Text; of a message of images or films the JSON list of them, empty before there are any. */
  ai: z.string(),
  /** Of an answered message of images: what stands with them. Null: nothing. */
  made: z.nullable(imageReply),
  reasoning: z.string(),
  /** How long it thought, ms; left out: nobody knows, or it did not. */
  thought_ms: z.optional(z.int()),
  /** What the answer was given to rest on; left out: nothing. */
  sources: z.optional(z.array(source)),
  /** Calls of tools, in their order; left out: there was none. */
  tools: z.optional(z.array(toolCall)),
  type: z.int(),
  model: z.string(),
  state: replyState,
  /** Code and text of what ended the reply early; empty when nothing did. */
  error_code: z.string(),
  error_message: z.string(),
  user_id: z.int(),
  user_name: personName,
  /** Address of their avatar, where they have one. */
  avatar: z.optional(z.string()),
  created_at: time,
  /** 0 for everybody but the owner of the session. */
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  deduct_tokens: z.int(),
  /** Of the prompt's tokens: what the service read from a cache; left out: none. */
  cached_tokens: z.optional(z.int()),
  like_count: z.int(),
  liked: z.boolean(),
  in_favorites: z.boolean(),
  /** Its author changed it later. */
  edited: z.boolean(),
  /** The work on its images: how it stands, or how it ended. Null: there was none. */
  job: z.nullable(job),
  /** Its author alone sees it until the other one of two accepts to be written to. */
  pending: z.optional(z.boolean()),
  /** Numbers of the branches at this place, itself among them, oldest first; empty: the only one. */
  siblings: z.array(z.int()),
});

export const message = z.extend(oneMessage, {
  /** The second answer to the same question, by another model. */
  beside: z.nullable(oneMessage),
});
export type Message = z.output<typeof message>;

/**
 * One event of a reply: text, the model's thinking, a call of a tool as it now stands, or the error
 * that ends it. A call comes again with each change, and its event has the number of what was before
 * it. `[DONE]` is bare.
 */
export const streamEvent = z.union([
  z.string(),
  z.object({ reasoning: z.string() }),
  z.object({ tool: toolCall }),
  z.object({ code: z.string(), message: z.string() }),
]);
export type StreamEvent = z.output<typeof streamEvent>;

/** What a reply is made with; what is left out comes from the person's saved settings. */
const generation = {
  temperature: z.optional(wholeNumber(1, 20)),
  presence_penalty: z.optional(wholeNumber(0, 10)),
  frequency_penalty: z.optional(wholeNumber(0, 10)),
  max_history: z.optional(wholeNumber(0, 10)),
  /** Of a session with a knowledge base: 1 answers from it alone. */
  strict_mode: z.optional(flag),
  /** 1: a model that calls tools may search the web. */
  web: z.optional(flag),
  /** How long the model thinks, where it has the choice: `auto` as it usually does. */
  thinking: z.optional(z.enum(thinkingChoices)),
};

const ignored = z.optional(z.unknown());

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
      /** votes: the question, then the answers with the most likes first. */
      sort: z._default(z.enum(['time', 'votes']), 'time'),
      /** Only this message (favourite view). */
      id: z.optional(id),
      /** Only messages older than this one: keeps pages stable while new ones arrive. */
      before: z.optional(id),
      /** Only messages newer than this one. */
      after: z.optional(id),
    }),
    output: z.object(listOf(message)),
    codes: ['private_session', 'session_deleted'],
  }),
  lastMessages: call({
    method: 'POST',
    path: '/api/last_messages',
    access: 'public',
    summary: '比 maxHistoryId 新的消息，旧的在前，至多 100 条',
    input: z.object({
      sessionId: sessionRef,
      /** Left out, as of an empty list: all. */
      maxHistoryId: z._default(wholeNumber(0, Number.MAX_SAFE_INTEGER), 0),
    }),
    output: z.array(message),
    codes: ['private_session', 'session_deleted'],
    effect: 'none',
  }),
  sendMessage: offlineCall({
    method: 'POST',
    path: '/api/send_message',
    access: 'guest',
    countsForGuests: always,
    idempotent: true,
    summary: '发送消息并开始回复；回复由 event_stream 读取',
    // A text of two million letters, each written in six.
    maxBytes: 12 * 1024 * 1024,
    guestMaxBytes: 1024 * 1024,
    inQuery: ['session_id'],
    input: z.object({
      session_id: sessionRef,
      msg: text(2_000_000),
      with_template: z._default(flag, 0),
      /** 0 text, 1 JSON of `structuredMessage`. */
      format: z._default(flag, 0),
      /**
       * In a session of people: the model that is mentioned and shall answer. Of a question that is
       * posted: its text, where `msg` is its title (document 2 §5), so that a blank is none.
       */
      ai: z.optional(text(65_535)),
      /** A second model that answers the same question beside the session's. */
      beside: chosen(100),
      /** An own message that this one takes the place of, as a new branch. */
      replace: z.optional(id),
      /** Title of a question to people. */
      title: z.optional(text(100)),
      /** Of a temporary session: what was said before, oldest first; the server keeps nothing. */
      context: z.optional(
        z.array(z.object({ human: text(2_000_000), ai: text(2_000_000) })).check(z.maxLength(10)),
      ),
      /** From a suggestion chip of the page: the minimum length does not apply. */
      suggestion: z._default(flag, 0),
      ...generation,
    }),
    output: z.object({
      id: z.int(),
      msg: z.string(),
      created_at: time,
      /** The message of the second answer; null: none was asked for. */
      beside: z.nullable(z.int()),
      /** It waits until the other one of two accepts to be written to. */
      pending: z.optional(z.boolean()),
      /** Of images whose size was written as `WxH`: the one that is drawn, and in words that it is another. */
      size: z.optional(z.string()),
      notice: z.optional(z.string()),
    }),
    codes: [
      'words_blocked',
      'phone_needed',
      'login_required',
      'balance',
      'session_busy',
      'prompt_too_long',
      'prompt_too_short',
      'model_unavailable',
      'paid_only',
      'vision_missing',
      'session_unsuitable',
      'question_closed',
      'not_owner',
      'private_session',
      'session_deleted',
    ],
  }),
  retryMessage: call({
    method: 'POST',
    path: '/api/retry_message',
    access: 'guest',
    countsForGuests: always,
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
      'paid_only',
      'vision_missing',
      'session_unsuitable',
      'question_closed',
      'not_owner',
      'private_session',
      'session_deleted',
    ],
  }),
  regenerateMessage: call({
    method: 'POST',
    path: '/api/regenerate_message',
    access: 'guest',
    countsForGuests: always,
    idempotent: true,
    summary: '重新回答一条消息，作为新的分支；原来的保留',
    input: z.object({
      session_id: sessionRef,
      history_id: id,
      /** Another model for this answer. */
      model: z.optional(text(100)),
      ...generation,
    }),
    output: z.object({ id: z.int() }),
    codes: [
      'login_required',
      'balance',
      'session_busy',
      'model_unavailable',
      'paid_only',
      'vision_missing',
      'session_unsuitable',
      'not_owner',
      'private_session',
      'session_deleted',
    ],
  }),
  switchBranch: call({
    method: 'POST',
    path: '/api/switch_branch',
    access: 'guest',
    writes: many,
    summary: '显示这条消息所在的分支；并排回答中选定它，接着往下聊',
    input: z.object({ session_id: sessionRef, history_id: id }),
    output: z.object({}),
    codes: [
      'session_busy',
      'session_unsuitable',
      'not_owner',
      'private_session',
      'session_deleted',
    ],
  }),
  updateMessage: offlineCall({
    method: 'POST',
    path: '/api/update_message',
    access: 'user',
    summary: '修改自己在问答或私聊中的消息',
    input: z.object({
      id,
      session_id: sessionRef,
      title: z.optional(text(100)),
      content: text(65_535),
      /** Of a question: the group of the forum that it moves to. */
      group_id: z.optional(id),
    }),
    output: z.object({}),
    codes: [
      'words_blocked',
      'phone_needed',
      'question_closed',
      'session_busy',
      'session_unsuitable',
      'not_owner',
      'private_session',
      'session_deleted',
    ],
  }),
  historyLike: offlineCall({
    method: 'POST',
    path: '/api/history_like',
    access: 'guest',
    summary: '点赞，再次取消；liked 直接给出要的结果，重复不变',
    input: z.object({ history_id: id, session_id: sessionRef, liked: z.optional(flag) }),
    output: z.object({ liked: z.boolean(), like_count: z.int() }),
    codes: ['session_unsuitable', 'private_session', 'session_deleted'],
  }),
  addToFavorites: offlineCall({
    method: 'POST',
    path: '/api/add_to_favorites',
    access: 'guest',
    summary: '收藏一条消息；不给 history_id 时收藏整个会话',
    input: z.object({ session_id: sessionRef, history_id: z.optional(id) }),
    output: z.object({}),
    codes: ['session_unsuitable', 'private_session', 'session_deleted'],
  }),
  removeFromFavorites: offlineCall({
    method: 'DELETE',
    path: '/api/remove_from_favorites',
    access: 'guest',
    summary: '取消收藏一条消息；不给 history_id 时取消整个会话的，其中的消息不变',
    input: z.object({ session_id: sessionRef, history_id: z.optional(id) }),
    output: z.object({}),
  }),
  eventStream: stream({
    method: 'GET',
    path: '/api/event_stream',
    access: 'public',
    summary: '读取一条回复。带 last-event-id 时从断处继续',
    // A model's accelerator is another address of the same service.
    crossOrigin: true,
    input: z.object({
      history_id: id,
      session_id: sessionRef,
      ticket: z.optional(text(100)),
      /** The login itself, for clients of the specification that cannot set a header. */
      token: z.optional(text(2000)),
      /** For clients that cannot set the header last-event-id; the header wins. */
      last_event_id: z.optional(wholeNumber(0, Number.MAX_SAFE_INTEGER)),
      // Accepted for clients of the specification: the reply was begun with send_message's, and no
      // value of these keeps anybody from reading it.
      temperature: ignored,
      presence_penalty: ignored,
      frequency_penalty: ignored,
      max_history: ignored,
      strict_mode: ignored,
      checkpoint: ignored,
      at_ai: ignored,
      model: ignored,
      /** 1: calls of tools are told as they come; clients of the specification know no such event. */
      tools: z.optional(flag),
    }),
    output: streamEvent,
    codes: ['private_session', 'session_deleted'],
  }),
  stopStream: call({
    method: 'POST',
    path: '/api/stop_stream',
    access: 'guest',
    summary: '停止一条正在写的回复；已写出的保留。问题已经发给模型服务的，问题与已写出的照常计费',
    input: z.object({ history_id: id }),
    output: z.object({ stopped: z.boolean() }),
  }),
  deleteHistory: offlineCall({
    method: 'DELETE',
    path: '/api/delete_history',
    access: 'guest',
    writes: many,
    summary: '删除一条消息。is_session 说明整个会话也随之删除',
    input: z.object({ id, session_id: sessionRef }),
    output: z.object({ is_session: z.boolean() }),
    codes: ['session_busy', 'not_owner', 'private_session', 'session_deleted'],
  }),
};
