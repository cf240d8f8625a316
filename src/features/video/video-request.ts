import { readJson } from '#src/platform/read-json.ts';
import { readDraft, useDraft, writeDraft } from '#src/platform/draft.ts';
import { compactNumber } from '#common/compact-number.ts';
import type { Message } from '#contract/chat.ts';
import { limits } from '#contract/limits.ts';
import type { Model } from '#contract/model.ts';
import { videoDeduction } from '#contract/price.ts';

/** What a message of a session of films asks for, as it is sent. */
export interface VideoAsked {
  type: 'img2video';
  app: string;
  prompt: string;
  base_image: string;
  parameters: { cfg_scale: number; motion_bucket_id: number };
}

const { cfgScale, motion } = limits.film;
const usual = { cfg_scale: cfgScale.usual, motion_bucket_id: motion.usual };

/** The request in a message. */
export const readVideoAsked = ({
  human,
  format,
}: Pick<Message, 'human' | 'format'>): VideoAsked => {
  const value = format === 1 ? readJson<Partial<VideoAsked> | null>(human, null) : null;
  return {
    type: 'img2video',
    app: '',
    prompt: value?.prompt ?? (format === 1 ? '' : human),
    base_image: value?.base_image ?? '',
    parameters: { ...usual, ...value?.parameters },
  };
};

/** What is chosen for the next film, beside its words. */
export interface VideoDraft {
  base_image: string;
  cfg_scale: number;
  motion_bucket_id: number;
}

const keyOf = (uuid: string): string => `film:${uuid}`;
const draftIn = (text: string): VideoDraft => ({
  base_image: '',
  ...usual,
  ...readJson<Partial<VideoDraft>>(text, {}),
});

export const readVideoDraft = (uuid: string): VideoDraft => draftIn(readDraft(keyOf(uuid)));

export const changeVideoDraft = (uuid: string, change: Partial<VideoDraft>): void =>
  writeDraft(keyOf(uuid), JSON.stringify({ ...readVideoDraft(uuid), ...change }));

/** Puts a request back into its box, to be changed. */
export const changeVideoAsked = (
  uuid: string,
  { prompt, base_image, parameters }: VideoAsked,
): void => {
  writeDraft(uuid, prompt);
  changeVideoDraft(uuid, { base_image, ...parameters });
  document.querySelector<HTMLTextAreaElement>('[data-send-box] textarea')?.focus();
};

export const useVideoDraft = (uuid: string): VideoDraft => draftIn(useDraft(keyOf(uuid))[0]);

/** What a film takes, in a few letters and in words. */
export const videoPrice = (model: Model) => {
  const tokens = videoDeduction(model);
  return tokens === 0
    ? { tokens, text: '免费', words: model.built_in ? '内置 免费' : '免费' }
    : { tokens, text: compactNumber(tokens), words: `${tokens} tokens` };
};
