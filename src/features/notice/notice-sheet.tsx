import { Button, ButtonLink } from '#src/ui/button.tsx';
import { finePointer, useMedia } from '#src/platform/use-media.ts';
import { wideEnoughForMenu } from '#src/platform/wide-enough.ts';
import { Icon } from '#src/ui/icon.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { NoticeText } from './notice-text.tsx';
import css from './notice-sheet.module.css';

interface Props {
  /** Markdown. */
  content: string;
  time: string;
  onClose: () => void;
  onAcknowledge: () => void;
}

const title = '系统公告';

const Words = ({ content, time, onClose, onAcknowledge }: Props) => (
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
);

const NoticeOver = (props: Props) => (
  <Sheet unasked open onClose={props.onClose} title={title}>
    <Words {...props} />
  </Sheet>
);

/** Where there is room it lies beside the page, which goes on below it. */
const NoticeCard = (props: Props) => (
  <div
    className={css.card}
    role="dialog"
    aria-label={title}
    onKeyDown={({ key }) => key === 'Escape' && props.onClose()}
  >
    <div className={css.head}>
      <h2>{title}</h2>
      <Button kind="ghost" size="icon" aria-label="关闭" onClick={props.onClose}>
        <Icon name="close" />
      </Button>
    </div>
    <Words {...props} />
  </div>
);

const roomy = `${wideEnoughForMenu} and ${finePointer}`;

const NoticeSheet = (props: Props) => {
  const Shown = useMedia(roomy) ? NoticeCard : NoticeOver;
  return <Shown key={props.time + props.content} {...props} />;
};

export default NoticeSheet;
