import { ApiError } from '@/shared/api-error.ts';
import { copyText } from '@/shared/markdown/copy.ts';
import { confirmDialog } from '@/shared/ui/dialog.ts';
import { Icon } from '@/shared/ui/icon.tsx';
import { Sheet } from '@/shared/ui/sheet.tsx';
import { toast } from '@/shared/ui/toast.ts';
import type { Message } from '@contract/chat.ts';
import { useState } from 'react';
import { useChatActs } from './chat-context.ts';

export interface MenuTarget {
  message: Message;
  part: 'question' | 'reply';
}

/** All that can be done with a message; opened by a long press or its ⋯. */
export const MessageMenu = ({
  target,
  onClose,
  onSessionGone,
}: {
  target: MenuTarget | null;
  onClose: () => void;
  onSessionGone: () => void;
}) => {
  const acts = useChatActs();
  const [selecting, setSelecting] = useState<string | null>(null);
  const message = target?.message;
  const text = target?.part === 'question' ? (message?.human ?? '') : (message?.ai ?? '');
  const remove = async (id: number) => {
    const sure = await confirmDialog({
      title: '删除消息',
      text: '问题和它的回复会一起删除，不能恢复。',
      ok: '删除',
      danger: true,
    });
    if (!sure) {
      toast('已取消删除');
      return;
    }
    try {
      if (await acts.thread.remove(id)) onSessionGone();
      toast('消息记录已删除', 'success');
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  };
  const then = (act: () => void) => () => {
    onClose();
    act();
  };
  return (
    <>
      <Sheet
        open={target !== null}
        onClose={onClose}
        title={target?.part === 'question' ? '这条提问' : '这条回复'}
      >
        <button type="button" className="act" onClick={then(() => void copyText(text))}>
          <Icon name="copy" />
          复制
        </button>
        <button type="button" className="act" onClick={then(() => setSelecting(text))}>
          <Icon name="edit" />
          选择文字
        </button>
        {target?.part === 'reply' && message && (
          <button type="button" className="act" onClick={then(() => acts.toggleRaw(message.id))}>
            <Icon name="code" />
            {acts.isRaw(message.id) ? '看排版' : '看原文'}
          </button>
        )}
        {acts.owner && message && message.id > 0 && (
          <button
            type="button"
            className="act act-danger"
            onClick={then(() => void remove(message.id))}
          >
            <Icon name="trash" />
            删除这条消息
          </button>
        )}
      </Sheet>
      <Sheet open={selecting !== null} onClose={() => setSelecting(null)} title="选择文字">
        <p className="selectable">{selecting}</p>
      </Sheet>
    </>
  );
};
