import { separatorTime } from './chat-time.ts';
import rowCss from './conversation.module.css';

/** When it was, where the message before is not close in time. */
export const Separator = ({ time }: { time: string | null }) =>
  time === null ? null : (
    <time className={rowCss.separator} dateTime={time}>
      {separatorTime(time)}
    </time>
  );
