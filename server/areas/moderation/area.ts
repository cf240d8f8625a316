import type { Area } from '../../area.ts';
import { moderationHandlers } from './moderation.handlers.ts';

export const moderationArea = () => ({ serve: () => moderationHandlers }) satisfies Area;
