import { sessionTypes } from '#contract/kinds.ts';
import { maskName } from '#src/platform/format.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { useModel } from '#src/platform/queries.ts';
import { Button } from '#src/ui/button.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { useSite } from '#src/platform/site.ts';
import { AgreementLinks } from '#src/widgets/agreement/agreement-links.tsx';
import { leastText } from '#src/widgets/composer/send-rules.ts';
import type { Embedding } from '#contract/embedding.ts';
import type { SessionDetail } from '#contract/session.ts';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { SessionType } from '#src/widgets/conversation/session-type.ts';
import { useChatActs } from '#src/widgets/conversation/chat-context.ts';
import rowCss from '#src/widgets/conversation/conversation.module.css';
import boxCss from '#src/widgets/composer/send.module.css';
import consentCss from './visitor-consent.module.css';

/** Sample questions that are shown of all bases together. */
const mostQuestions = 6;

/** What knowledge bases hold, and questions to begin with. */
const BaseHint = ({
  session,
  bases,
  onAsk,
}: {
  session: SessionDetail;
  bases: readonly Embedding[];
  onAsk: (text: string) => void;
}) => {
  const model = useModel(session.model);
  const [asked, setAsked] = useState(false);
  const questions = bases.flatMap((base) => base.questions).slice(0, mostQuestions);
  const about = bases.map(({ desc }) => desc).filter((desc) => desc !== '');
  return (
    <div className={`${rowCss.list} ${rowCss.firstHint}`} data-hint>
      <span className={rowCss.firstDot}>
        <Icon name="document" size={26} />
      </span>
      <h2>问{bases.map(({ name }) => `「${name}」`).join('')}</h2>
      {about.length > 0 && <p>{about.join('；')}</p>}
      <p className={rowCss.firstRule}>
        {model?.built_in
          ? '由内置助手回答：摘出资料里的原文，并注明出处；资料里没有的会说没有'
          : `由 ${model?.label ?? session.model} 根据资料回答，并注明出处`}
      </p>
      {session.writable && questions.length > 0 && (
        <ul className={rowCss.firstQuestions} aria-label="可以这样问">
          {questions.map((question) => (
            <li key={question}>
              <button
                type="button"
                disabled={asked}
                onClick={() => {
                  setAsked(true);
                  onAsk(question);
                }}
              >
                {question}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
};

/** Before the first message of somebody without an account: using it is how they agree. */
const VisitorConsent = () => {
  const guest = useAuth().user?.guest !== false;
  const { agreements } = useSite();
  if (!guest || agreements.length === 0) return null;
  return (
    <p className={consentCss.consent}>
      不登录直接使用，即表示同意 <AgreementLinks />
    </p>
  );
};

/** In an empty conversation: what it is for. */
export const FirstHint = (given: FirstHintProps) => (
  <>
    <Hint {...given} />
    {given.session.writable && <VisitorConsent />}
  </>
);

interface FirstHintProps {
  session: SessionDetail;
  /** A single message was asked for, and is gone. */
  only: boolean;
  sessionType: SessionType | null;
  /** Sends a question. */
  onAsk: (text: string) => void;
}

const Hint = ({ session, only, sessionType, onAsk }: FirstHintProps) => {
  const model = useModel(session.model);
  const { min_prompt_bytes: least } = useSite();
  if (only)
    return (
      <div className={`${rowCss.list} ${rowCss.firstHint}`} data-hint>
        <h2>这条消息已经不在了</h2>
        <p>它可能已被删除，或者换到了别的分支</p>
      </div>
    );
  if (sessionType && session.writable) return <sessionType.Hint session={session} />;
  if (session.type === sessionTypes.people)
    return (
      <div className={`${rowCss.list} ${rowCss.firstHint}`} data-hint>
        <span className={rowCss.firstDot}>
          <Icon name="people" size={26} />
        </span>
        <h2>{session.friend ? `和${maskName(session.friend.name)}说说话` : '问问大家'}</h2>
        <p>输入 @ 可以请一个模型来回答</p>
      </div>
    );
  const { bases = [] } = session;
  if (bases.length > 0) return <BaseHint session={session} bases={bases} onAsk={onAsk} />;
  return (
    <div className={`${rowCss.list} ${rowCss.firstHint}`} data-hint>
      <span className={rowCss.firstDot} style={{ background: model?.color || undefined }}>
        <Icon name="spark" size={26} />
      </span>
      <h2>{session.writable ? `和${model?.label ?? session.model}聊聊` : '这里还没有消息'}</h2>
      {model?.remark && <p>{model.remark}</p>}
      {session.writable && (
        <p className={rowCss.firstRule}>{leastText(least)}发出之前还可以换模型</p>
      )}
    </div>
  );
};

/** In the place of the send box where one may only read. */
export const ReadOnly = ({ session, last }: { session: SessionDetail; last: number | null }) => {
  const { token } = useAuth();
  const { fork } = useChatActs();
  const navigate = useNavigate();
  const mayFork = session.forkable && last !== null;
  if (session.closed && token !== '')
    return (
      <div className={boxCss.readOnly}>
        <p>这个问题已经关闭，不能再回复</p>
      </div>
    );
  if (session.type === sessionTypes.people)
    return (
      <div className={boxCss.readOnly}>
        <p>登录之后就可以写回答</p>
        <Button
          size="small"
          kind="primary"
          onClick={() =>
            void navigate({ to: '/login', search: { back: `/chat?uuid=${session.uuid}` } })
          }
        >
          登录
        </Button>
      </div>
    );
  return (
    <div className={boxCss.readOnly}>
      <p>
        这是别人公开的会话
        {mayFork
          ? '，可以复制成自己的接着聊'
          : `，只能看${token === '' ? '；您可以免登录新建自己的会话' : ''}`}
      </p>
      {mayFork ? (
        <Button size="small" kind="primary" onClick={() => fork(last)}>
          接着聊
        </Button>
      ) : (
        <Button size="small" onClick={() => void navigate({ to: '/', search: { new: 1 } })}>
          新建会话
        </Button>
      )}
    </div>
  );
};
