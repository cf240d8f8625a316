import type { FilmMove, VideoModel } from '#contract/video.ts';
import type { SentOut } from '../sent-out.ts';
import { ServiceError } from '../service-wire.ts';

/** What an engine is to make, with everything it needs at hand. */
export interface VideoOrder {
  /** The model's name at the service. */
  model: string;
  prompt: string;
  /** PNG or JPEG bytes of the image that is to move, upright. */
  base: Buffer;
  /** Pixels of it. */
  width: number;
  height: number;
  /** How closely the film keeps to the image, 0 to 10. */
  cfgScale: number;
  /** How much moves, 1 to 255. */
  motion: number;
  seed: number;
  /** The way of the camera; left out: a way of its own. */
  move?: FilmMove | undefined;
  /** That way from its end. */
  reverse?: boolean;
  /** Its first two seconds are to show that a model made it, where the engine can draw that. */
  marked: boolean;
}

/** A film, and its first image as any format that sharp reads. */
export interface MadeFilm {
  data: Buffer;
  poster: Buffer;
  /** The engine drew the words that a model made it. */
  marked?: boolean;
}

/** How a work is followed. */
export interface VideoIo {
  /** Aborted when it is cancelled or its time is over. */
  signal: AbortSignal;
  sent: SentOut;
  /** 0 to 1; the image that is worked on in any format that sharp reads. */
  progress: (fraction: number, preview?: Buffer) => void;
  /** Keeps what the service calls the work; a worker that takes it over is given it as `resume`. */
  remember: (remote: unknown) => Promise<void>;
  /** What an earlier worker remembered; null: this one is the first. */
  resume: unknown;
}

/** A service that makes films from an image. What it rejects with is a VideoEngineError. */
export interface VideoEngine {
  /** Works at once on this channel, in all processes together. */
  readonly concurrency: number;
  /** What a model of this name takes; null: it makes no films. */
  describe: (model: string) => VideoModel | null;
  run: (order: VideoOrder, io: VideoIo) => Promise<MadeFilm>;
}

/** Its codes are job_unsuitable, engine_failed, engine_timeout, prompt_banned … */
export class VideoEngineError extends ServiceError {}
