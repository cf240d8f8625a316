import { useEffect } from 'react';

/** The window's title while the screen is shown. */
export const usePageTitle = (title: string) => {
  useEffect(() => {
    document.title = title ? `${title} · 鹊桥` : '鹊桥';
  }, [title]);
};
