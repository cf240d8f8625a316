import type { Voices } from '#contract/speech.ts';
import { ServiceError } from '../service-wire.ts';

/** Words that are to be spoken. */
export interface SpeakOrder {
  /** The model's name at the service. */
  model: string;
  text: string;
  /** Of the engine's `voices`. */
  voice: string;
  /** 0.5 to 2. */
  speed: number;
}

export interface Spoken {
  data: Buffer;
  /** MP3 from every engine, so that every browser plays it; a service may give WAV. */
  mime: 'audio/mpeg' | 'audio/wav';
}

/** Hears the parts of a sound in order, as soon as each is made. */
export type OnPart = (part: Buffer, mime: Spoken['mime']) => void;

/** What speaks. What it rejects with is a SpeechEngineError. */
export interface SpeakEngine {
  /** The first is the usual one. */
  voices: (model: string) => Voices;
  /** Gives the whole; who hears its parts has had all of it by then. */
  speak: (order: SpeakOrder, signal: AbortSignal, onPart?: OnPart) => Promise<Spoken>;
  /** Loads what speaking takes, where that is here. */
  prepare?: () => Promise<void>;
}

/** A recording whose words are looked for. */
export interface HearOrder {
  model: string;
  data: Buffer;
  /** As `lookAtMedia` found it. */
  mime: string;
  /** Such as `zh`: what is spoken, where the asker knows. */
  language?: string | undefined;
  /** Words that may come up, or the text before. */
  hint?: string | undefined;
}

/** What writes down what is said. What it rejects with is a SpeechEngineError. */
export interface HearEngine {
  hear: (order: HearOrder, signal: AbortSignal) => Promise<string>;
}

/** Its codes are engine_failed, engine_timeout, job_unsuitable … */
export class SpeechEngineError extends ServiceError {}
