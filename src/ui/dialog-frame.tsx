import CenterPopup from 'antd-mobile/es/components/center-popup';
import { useId, useRef, type FormEvent, type ReactNode } from 'react';
import { useModal } from './modal.ts';
import './less-motion.ts';
import css from './sheet-view.module.css';

/** A question in the middle of the page that wants an answer before anything else. */
export const DialogFrame = ({
  title,
  text,
  onStepBack,
  onSubmit,
  children,
}: {
  title: string;
  text: string;
  onStepBack: () => void;
  onSubmit: () => void;
  children: ReactNode;
}) => {
  const panel = useRef<HTMLFormElement>(null);
  const id = useId();
  useModal(true, onStepBack, panel);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <CenterPopup
      visible
      getContainer={() => document.body}
      onMaskClick={onStepBack}
      bodyClassName={css.dialogBody}
    >
      <form
        className={css.dialog}
        role="alertdialog"
        aria-modal="true"
        aria-labelledby={`${id}-title`}
        aria-describedby={`${id}-text`}
        tabIndex={-1}
        ref={panel}
        onSubmit={submit}
      >
        <h2 id={`${id}-title`}>{title}</h2>
        <p id={`${id}-text`}>{text}</p>
        {children}
      </form>
    </CenterPopup>
  );
};
