import { sessionTypes } from '#contract/kinds.ts';
import type { SessionType } from '#src/widgets/conversation/session-type.ts';
import { ImageBox } from './image-box.tsx';
import { ImageHint } from './image-hint.tsx';
import { ImageRow } from './image-row.tsx';
import { sendWords } from './image-send.ts';
import { ImageWatch } from './image-watch.tsx';

export const imageSessions: SessionType = {
  type: sessionTypes.image,
  models: 'image',
  Box: ImageBox,
  Hint: ImageHint,
  Row: ImageRow,
  Watch: ImageWatch,
  sendWords,
};
