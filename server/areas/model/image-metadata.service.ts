import type { Out } from '#contract/calls.ts';
import type { ImageFamily, ImageParameters } from '#contract/image.ts';
import { familyRules } from '#contract/image-family.ts';
import { previewPrompt, readImageWords } from '#contract/image-prompt.ts';
import type { Executor } from '#server/db/database.ts';
import { Refusal } from '#server/http/handlers.ts';
import type { ModelService } from './model.service.ts';
import type { ResolvedImageModel } from './resolved-model.ts';

const find = async (
  db: Executor,
  models: Pick<ModelService, 'findImage'>,
  name: string,
): Promise<ResolvedImageModel> => {
  const model = await models.findImage(db, name);
  if (!model) throw new Refusal('model_unavailable');
  return model;
};

/** Styles that a family has by itself, whatever its service says. */
const stylesOf = (family: ImageFamily): readonly { name: string; label: string }[] =>
  family === 'cloud'
    ? familyRules.cloud.styles
    : family === 'dalle'
      ? familyRules.dalle.styles
      : [];

/**
 * What can be chosen of a model of images.
 * @throws Refusal model_unavailable
 */
export const metadata = async (
  db: Executor,
  models: Pick<ModelService, 'findImage' | 'imageChoices'>,
  name: string,
): Promise<Out<'imageMetadata'>> => {
  const { image, onlyCheckpoints } = await find(db, models, name);
  const choices = await models.imageChoices(db, name);
  if (!choices) throw new Refusal('model_unavailable');
  const told = choices.checkpoints.length > 0 && !onlyCheckpoints;
  const known = told ? choices.checkpoints : image.checkpoints;
  return {
    checkpoints: known.map((each) => ({ name: each.name, label: each.label })),
    default_checkpoint: (told && choices.defaultCheckpoint) || image.default_checkpoint,
    loras: choices.loras,
    styles: choices.styles.length > 0 ? choices.styles : [...stylesOf(image.family)],
    samplers: choices.samplers,
    upscalers: choices.upscalers,
    controlnetModules: [...new Set(choices.controlTypes.flatMap(({ modules }) => modules))],
    controlnetTypes: choices.controlTypes,
  };
};

/**
 * The words as the model's service will get them, the images among them as their addresses.
 * @throws Refusal model_unavailable
 */
export const previewOf = async (
  db: Executor,
  models: Pick<ModelService, 'findImage'>,
  wanted: { model: string; prompt: string; parameters: ImageParameters },
): Promise<string> => {
  const { family } = (await find(db, models, wanted.model)).image;
  return previewPrompt(readImageWords(wanted.prompt, family), family, wanted.parameters);
};
