import { Button } from '@/ui/button.tsx';
import { Sheet } from '@/ui/sheet.tsx';
import { Link } from '@tanstack/react-router';
import { NoticeText } from './notice-text.tsx';
import css from './notice-sheet.module.css';

const NoticeSheet = ({
  content,
  time,
  onClose,
  onAcknowledge,
}: {
  /** Markdown. */
  content: string;
  time: string;
  onClose: () => void;
  onAcknowledge: () => void;
}) => (
  <Sheet open onClose={onClose} title="系统公告">
    <div className={css.sheet}>
      <p className={css.time}>{time}</p>
      <NoticeText text={content} onFollow={onClose} />
      <div className={css.acts}>
        <Link className="button" to="/notice" onClick={onClose}>
          全部公告
        </Link>
        <Link className="button" to="/subscribe" onClick={onClose}>
          源码订阅
        </Link>
        <Button kind="primary" onClick={onAcknowledge}>
          知道了
        </Button>
      </div>
    </div>
  </Sheet>
);

export default NoticeSheet;
