import { inIdleTime } from '#src/platform/idle.ts';
import { useEffect, useState } from 'react';
import { flushSync } from 'react-dom';

/** False until the page has nothing better to do; `now`: true from the start. */
export const useIdle = (now: boolean): boolean => {
  const [idle, setIdle] = useState(now);
  useEffect(
    () =>
      idle
        ? undefined
        : // Each by itself, so that idle time ends when something better is to be done.
          inIdleTime(() => flushSync(() => setIdle(true))),
    [idle],
  );
  return idle;
};
