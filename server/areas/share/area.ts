import type { Area } from '../../area.ts';
import { createShareHandlers } from './share.handlers.ts';

export const shareArea = () => ({ serve: () => createShareHandlers() }) satisfies Area;
