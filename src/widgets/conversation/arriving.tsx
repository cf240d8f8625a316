import { useState } from 'react';
import { Separator } from './separator.tsx';
import { OnItsWay } from './on-its-way.tsx';
import rowCss from './conversation.module.css';

/** A question as it will stand in the list, on its way to the server. */
export const Arriving = ({ words }: { words: string }) => {
  const [now] = useState(() => new Date().toISOString());
  return (
    <div className={rowCss.list} aria-busy="true">
      <div className={rowCss.listSpace} />
      <div className={rowCss.rowQuestion}>
        <Separator time={now} />
        <div className={rowCss.question}>
          <div className={`${rowCss.bubble} ${rowCss.bubbleMine}`} data-bubble="mine">
            {words}
            <OnItsWay />
          </div>
        </div>
      </div>
    </div>
  );
};
