import { PathIcon } from '#src/ui/icon.tsx';
import rowCss from './conversation.module.css';

export const clockPath = 'M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM12 7.5V12l3 2';

/** A clock at an own message, from the first moment until the server has it. */
export const OnItsWay = () => (
  <span className={rowCss.onItsWay} role="img" aria-label="正在发送">
    <PathIcon path={clockPath} size={14} />
  </span>
);
