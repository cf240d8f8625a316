import type { Area } from '#server/area.ts';
import { createHelpHandlers } from './help.handlers.ts';

export const helpArea = () => ({ serve: () => createHelpHandlers() }) satisfies Area;
