import type { ChatActs } from '#src/widgets/conversation/chat-context.ts';
import type { ThreadView } from '#src/widgets/conversation/message-store.ts';
import { useCallback } from 'react';

/** Opens the newest question of one's own for other words, where questions can be changed at all. */
export const useEditLast = (view: ThreadView, acts: ChatActs): (() => void) => {
  const { owner, writable, temporary, people, sessionType, toggle, is } = acts;
  const may = owner && writable && !temporary && !people && sessionType === null;
  const last = [...view.rows, ...view.tail].findLast((row) => row.kind === 'question');
  const id = may && view.replying === null ? (last?.message.id ?? 0) : 0;
  return useCallback(() => {
    if (id > 0 && !is('edit', id)) toggle('edit', id);
  }, [id, is, toggle]);
};
