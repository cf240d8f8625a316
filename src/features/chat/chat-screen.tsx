import { sessionTypes } from '#contract/kinds.ts';
import { maskName } from '#src/platform/format.ts';
import { callQuery, useCall } from '#src/platform/call-query.ts';
import { ApiError } from '#src/platform/api-error.ts';
import { codeNumbers } from '#contract/page-errors.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { deviceFull } from '#src/platform/device-full.ts';
import { onFirstUse } from '#src/platform/first-use.ts';
import { useLine } from '#src/platform/line.ts';
import { useLineText } from '#src/platform/line-text.ts';
import { inIdleTime } from '#src/platform/idle.ts';
import { endFirstView, hasSnapshot, takeFirstBox } from '#src/platform/first-view.ts';
import { lazyChunk, lazyPart, whenLoaded } from '#src/platform/lazy-chunk.ts';
import { Navigate as MarkdownNavigate } from '#src/widgets/markdown/navigate.ts';
import { useChatModels, useSettings } from '#src/platform/queries.ts';
import { queryClient } from '#src/platform/query-client.ts';
import { useStore } from '#src/platform/store.ts';
import { ToError, ToMissing } from '#src/ui/lead-away.tsx';
import { Button } from '#src/ui/button.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { LineBanner } from '#src/ui/line-banner.tsx';
import { LoadFailed } from '#src/ui/load-failed.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { limits } from '#contract/limits.ts';
import type { SessionDetail } from '#contract/session.ts';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import {
  Suspense,
  useCallback,
  useContext,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { Arriving, useArrivingWords } from './arriving.tsx';
import { ChatContext } from '#src/widgets/conversation/chat-context.ts';
import { ChatHeader } from './chat-header.tsx';
import type { Panel } from './chat-panels.tsx';
import { SessionTypes, type SessionType } from '#src/widgets/conversation/session-type.ts';
import { MessageList, type ListHandle } from './message-list.tsx';
import { SendBox } from './send-box.tsx';
import { QuestionContext } from './question-context.ts';
import type { ThreadView } from '#src/widgets/conversation/message-store.ts';
import { Thread } from '#src/widgets/conversation/thread.ts';
import { useActs, useSend } from './use-acts.ts';
import { useBack, useFocusOfAddress, usePromptOfAddress } from './use-address.ts';
import { useEditLast } from './use-edit-last.ts';
import { useKeys } from './use-keys.ts';
import { useVisibleHeight } from './use-visible-height.ts';
import { warmUp } from './warm-up.ts';
import css from './chat.module.css';
import rowCss from '#src/widgets/conversation/conversation.module.css';
import boxCss from '#src/widgets/composer/send.module.css';

const loadVoice = lazyChunk(() => import('#src/widgets/voice/get-ready.ts'));

const route = getRouteApi('/chat');

/** What is opened over the conversation comes when it is first opened. */
const ChatPanels = lazyPart(() => import('./chat-panels.tsx'));
const FirstHint = lazyPart(() =>
  import('./chat-edges.tsx').then(({ FirstHint: part }) => ({ default: part })),
);
const ReadOnly = lazyPart(() =>
  import('./chat-edges.tsx').then(({ ReadOnly: part }) => ({ default: part })),
);
const QuestionBar = lazyPart(() => import('./question-bar.tsx'));
const RequestBar = lazyPart(() => import('./request-bar.tsx'));
const VotesList = lazyPart(() => import('./votes-list.tsx'));
const OpenElsewhere = lazyPart(() =>
  import('./open-elsewhere.tsx').then(({ OpenElsewhere: part }) => ({ default: part })),
);
const TemporaryGuard = lazyPart(() => import('./temporary-guard.tsx'));

export const ChatScreen = () => {
  const { uuid, favorite, history_id } = route.useSearch();
  if (uuid === undefined) return <ToMissing />;
  const only = favorite === 1 ? (history_id ?? null) : null;
  return <Chat key={`${uuid}${only ?? ''}`} uuid={uuid} only={only} focus={history_id ?? null} />;
};

/** Where an error on opening leads, or null for one that another try may mend. */
const pageOf = (error: unknown): { to: '/404' } | { to: '/error'; code: number } | null => {
  if (!(error instanceof ApiError) || error.status === 0 || error.status >= 500) return null;
  // The answer was none that can be read.
  if (error.code === codeNumbers.internal) return null;
  if (error.status === 404 || error.status === 422) return { to: '/404' };
  if (error.status === 429) return null;
  return { to: '/error', code: error.code };
};

/** What a session is shown with: null while it loads, undefined where it is a conversation. */
const useSessionType = (session: SessionDetail | undefined): SessionType | null | undefined => {
  const load = useContext(SessionTypes).get(session?.type ?? 0);
  const [loaded, setLoaded] = useState<SessionType | null>(null);
  useEffect(() => (load ? whenLoaded(load, setLoaded) : undefined), [load]);
  return load && loaded;
};

/** Tells the thread what it must know of its session; gives whether people write here. */
const useKnownSession = (thread: Thread, session: SessionDetail | undefined) => {
  const { user } = useAuth();
  const models = useChatModels().data;
  const types = useContext(SessionTypes);
  useEffect(() => {
    if (!session) return;
    thread.know({
      model: session.model,
      temporary: session.temporary,
      people: session.type === sessionTypes.people,
      accepted: session.accepted_id,
      makes: types.has(session.type),
      type: session.type,
      me: { id: user?.id ?? 0, name: user?.user_name ?? '' },
      streamBase: (name) => models?.find((model) => model.name === name)?.accelerator ?? '',
    });
  }, [thread, session, user?.id, user?.user_name, models, types]);
};

/** One of the forum's, which is read from the question on; friends go on where they were. */
const isQuestion = (session: SessionDetail): boolean =>
  session.type === sessionTypes.people && session.friend === null;

const Chat = ({
  uuid,
  only,
  focus,
}: {
  uuid: string;
  /** Only this message is shown. */
  only: number | null;
  /** The list is opened at this message. */
  focus: number | null;
}) => {
  const session = useCall('getSession', { uuid });
  const [thread] = useState(
    () =>
      new Thread(uuid, {
        only,
        focus: only === null ? focus : null,
        fromFirst: () =>
          queryClient
            .ensureQueryData(callQuery('getSession', { uuid }))
            .then(isQuestion, () => false),
      }),
  );
  useEffect(() => thread.open(), [thread]);
  useKnownSession(thread, session.data);
  // The thread keeps the messages itself; the query says when to look for new ones.
  const messages = useQuery({
    // A favourite by itself is another list than its session: neither waits for the other's answer.
    queryKey: ['thread', uuid, only],
    queryFn: ({ signal }) => thread.loader.refresh(signal).then(() => true),
    // A thread made anew has nothing yet, however lately the one before it looked.
    staleTime: 0,
    // Another device may go on with one's own, and others with what belongs to several.
    refetchInterval: limits.threadPolling,
  });
  const view = useSyncExternalStore(thread.store.subscribe, thread.store.get);
  const sessionType = useSessionType(session.data);
  const friend = session.data?.friend;
  usePageTitle(friend ? maskName(friend.name) : (session.data?.prompt ?? '会话'));

  const failure = session.error ?? (view.loaded ? null : messages.error);
  const opened = session.data !== undefined && view.loaded && sessionType !== null;
  const arriving = useArrivingWords(uuid, opened);
  const empty = view.rows.length + view.tail.length === 0;
  // What is kept here was shown before that: only the server has the rest, and nothing comes of it.
  const stuck = useLine() === 'silent';
  useLayoutEffect(() => {
    // A list of messages ends it itself, once it has found its place.
    if (failure !== null || stuck || (opened && (empty || !hasSnapshot()))) endFirstView();
  });

  if (failure && !session.isFetching) {
    const page = pageOf(failure);
    if (page?.to === '/404') return <ToMissing />;
    if (page) return <ToError code={page.code} uuid={uuid} />;
    if (!session.data || !view.loaded)
      return (
        <div className={`${css.chat} ${css.chatFailed}`} data-chat>
          <BareHead />
          <Connection view={null} />
          <LoadFailed
            error={failure}
            onRetry={() => {
              void session.refetch();
              void messages.refetch();
            }}
          />
        </div>
      );
  }
  if (!session.data || !view.loaded || sessionType === null)
    return arriving.words === '' ? (
      <Opening />
    ) : (
      <div className={css.chat} data-chat aria-busy="true" aria-label="正在打开会话">
        <BareHead />
        <Connection view={null} />
        <Arriving words={arriving.words} />
      </div>
    );
  return (
    <Conversation
      session={session.data}
      thread={thread}
      view={view}
      sessionType={sessionType ?? null}
      arriving={arriving}
    />
  );
};

/** While nothing is known of the session, the way back is there already. */
const BareHead = () => {
  const back = useBack();
  return (
    <div className={css.chatHead}>
      <Button kind="ghost" size="icon" aria-label="返回" onClick={back}>
        <Icon name="back" size={22} />
      </Button>
    </div>
  );
};

const Opening = () => (
  <div className={css.chat} data-chat aria-busy="true" aria-label="正在打开会话">
    <BareHead />
    <Connection view={null} />
    <div className={`${rowCss.list} ${rowCss.listOpening}`} data-opening>
      <div className={`${rowCss.bubble} ${rowCss.bubbleMine}`}>
        <Skeleton lines={1} />
      </div>
      <div className={`${rowCss.bubble} ${rowCss.bubbleTheirs}`}>
        <Skeleton lines={4} />
      </div>
    </div>
  </div>
);

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

const Conversation = ({
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
  const [panels, setPanels] = useState(false);
  if (panel.kind !== 'none' && !panels) setPanels(true);
  const navigate = useNavigate();
  const back = useBack();
  const send = useSend(thread, list);
  const acts = useActs(session, thread, setPanel, send, sessionType, list);
  const asking = usePromptOfAddress(session, view, send, acts, brought.forget);
  const coming = brought.words !== '' && view.rows.length + view.tail.length === 0;
  const arriving = asking || coming;
  const replying = view.replying !== null;
  const stop = useCallback(() => {
    if (replying)
      thread
        .commands()
        .then((commands) => commands.stop())
        .catch(() => {});
  }, [replying, thread]);
  useKeys(list, { back, stop, edit: useEditLast(view, acts) });
  const { default_audio_model: reader } = useSettings();
  const speaks = session.type === sessionTypes.chat && view.rows.length > 0;
  useEffect(() => {
    if (!speaks) return undefined;
    // Behind all that the opening of a session loads.
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
  useVisibleHeight(box);
  useEffect(() => onFirstUse(() => void thread.commands().catch(() => {})), [thread]);
  useLayoutEffect(() => {
    takeFirstBox(() => {
      box.current?.querySelector<HTMLElement>('form textarea')?.focus({ preventScroll: true });
    });
  }, []);
  useFocusOfAddress(thread, list);
  const follow = useCallback(
    (href: string) => {
      void navigate({ href });
    },
    [navigate],
  );
  const sort = () => thread.store.setNewestFirst(!view.newestFirst);
  const show = (id: number, part?: 'human' | 'ai') => {
    void list.current?.show(id, part);
  };
  const canWrite = session.writable && thread.only === null;
  const empty = view.rows.length + view.tail.length === 0;
  const listed = useListed(empty);
  const [begins] = useState(empty);
  const question = isQuestion(session);
  const [byVotes, setByVotes] = useState(false);
  // What was just sent stands in the list by time.
  const sendAndShow: typeof send = (text, options) => {
    setByVotes(false);
    return send(text, options);
  };
  const { open, part } = route.useSearch();
  const openType = open === 'img-video' ? sessionTypes.video : sessionTypes.image;
  const elsewhere = open !== undefined && canWrite && session.type !== openType;

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
            {question && (
              <Suspense fallback={null}>
                <QuestionBar
                  session={session}
                  last={view.lastId}
                  answers={view.count - 1}
                  order={byVotes ? 'votes' : view.newestFirst ? 'newest' : 'usual'}
                  onOrder={(order) => {
                    setByVotes(order === 'votes');
                    thread.store.setNewestFirst(order === 'newest');
                  }}
                  onAnswer={session.writable ? sendAndShow : undefined}
                />
              </Suspense>
            )}
            <Connection view={view} />
            {session.temporary && (
              <p className={`${css.strip} ${css.stripCalm}`}>
                <Icon name="lock" size={16} />
                临时对话：不保存，关闭即消失
              </p>
            )}
            {session.temporary && view.count > 0 && (
              <Suspense fallback={null}>
                <TemporaryGuard />
              </Suspense>
            )}
            {thread.only !== null && (
              <p className={`${css.strip} ${css.stripCalm}`}>
                <Icon name="star" size={16} />
                只显示收藏的这一条
                <Link to="/chat" search={{ uuid: session.uuid, history_id: thread.only }}>
                  查看完整会话
                </Link>
              </p>
            )}
            {empty && (
              <Suspense fallback={<div className={rowCss.list} />}>
                {coming ? (
                  <Arriving words={brought.words} />
                ) : arriving ? (
                  <div className={rowCss.list} />
                ) : (
                  <FirstHint
                    session={session}
                    only={thread.only !== null}
                    sessionType={sessionType}
                    onAsk={(text) => void send(text, { suggestion: true })}
                  />
                )}
              </Suspense>
            )}
            {byVotes && (
              <Suspense fallback={<div className={rowCss.list} />}>
                <VotesList uuid={session.uuid} />
              </Suspense>
            )}
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
            {elsewhere && (
              <Suspense fallback={null}>
                <OpenElsewhere type={openType} />
              </Suspense>
            )}
            {sessionType && !elsewhere && <sessionType.Watch session={session} />}
            {canWrite && !arriving && sessionType && (
              <sessionType.Box session={session} first={view.count === 0} />
            )}
            {session.friend && (
              <Suspense fallback={null}>
                <RequestBar session={session} />
              </Suspense>
            )}
            {canWrite && !arriving && !sessionType && (
              <SendBox session={session} view={view} onSend={sendAndShow} />
            )}
            {!session.writable && thread.only === null && (
              <Suspense fallback={<div className={boxCss.readOnly} />}>
                <ReadOnly session={session} last={view.lastId} />
              </Suspense>
            )}
          </div>
          {panels && (
            <Suspense fallback={null}>
              <ChatPanels
                session={session}
                thread={thread}
                panel={panel}
                newestFirst={view.newestFirst}
                onPanel={setPanel}
                onSort={sort}
                onShow={show}
              />
            </Suspense>
          )}
        </MarkdownNavigate>
      </QuestionContext>
    </ChatContext>
  );
};

/** One quiet line while the network does not answer, with what happens next. */
const Connection = ({
  view,
}: {
  /** Null: it is not open yet. */
  view: ThreadView | null;
}) => {
  const lineText = useLineText();
  const full = useStore(deviceFull);
  if (lineText === '' && view?.reconnecting !== true) return null;
  const what = lineText || '连接断了，正在重新连接';
  const next = view?.replying
    ? '回复在服务器上继续写，连上后自动接着显示'
    : full
      ? '手机存储已满，新消息只在页面开着时留着，请清理一些空间'
      : '发送的消息留在这台设备上，联网后自动发出';
  const more = `。${view ? next : '联网后自动打开这个会话'}`;
  return <LineBanner className={css.strip ?? ''} text={what} more={more} />;
};
