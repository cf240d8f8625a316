import { sessionTypes as kinds } from '#contract/kinds.ts';
import { lazyChunk } from '#src/platform/lazy-chunk.ts';
import type { SessionType } from '#src/widgets/conversation/session-type.ts';

/** What shows a session of a type. */
export const sessionTypes = new Map<number, () => Promise<SessionType>>([
  [
    kinds.image,
    lazyChunk(async () => (await import('#src/features/image/image-sessions.ts')).imageSessions),
  ],
  [
    kinds.video,
    lazyChunk(async () => (await import('#src/features/video/video-sessions.ts')).videoSessions),
  ],
]);
