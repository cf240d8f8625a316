import type { Message } from '#contract/chat.ts';
import type { SessionDetail } from '#contract/session.ts';

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
