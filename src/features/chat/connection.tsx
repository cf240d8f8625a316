import { deviceFull } from '#src/platform/device-full.ts';
import { useLineText } from '#src/platform/line-text.ts';
import { useStore } from '#src/platform/store.ts';
import { LineBanner } from '#src/ui/line-banner.tsx';
import type { ThreadView } from '#src/widgets/conversation/message-store.ts';
import css from './chat.module.css';

/** One quiet line while the network does not answer, with what happens next. */
export const Connection = ({
  view,
}: {
  /** Null: it is not open yet. */
  view: ThreadView | null;
}) => {
  const lineText = useLineText();
  const full = useStore(deviceFull);
  if (lineText === '' && view?.reconnecting !== true) return null;
  const what = lineText || '连接断了，正在重新连接';
  const next = view?.replying
    ? '回复在服务器上继续写，连上后自动接着显示'
    : full
      ? '手机存储已满，新消息只在页面开着时留着，请清理一些空间'
      : '发送的消息留在这台设备上，联网后自动发出';
  const more = `。${view ? next : '联网后自动打开这个会话'}`;
  return <LineBanner className={css.strip ?? ''} text={what} more={more} />;
};
