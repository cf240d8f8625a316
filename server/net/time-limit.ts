/**
 * Is aborted after so long, ms, with a TimeoutError. `AbortSignal.timeout` inside `AbortSignal.any`
 * may be collected before its time in Node 20, and then never fires: here the timer holds the signal.
 */
export const timeLimit = (ms: number): AbortSignal => {
  const limit = new AbortController();
  const over = () => limit.abort(new DOMException(`timeout after ${ms} ms`, 'TimeoutError'));
  setTimeout(over, ms).unref();
  return limit.signal;
};
