import { maskName } from '@/platform/format.ts';
import { api } from '@/platform/api.ts';
import { ApiError, errorText, offlineText } from '@/platform/api-error.ts';
import { useAuth } from '@/platform/auth-store.ts';
import { readDraft, writeDraft } from '@/platform/draft.ts';
import { onFirstUse } from '@/platform/first-use.ts';
import { inIdleTime } from '@/platform/idle.ts';
import { endFirstView, hasSnapshot, takeFirstBox } from '@/platform/first-view.ts';
import { lazyChunk, lazyPart, whenLoaded } from '@/platform/lazy-chunk.ts';
import { Navigate as MarkdownNavigate } from '@/widgets/markdown/navigate.ts';
import { useChatModels, useModel, useModelsOf, useSettings } from '@/platform/queries.ts';
import { queryClient } from '@/platform/query-client.ts';
import { Button } from '@/ui/button.tsx';
import { confirmDialog } from '@/ui/dialog.ts';
import { EmptyState } from '@/ui/empty-state.tsx';
import { ownFiles, readQuestion } from '@/platform/question.ts';
import { Icon } from '@/ui/icon.tsx';
import { Skeleton } from '@/ui/skeleton.tsx';
import { createStore } from '@/platform/store.ts';
import { useMedia } from '@/platform/use-media.ts';
import { toast } from '@/platform/toast.ts';
import { usePageTitle } from '@/platform/use-page-title.ts';
import { uuid as newKey } from '@/platform/uuid.ts';
import { limits } from '@contract/limits.ts';
import type { Message } from '@contract/chat.ts';
import type { SessionDetail, sessionTypes } from '@contract/session.ts';
import { queryOptions, useQuery } from '@tanstack/react-query';
import {
  getRouteApi,
  Link,
  Navigate,
  useCanGoBack,
  useLocation,
  useNavigate,
  useRouter,
} from '@tanstack/react-router';
import {
  Suspense,
  useCallback,
  useContext,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
  type RefObject,
} from 'react';
import { Arriving, useArrivingWords } from './arriving.tsx';
import { ChatContext, type ChatActs, type RowMode } from '@/widgets/conversation/chat-context.ts';
import { ChatHeader } from './chat-header.tsx';
import type { Panel } from './chat-panels.tsx';
import { setCompose } from './compose-store.ts';
import { SessionTypes, type SessionType } from '@/widgets/conversation/session-type.ts';
import { MessageList, type ListHandle } from './message-list.tsx';
import { deliver, SendBox } from './send-box.tsx';
import { QuestionContext } from './question-context.ts';
import { refusalOf } from '@/widgets/composer/send-rules.ts';
import { useRefusal } from '@/widgets/conversation/use-refusal.ts';
import type { ThreadView } from '@/widgets/conversation/message-store.ts';
import { Thread } from '@/widgets/conversation/thread.ts';
import type { SendOptions, ThreadCommands } from '@/widgets/conversation/thread-commands.ts';
import { useOnline } from './use-online.ts';
import { useVisibleHeight } from './use-visible-height.ts';
import { warmUp } from './warm-up.ts';
import css from './chat.module.css';
import rowCss from '@/widgets/conversation/conversation.module.css';
import boxCss from '@/widgets/composer/send.module.css';

const loadVoice = lazyChunk(() => import('@/widgets/voice/get-ready.ts'));

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
  if (uuid === undefined) return <Navigate to="/404" replace />;
  const only = favorite === 1 ? (history_id ?? null) : null;
  return <Chat key={`${uuid}${only ?? ''}`} uuid={uuid} only={only} focus={history_id ?? null} />;
};

/** Where an error on opening leads, or null for one that another try may mend. */
const pageOf = (error: unknown): { to: '/404' } | { to: '/error'; code: number } | null => {
  if (!(error instanceof ApiError) || error.status === 0 || error.status >= 500) return null;
  if (error.status === 404 || error.status === 422) return { to: '/404' };
  if (error.status === 429) return null;
  return { to: '/error', code: error.code };
};

const hasPointer = '(hover: hover)';
const peopleType: (typeof sessionTypes)['people'] = 2;
const imageType: (typeof sessionTypes)['image'] = 1;
const videoType: (typeof sessionTypes)['video'] = 4;

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
      people: session.type === peopleType,
      makes: types.has(session.type),
      type: session.type,
      me: { id: user?.id ?? 0, name: user?.user_name ?? '' },
      streamBase: (name) => models?.find((model) => model.name === name)?.accelerator ?? '',
    });
  }, [thread, session, user?.id, user?.user_name, models, types]);
};

