import type { SessionContext } from '#contract/context.ts';
import { createStore, useStore } from '#src/platform/store.ts';

/** What the model of the open session reads before the next question; null: not known, or all of it. */
export const contextStore = createStore<{ uuid: string; context: SessionContext } | null>(null);

/** Opens the gauge; the line in the thread asks for it, too. */
export const gaugeStore = createStore<string | null>(null);

/** From this message on the model reads the session; null: from its beginning, or nothing is known. */
export const useReadFrom = (uuid: string): number | null => {
  const known = useStore(contextStore);
  if (known?.uuid !== uuid) return null;
  const { from_id: from, unread, summary } = known.context;
  return unread > 0 || summary !== null ? from : null;
};
