/** The type of such a session. */
export const type = 1;
/** All that a session of pictures is shown with: one file, loaded with the first such session. */
export { PictureBox } from './picture-box.tsx';
export { draw } from './picture-draw.ts';
export { PictureHint } from './picture-hint.tsx';
export { PictureRow } from './picture-row.tsx';
export { sendWords } from './picture-send.ts';
export { PictureWatch } from './picture-watch.tsx';
