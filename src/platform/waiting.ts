/**
 * What this page waits for, as `kind:id` (contract/wait.ts), and since when, ms since 1970: replies
 * that are being written and jobs that run. `waits.ts`, which is loaded later, does the rest.
 */
export const waiting = new Map<string, number>();
