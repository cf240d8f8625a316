import { spokenTo } from '#common/mentions.ts';
import type { Model } from '#contract/model.ts';

/** Which model a message begins by naming behind an @, as it is shown or called, and the rest of it. */
export const typedModel = (
  text: string,
  models: readonly Model[],
): { model: Model; rest: string } | null => {
  const typed = spokenTo(
    text,
    models.flatMap(({ label, name }) => [label, name]),
  );
  const model = models.find(({ label, name }) => label === typed?.name || name === typed?.name);
  return typed && model ? { model, rest: typed.rest } : null;
};
