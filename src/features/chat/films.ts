/** All that a session of films is shown with: one file, loaded with the first such session. */
export const type = 4;
export { FilmBox as PictureBox } from './film-box.tsx';
export { FilmHint as PictureHint } from './film-hint.tsx';
export { film as draw, sendFilm as sendWords } from './film-make.ts';
export { FilmRow as PictureRow } from './film-row.tsx';
export { FilmWatch as PictureWatch } from './film-watch.tsx';
