import type { Model } from '#contract/model.ts';
import { useDraft, readDraft } from './draft.ts';
import { useSite } from './site.ts';

/** Whether the next question may search the web: of a session, or of the home's box. */
const keyOf = (place: string): string => `web:${place}`;

/** What goes along with a question for that. */
export const webOf = (place: string): { web?: 1 } =>
  readDraft(keyOf(place)) === '1' ? { web: 1 } : {};

/**
 * The switch of a box; null: there is no search here, or this model does not call tools.
 */
export const useWebChoice = (
  place: string,
  model: Pick<Model, 'tools'> | null | undefined,
): { on: boolean; set: (on: boolean) => void } | null => {
  const [kept, keep] = useDraft(keyOf(place));
  const { web_search: offered } = useSite();
  if (!offered || !model?.tools) return null;
  return { on: kept === '1', set: (on) => keep(on ? '1' : '') };
};
