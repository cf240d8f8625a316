import { confirmDialog } from '#src/ui/dialog.ts';
import { useBlocker } from '@tanstack/react-router';
import { useChatActs } from '#src/widgets/conversation/chat-context.ts';

/** Asks before a temporary chat is left for good: nothing of it is kept. */
const TemporaryGuard = () => {
  const { thread, uuid } = useChatActs();
  useBlocker({
    shouldBlockFn: async ({ next }) => {
      const stays = (next.search as { uuid?: string }).uuid === uuid && next.pathname === '/chat';
      if (stays || thread.store.get().count === 0) return false;
      const leave = await confirmDialog({
        title: '离开临时对话',
        text: '这里的内容没有保存，离开后就找不回来了。',
        ok: '离开',
        danger: true,
      });
      return !leave;
    },
    enableBeforeUnload: () => thread.store.get().count > 0,
  });
  return null;
};

export default TemporaryGuard;
