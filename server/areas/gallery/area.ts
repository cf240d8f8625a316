import type { Area } from '../../area.ts';
import { createGalleryHandlers } from './gallery.handlers.ts';

export const galleryArea = () => ({ serve: (host) => createGalleryHandlers(host) }) satisfies Area;
