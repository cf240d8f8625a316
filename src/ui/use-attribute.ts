import { useSyncExternalStore } from 'react';

/** An attribute of the page's root as it is now, such as the one that says whether it is dark. */
export const useAttribute = (name: string): string | null =>
  useSyncExternalStore(
    (tell) => {
      const watcher = new MutationObserver(tell);
      watcher.observe(document.documentElement, { attributeFilter: [name] });
      return () => watcher.disconnect();
    },
    () => document.documentElement.getAttribute(name),
  );
