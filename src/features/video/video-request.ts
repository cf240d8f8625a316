import { readJson } from '#src/platform/read-json.ts';
import { readDraft, useDraft, writeDraft } from '#src/platform/draft.ts';
import { compactNumber } from '#common/compact-number.ts';
import type { Message } from '#contract/chat.ts';
import { limits } from '#contract/limits.ts';
import type { Model } from '#contract/model.ts';
import type { FilmMove } from '#contract/video.ts';
import { videoDeduction } from '#contract/price.ts';

/** What a message of a session of films asks for, as it is sent. */
export interface VideoAsked {
  type: 'img2video';
  app: string;
  prompt: string;
  base_image: string;
  parameters: VideoWay;
}

/** How the image is brought to move. */
export interface VideoWay {
  cfg_scale: number;
  motion_bucket_id: number;
  /** Left out: as the model likes. */
  move?: FilmMove | undefined;
  reverse?: 0 | 1 | undefined;
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
export interface VideoDraft extends VideoWay {
  base_image: string;
}

/** The ways of the camera in words; the first is what a model does by itself. */
export const moveNames = [
  [undefined, '自动'],
  ['in', '推近'],
  ['out', '拉远'],
  ['around', '环绕'],
] as const satisfies readonly (readonly [FilmMove | undefined, string])[];

/** How much moves, in words, and for what number each stands. */
export const motionNames = [
  { value: 60, label: '轻轻动' },
  { value: motion.usual, label: '动得适中' },
  { value: 200, label: '大动' },
] as const;

/** The nearest of those words. */
export const nearestMotion = (id: number) =>
  motionNames.reduce((best, each) =>
    Math.abs(each.value - id) < Math.abs(best.value - id) ? each : best,
  );

/** How it moves, as people say it: 推近 · 动得适中. */
export const wayWords = ({ move, reverse, motion_bucket_id, cfg_scale }: VideoWay): string =>
  [
    move && moveNames.find(([each]) => each === move)?.[1],
    reverse === 1 && '反向',
    nearestMotion(motion_bucket_id).label,
    cfg_scale !== cfgScale.usual && `忠于原图 ${cfg_scale.toFixed(1)}`,
  ]
    .filter(Boolean)
    .join(' · ');

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
  changeVideoDraft(uuid, { base_image, move: undefined, ...parameters, reverse: undefined });
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
