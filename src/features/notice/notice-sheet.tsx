import { Button, ButtonLink } from '#src/ui/button.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
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
        <ButtonLink to="/notice" onClick={onClose}>
          全部公告
        </ButtonLink>
        <ButtonLink to="/subscribe" onClick={onClose}>
          源码订阅
        </ButtonLink>
        <Button kind="primary" onClick={onAcknowledge}>
          知道了
        </Button>
      </div>
    </div>
  </Sheet>
);

export default NoticeSheet;
