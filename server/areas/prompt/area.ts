import type { Area } from '../../area.ts';
import { createPromptHandlers } from './prompt.handlers.ts';
import { moveTemplates, seedTemplates } from './templates.service.ts';

export const promptArea = () =>
  ({
    seed: seedTemplates,
    takeOver: moveTemplates,
    serve: ({ prompts }) => createPromptHandlers(prompts),
  }) satisfies Area;
