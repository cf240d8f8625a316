import type { Area } from '../../area.ts';
import { replyNews } from './reply-news.ts';
import { createManageMessageHandlers } from './manage-message.service.ts';
import { createChatHandlers } from './chat.handlers.ts';
import { shownByMessages } from './chat.store.ts';

export const chatArea = () =>
  ({
    waits: { answer: replyNews },
    shows: shownByMessages,
    serve: ({ replies, models, files, knowledge, settings, cancelJobs, waits }) => ({
      ...createChatHandlers({
        replies,
        models,
        attachments: files,
        knowledge,
        minPromptBytes: settings.minPromptBytes,
        push: (told) => waits.tellNews(told),
        cancelJobs: (id) => cancelJobs({ subject: 'message', id }),
      }),
      ...createManageMessageHandlers({
        cancelJobs: (id) => cancelJobs({ subject: 'message', id }),
      }),
    }),
  }) satisfies Area;
