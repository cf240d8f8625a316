import { api } from '#src/platform/api.ts';
import { Button } from '#src/ui/button.tsx';
import type { SessionDetail } from '#contract/session.ts';
import { useState } from 'react';
import css from './question.module.css';
import { ReportSheet } from './question-sheets.tsx';

/** Above the box of a talk of two people who do not know each other yet, or no longer wish to. */
const RequestBar = ({ session }: { session: SessionDetail }) => {
  const [reporting, setReporting] = useState(false);
  const state = session.friend?.state;
  const answer = (act: 'accept' | 'block' | 'unblock') =>
    // A refusal has been told of by the call itself.
    void api.answerFriend({ session_id: session.uuid, act }).catch(() => undefined);
  const asked = state === 'asked';
  const words = {
    asked: '对方第一次给您发消息。接受或回复之后，对方才能继续发。',
    asking: '这是您发给对方的第一条消息。接着写的会先等在这里，对方接受之后一起送到。',
    blocking: '您屏蔽了对方，不会再收到对方的消息。',
  };
  if (state === undefined || state === 'new' || state === 'accepted') return null;
  return (
    <div className={css.request} role="group" aria-label="私聊请求">
      <div className={css.requestInner}>
        <p>{words[state]}</p>
        <div className={css.requestActs}>
          {asked && (
            <Button kind="primary" size="small" onClick={() => answer('accept')}>
              接受
            </Button>
          )}
          {asked && (
            <Button size="small" onClick={() => answer('block')}>
              屏蔽
            </Button>
          )}
          {state === 'blocking' && (
            <Button size="small" onClick={() => answer('unblock')}>
              取消屏蔽
            </Button>
          )}
          {state !== 'asking' && (
            <Button size="small" onClick={() => setReporting(true)}>
              举报
            </Button>
          )}
        </div>
      </div>
      {reporting && (
        <ReportSheet
          uuid={session.uuid}
          id={null}
          whole="对方"
          onClose={() => setReporting(false)}
        />
      )}
    </div>
  );
};

export default RequestBar;
