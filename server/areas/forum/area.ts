import type { Area } from '../../area.ts';
import { createForumHandlers, type ForumDeps } from './forum.handlers.ts';
import { newsSource, removeOldNews } from './news.service.ts';

export const forumArea = ({ remove }: Pick<ForumDeps, 'remove'>) =>
  ({
    chores: [removeOldNews],
    waits: { news: newsSource },
    serve: ({ waits }) => createForumHandlers({ push: (told) => waits.tellNews(told), remove }),
  }) satisfies Area;
