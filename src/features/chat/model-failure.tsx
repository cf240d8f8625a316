import { Icon } from '@/shared/ui/icon.tsx';
import { Sheet } from '@/shared/ui/sheet.tsx';
import { Link } from '@tanstack/react-router';
import './chat-settings.css';

/** Says why the model was not changed, and what else can be done. */
export const ModelFailure = ({
  reason,
  onClose,
  onFree,
}: {
  /** Empty: nothing failed. */
  reason: string;
  onClose: () => void;
  onFree: () => void;
}) => (
  <Sheet open={reason !== ''} onClose={onClose} title="模型没有换成">
    <p className="send-failure" role="alert">
      {reason}
    </p>
    <Link className="act" to="/account" search={{ tab: 'usage' }} onClick={onClose}>
      <Icon name="receipt" />
      查看余额
    </Link>
    <button
      type="button"
      className="act"
      onClick={() => {
        onClose();
        onFree();
      }}
    >
      <Icon name="spark" />
      使用免费模型
    </button>
  </Sheet>
);
