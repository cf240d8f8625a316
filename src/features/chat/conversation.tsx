import { sessionTypes } from '#contract/kinds.ts';
import { onFirstUse } from '#src/platform/first-use.ts';
import { inIdleTime } from '#src/platform/idle.ts';
import { takeFirstBox } from '#src/platform/first-view.ts';
import { lazyChunk, lazyPart } from '#src/platform/lazy-chunk.ts';
import { Navigate as MarkdownNavigate } from '#src/widgets/markdown/navigate.ts';
import { useSettings } from '#src/platform/queries.ts';
import { useEver } from '#src/platform/use-ever.ts';
import { Icon } from '#src/ui/icon.tsx';
import type { SessionDetail } from '#contract/session.ts';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Arriving } from '#src/widgets/conversation/arriving.tsx';
import type { useArrivingWords } from './arriving-words.ts';
import { ChatContext } from '#src/widgets/conversation/chat-context.ts';
import { ChatHeader } from './chat-header.tsx';
import type { Panel } from './chat-panels.tsx';
import { Connection } from './connection.tsx';
import type { SessionType } from '#src/widgets/conversation/session-type.ts';
import type { Send } from './deliver.ts';
import { MessageList, type ListHandle } from './message-list.tsx';
import { SendBox } from './send-box.tsx';
import { QuestionContext } from './question-context.ts';
import type { ThreadView } from '#src/widgets/conversation/message-store.ts';
import type { Thread } from '#src/widgets/conversation/thread.ts';
import { useActs, useSend } from './use-acts.ts';
import { useBack, useFocusOfAddress, usePromptOfAddress } from './use-address.ts';
import { useEditLast } from './use-edit-last.ts';
import { useKeys } from './use-keys.ts';
import { useVisibleHeight } from './use-visible-height.ts';
import { warmUp } from './warm-up.ts';
import css from './chat.module.css';
import rowCss from '#src/widgets/conversation/conversation.module.css';
import boxCss from '#src/widgets/composer/send.module.css';

const route = getRouteApi('/chat');

const loadVoice = lazyChunk(() => import('#src/widgets/voice/get-ready.ts'));

/** What is opened over the conversation comes when it is first opened. */
const ChatPanels = lazyPart(() => import('./chat-panels.tsx'));
const FirstHint = lazyPart(
  () => import('./chat-edges.tsx').then(({ FirstHint: part }) => ({ default: part })),
  <div className={rowCss.list} />,
);
const ReadOnly = lazyPart(
  () => import('./chat-edges.tsx').then(({ ReadOnly: part }) => ({ default: part })),
  <div className={boxCss.readOnly} />,
);
const QuestionBar = lazyPart(() => import('./question-bar.tsx'));
const RequestBar = lazyPart(() => import('./request-bar.tsx'));
const VotesList = lazyPart(() => import('./votes-list.tsx'), <div className={rowCss.list} />);
const OpenElsewhere = lazyPart(() =>
  import('./open-elsewhere.tsx').then(({ OpenElsewhere: part }) => ({ default: part })),
);
const TemporaryGuard = lazyPart(() => import('./temporary-guard.tsx'));

/** One of the forum's, which is read from the question on; friends go on where they were. */
export const isQuestion = (session: SessionDetail): boolean =>
  session.type === sessionTypes.people && session.friend === null;

/**
 * Whether the list is on the page: with the first message at the latest, but where there is none
 * yet as soon as there is time for it, so that sending one does not have to wait.
 */
const useListed = (empty: boolean): boolean => {
  const [made, setMade] = useState(false);
  const listed = made || !empty;
  useEffect(() => {
    if (listed) return undefined;
    warmUp();
    return inIdleTime(() => setMade(true));
  }, [listed]);
  return listed;
};

