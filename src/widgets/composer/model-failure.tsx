import { Icon } from '#src/ui/icon.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { Link } from '@tanstack/react-router';
import css from './model-failure.module.css';
import actCss from '#src/ui/act.module.css';

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
    <p className={css.said} role="alert">
      {reason}
    </p>
    <Link className={actCss.act} to="/account" search={{ tab: 'recharge' }} onClick={onClose}>
      <Icon name="receipt" />
      去充值
    </Link>
    <button
      type="button"
      className={actCss.act}
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
