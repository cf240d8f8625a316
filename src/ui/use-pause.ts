import { useEffect, useState } from 'react';
import { flushSync } from 'react-dom';

/** Who has not touched a box for so long has stopped writing in it, ms. */
const pause = 5_000;
const signs = ['input', 'focusin', 'focusout'] as const;

/** What the box holds that the keyboard writes into; null: it writes into none. */
const wordsNow = (): string | null => {
  const box = document.activeElement;
  return box instanceof HTMLTextAreaElement || box instanceof HTMLInputElement
    ? box.value
    : box instanceof HTMLElement && box.isContentEditable
      ? box.innerText
      : null;
};

/**
 * Turns true as soon as nobody is in mid-sentence, and stays so. That is looked at in the very moment,
 * and what follows is done before the next key: what is seen while a part is drawn may be old by the
 * time React shows it.
 */
export const usePause = (): boolean => {
  const [free, setFree] = useState(false);
  useEffect(() => {
    if (free) return undefined;
    let timer: ReturnType<typeof setTimeout>;
    const wait = (ms: number) => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        if (!wordsNow()) flushSync(() => setFree(true));
      }, ms);
    };
    const again = () => wait(pause);
    wait(wordsNow() === null ? 0 : pause);
    for (const sign of signs) document.addEventListener(sign, again, true);
    return () => {
      clearTimeout(timer);
      for (const sign of signs) document.removeEventListener(sign, again, true);
    };
  }, [free]);
  return free;
};
