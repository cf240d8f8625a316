import type { Making } from '#src/widgets/conversation/session-type.ts';
import { draw } from './image-draw.ts';
import { authStore } from '#src/platform/auth-store.ts';
import { holdBox, readDraft, writeDraft } from '#src/platform/draft.ts';
import {
  blendOf,
  changeImageDraft,
  changeImageParameters,
  clearImageDraft,
  draftSaid,
  draftWithSettings,
  type ImageDraft,
  imageRefusal,
  readImageDraft,
  requestOf,
} from '#src/widgets/image/image-draft.ts';
import { settingsOf } from '#src/platform/saved-settings.ts';
import { toast } from '#src/platform/toast.ts';
import { readImageWords } from '#contract/image-prompt.ts';
import { limits } from '#contract/limits.ts';
import type { Model } from '#contract/model.ts';
import type { Asked } from './image-request.ts';

/** What is said only of the next images; sizes, styles and parameters stay for those after them. */
const once = {
  base_image: undefined,
  strength: undefined,
  resize_mode: undefined,
  controlnet_image: undefined,
  inspired_by: undefined,
} as const;
const onceOf = ({
  base_image,
  strength,
  resize_mode,
  controlnet_image,
  inspired_by,
}: ImageDraft): ImageDraft => ({
  base_image,
  strength,
  resize_mode,
  controlnet_image,
  inspired_by,
});

/**
 * Sends the words of a box with what the image tool added. They leave the box at once and come back
 * when they were not taken.
 * @param key the session's uuid
 */
export const sendWords = async (
  key: string,
  text: string,
  model: Model | undefined,
  { thread, follow }: Making,
): Promise<void> => {
  const prompt = text.trim();
  const draft = readImageDraft(key);
  const words = readImageWords(prompt, model?.image?.family ?? 'built-in');
  const refusal = imageRefusal(prompt, draft, model);
  if (refusal !== '') {
    toast(refusal, 'error');
    return;
  }
  const said = draftSaid(draft, prompt, model);
  const { base_image } = said;
  const image = requestOf(draftWithSettings(said, settingsOf(authStore.get().user)), model);
  const wanted = draft.n ?? model?.image?.default_count ?? 1;
  if (model?.image?.family === 'sd3' && base_image !== '' && wanted > image.n)
    toast('用参考图时这个模型一次只画 1 张，张数已改为 1');
  if (words.strength !== undefined) image.strength = words.strength;
  else if (base_image !== '' && image.strength === undefined)
    image.strength =
      model?.image?.family === 'midjourney'
        ? limits.strength.midjourney
        : limits.strength.otherwise;
  if (words.resizeMode !== undefined) image.resize_mode = words.resizeMode;
  const type =
    base_image !== '' ? 'img2img' : blendOf(draft, model).length > 0 ? 'blend' : 'txt2img';
  // A kill finds the words in the box or in the message, never in both and never in neither.
  const release = holdBox(key);
  try {
    writeDraft(key, '');
    changeImageDraft(key, once);
    changeImageParameters(key, { blend: undefined });
    if (await follow(draw(thread, { type, prompt, image }))) return;
    // Something may have been written meanwhile.
    writeDraft(key, [prompt, readDraft(key)].filter((each) => each !== '').join('\n'));
    changeImageDraft(key, onceOf(draft));
    changeImageParameters(key, { blend: draft.parameters?.blend });
  } finally {
    release();
  }
};

/** Puts a request back into its box, to be changed. */
export const changeAsked = (key: string, asked: Asked): void => {
  writeDraft(key, asked.prompt);
  clearImageDraft(key);
  changeImageDraft(key, asked.image);
  document.querySelector<HTMLTextAreaElement>('[data-send-box] textarea')?.focus();
};
