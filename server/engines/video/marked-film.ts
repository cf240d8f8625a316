import { createFairQueue, type Waiter } from '#server/fair-queue.ts';
import { runApart } from '#server/guarded-process.ts';
import { ThreadFailure } from '#server/guarded-thread.ts';
import { wordsOn } from '#server/labels/mark.ts';
import { workerUrl } from '#server/worker-url.ts';
import { canEncodeFilms } from './film-encoder.ts';
import type { MadeFilm } from './video-engine.ts';

export interface MarkTask {
  /** MP4 or WebM. */
  data: Uint8Array;
}

const bounds = { seconds: 180, heapMb: 512, growth: 1200 * 1024 * 1024 };
const inTurn = createFairQueue(1);

/**
 * A service's film that shows for its first two seconds that a model made it, on its poster, too. What
 * cannot be decoded or drawn on here keeps its moving images as they came.
 * It is done in a process of its own: native code reads what a service gave.
 * @param unmarked is told of that
 * @throws Error where the poster is no image; the signal's reason
 */
export const markedFilm = async (
  film: MadeFilm,
  { signal, owner }: { signal: AbortSignal; owner: Waiter },
  unmarked: () => void,
): Promise<MadeFilm> => {
  const poster = await wordsOn(film.poster);
  const made = canEncodeFilms()
    ? await inTurn(owner, () =>
        runApart<Uint8Array | null>(
          workerUrl('./marked-film-worker.ts', import.meta.url),
          { data: film.data } satisfies MarkTask,
          bounds,
        ),
      ).catch((error: unknown) => {
        if (error instanceof ThreadFailure) return null;
        throw error;
      })
    : null;
  signal.throwIfAborted();
  if (!made) unmarked();
  return { ...film, poster, data: made ? Buffer.from(made) : film.data };
};
