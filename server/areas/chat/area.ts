import type { Area } from '#server/area.ts';
import { replyNews } from './reply-news.ts';
import { createManageMessageHandlers } from './manage-message.service.ts';
import { createChatHandlers } from './chat.handlers.ts';
import { shownByMessages } from './chat.store.ts';
import { emptied, hasWords } from './leave-chat.store.ts';
import { serveReplyLines } from './serve-lines.ts';

/** Sessions of the person who leaves, with all that is in them; talks of two are not among them. */
const ownSessions = `SELECT id FROM sessions WHERE user_id = $person AND deleted_at IS NOT NULL`;
const ownWords = `SELECT id FROM history WHERE user_id = $person
  UNION SELECT id FROM history WHERE session_id IN (${ownSessions})`;

export const chatArea = () =>
  ({
    holds: [
      { table: 'favorites', of: ['user_id'], end: 'delete', take: ['session_id', 'history_id'] },
      { table: 'likes', of: ['user_id'], end: 'delete', take: ['history_id', 'created_at'] },
      { table: 'message_images', of: [], where: `history_id IN (${ownWords})`, end: 'delete' },
      { table: 'reply_loops', of: [], where: `history_id IN (${ownWords})`, end: 'delete' },
      {
        table: 'session_summaries',
        of: [],
        where: 'session_id IN (SELECT id FROM sessions WHERE user_id = $person)',
        end: 'delete',
        take: ['session_id', 'text', 'made_at'],
      },
      { table: 'message_edits', of: [], where: `history_id IN (${ownWords})`, end: 'delete' },
      {
        table: 'history',
        of: ['user_id'],
        // Those of one's own sessions were emptied before, a part at a time: see leaving.
        where: `id IN (${ownWords}) AND ${hasWords}`,
        end: {
          set: {
            human: `CASE WHEN session_id IN (${ownSessions}) THEN '' ELSE '消息已随账号注销删除' END`,
            ...emptied,
          },
        },
      },
    ],
    waits: { answer: replyNews },
    shows: shownByMessages,
    routes: (http, { replies }) => serveReplyLines(http, replies),
    serve: ({ replies, models, files, knowledge, settings, cancelJobs, waits }) => ({
      ...createChatHandlers({
        replies,
        models,
        toolbox: replies.toolbox,
        attachments: files,
        knowledge,
        minPromptBytes: settings.minPromptBytes,
        messagesAMinute: settings.messagesAMinute,
        push: (told) => waits.tellNews(told),
        cancelJobs: (id) => cancelJobs({ subject: 'message', id }),
      }),
      ...createManageMessageHandlers({
        cancelJobs: (id) => cancelJobs({ subject: 'message', id }),
      }),
    }),
  }) satisfies Area;
