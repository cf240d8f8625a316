import type { ThinkingChoice } from '#common/thinking-models.ts';
import { readDraft, useDraft } from './draft.ts';

/** How long a model is to think, remembered by model. */
const keyOf = (model: string): string => `think:${model}`;

const choiceIn = (kept: string): ThinkingChoice =>
  kept === 'fast' || kept === 'deep' ? kept : 'auto';

/** What goes along with a question for that; nothing where the model decides. */
export const thinkingOf = (model: string | undefined): { thinking?: 'fast' | 'deep' } => {
  const choice = model === undefined ? 'auto' : choiceIn(readDraft(keyOf(model)));
  return choice === 'auto' ? {} : { thinking: choice };
};

export const useThinking = (
  model: string,
): { choice: ThinkingChoice; choose: (choice: ThinkingChoice) => void } => {
  const [kept, keep] = useDraft(keyOf(model));
  return { choice: choiceIn(kept), choose: (choice) => keep(choice === 'auto' ? '' : choice) };
};
