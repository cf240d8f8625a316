import * as z from 'zod/mini';
import {
  call,
  chosen,
  flag,
  id,
  listOf,
  page,
  sessionRef,
  text,
  time,
  uuid,
  wholeNumber,
  offlineCall,
  personName,
  many,
} from './call.ts';
import { embedding } from './embedding.ts';
import { forumCategory } from './forum.ts';
import { limits } from './limits.ts';
import { scenarioBrief } from './scenario.ts';

export const session = z.object({
  id: z.int(),
  uuid: z.string(),
  type: z.int(),
  model: z.string(),
  user_id: z.int(),
  user_name: personName,
  /** Address of their avatar, where they have one. */
  avatar: z.optional(z.string()),
  /** The title: the first question, empty before it. */
  prompt: z.string(),
  /** The beginning of the newest reply as plain text. */
  summary: z.string(),
  private: z.int(),
  reply_count: z.int(),
  like_count: z.int(),
  /** Addresses of its newest images, at most 5. */
  images: z.array(z.string()),
  /** Of images and films: the JSON list of them; else empty. */
  completion: z.string(),
  /** 1: it was deleted, which managers alone see. */
  deleted: z.int(),
  /** 1: the knowledge base that it is asked about is its owner's own. */
  embedding_private: z.int(),
  /**
   * True: the asker has marked it as a whole; a number: not that, but messages of it, and this one
   * last.
   */
  favorite: z.union([z.boolean(), z.int()]),
  /** The asker keeps it at the top of their list. */
  on_top: z.boolean(),
  /** Of a private session of two people: messages of the other one that the asker has not seen. */
  unread: z.int(),
  /** The template that it began from; the prompt of somebody's private one is empty. */
  scenario: z.nullable(scenarioBrief),
  scenario_id: z.nullable(z.int()),
  /** Key and name of the knowledge base that it is asked about; empty: none. */
  embedding_key: z.string(),
  /** Names of all of them. */
  embedding_name: z.string(),
  /**
   * In a list with `query`: where the words were found. Among the favourites: the message that was
   * marked last. Null elsewhere.
   */
  match: z.nullable(
    z.object({
      /** Null: in the title, or the session as a whole. */
      history_id: z.nullable(z.int()),
      /** Whether the question or the reply has them, where that is known. */
      part: z.optional(z.enum(['human', 'ai'])),
      /** Plain text around the words, or the beginning of the message. */
      snippet: z.string(),
    }),
  ),
  /** The group of the forum that it is in. */
  group_id: z.int(),
  /** Of the forum: the question's title, and its beginning as plain text; else prompt and summary. */
  title: z.string(),
  content: z.string(),
  /** The message that its asker accepted as the answer. */
  accepted_id: z.nullable(z.int()),
  essence: z.boolean(),
  pinned: z.boolean(),
  /** Nobody writes in it any more. */
  closed: z.boolean(),
  created_at: time,
  updated_at: time,
});
export type Session = z.output<typeof session>;

/**
 * Of a talk of two people. new: nobody wrote yet; asking: the asker's first message waits to be
 * accepted; asked: the other one's does; blocking: the asker wants nothing of the other one.
 */
export const friendState = z.enum(['new', 'asking', 'asked', 'accepted', 'blocking']);
export type FriendState = z.output<typeof friendState>;

/** Keys of the knowledge bases that a session is asked about. */
const bases = z.optional(z.array(text(64)).check(z.maxLength(limits.bases)));

export const sessionDetail = z.extend(session, {
  /** The asker owns it. */
  owner: z.boolean(),
  /** The send box is shown: the asker may write. */
  writable: z.boolean(),
  /** The owner's membership tag. */
  owner_vip: z.boolean(),
  /** An administrator forces the owner's sessions to be private. */
  private_forced: z.boolean(),
  /** The knowledge bases that it is asked about, as far as they are open to the asker; left out: none. */
  bases: z.optional(z.array(embedding)),
  /** Nothing of it is stored on the server: the page keeps the messages and sends them along. */
  temporary: z.boolean(),
  /** Of a private session of two people: the other one. */
  friend: z.nullable(z.object({ id: z.int(), name: personName, state: friendState })),
  /** The asker may take it over as a session of their own. */
  forkable: z.boolean(),
  /** How many people have looked at it; of questions to people alone. */
  views: z.optional(z.int()),
});
export type SessionDetail = z.output<typeof sessionDetail>;

export const channel = z.enum(['public', 'private', 'favorites', 'forum']);
/** Those of the home; the forum has a screen of its own. */
export type Channel = Exclude<z.output<typeof channel>, 'forum'>;

