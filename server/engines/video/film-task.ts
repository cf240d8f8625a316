import type { FilmWay } from './film-camera.ts';

/** What the thread that films is asked for, and what it gives. */

export interface FilmTask extends FilmWay {
  /** PNG or JPEG, upright. */
  base: Uint8Array;
  /** Pixels of the film, even. */
  width: number;
  height: number;
  seconds: number;
  /** Its first two seconds show that a model made it. */
  marked: boolean;
}

export interface Film {
  /** WebM with VP9. */
  data: Uint8Array;
  /** Its first image as WebP. */
  poster: Uint8Array;
}

export interface FilmJob {
  task: FilmTask;
  answer: Film;
}
