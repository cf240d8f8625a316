/** How long a work may go on without a sign of life before it is given up. */
export interface Silence {
  /** Until the first sign, ms. */
  firstMs: number;
  /** From one sign to the next, ms. */
  idleMs: number;
}

/** Of engines that nobody tells otherwise. */
export const usualSilence: Silence = { firstMs: 240_000, idleMs: 120_000 };

/**
 * Watches a work by what its service tells of it: `signal` is aborted with the outer one, or when no
 * sign came for too long; then `silent` is true.
 */
export const watchSilence = (outer: AbortSignal, { firstMs, idleMs }: Silence) => {
  const given = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let seen = '';
  const arm = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => given.abort(new Error('the service is silent')), ms);
    timer.unref();
  };
  arm(firstMs);
  return {
    signal: AbortSignal.any([outer, given.signal]),
    get silent(): boolean {
      return given.signal.aborted && !outer.aborted;
    },
    /** It stands like this now: a sign of life where that is something new. */
    stands: (how: string): void => {
      if (how === seen) return;
      seen = how;
      arm(idleMs);
    },
    /** It waits behind others' work at the service: that is no silence. */
    waits: (): void => {
      seen = '';
      arm(firstMs);
    },
    end: (): void => clearTimeout(timer),
  };
};
