/** Ends when the first of them does. What AbortSignal.any does, which Safari lacks before 17.4. */
export const anySignal = (signals: readonly AbortSignal[]): AbortSignal => {
  const abort = new AbortController();
  for (const signal of signals) {
    const end = () => abort.abort(signal.reason);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true, signal: abort.signal });
  }
  return abort.signal;
};
