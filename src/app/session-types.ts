import { lazyChunk } from '@/platform/lazy-chunk.ts';
import type { SessionType } from '@/widgets/conversation/session-type.ts';

/** What shows a session of a type, by the contract's numbers of `sessionTypes`. */
export const sessionTypes = new Map<number, () => Promise<SessionType>>([
  [1, lazyChunk(async () => (await import('@/features/image/image-sessions.ts')).imageSessions)],
  [4, lazyChunk(async () => (await import('@/features/video/video-sessions.ts')).videoSessions)],
]);
