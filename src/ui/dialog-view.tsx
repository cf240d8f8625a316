import CenterPopup from 'antd-mobile/es/components/center-popup';
import { useId, useRef } from 'react';
import { Button } from './button.tsx';
import type { DialogRequest } from './dialog.ts';
import { useModal } from './modal.ts';
import css from './sheet-view.module.css';

const DialogView = ({ request }: { request: DialogRequest }) => {
  const panel = useRef<HTMLDivElement>(null);
  const id = useId();
  const stepBack = () => request.answer(false);
  useModal(true, stepBack, panel);
  return (
    <CenterPopup
      visible
      getContainer={() => document.body}
      onMaskClick={stepBack}
      bodyClassName={css.dialogBody}
    >
      <div
        className={css.dialog}
        role="alertdialog"
        aria-modal="true"
        aria-labelledby={`${id}-title`}
        aria-describedby={`${id}-text`}
        tabIndex={-1}
        ref={panel}
      >
        <h2 id={`${id}-title`}>{request.title}</h2>
        <p id={`${id}-text`}>{request.text}</p>
        <footer>
          {request.cancel !== undefined && <Button onClick={stepBack}>{request.cancel}</Button>}
          <Button kind={request.danger ? 'danger' : 'primary'} onClick={() => request.answer(true)}>
            {request.ok}
          </Button>
        </footer>
      </div>
    </CenterPopup>
  );
};

export default DialogView;
