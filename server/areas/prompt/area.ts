import type { Area } from '#server/area.ts';
import { createPromptHandlers } from './prompt.handlers.ts';
import { moveTemplates, seedTemplates } from './templates.service.ts';
import { shownByTemplates } from './templates.store.ts';

export const promptArea = () =>
  ({
    holds: [
      {
        table: 'prompt_marks',
        of: ['user_id'],
        end: 'delete',
      },
      {
        table: 'prompt_marks',
        of: [],
        where: 'prompt_id IN (SELECT id FROM prompt_templates WHERE user_id = $person)',
        end: 'delete',
      },
      {
        table: 'prompt_templates',
        of: ['user_id'],
        end: 'delete',
        take: ['type', 'title', 'content', 'attrs', 'created_at'],
      },
      { table: 'keyword_marks', of: ['user_id'], end: 'delete' },
    ],
    seed: seedTemplates,
    takeOver: moveTemplates,
    shows: shownByTemplates,
    serve: ({ prompts }) => createPromptHandlers(prompts),
  }) satisfies Area;
