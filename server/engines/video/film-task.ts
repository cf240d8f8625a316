/** What the thread that films is asked for, and what it gives. */

export interface FilmTask {
  /** PNG or JPEG, upright. */
  base: Uint8Array;
  /** Pixels of the film, even. */
  width: number;
  height: number;
  seconds: number;
  /** 0 to 1: how far the camera goes. */
  reach: number;
  seed: number;
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
