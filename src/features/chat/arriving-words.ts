import { readDraft } from '#src/platform/draft.ts';
import { getRouteApi, useLocation } from '@tanstack/react-router';
import { useEffect, useState } from 'react';

const route = getRouteApi('/chat');

/** As long as words on their way are shown once their session is open and the list lacks them, ms. */
const longest = 8_000;

/**
 * The words that this page brought along to be sent at once: they are shown from the first frame on,
 * until the list has them, however long their session takes to open. Empty: there are none, or it
 * came to nothing.
 */
export const useArrivingWords = (uuid: string, opened: boolean) => {
  const { prompt, send } = route.useSearch();
  const ledHere = useLocation({ select: ({ state }) => state.sends === true });
  const [words, setWords] = useState(() =>
    send === 1 && ledHere ? (prompt ?? readDraft(uuid)).trim() : '',
  );
  useEffect(() => {
    if (words === '' || !opened) return undefined;
    const timer = setTimeout(() => setWords(''), longest);
    return () => clearTimeout(timer);
  }, [words, opened]);
  return { words, forget: () => setWords('') };
};
