import Popup from 'antd-mobile/es/components/popup';
import { memo, useRef, type ReactNode } from 'react';
import { finePointer, useMedia } from '#src/platform/use-media.ts';
import { wideEnoughForMenu } from '#src/platform/wide-enough.ts';
import { moveByArrows } from './arrow-keys.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import { MenuPopover } from './menu-popover.tsx';
import { useModal } from './modal.ts';
import actCss from './act.module.css';
import css from './sheet-view.module.css';
import type { SheetProps } from './sheet-props.ts';

interface InsideProps {
  open: boolean;
  title: string;
  side: boolean;
  onClose: () => void;
  children: ReactNode;
}

/** While the sheet closes it shows what it showed. */
const Inside = memo(
  ({ title, side, onClose, children }: InsideProps) => (
    <>
      {!side && <span className={css.sheetGrabber} aria-hidden="true" />}
      <div className={css.sheetHead}>
        <h2>{title}</h2>
        <Button kind="ghost" size="icon" aria-label="关闭" onClick={onClose}>
          <Icon name="close" />
        </Button>
      </div>
      {/* A finger inside the content scrolls it; only the head pulls the sheet. */}
      <div
        className={css.sheetContent}
        onPointerDown={(event) => event.stopPropagation()}
        onKeyDown={(event) => {
          // A list of acts is walked through as a menu is.
          if (event.target instanceof HTMLElement && event.target.closest(`.${actCss.act}`))
            moveByArrows(event);
        }}
      >
        {children}
      </div>
    </>
  ),
  (_, next) => !next.open,
);

const Drawer = ({ open, onClose, title, children }: SheetProps) => {
  const side = useMedia(wideEnoughForMenu);
  const panel = useRef<HTMLDivElement>(null);
  useModal(open, onClose, panel);
  return (
    <Popup
      visible={open}
      onClose={onClose}
      closeOnMaskClick
      closeOnSwipe={!side}
      destroyOnClose
      position={side ? 'right' : 'bottom'}
      bodyClassName={
        side ? `${css.sheetBody} ${css.sheetSide}` : `${css.sheetBody} ${css.sheetBottom}`
      }
      aria-hidden={!open}
    >
      <div
        className={css.sheet}
        data-side={side || undefined}
        role="dialog"
        aria-modal="true"
        aria-label={title}
        tabIndex={-1}
        ref={panel}
      >
        <Inside open={open} title={title} side={side} onClose={onClose}>
          {children}
        </Inside>
      </div>
    </Popup>
  );
};

const beside = `${wideEnoughForMenu} and ${finePointer}`;

const SheetView = (props: SheetProps) =>
  useMedia(beside) && props.menu ? <MenuPopover {...props} /> : <Drawer {...props} />;

export default SheetView;
