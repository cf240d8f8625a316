import { createFairQueue } from '#server/fair-queue.ts';

/**
 * Images of the web, and those that programs send with a request, that are held here at once, and
 * those of one person among them: whoever names slow and large ones has few of them here.
 */
const held = { atOnce: 12, ofOne: 3 };
/** Images of people that are worked on at once; what one person may have waiting. */
const worked = { atOnce: 2, waiting: 12 };

/** In what order images that came from outside are held and worked on: each person in turn. */
export const createImageTurns = () => ({
  /** While such an image is fetched, and until what is made of it is given away. */
  whileHeld: createFairQueue(held.atOnce, Infinity, held.ofOne),
  /** While it is made anew, which takes a core. @throws Refusal too_many */
  inTurn: createFairQueue(worked.atOnce, worked.waiting),
});

export type ImageTurns = ReturnType<typeof createImageTurns>;
