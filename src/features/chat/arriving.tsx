import { readDraft } from '@/platform/draft.ts';
import { getRouteApi, useLocation } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Separator } from '@/widgets/conversation/separator.tsx';
import { Typing } from './message-row.tsx';
import rowCss from '@/widgets/conversation/conversation.module.css';

const route = getRouteApi('/chat');

/** As long as words on their way are shown before the list has them, ms. */
const longest = 8_000;

/**
 * The words that this page brought along to be sent at once: they are shown from the first frame on,
 * until the list has them. Empty: there are none, or it came to nothing.
 */
export const useArrivingWords = (uuid: string) => {
  const { prompt, send } = route.useSearch();
  const ledHere = useLocation({ select: ({ state }) => state.sends === true });
  const [words, setWords] = useState(() =>
    send === 1 && ledHere ? (prompt ?? readDraft(uuid)).trim() : '',
  );
  useEffect(() => {
    if (words === '') return undefined;
    const timer = setTimeout(() => setWords(''), longest);
    return () => clearTimeout(timer);
  }, [words]);
  return { words, forget: () => setWords('') };
};

/** A question as it will stand in the list, and that it is being answered. */
export const Arriving = ({ words, answered }: { words: string; answered: boolean }) => {
  const [now] = useState(() => new Date().toISOString());
  return (
    <div className={rowCss.list} aria-busy="true">
      <div className={rowCss.listSpace} />
      <div className={rowCss.rowQuestion}>
        <Separator time={now} />
        <div className={rowCss.question}>
          <div className={`${rowCss.bubble} ${rowCss.bubbleMine}`} data-bubble="mine">
            {words}
          </div>
        </div>
      </div>
      {answered && (
        <div className={rowCss.reply} data-reply data-short>
          <div className={`${rowCss.bubble} ${rowCss.bubbleTheirs}`}>
            <Typing />
          </div>
        </div>
      )}
    </div>
  );
};
