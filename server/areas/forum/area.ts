import type { Area } from '../../area.ts';
import { removeReported } from '../chat/people-removal.service.ts';
import { createForumHandlers } from './forum.handlers.ts';
import { newsSource, removeOldNews } from './news.service.ts';

export const forumArea = () =>
  ({
    chores: [removeOldNews],
    waits: { news: newsSource },
    serve: ({ waits }) =>
      createForumHandlers({ push: (told) => waits.tellNews(told), remove: removeReported }),
  }) satisfies Area;
