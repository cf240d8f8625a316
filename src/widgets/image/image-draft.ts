import type { Settings } from '#contract/auth.ts';
import type { ImageRequest } from '#contract/chat.ts';
import type { ImageParameters } from '#contract/image.ts';
import type { Model } from '#contract/model.ts';
import { readImageWords } from '#contract/image-prompt.ts';
import { countFor, sizeFor } from '#contract/image-size.ts';
import { blendText, limits } from '#contract/limits.ts';
import { usualCount } from '#contract/price.ts';
import { useCallback, useMemo } from 'react';
import { authStore } from '#src/platform/auth-store.ts';
import { readDraft, useDraft, writeDraft } from '#src/platform/draft.ts';

/** What the next images of a session are made with; what is left out is as the model usually has it. */
export type ImageDraft = Partial<ImageRequest>;

const draftKey = (key: string): string => `image:${key}`;

const parsed = (text: string): ImageDraft => {
  if (text === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    // Written by another version of the page: what was chosen is chosen again.
    return {};
  }
};

const bare = (draft: ImageDraft): ImageDraft =>
  Object.fromEntries(
    Object.entries(draft).filter(([, value]) => value !== undefined && value !== ''),
  );

/** `key`: 'home' or a session's uuid, as of its text. It is kept and forgotten as drafts are. */
export const readImageDraft = (key: string): ImageDraft => parsed(readDraft(draftKey(key)));

/** Changes what is given and keeps the rest; undefined takes a choice back. */
export const changeImageDraft = (key: string, change: ImageDraft): void => {
  const next = bare({ ...readImageDraft(key), ...change });
  writeDraft(draftKey(key), Object.keys(next).length === 0 ? '' : JSON.stringify(next));
};

export const clearImageDraft = (key: string): void => writeDraft(draftKey(key), '');

/** What was chosen at home goes along to the session that it was chosen for. */
export const moveImageDraft = (to: string): void => {
  writeDraft(draftKey(to), readDraft(draftKey('home')));
  clearImageDraft('home');
};

/** Changes some of its parameters; undefined takes a choice back. */
export const changeImageParameters = (key: string, change: ImageParameters): void => {
  const parameters = Object.fromEntries(
    Object.entries({ ...readImageDraft(key).parameters, ...change }).filter(
      ([, value]) => value !== undefined && value !== '',
    ),
  );
  changeImageDraft(key, {
    parameters: Object.keys(parameters).length === 0 ? undefined : parameters,
  });
};

export const useImageDraft = (key: string): [ImageDraft, (change: ImageDraft) => void] => {
  const [text] = useDraft(draftKey(key));
  const draft = useMemo(() => parsed(text), [text]);
  const change = useCallback((next: ImageDraft) => changeImageDraft(key, next), [key]);
  return [draft, change];
};

/** The draft, with the person's saved choice where it makes none itself. */
export const draftWithSettings = (draft: ImageDraft, settings: Settings): ImageDraft =>
  settings.translate === undefined ? draft : { translate: settings.translate, ...draft };

/** The draft as it is sent with a text, which may begin with the address of its base image. */
export const draftSaid = (
  draft: ImageDraft,
  text: string,
  model: Model | undefined,
): ImageDraft & { base_image: string } => ({
  ...draft,
  base_image:
    draft.base_image || readImageWords(text, model?.image?.family ?? 'built-in').baseImage,
});

/** As many as the server makes where nobody chose a number. */
const countOf = (model: Model | undefined, size: number, parameters: ImageParameters): number => {
  const image = model?.image;
  if (!model || !image) return 1;
  const { user } = authStore.get();
  const paysNothing = !user || user.guest || (user.vip > 0 && !model.vip_excluded);
  return usualCount(
    {
      factor: model.factor,
      image,
      ...(model.size_rate.length > 0 ? { rates: model.size_rate } : {}),
    },
    { size, checkpoint: parameters.checkpoint, hd: parameters.hd === true },
    paysNothing ? null : user.chatgpt_balance,
  );
};

/** The request that the draft means for a model, whole: what `send_message` takes as `image`. */
export const requestOf = (draft: ImageDraft, model: Model | undefined): ImageRequest => {
  const image = model?.image;
  const asked = draft.size ?? limits.defaultImageSize;
  const size = image ? sizeFor(image, asked).code : asked;
  const wanted = draft.n ?? countOf(model, size, draft.parameters ?? {});
  const baseImage = draft.base_image ?? '';
  return {
    n: image ? countFor(image, wanted, baseImage !== '') : wanted,
    size,
    translate: draft.translate ?? (image?.default_translate ? 1 : 0),
    base_image: baseImage,
    ...(draft.strength === undefined ? {} : { strength: draft.strength }),
    resize_mode: draft.resize_mode ?? 0,
    parameters: draft.parameters ?? {},
    controlnet_image: draft.controlnet_image ?? '',
    controlnet_module: draft.controlnet_module ?? '',
    controlnet_model: draft.controlnet_model ?? '',
    controlnet_control_mode: draft.controlnet_control_mode ?? 0,
    ...(draft.inspired_by === undefined ? {} : { inspired_by: draft.inspired_by }),
  };
};

/** Images that are to be made into one, where the model can; a base image goes before them. */
export const blendOf = (draft: ImageDraft, model: Model | undefined): readonly { url: string }[] =>
  model?.image?.abilities.includes('blend') && (draft.base_image ?? '') === ''
    ? (draft.parameters?.blend ?? [])
    : [];

/** Why it cannot be sent as it is, in the words of document 2 §5; empty when it can. */
export const imageRefusal = (text: string, draft: ImageDraft, model: Model | undefined): string => {
  const words = readImageWords(text, model?.image?.family ?? 'built-in');
  const blended = blendOf(draft, model).length;
  if (blended > 0 && blended < limits.blend.min) return blendText;
  if (words.prompt === '' && blended === 0) return '请输入画图提示内容';
  if ((draft.controlnet_image ?? '') !== '' && (draft.controlnet_module ?? '') === '')
    return '请选择构图控制模型';
  return '';
};