const sessionQuery = (uuid: string) =>
  queryOptions({
    queryKey: ['session', uuid],
    queryFn: ({ signal }) => api.getSession({ uuid }, { signal, quiet: true }),
  });

/** One of the forum's, which is read from the question on; friends go on where they were. */
const isQuestion = (session: SessionDetail): boolean =>
  session.type === peopleType && session.friend === null;

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
  const session = useQuery(sessionQuery(uuid));
  const [thread] = useState(
    () =>
      new Thread(uuid, {
        only,
        focus: only === null ? focus : null,
        fromFirst: () =>
          queryClient.ensureQueryData(sessionQuery(uuid)).then(isQuestion, () => false),
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
    refetchInterval: session.data?.type === peopleType ? limits.peoplePolling : false,
  });
  const view = useSyncExternalStore(thread.store.subscribe, thread.store.get);
  const sessionType = useSessionType(session.data);
  const arriving = useArrivingWords(uuid);
  const friend = session.data?.friend;
  usePageTitle(friend ? maskName(friend.name) : (session.data?.prompt ?? '会话'));

  const failure = session.error ?? (view.loaded ? null : messages.error);
  const opened = session.data !== undefined && view.loaded && sessionType !== null;
  const empty = view.rows.length + view.tail.length === 0;
  useLayoutEffect(() => {
    // A list of messages ends it itself, once it has found its place.
    if (failure !== null || (opened && (empty || !hasSnapshot()))) endFirstView();
  });

  if (failure && !session.isFetching) {
    const page = pageOf(failure);
    if (page?.to === '/404') return <Navigate to="/404" replace />;
    if (page) return <Navigate to="/error" search={{ code: String(page.code), uuid }} replace />;
    if (!session.data || !view.loaded)
      return (
        <div className={`${css.chat} ${css.chatFailed}`} data-chat>
          <EmptyState
            icon="offline"
            text={errorText(failure)}
            action={
              <Button
                kind="primary"
                onClick={() => {
                  void session.refetch();
                  void messages.refetch();
                }}
              >
                再试一次
              </Button>
            }
          />
        </div>
      );
  }
  if (!session.data || !view.loaded || sessionType === null)
    return arriving.words === '' ? (
      <Opening />
    ) : (
      <div className={css.chat} data-chat aria-busy="true" aria-label="正在打开会话">
        <div className={css.chatHead} />
        <Arriving words={arriving.words} answered />
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

const Opening = () => (
  <div className={css.chat} data-chat aria-busy="true" aria-label="正在打开会话">
    <div className={css.chatHead} />
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

const useKeys = (list: RefObject<ListHandle | null>, back: () => void, stop: () => void) => {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const inert = document.querySelector('#root')?.hasAttribute('inert');
      if (event.key === 'Escape' && !event.isComposing && !event.defaultPrevented && !inert) stop();
      if (!event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
      if (inert) return;
      const area = event.target instanceof HTMLTextAreaElement ? event.target : null;
      // In a box with text, Ctrl+Left goes to the word before.
      if (event.key === 'ArrowLeft' && !area?.value) back();
      else if (event.key === 'ArrowUp') list.current?.toTop();
      else if (event.key === 'ArrowDown') list.current?.toBottom();
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [list, back, stop]);
};

const useBack = (): (() => void) => {
  const { back } = route.useSearch();
  const router = useRouter();
  const canGoBack = useCanGoBack();
  return useCallback(() => {
    if (back !== undefined) void router.navigate({ href: back });
    else if (canGoBack) router.history.back();
    else void router.navigate({ to: '/' });
  }, [back, canGoBack, router]);
};

/** Asks before a message is deleted, and says what goes with it. */
const deletionOf = (message: Message, session: SessionDetail, first: boolean) => {
  if (session.type !== peopleType) return '问题和它的回复会一起删除，不能恢复。';
  if (session.friend === null && session.owner && first && message.user_id === session.user_id)
    return '这是整个问答的问题：删除后，会话和大家的全部回复都会删除，不能恢复。';
  return '消息会从所有人的会话里删除，不能恢复。';
};

/** Acts that the rows of the list call. */
const useActs = (
  session: SessionDetail,
  thread: Thread,
  open: (panel: Panel) => void,
  send: (text: string, options?: SendOptions) => Promise<boolean>,
  sessionType: SessionType | null,
  list: RefObject<ListHandle | null>,
): ChatActs => {
  const refuse = useRefusal({ uuid: route.useSearch({ select: (search) => search.uuid }) });
  const navigate = useNavigate();
  const models = useModelsOf(sessionType?.models ?? 'chat');
  const { user } = useAuth();
  const free = models.data?.find((model) => model.factor === 0)?.name;
  const me = user?.id ?? 0;
  const { uuid, owner, model, writable, temporary, forkable } = session;
  const people = session.type === peopleType;
  const pointer = useMedia(hasPointer);
  // What the rows see stays the same while only the session's summary changes.
  const latest = useRef(session);
  useEffect(() => {
    latest.current = session;
  });
  return useMemo(() => {
    const modes = createStore<ReadonlySet<string>>(new Set());
    const toggle = (mode: RowMode, id: number) => {
      const next = new Set(modes.get());
      if (!next.delete(`${mode}${id}`)) next.add(`${mode}${id}`);
      modes.set(next);
    };
    const quietly = (act: Promise<unknown>) => {
      act.catch(refuse);
    };
    const command = (act: (commands: ThreadCommands) => Promise<unknown>) =>
      thread.commands().then(act);
    const startAnew = async (question: string, which: 'same' | 'free') => {
      const fresh = await api.newSession(
        { type: sessionType?.type ?? 0, model: which === 'same' ? model : free },
        { quiet: true },
      );
      writeDraft(fresh.uuid, question);
      await navigate({ to: '/chat', search: { uuid: fresh.uuid } });
    };
    const fork = async (id: number) => {
      const fresh = await api.newSession({ history_id: id }, { quiet: true });
      toast('已复制到您的会话，可以接着聊了', 'success');
      await navigate({ to: '/chat', search: { uuid: fresh.uuid } });
    };
    const remove = async (message: Message) => {
      const sure = await confirmDialog({
        title: '删除消息',
        text: deletionOf(message, latest.current, thread.store.isFirst(message.id)),
        ok: '删除',
        danger: true,
      });
      if (!sure) {
        toast('已取消删除');
        return;
      }
      const commands = await thread.commands();
      if (await commands.remove(message.id))
        void navigate({ to: '/', search: { channel: 'private' } });
      toast('消息记录已删除', 'success');
    };
    return {
      thread,
      uuid,
      owner,
      writable: writable && thread.only === null,
      model,
      people,
      temporary,
      forkable,
      pointer,
      me,
      openMenu: (message, part) => open({ kind: 'menu', target: { message, part } }),
      openPerson: (person) => open({ kind: 'person', person }),
      answerTo: (atUser) => setCompose(uuid, { atUser }),
      sessionType,
      follow: async (work) => {
        list.current?.toBottom();
        return work.then(
          () => true,
          (error: unknown) => {
            refuse(error);
            return false;
          },
        );
      },
      retry: (message) => quietly(command((commands) => commands.retry(message.id))),
      reconnect: (message) => thread.reconnect(message.id),
      stop: (message) => quietly(command((commands) => commands.stop(message.id))),
      regenerate: (message, other) =>
        quietly(command((commands) => commands.regenerate(message.id, other))),
      choose: (id) => command((commands) => commands.choose(id)).then(() => undefined, refuse),
      like: ({ id }) => quietly(command((commands) => commands.like(id))),
      favourite: ({ id }) => quietly(command((commands) => commands.favourite(id))),
      ask: async (message, text) => {
        const { images, detail, files: attached } = readQuestion(message);
        const files = ownFiles(attached);
        const more = images.length + files.length > 0;
        const type = images.length > 0 ? 'chat-vision' : 'chat';
        const asked = { type, prompt: text, images, image_detail: detail, files };
        const taken = more
          ? await send(JSON.stringify(asked), { replace: message.id, format: 1 })
          : await send(text, { replace: message.id });
        if (taken) toggle('edit', message.id);
        return taken;
      },
      remove: (message) => {
        remove(message).catch((error: unknown) => {
          // The call has said why.
          if (!(error instanceof ApiError)) throw error;
        });
      },
      fork: (id) => quietly(fork(id)),
      startAnew: (question, which) => quietly(startAnew(question, which)),
      is: (mode, id) => modes.get().has(`${mode}${id}`),
      toggle,
      onModes: modes.subscribe,
    };
  }, [
    thread,
    uuid,
    owner,
    model,
    writable,
    people,
    temporary,
    forkable,
    pointer,
    me,
    free,
    navigate,
    refuse,
    open,
    send,
    sessionType,
    list,
  ]);
};

/** Sends a message; false when it was not taken, so that its text goes back into the box. */
const useSend = (thread: Thread, list: RefObject<ListHandle | null>) => {
  const refuse = useRefusal({ uuid: route.useSearch({ select: (search) => search.uuid }) });
  // A try that got no answer may have reached the server: the same text goes again under its key.
  const open = useRef({ text: '', key: '' });
  return useCallback(
    async (text: string, options: SendOptions = {}): Promise<boolean> => {
      if (open.current.text !== text) open.current = { text, key: newKey() };
      try {
        const commands = await thread.commands();
        const sending = commands.send(text, open.current.key, options);
        list.current?.toBottom();
        await sending;
        open.current = { text: '', key: '' };
        return true;
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 0)
          open.current = { text: '', key: '' };
        refuse(error);
        return false;
      }
    },
    [thread, list, refuse],
  );
};

/**
 * `?prompt=…` fills the box. With `send=1` it is sent, once, and leaves the address first; but only
 * where this page itself led here: a link from outside spends nothing without a press.
 */
const usePromptOfAddress = (
  session: SessionDetail,
  view: ThreadView,
  send: (text: string, options: SendOptions) => Promise<boolean>,
  acts: ChatActs,
  /** It was sent, or came to nothing. */
  onSent: () => void,
) => {
  const { prompt, send: atOnce, suggestion } = route.useSearch();
  const ledHere = useLocation({ select: ({ state }) => state.sends === true });
  const navigate = route.useNavigate();
  const model = useModel(session.model);
  const taken = useRef(false);
  const latest = useRef(onSent);
  useEffect(() => {
    latest.current = onSent;
  });
  const asked = prompt !== undefined || atOnce === 1;
  useEffect(() => {
    if (!asked || taken.current || !session.writable) return;
    taken.current = true;
    const draft = readDraft(session.uuid);
    const text = (prompt ?? draft).trim();
    const sends = atOnce === 1 && ledHere;
    // Words of an address come to those that somebody wrote, never in their place.
    const box = draft.includes(text) ? draft : draft === '' ? text : `${draft}\n${text}`;
    writeDraft(session.uuid, sends ? text : box);
    const clean = navigate({
      search: (old) => ({ ...old, prompt: undefined, send: undefined, suggestion: undefined }),
      replace: true,
    });
    if (!sends || text === '') return;
    const most = model?.max_prompt ?? limits.defaultMaxPrompt;
    const first = view.count === 0 && suggestion !== 1;
    const refusal = refusalOf(text, most, first);
    if (refusal !== '') {
      toast(refusal, 'error');
      latest.current();
      return;
    }
    const sendNow = async () => {
      await clean;
      if (acts.sessionType) await acts.sessionType.sendWords(session.uuid, text, model, acts);
      else await deliver(acts.thread, session, text, send, { suggestion: suggestion === 1 });
    };
    sendNow()
      .catch(() => toast(offlineText, 'error'))
      .finally(() => latest.current());
  }, [
    asked,
    prompt,
    atOnce,
    ledHere,
    suggestion,
    session,
    view.count,
    model,
    navigate,
    send,
    acts,
  ]);
  return asked && session.writable;
};

/** Another message in the address of a conversation that is open already: the list goes there. */
const useFocusOfAddress = (thread: Thread, list: RefObject<ListHandle | null>) => {
  const { history_id } = route.useSearch();
  const shown = useRef(history_id);
  useEffect(() => {
    if (history_id === shown.current) return;
    shown.current = history_id;
    if (history_id !== undefined && thread.only === null) void list.current?.show(history_id);
  }, [history_id, thread, list]);
};

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
  useKeys(list, back, stop);
  const { default_audio_model: reader } = useSettings();
  const speaks = session.type === 0 && view.rows.length > 0;
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
  const show = (id: number) => {
    void list.current?.show(id);
  };
  const canWrite = session.writable && thread.only === null;
  const empty = view.rows.length + view.tail.length === 0;
  const listed = useListed(empty);
  const [begins] = useState(empty);
  const question = isQuestion(session);
  const [byVotes, setByVotes] = useState(false);
  const { open } = route.useSearch();
  const openType = open === 'img-video' ? videoType : imageType;
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
                  byVotes={byVotes}
                  onVotes={setByVotes}
                  onShow={show}
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
                  <Arriving words={brought.words} answered={!sessionType} />
                ) : arriving ? (
                  <div className={rowCss.list} />
                ) : (
                  <FirstHint
                    session={session}
                    only={thread.only !== null}
                    sessionType={sessionType}
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
              <SendBox session={session} view={view} onSend={send} />
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

/** One quiet line while the network is gone, with what happens next. */
const Connection = ({ view }: { view: ThreadView }) => {
  const online = useOnline();
  if (online && !view.reconnecting) return null;
  const what = online ? '连接断了，正在重新连接' : '现在没有网络';
  const next = view.replying
    ? '回复在服务器上继续写，连上后自动接着显示'
    : '发送的消息留在这台设备上，联网后自动发出';
  return (
    <p className={css.strip} role="status">
      <Icon name="offline" size={16} />
      {what}。{next}
    </p>
  );
};
