import { Refusal } from '#server/http/handlers.ts';

/** Whether this process is the one that ends the call, because it stops. */
export const isRestart = (reason: unknown): boolean =>
  reason instanceof Refusal && reason.codeName === 'unavailable';

/** Whether a call ends because its key opens nothing any more. */
export const isLocked = (reason: unknown): boolean =>
  reason instanceof Refusal && reason.codeName === 'unauthorized';

/**
 * What ends the work that a service was asked for. Who asked may leave: a service goes on and is
 * paid, so what was asked of it for money is read to its end and billed as if it had been delivered.
 */
export const workSignal = (caller: AbortSignal, paid: boolean): AbortSignal => {
  if (!paid) return caller;
  const work = new AbortController();
  const onAbort = (): void => {
    if (isRestart(caller.reason)) work.abort(caller.reason);
  };
  if (caller.aborted) onAbort();
  else caller.addEventListener('abort', onAbort, { once: true });
  return work.signal;
};

/**
 * The same for what comes in pieces and can be stopped: it ends so many ms after its caller, in
 * which what a slow caller had not yet taken is read and counted.
 */
export const lingering = (caller: AbortSignal, ms: number): AbortSignal => {
  const work = new AbortController();
  const onAbort = (): void => {
    if (isRestart(caller.reason)) work.abort(caller.reason);
    else setTimeout(() => work.abort(caller.reason), ms).unref();
  };
  if (caller.aborted) onAbort();
  else caller.addEventListener('abort', onAbort, { once: true });
  return work.signal;
};
