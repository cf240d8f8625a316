import { lazy, Suspense, useSyncExternalStore } from 'react';
import { dialogs } from './dialog.ts';

const DialogView = lazy(() => import('./dialog-view.tsx'));

/** Stands once in the page; its parts load with the first dialog. */
export const DialogHost = () => {
  const request = useSyncExternalStore(dialogs.subscribe, dialogs.get);
  if (!request) return null;
  return (
    <Suspense fallback={null}>
      <DialogView request={request} />
    </Suspense>
  );
};