export const sessionCalls = {
  sessionList: call({
    method: 'GET',
    path: '/api/session_list',
    access: 'public',
    summary: '会话列表。private 与 favorites 需要令牌；forum 是公开的问答',
    input: z.object({
      channel: z._default(channel, 'public'),
      page,
      page_size: z._default(wholeNumber(1, 50), 20),
      user_id: z.optional(id),
      scenario_id: z.optional(id),
      /** Of the forum. */
      category: z.optional(forumCategory),
      group_id: z.optional(id),
      query: z.optional(text(200)),
      model: chosen(100),
    }),
    output: z.object({ ...listOf(session), models: z.array(z.string()) }),
  }),
  getSession: call({
    method: 'GET',
    path: '/api/get_session',
    access: 'public',
    summary: '打开一个会话',
    input: z.object({ uuid: sessionRef, history_id: z.optional(id) }),
    output: sessionDetail,
    codes: ['private_session', 'session_deleted'],
  }),
  newSession: offlineCall({
    method: 'POST',
    path: '/api/new_session',
    access: 'public',
    idempotent: true,
    writes: ({ history_id: copied }) => (copied === undefined ? 'few' : 'most'),
    summary: '新建会话。没有令牌时先建一个访客账号，令牌在响应头里',
    input: z.object({
      /**
       * 0 chat; 1 images; 2 a question to people, who may mention models; 4 films. Left out: 2 where
       * a group is named, else 0.
       */
      type: z.optional(
        z.pipe(
          wholeNumber(0, 4),
          z.union([z.literal(0), z.literal(1), z.literal(2), z.literal(4)], {
            error: '只能新建聊天（0）、作画（1）、问答（2）与视频（4）会话',
          }),
        ),
      ),
      /** A model's name, or the key of a knowledge base in a chat, of a trained style for images. */
      model: chosen(100),
      private: z.optional(flag),
      scenario_id: z.optional(id),
      /** Of a question to people: the group of the forum; 1 when left out. */
      group_id: z.optional(id),
      /** Takes over the session of this message, up to it, as one's own. */
      history_id: z.optional(id),
      /** The key of a knowledge base to ask about. */
      embedding: chosen(64),
      /** Several at once, in the place of `embedding`. */
      embeddings: bases,
      /** 1: see `temporary` of a session. */
      temporary: z._default(flag, 0),
      /**
       * The address it shall have, made by the client: a session begun without a network is written
       * in before it exists. One's own session of that address is given as it is, at any time later.
       */
      uuid: z.optional(uuid),
    }),
    output: z.object({ uuid, id: z.int() }),
    codes: [
      'login_required',
      'monthly_limit',
      'model_unavailable',
      'training_unfinished',
      'paid_only',
      'private_session',
      'session_deleted',
      'embedding_missing',
      'sessions_forbidden',
    ],
  }),
  newFriend: call({
    method: 'POST',
    path: '/api/new_friend',
    access: 'user',
    idempotent: true,
    summary: '与某人的私有会话；没有时新建',
    input: z.object({ friend_user_id: id }),
    output: z.object({ uuid, id: z.int() }),
    codes: ['sessions_forbidden'],
  }),
  answerFriend: call({
    method: 'POST',
    path: '/api/answer_friend',
    access: 'user',
    summary: '私聊：accept 接受对方的请求，block 屏蔽对方，unblock 取消屏蔽',
    input: z.object({ session_id: sessionRef, act: z.enum(['accept', 'block', 'unblock']) }),
    output: z.object({ state: friendState }),
    codes: ['session_deleted'],
  }),
  searchMessages: call({
    method: 'GET',
    path: '/api/search_messages',
    access: 'guest',
    summary: '在一个会话的消息里查找，新的在前',
    input: z.object({
      session_id: sessionRef,
      query: text(200).check(z.minLength(1)),
      page,
    }),
    output: z.object(
      listOf(
        z.object({
          history_id: z.int(),
          part: z.enum(['human', 'ai']),
          snippet: z.string(),
          created_at: time,
        }),
      ),
    ),
    codes: ['private_session', 'session_deleted'],
  }),
  setSession: offlineCall({
    method: 'POST',
    path: '/api/set_session',
    access: 'guest',
    writes: ({ private: asked }) => (asked === undefined ? 'few' : 'many'),
    summary: '更改会话：私有与否、标题、置顶、问哪些知识库，或（还没有消息时）模型',
    inQuery: ['session_id'],
    input: z
      .object({
        session_id: sessionRef,
        private: z.optional(flag),
        model: chosen(100),
        title: z.optional(z.string().check(z.trim(), z.minLength(1), z.maxLength(100))),
        on_top: z.optional(flag),
        /** Knowledge bases that the next questions are asked about, in the place of those before; empty: none. */
        embeddings: bases,
      })
      .check(
        z.refine(
          (value) =>
            [value.private, value.model, value.title, value.on_top, value.embeddings].some(
              (each) => each !== undefined,
            ),
          { path: ['private'], error: '请给出 private、model、title、on_top 或 embeddings' },
        ),
      ),
    output: z.object({ result: z.boolean() }),
    codes: [
      'login_required',
      'model_locked',
      'model_unavailable',
      'embedding_missing',
      'training_unfinished',
      'paid_only',
      'session_unsuitable',
      'private_forced',
      'words_blocked',
      'phone_needed',
      'private_global_off',
      'session_deleted',
    ],
  }),
  deleteSession: offlineCall({
    method: 'DELETE',
    path: '/api/delete_session',
    access: 'guest',
    writes: many,
    summary: '删除会话',
    input: z.object({ session_id: sessionRef }),
    output: z.object({}),
    codes: ['session_deleted'],
  }),
};
