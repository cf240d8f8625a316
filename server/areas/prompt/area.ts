import type { Area } from '../../area.ts';
import { createPromptHandlers } from './prompt.handlers.ts';
import { moveTemplates, seedTemplates } from './templates.service.ts';
import { shownByTemplates } from './templates.store.ts';

export const promptArea = () =>
  ({
    seed: seedTemplates,
    takeOver: moveTemplates,
    shows: shownByTemplates,
    serve: ({ prompts }) => createPromptHandlers(prompts),
  }) satisfies Area;