/** Gets a voice ready behind all that the opening of a session loads. */
const useVoiceAhead = (speaks: boolean) => {
  const { default_audio_model: reader } = useSettings();
  useEffect(() => {
    if (!speaks) return undefined;
    let idle = () => {};
    const timer = setTimeout(() => {
      idle = inIdleTime(() => {
        loadVoice().then(
          ({ getVoiceReady }) => getVoiceReady(reader ?? ''),
          () => undefined,
        );
      });
    }, 3_000);
    return () => {
      clearTimeout(timer);
      idle();
    };
  }, [speaks, reader]);
};

/** The size of the conversation, where its caret stands and what it loads, once it is on the page. */
const useOpened = (box: RefObject<HTMLDivElement | null>, thread: Thread) => {
  useVisibleHeight(box);
  useEffect(() => onFirstUse(() => void thread.commands().catch(() => {})), [thread]);
  useLayoutEffect(() => {
    takeFirstBox(thread.uuid, () => {
      box.current?.querySelector<HTMLElement>('form textarea')?.focus({ preventScroll: true });
    });
  }, [box, thread]);
};

/** By time or by votes: a question's answers are read as one likes, and one's own stands by time. */
const useOrder = (thread: Thread, { newestFirst }: ThreadView) => {
  const [byVotes, setByVotes] = useState(false);
  return {
    byVotes,
    byTime: () => setByVotes(false),
    bar: {
      order: byVotes ? ('votes' as const) : newestFirst ? ('newest' as const) : ('usual' as const),
      onOrder: (order: 'usual' | 'newest' | 'votes') => {
        setByVotes(order === 'votes');
        thread.store.setNewestFirst(order === 'newest');
      },
    },
  };
};

/** What is said of the whole conversation above it. */
const Strips = ({
  session,
  view,
  only,
  bar,
  onAnswer,
}: {
  session: SessionDetail;
  view: ThreadView;
  only: number | null;
  bar: ReturnType<typeof useOrder>['bar'];
  onAnswer: Send;
}) => (
  <>
    {isQuestion(session) && (
      <QuestionBar
        session={session}
        last={view.lastId}
        answers={view.count - 1}
        {...bar}
        onAnswer={session.writable ? onAnswer : undefined}
      />
    )}
    <Connection view={view} />
    {session.temporary && (
      <p className={`${css.strip} ${css.stripCalm}`}>
        <Icon name="lock" size={16} />
        临时对话：不保存，关闭即消失
      </p>
    )}
    {session.temporary && view.count > 0 && <TemporaryGuard />}
    {only !== null && (
      <p className={`${css.strip} ${css.stripCalm}`}>
        <Icon name="star" size={16} />
        只显示收藏的这一条
        <Link to="/chat" search={{ uuid: session.uuid, history_id: only }}>
          查看完整会话
        </Link>
      </p>
    )}
  </>
);

/** What is written with: the box of this kind of session, or why one cannot write here. */
const Foot = ({
  session,
  thread,
  view,
  sessionType,
  arriving,
  onSend,
}: {
  session: SessionDetail;
  thread: Thread;
  view: ThreadView;
  sessionType: SessionType | null;
  /** Words of the address are being sent. */
  arriving: boolean;
  onSend: Send;
}) => {
  const { open } = route.useSearch();
  const canWrite = session.writable && thread.only === null;
  const openType = open === 'img-video' ? sessionTypes.video : sessionTypes.image;
  const elsewhere = open !== undefined && canWrite && session.type !== openType;
  const writes = canWrite && !arriving;
  return (
    <>
      {elsewhere && <OpenElsewhere type={openType} />}
      {sessionType && !elsewhere && <sessionType.Watch session={session} />}
      {writes && sessionType && <sessionType.Box session={session} first={view.count === 0} />}
      {session.friend && <RequestBar session={session} />}
      {writes && !sessionType && <SendBox session={session} view={view} onSend={onSend} />}
      {!session.writable && thread.only === null && (
        <ReadOnly session={session} last={view.lastId} />
      )}
    </>
  );
};

