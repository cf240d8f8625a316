/**
 * A clock for what was written before and after: it never goes back, whatever is done to the clock
 * of the device.
 */
let newest = 0;

/** Now, ms since 1970 or a little more. */
export const stamp = (): number => (newest = Math.max(newest + 1, Date.now()));

/** Something of that time was met: what is written from now on is newer. */
export const noteStamp = (at: number): void => {
  newest = Math.max(newest, at);
};
