import Popup from 'antd-mobile/es/components/popup';
import { memo, useRef, useState, type PointerEvent, type ReactNode } from 'react';
import { finePointer, useMedia } from '#src/platform/use-media.ts';
import { wideEnoughForMenu } from '#src/platform/wide-enough.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import { useModal } from './modal.ts';
import { Popover } from './popover.tsx';
import './less-motion.ts';
import css from './sheet-view.module.css';
import type { SheetProps } from './sheet-props.ts';
import { usePause } from './use-pause.ts';

/** Pulled so far, or so fast, a sheet goes, px and px a millisecond. */
const far = 120;
const fast = 0.5;
/** Less than this is a press, px. */
const slop = 6;

/** The head of a sheet: what a finger does with it, the sheet follows at once. */
const Pull = ({ onClose, children }: { onClose: () => void; children: ReactNode }) => {
  const finger = useRef<{ y: number; at: number; moved: number } | null>(null);
  const bodyOf = (event: PointerEvent<HTMLElement>) =>
    event.currentTarget.closest<HTMLElement>(`.${css.sheetBody}`);
  const end = (event: PointerEvent<HTMLElement>) => {
    const now = finger.current;
    const body = bodyOf(event);
    finger.current = null;
    if (!now || !body || now.moved === 0) return;
    const pace = now.moved / Math.max(1, event.timeStamp - now.at);
    if (event.type === 'pointerup' && (now.moved > far || (pace > fast && now.moved > 24))) {
      onClose();
      return;
    }
    body.style.transition = 'translate var(--quick)';
    body.style.translate = '';
  };
  return (
    <div
      className={css.sheetPull}
      onPointerDown={(event) => {
        finger.current = { y: event.clientY, at: event.timeStamp, moved: 0 };
      }}
      onPointerMove={(event) => {
        const now = finger.current;
        const body = bodyOf(event);
        if (!now || !body) return;
        const moved = Math.max(0, event.clientY - now.y);
        if (now.moved === 0 && moved < slop) return;
        // From here on it is no press of a button in the head.
        if (now.moved === 0) event.currentTarget.setPointerCapture(event.pointerId);
        now.moved = moved;
        body.style.transition = 'none';
        body.style.translate = `0 ${moved}px`;
      }}
      onPointerUp={end}
      onPointerCancel={end}
    >
      <span className={css.sheetGrabber} aria-hidden="true" />
      {children}
    </div>
  );
};

interface InsideProps {
  open: boolean;
  title: string;
  side: boolean;
  onClose: () => void;
  children: ReactNode;
}

/** While the sheet closes it shows what it showed. */
const Inside = memo(
  ({ title, side, onClose, children }: InsideProps) => {
    const head = (
      <div className={css.sheetHead}>
        <h2>{title}</h2>
        <Button kind="ghost" size="icon" aria-label="关闭" onClick={onClose}>
          <Icon name="close" />
        </Button>
      </div>
    );
    return (
      <>
        {side ? head : <Pull onClose={onClose}>{head}</Pull>}
        <div className={css.sheetContent}>{children}</div>
      </>
    );
  },
  (_, next) => !next.open,
);

const Drawer = ({ open, onClose, title, wide = false, night, children }: SheetProps) => {
  const side = useMedia(wideEnoughForMenu);
  const panel = useRef<HTMLDivElement>(null);
  useModal(open, onClose, panel);
  // Opened again while it still closes, it begins anew, too.
  const [{ was, times }, setTurn] = useState({ was: open, times: 0 });
  if (was !== open) setTurn({ was: open, times: open ? times + 1 : times });
  return (
    <Popup
      visible={open}
      onClose={onClose}
      closeOnMaskClick
      destroyOnClose
      position={side ? 'right' : 'bottom'}
      bodyClassName={
        side
          ? `${css.sheetBody} ${css.sheetSide} ${wide ? css.sheetWide : ''}`
          : `${css.sheetBody} ${css.sheetBottom}`
      }
      aria-hidden={!open}
      data-night={night || undefined}
    >
      <div
        className={css.sheet}
        data-side={side || undefined}
        role="dialog"
        aria-modal="true"
        aria-label={title}
        tabIndex={-1}
        // Nobody gets into what is just closing.
        inert={!open}
        ref={panel}
      >
        <Inside key={times} open={open} title={title} side={side} onClose={onClose}>
          {children}
        </Inside>
      </div>
    </Popup>
  );
};

const Patient = (props: SheetProps) => {
  const free = usePause();
  return <Drawer {...props} open={props.open && free} />;
};

const SheetView = (props: SheetProps) => {
  const beside = useMedia(finePointer) && props.popover;
  const View = beside ? Popover : props.unasked ? Patient : Drawer;
  return <View {...props} />;
};

export default SheetView;