/** What stands where no message is yet. */
const Beginning = ({
  session,
  sessionType,
  only,
  words,
  arriving,
  onAsk,
}: {
  session: SessionDetail;
  sessionType: SessionType | null;
  only: boolean;
  /** Of the address, as long as they are not sent; empty: none. */
  words: string;
  arriving: boolean;
  onAsk: (text: string) => void;
}) =>
  words !== '' ? (
    <Arriving words={words} />
  ) : arriving ? (
    <div className={rowCss.list} />
  ) : (
    <FirstHint session={session} only={only} sessionType={sessionType} onAsk={onAsk} />
  );

export const Conversation = ({
  session,
  thread,
  view,
  sessionType,
  arriving: brought,
}: {
  session: SessionDetail;
  thread: Thread;
  view: ThreadView;
  sessionType: SessionType | null;
  arriving: ReturnType<typeof useArrivingWords>;
}) => {
  const box = useRef<HTMLDivElement>(null);
  const list = useRef<ListHandle>(null);
  const [panel, setPanel] = useState<Panel>({ kind: 'none' });
  // Once opened they stay, so that closing can be animated.
  const panels = useEver(panel.kind !== 'none');
  const navigate = useNavigate();
  const back = useBack();
  const send = useSend(thread, list);
  const acts = useActs(session, thread, setPanel, send, sessionType, list);
  const asking = usePromptOfAddress(session, view, send, acts, brought.forget);
  const empty = view.rows.length + view.tail.length === 0;
  const arriving = asking || (brought.words !== '' && empty);
  const replying = view.replying !== null;
  const stop = useCallback(() => {
    if (replying) thread.stop();
  }, [replying, thread]);
  useKeys(list, { back, stop, edit: useEditLast(view, acts) });
  useVoiceAhead(session.type === sessionTypes.chat && view.rows.length > 0);
  useOpened(box, thread);
  useFocusOfAddress(thread, list);
  const follow = useCallback((href: string) => void navigate({ href }), [navigate]);
  const sort = () => thread.store.setNewestFirst(!view.newestFirst);
  const listed = useListed(empty);
  const [begins] = useState(empty);
  const question = isQuestion(session);
  const { part } = route.useSearch();
  const { byVotes, byTime, bar } = useOrder(thread, view);
  const sendAndShow: Send = (text, options) => {
    byTime();
    return send(text, options);
  };

  return (
    <ChatContext value={acts}>
      <QuestionContext value={question ? session : null}>
        <MarkdownNavigate value={follow}>
          <div
            className={css.chat}
            data-chat
            ref={box}
            data-temporary={session.temporary || undefined}
          >
            <ChatHeader
              session={session}
              newestFirst={view.newestFirst}
              onBack={back}
              onSort={sort}
              onMore={() => setPanel({ kind: 'more' })}
            />
            <Strips
              session={session}
              view={view}
              only={thread.only}
              bar={bar}
              onAnswer={sendAndShow}
            />
            {empty && (
              <Beginning
                session={session}
                sessionType={sessionType}
                only={thread.only !== null}
                words={brought.words}
                arriving={arriving}
                onAsk={(text) => void send(text, { suggestion: true })}
              />
            )}
            {byVotes && <VotesList uuid={session.uuid} />}
            {listed && (
              <MessageList
                thread={thread}
                view={view}
                hidden={empty || byVotes}
                begins={begins}
                fromFirst={question}
                part={part}
                ref={list}
              />
            )}
            <Foot
              session={session}
              thread={thread}
              view={view}
              sessionType={sessionType}
              arriving={arriving}
              onSend={sendAndShow}
            />
          </div>
          {panels && (
            <ChatPanels
              session={session}
              thread={thread}
              panel={panel}
              newestFirst={view.newestFirst}
              onPanel={setPanel}
              onSort={sort}
              onShow={(id, part) => void list.current?.show(id, part)}
            />
          )}
        </MarkdownNavigate>
      </QuestionContext>
    </ChatContext>
  );
};
