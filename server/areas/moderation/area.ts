import type { Area } from '#server/area.ts';
import { moderationHandlers } from './moderation.handlers.ts';

export const moderationArea = () => ({ serve: () => moderationHandlers }) satisfies Area;
