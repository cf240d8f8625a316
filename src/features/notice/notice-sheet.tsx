import { Markdown } from '@/shared/markdown/markdown.tsx';
import { Button } from '@/shared/ui/button.tsx';
import { Sheet } from '@/shared/ui/sheet.tsx';
import './notice.css';

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
    <div className="notice">
      <p className="notice-time">{time}</p>
      <Markdown text={content} />
      <Button kind="primary" onClick={onAcknowledge}>
        知道了
      </Button>
    </div>
  </Sheet>
);

export default NoticeSheet;
