import { lazyPart } from '#src/platform/lazy-chunk.ts';
import { useDialogs } from './dialog.ts';

const DialogView = lazyPart(() => import('./dialog-view.tsx'));

/** Stands once in the page; its parts load with the first dialog. */
export const DialogHost = () => {
  const [request] = useDialogs();
  if (!request) return null;
  return <DialogView request={request} />;
};
