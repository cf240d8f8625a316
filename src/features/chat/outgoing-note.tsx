import { deviceFull } from '#src/platform/device-full.ts';
import { useStore } from '#src/platform/store.ts';
import { setAttachments } from '#src/platform/attach/attach-store.ts';
import { draftOfParts } from '#src/platform/attach/parts.ts';
import { readDraft, writeDraft } from '#src/platform/draft.ts';
import { loadOutbox } from '#src/platform/load-outbox.ts';
import { readQuestion } from '#src/platform/question.ts';
import { Icon, PathIcon } from '#src/ui/icon.tsx';
import { toast } from '#src/platform/toast.ts';
import { useNavigate } from '@tanstack/react-router';
import { useChatActs } from '#src/widgets/conversation/chat-context.ts';
import { clockPath } from '#src/widgets/conversation/on-its-way.tsx';
import css from './outgoing-note.module.css';
import type { Outgoing, OutgoingRow } from '#src/widgets/conversation/rows.ts';

const words: Record<Outgoing['state'], string> = {
  waiting: '等待发送',
  sending: '正在发送…',
  behind: '等待前一条',
  failed: '发送失败',
};

/** Below a message that is not with the server yet. */
const OutgoingNote = ({ row }: { row: OutgoingRow }) => {
  const { state, key, reason, held, retryKey, parts } = row.outgoing;
  const { uuid } = useChatActs();
  const full = useStore(deviceFull);
  const navigate = useNavigate();
  /** What was written goes back into the box. */
  const cancel = async () => {
    const outbox = await loadOutbox();
    const { text } = readQuestion(row.message);
    const taken = await outbox.cancel(key);
    if (!taken) return;
    // Without its only message the session is not begun at all.
    const box = taken.sessionGone ? 'home' : uuid;
    writeDraft(box, [text, readDraft(box)].filter((each) => each !== '').join('\n'));
    const parts = taken.act.parts ?? [];
    if (parts.length > 0) setAttachments(box, { items: draftOfParts(parts) });
    toast(
      taken.act.tries > 0 ? '已取消；如果服务器已经收到，它会照常出现' : '已取消，内容放回了输入框',
    );
    if (taken.sessionGone) await navigate({ to: '/', replace: true });
  };
  const retry = async () => (await loadOutbox()).retry(retryKey);
  return (
    <div className={css.outgoing} data-state={state} role={state === 'failed' ? 'alert' : 'status'}>
      {state === 'failed' ? (
        <Icon name="warning" size={14} />
      ) : (
        <PathIcon path={clockPath} size={14} />
      )}
      <span>
        {parts.length > 0 && `附 ${parts.join('、')} · `}
        {state === 'failed' && reason !== '' ? `发送失败：${reason}` : words[state]}
        {held && ` · ${full ? '手机存储已满' : '没能存到这台设备上'}，发出前先别关掉页面`}
      </span>
      {state === 'failed' && (
        <button type="button" onClick={() => void retry()}>
          重试
        </button>
      )}
      {state !== 'sending' && (
        <button type="button" onClick={() => void cancel()}>
          取消
        </button>
      )}
    </div>
  );
};

export default OutgoingNote;
