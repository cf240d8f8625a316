import { lazyChunk } from './lazy-chunk.ts';

export const loadOutbox = lazyChunk(() => import('./outbox/outbox.ts'));
