import { copyText } from '#src/platform/copy.ts';
import { Button } from '#src/ui/button.tsx';
import type { ReactNode } from 'react';
import css from './api.module.css';
import { useFreshKey } from './fresh-key.ts';
import type { useApiCall } from './use-api-call.ts';

/** The button that sends a call or ends it, and what went wrong. */
export const SendRow = ({
  call: { busy, failed, stop },
  onSend,
}: {
  call: ReturnType<typeof useApiCall>;
  onSend: () => void;
}) => {
  const key = useFreshKey();
  return (
    <>
      <div className={css.acts}>
        <Button kind="primary" disabled={key === ''} onClick={() => (busy ? stop() : onSend())}>
          {busy ? '停止' : '发送'}
        </Button>
        {key === '' && <span className={css.hint}>先选择或粘贴 API-KEY</span>}
      </div>
      {failed !== '' && (
        <p className={css.fault} role="alert">
          {failed}
        </p>
      )}
    </>
  );
};

/** What came: how it went, in how long, and the rest. */
export const AnswerBox = ({
  status,
  took,
  text,
  children,
}: {
  status: string;
  took: string;
  /** What is copied. */
  text: string;
  children: ReactNode;
}) => (
  <section className={css.answer} aria-label="回答">
    <header>
      <strong>{status}</strong>
      <span>{took}</span>
      <Button size="small" kind="ghost" onClick={() => void copyText(text)}>
        复制
      </Button>
    </header>
    {children}
  </section>
);
