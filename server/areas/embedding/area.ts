import type { Area } from '#server/area.ts';
import { createEmbeddingHandlers } from './embedding.handlers.ts';

export const embeddingArea = () =>
  ({ serve: ({ knowledge }) => createEmbeddingHandlers(knowledge) }) satisfies Area;
