import type { Area } from '#server/area.ts';
import { createGalleryHandlers } from './gallery.handlers.ts';

export const galleryArea = () =>
  ({
    holds: [{ table: 'image_votes', of: ['user_id'], end: 'delete', take: ['image_id', 'vote'] }],
    serve: (host) => createGalleryHandlers(host),
  }) satisfies Area;
