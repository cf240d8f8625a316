import { Button, ButtonLink } from '#src/ui/button.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { useEffect, useState } from 'react';
import { NoticeText } from './notice-text.tsx';
import css from './notice-sheet.module.css';

interface Props {
  /** Markdown. */
  content: string;
  time: string;
  onClose: () => void;
  onAcknowledge: () => void;
}

/** Who has not touched a box for so long has stopped writing in it, ms. */
const pause = 5_000;
const signs = ['input', 'focusin', 'focusout'] as const;

/** Whether the box that the keyboard writes into holds words. */
const isWriting = (): boolean => {
  const box = document.activeElement;
  if (box instanceof HTMLTextAreaElement || box instanceof HTMLInputElement)
    return box.value !== '';
  return box instanceof HTMLElement && box.isContentEditable;
};

/** Turns true as soon as nobody is in mid-sentence, and stays so. */
const usePause = (): boolean => {
  const [free, setFree] = useState(() => !isWriting());
  useEffect(() => {
    if (free) return undefined;
    let timer: ReturnType<typeof setTimeout>;
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        if (!isWriting()) setFree(true);
      }, pause);
    };
    wait();
    for (const sign of signs) document.addEventListener(sign, wait, true);
    return () => {
      clearTimeout(timer);
      for (const sign of signs) document.removeEventListener(sign, wait, true);
    };
  }, [free]);
  return free;
};

const OpenSheet = ({ content, time, onClose, onAcknowledge }: Props) => (
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

/** A sheet takes the keyboard: opened over a sentence, it would swallow the rest of it. */
const PatientSheet = (props: Props) => (usePause() ? <OpenSheet {...props} /> : null);

const NoticeSheet = (props: Props) => <PatientSheet key={props.time + props.content} {...props} />;

export default NoticeSheet;
