import { bounds } from './bounds.ts';
import * as z from 'zod/mini';
import {
  call,
  flag,
  id,
  listOf,
  page,
  sessionRef,
  sortedBy,
  text,
  time,
  wholeNumber,
  personName,
} from './call.ts';
import { sorts } from './sorts.ts';
import { color, named } from './text-fields.ts';

/** Lists of the forum beside all and the groups. */
export const forumCategory = z.enum([
  'hot',
  'mine',
  'replied',
  'answered',
  'unanswered',
  'essence',
  'history',
]);
export type ForumCategory = z.output<typeof forumCategory>;

const forumGroup = z.object({
  id: z.int(),
  name: z.string(),
  /** `#rrggbb`. */
  color: z.string(),
  sort: z.int(),
});

export const reportReason = z.enum(['spam', 'abuse', 'illegal', 'false', 'other']);
export type ReportReason = z.output<typeof reportReason>;

const report = z.object({
  id: z.int(),
  session_id: z.int(),
  uuid: z.string(),
  /** 0: the question as a whole. */
  history_id: z.int(),
  title: z.string(),
  reason: reportReason,
  note: z.string(),
  /** What was reported, as it was then. */
  excerpt: z.string(),
  user_id: z.int(),
  user_name: personName,
  author_id: z.int(),
  author_name: personName,
  created_at: time,
  resolved_at: z.nullable(time),
  removed: z.boolean(),
});

/** reply: to one's question; mention: one was spoken to; accept: one's answer was accepted. */
export const newsKind = z.enum(['reply', 'message', 'mention', 'accept', 'essence', 'report']);
export type NewsKind = z.output<typeof newsKind>;

export const newsItem = z.object({
  id: z.int(),
  kind: newsKind,
  uuid: z.string(),
  history_id: z.nullable(z.int()),
  /** Of the session. */
  title: z.string(),
  actor_id: z.int(),
  actor_name: personName,
  /** Address of their avatar, where they have one. */
  avatar: z.optional(z.string()),
  /** How often it happened since it was last read. */
  count: z.int(),
  /** Plain text. */
  excerpt: z.string(),
  /** One line that says all of it. */
  text: z.string(),
  read: z.boolean(),
  created_at: time,
});
export type NewsItem = z.output<typeof newsItem>;

const ofQuestion = ['login_required', 'private_session', 'session_deleted'] as const;

/** Words that nobody may write where everybody reads. */
export const forumLimits = { words: 2000, wordPage: 50 } as const;

export const forumCalls = {
  forumGroups: call({
    method: 'GET',
    path: '/api/forum_groups',
    access: 'public',
    summary: '社区的分组；1 是默认分组',
    input: z.object({}),
    output: z.object({ list: z.array(forumGroup) }),
  }),
  saveForumGroup: call({
    method: 'POST',
    path: '/api/admin/save_forum_group',
    access: 'manager',
    summary: '新建或修改社区分组',
    input: z.object({
      id: z.optional(id),
      name: named(bounds.forumGroup),
      color: z._default(color, '#2563eb'),
      sort: z._default(wholeNumber(bounds.sort.min, bounds.sort.max), 100),
    }),
    output: z.object({ id: z.int() }),
    idempotent: true,
  }),
  delForumGroup: call({
    method: 'POST',
    path: '/api/admin/del_forum_group',
    access: 'manager',
    summary: '删除社区分组；其中的问题归到默认分组',
    input: z.object({ id }),
    output: z.object({}),
  }),
  acceptAnswer: call({
    method: 'POST',
    path: '/api/accept_answer',
    access: 'user',
    summary: '采纳一个回答；accepted 为 0 时取消采纳',
    input: z.object({ session_id: sessionRef, history_id: id, accepted: z._default(flag, 1) }),
    output: z.object({ accepted_id: z.nullable(z.int()) }),
    codes: ['not_owner', 'session_unsuitable', ...ofQuestion],
  }),
  markQuestion: call({
    method: 'POST',
    path: '/api/admin/mark_question',
    access: 'manager',
    summary: '精华、置顶、关闭一个问题，或移到别的分组',
    input: z.object({
      session_id: sessionRef,
      essence: z.optional(flag),
      pinned: z.optional(flag),
      closed: z.optional(flag),
      group_id: z.optional(id),
    }),
    output: z.object({}),
    codes: ['session_unsuitable'],
  }),
  report: call({
    method: 'POST',
    path: '/api/report',
    access: 'user',
    summary: '举报一个公开的会话，或其中的一条消息',
    input: z.object({
      session_id: sessionRef,
      history_id: z.optional(id),
      reason: reportReason,
      note: z._default(text(bounds.report.max), ''),
    }),
    output: z.object({}),
    codes: ['session_unsuitable', ...ofQuestion],
    effect: 'none',
    idempotent: true,
  }),
  blockedWordList: call({
    method: 'GET',
    path: '/api/admin/blocked_words',
    access: 'manager',
    summary: '管理：屏蔽词，新的在前',
    input: z.object({ page, query: z.optional(text(bounds.blockedWord.max)) }),
    output: z.object(listOf(z.object({ id: z.int(), word: z.string(), created_at: time }))),
  }),
  addBlockedWords: call({
    method: 'POST',
    path: '/api/admin/add_blocked_words',
    access: 'manager',
    summary: '管理：添加屏蔽词；大家看得到的问答、评论与名称里不能有',
    input: z.object({
      words: z
        .array(text(bounds.blockedWord.max).check(z.minLength(1)))
        .check(z.minLength(1), z.maxLength(500)),
    }),
    output: z.object({ added: z.int() }),
    codes: ['manage_unsuitable'],
  }),
  delBlockedWord: call({
    method: 'POST',
    path: '/api/admin/del_blocked_word',
    access: 'manager',
    summary: '管理：删除一个屏蔽词',
    input: z.object({ id }),
    output: z.object({}),
  }),
  reportList: call({
    method: 'GET',
    path: '/api/admin/report_list',
    access: 'manager',
    summary: '举报，新的在前。state：open 未处理，done 已处理',
    input: z.object({
      state: z._default(z.enum(['open', 'done']), 'open'),
      page,
      ...sortedBy(sorts.reportList),
    }),
    output: z.object(listOf(report)),
  }),
  resolveReport: call({
    method: 'POST',
    path: '/api/admin/resolve_report',
    access: 'manager',
    summary: '处理举报：remove 为 1 时删除被举报的内容',
    input: z.object({ id, remove: z._default(flag, 0) }),
    output: z.object({}),
  }),
  messageEdits: call({
    method: 'GET',
    path: '/api/message_edits',
    access: 'public',
    summary: '一条问答消息改动之前的样子，新的在前，至多 50 次',
    input: z.object({ session_id: sessionRef, history_id: id }),
    output: z.object({
      list: z.array(
        z.object({
          title: z.string(),
          content: z.string(),
          /** Until when it was so. */
          created_at: time,
        }),
      ),
    }),
    codes: [...ofQuestion],
  }),
  newsList: call({
    method: 'GET',
    path: '/api/news_list',
    access: 'user',
    summary: '消息：谁回答了我、提到了我、采纳了我的回答',
    input: z.object({ page }),
    output: z.object({ ...listOf(newsItem), unread: z.int() }),
  }),
  readNews: call({
    method: 'POST',
    path: '/api/read_news',
    access: 'user',
    summary: '消息已读；带 session_id 时只算这个会话的，并记入浏览历史',
    input: z.object({ session_id: z.optional(sessionRef) }),
    output: z.object({ unread: z.int() }),
    codes: [...ofQuestion],
    effect: 'none',
  }),
};
