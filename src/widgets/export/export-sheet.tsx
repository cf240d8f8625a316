import type { Message } from '@contract/chat.ts';
import type { SessionDetail } from '@contract/session.ts';
import { lazy, Suspense, useState } from 'react';

export interface ExportSheetProps {
  session: SessionDetail;
  open: boolean;
  onClose: () => void;
  /**
   * Of a temporary chat, which the server does not have: what stands on the page, oldest first.
   * Left out: the messages are read from the server.
   */
  messages?: readonly Message[];
}

const View = lazy(() => import('./export-view.tsx'));

/** All ways out of a session: PDF, Markdown, JSON, a long picture, a public link. Loaded when first opened. */
export const ExportSheet = (props: ExportSheetProps) => {
  const [used, setUsed] = useState(props.open);
  if (props.open && !used) setUsed(true);
  if (!used) return null;
  return (
    <Suspense fallback={null}>
      <View {...props} />
    </Suspense>
  );
};
