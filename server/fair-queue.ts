/**
 * So many things are done at once, of each person one; the others wait, and whoever has waited
 * longest without having anything done is next.
 */
export const createFairQueue = (slots: number) => {
  const busy = new Set<string>();
  const waiting = new Map<string, (() => void)[]>();

  const begin = (): void => {
    for (const [key, line] of waiting) {
      if (busy.size >= slots) return;
      if (busy.has(key)) continue;
      // What else the person has waits behind everybody else.
      waiting.delete(key);
      const next = line.shift();
      if (line.length > 0) waiting.set(key, line);
      busy.add(key);
      next?.();
    }
  };

  return async <T>(key: string, act: () => Promise<T>): Promise<T> => {
    await new Promise<void>((resolve) => {
      waiting.set(key, [...(waiting.get(key) ?? []), resolve]);
      begin();
    });
    try {
      return await act();
    } finally {
      busy.delete(key);
      // What came from the same person meanwhile waits behind everybody who came meanwhile.
      const line = waiting.get(key);
      if (line) {
        waiting.delete(key);
        waiting.set(key, line);
      }
      begin();
    }
  };
};
