import type { SessionContext } from '#contract/context.ts';
import { createStore, useStore } from '#src/platform/store.ts';

/** Of a temporary conversation, which is here alone, no more than where the model reads from is known. */
type ReadBefore = SessionContext | Pick<SessionContext, 'from_id' | 'unread'>;
export const isKept = (context: ReadBefore): context is SessionContext => 'window' in context;

/** What the model of the open session reads before the next question; null: not known, or all of it. */
export const contextStore = createStore<{ uuid: string; context: ReadBefore } | null>(null);

/** Opens the gauge; the line in the thread asks for it, too. */
export const gaugeStore = createStore<string | null>(null);

/** From this message on the model reads the session; null: from its beginning, or nothing is known. */
export const useReadFrom = (uuid: string): number | null => {
  const known = useStore(contextStore);
  if (known?.uuid !== uuid) return null;
  const { context } = known;
  const condensed = isKept(context) && context.summary !== null;
  return context.unread > 0 || condensed ? context.from_id : null;
};
