import { separatorTime } from './chat-time.ts';

/** When it was, where the message before is not close in time. */
export const Separator = ({ time }: { time: string | null }) =>
  time === null ? null : (
    <time className="separator" dateTime={time}>
      {separatorTime(time)}
    </time>
  );
