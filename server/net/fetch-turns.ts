import { createFairQueue } from '#server/fair-queue.ts';

/**
 * Pages of the web that are fetched and read here at once, and those of one person among them:
 * whoever names slow and large ones has few of them here.
 */
const held = { atOnce: 12, ofOne: 3, waiting: 24 };

/** While a page is fetched, and until it is read. @throws Refusal too_many */
export const whilePageHeld = createFairQueue(held.atOnce, held.waiting, held.ofOne);
