import { sessionTypes } from '#contract/kinds.ts';
import type { SessionType } from '#src/widgets/conversation/session-type.ts';
import { VideoBox } from './video-box.tsx';
import { VideoHint } from './video-hint.tsx';
import { sendVideo } from './video-make.ts';
import { VideoRow } from './video-row.tsx';
import { VideoWatch } from './video-watch.tsx';

export const videoSessions: SessionType = {
  type: sessionTypes.video,
  models: 'video',
  Box: VideoBox,
  Hint: VideoHint,
  Row: VideoRow,
  Watch: VideoWatch,
  sendWords: sendVideo,
};
