import { useAuth } from '#src/platform/auth-store.ts';
import { readQuestion } from '#src/platform/question.ts';
import { Icon } from '#src/ui/icon.tsx';
import type { Message } from '#contract/chat.ts';
import { streamCodes, type StreamCode } from '#contract/page-errors.ts';
import { Link } from '@tanstack/react-router';
import { memo, type ReactNode } from 'react';
import { useChatActs } from '#src/widgets/conversation/chat-context.ts';
import { Pager } from '#src/widgets/conversation/message-acts.tsx';
import type { NoticeRow } from '#src/widgets/conversation/rows.ts';
import rowCss from '#src/widgets/conversation/conversation.module.css';

const noticeText = (message: Message): string => {
  if (message.state === 'interrupted')
    return message.ai === ''
      ? '服务器重启过，这条回复没有写出来'
      : message.error_message || streamCodes.interrupted;
  if (message.error_message !== '') return message.error_message;
  if (message.state === 'stopped')
    return message.deduct_tokens > 0
      ? `已停止，问题已经发给模型，用了 ${message.deduct_tokens} tokens`
      : '已停止';
  if (message.state === 'none') return '这条消息还没有回复';
  return streamCodes[message.error_code as StreamCode] ?? '出错了，请重试';
};

/** How a reply stands that did not come, or not whole, and what can be done about it. */
const Notice = memo(function Notice({ row }: { row: NoticeRow }) {
  const { message, newest } = row;
  const acts = useChatActs();
  // Guests have no account to appeal from.
  const member = useAuth().user?.guest === false;
  const quiet = message.state === 'stopped' || message.state === 'none';
  const code = message.error_code;
  const can = acts.owner && newest;
  const button = (label: string, act: () => void, primary = false): ReactNode => (
    <button
      type="button"
      className={primary ? `${rowCss.noticeAct} ${rowCss.noticeActFirst}` : rowCss.noticeAct}
      onClick={act}
    >
      {label}
    </button>
  );
  return (
    <div
      className={quiet ? `${rowCss.notice} ${rowCss.noticeQuiet}` : rowCss.notice}
      role={quiet ? undefined : 'alert'}
    >
      <p>
        {!quiet && <Icon name="warning" size={16} />}
        {noticeText(message)}
      </p>
      {can && (
        <div className={rowCss.noticeActs}>
          {code === 'connection' && button('重新连接', () => acts.reconnect(message), true)}
          {code === 'context_length_exceeded' &&
            button('新建会话', () => acts.startAnew(readQuestion(message).text, 'same'), true)}
          {code === 'balance' && (
            <>
              <Link
                className={`${rowCss.noticeAct} ${rowCss.noticeActFirst}`}
                to="/account"
                search={{ tab: 'recharge' }}
              >
                去充值
              </Link>
              {button('换免费模型', () => acts.startAnew(readQuestion(message).text, 'free'))}
            </>
          )}
          {code === 'blocked' && member && (
            <Link className={rowCss.noticeAct} to="/account" search={{ tab: 'security' }}>
              申诉
            </Link>
          )}
          {code !== 'connection' &&
            button(message.state === 'interrupted' ? '重新生成' : '重试', () =>
              acts.retry(message),
            )}
        </div>
      )}
      {message.ai === '' && <Pager message={message} />}
    </div>
  );
});

export default Notice;
