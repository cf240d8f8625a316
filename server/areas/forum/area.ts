import type { Area } from '#server/area.ts';
import { createForumHandlers, type ForumDeps } from './forum.handlers.ts';
import { newsSource, removeOldNews } from './news.service.ts';

export const forumArea = ({ remove }: Pick<ForumDeps, 'remove'>) =>
  ({
    holds: [
      { table: 'forum_replies', of: ['user_id'], end: 'delete' },
      { table: 'forum_visits', of: ['user_id'], end: 'delete' },
      { table: 'news', of: ['user_id', 'actor_id'], end: 'delete' },
      {
        table: 'reports',
        of: ['user_id'],
        end: { set: { note: `''` } },
        take: ['reason', 'note', 'created_at'],
      },
      {
        table: 'reports',
        of: [],
        where: `history_id IN (SELECT id FROM history WHERE user_id = $person)
          OR session_id IN (SELECT id FROM sessions WHERE user_id = $person)`,
        end: { set: { excerpt: `''` } },
      },
      { table: 'reports', of: ['resolved_by'], end: { keep: 'which manager decided it' } },
    ],
    chores: [removeOldNews],
    waits: { news: newsSource },
    serve: ({ waits }) => createForumHandlers({ push: (told) => waits.tellNews(told), remove }),
  }) satisfies Area;
