import { modelTypes } from '#contract/kinds.ts';
import { part } from './image-models.ts';

/** How a model of films or of speech is offered where nobody said otherwise. */
export interface MediaOffer {
  type: (typeof modelTypes)['speechToText' | 'textToSpeech' | 'video'];
  /** Tokens for a film, for a character that is spoken, for a second that is listened to. */
  factor: number;
  vipExcluded: boolean;
  sort: number;
}

const film = (factor: number, sort: number): MediaOffer => ({
  type: modelTypes.video,
  factor,
  vipExcluded: true,
  sort,
});
const speaks = (factor: number, sort: number): MediaOffer => ({
  type: modelTypes.textToSpeech,
  factor,
  vipExcluded: false,
  sort,
});
const hears = (factor: number, sort: number): MediaOffer => ({
  type: modelTypes.speechToText,
  factor,
  vipExcluded: false,
  sort,
});

/** Told by their names; the first counts. */
const kinds: readonly { pattern: RegExp; offer: MediaOffer }[] = [
  { pattern: part('sora.*pro'), offer: film(450_000, 520) },
  { pattern: part('sora|veo|kling|hailuo'), offer: film(150_000, 510) },
  {
    pattern: /(^|[-_/.:])(?:i2v|t2v|kf2v|cogvideox?|hunyuanvideo|wan[\d.]*-?video|seedance)/i,
    offer: film(75_000, 530),
  },
  { pattern: part('video'), offer: film(100_000, 540) },
  { pattern: /gpt-4o-mini-(?:transcribe)/i, offer: hears(20, 400) },
  {
    pattern: part('transcribe|whisper|asr|paraformer|sensevoice|sensevoicesmall|stt'),
    offer: hears(40, 410),
  },
  { pattern: /gpt-4o-mini-tts/i, offer: speaks(5, 450) },
  { pattern: /tts-1-hd/i, offer: speaks(12, 470) },
  {
    pattern: part('tts|cosyvoice\\w*|kokoro|fish-speech|indextts|chattts|speech'),
    offer: speaks(6, 460),
  },
];

/** Null: by its name it neither films nor speaks nor listens. */
export const mediaOfferOf = (name: string): MediaOffer | null =>
  kinds.find(({ pattern }) => pattern.test(name))?.offer ?? null;

/** The one model of Stability's service of films. */
export const stabilityFilm = {
  name: 'stable-video-diffusion',
  label: 'Stable Video',
  ...film(75_000, 505),
};
