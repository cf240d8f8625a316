import { sayOnce } from '#src/platform/say-once.ts';
import { useEffect, useRef, useState } from 'react';

/**
 * One call at a time: whether it is under way, what went wrong, and a way to end it. It ends with the
 * screen.
 */
export const useApiCall = () => {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState('');
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  return {
    busy,
    failed,
    setFailed,
    stop: (): void => running.current?.abort(),
    run: async (work: (signal: AbortSignal) => Promise<void>): Promise<void> => {
      setFailed('');
      setBusy(true);
      const stop = new AbortController();
      running.current = stop;
      try {
        await work(stop.signal);
        // Not its words, which come piece by piece.
        sayOnce('回答完成');
      } catch {
        if (!stop.signal.aborted) setFailed('没有连上服务器，请检查网络后再试');
      } finally {
        setBusy(false);
      }
    },
  };
};
