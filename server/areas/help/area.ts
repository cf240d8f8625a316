import type { Area } from '../../area.ts';
import { createHelpHandlers } from './help.handlers.ts';

export const helpArea = () => ({ serve: () => createHelpHandlers() }) satisfies Area;
