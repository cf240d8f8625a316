import { api } from '@/shared/api.ts';
import { ApiError, errorText, isCancelled, offlineText } from '@/shared/api-error.ts';
import { useAuth } from '@/shared/auth-store.ts';
import { readDraft, writeDraft } from '@/shared/draft.ts';
import { Navigate as MarkdownNavigate } from '@/shared/markdown/navigate.ts';
import { useChatModels } from '@/shared/queries.ts';
import { Button } from '@/shared/ui/button.tsx';
import { confirmDialog } from '@/shared/ui/dialog.ts';
import { EmptyState } from '@/shared/ui/empty-state.tsx';
import { Icon } from '@/shared/ui/icon.tsx';
import { Sheet } from '@/shared/ui/sheet.tsx';
import { Skeleton } from '@/shared/ui/skeleton.tsx';
import { createStore } from '@/shared/store.ts';
import { toast } from '@/shared/ui/toast.ts';
import { usePageTitle } from '@/shared/use-page-title.ts';
import { uuid as newKey } from '@/shared/uuid.ts';
import { codes, errorPageTexts } from '@contract/errors.ts';
import { limits, tooLongText } from '@contract/limits.ts';
import type { SessionDetail } from '@contract/session.ts';
import { useQuery } from '@tanstack/react-query';
import {
  getRouteApi,
  Navigate,
  useCanGoBack,
  useNavigate,
  useRouter,
} from '@tanstack/react-router';
import {
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
  type RefObject,
} from 'react';
import { ChatContext, type ChatActs } from './chat-context.ts';
import { ChatHeader } from './chat-header.tsx';
import { ChatSettings } from './chat-settings.tsx';
import './chat.css';
import { MessageList, type ListHandle } from './message-list.tsx';
import { MessageMenu, type MenuTarget } from './message-menu.tsx';
import { deliver, refusalOf, SendBox } from './send-box.tsx';
import { Thread, type SendOptions, type ThreadView } from './thread.ts';
import { useOnline } from './use-online.ts';
import { useVisibleHeight } from './use-visible-height.ts';

const route = getRouteApi('/chat');

export const ChatScreen = () => {
  const { uuid } = route.useSearch();
  if (uuid === undefined) return <Navigate to="/404" replace />;
  return <Chat key={uuid} uuid={uuid} />;
};

/** Where an error on opening leads, or null for one that another try may mend. */
const pageOf = (error: unknown): { to: '/404' } | { to: '/error'; code: number } | null => {
  if (!(error instanceof ApiError) || error.status === 0 || error.status >= 500) return null;
  if (error.status === 404 || error.status === 422) return { to: '/404' };
  if (error.status === 429) return null;
  return { to: '/error', code: error.code };
};

const Chat = ({ uuid }: { uuid: string }) => {
  const session = useQuery({
    queryKey: ['session', uuid],
    queryFn: ({ signal }) => api.getSession({ uuid }, { signal, quiet: true }),
  });
  const [thread] = useState(() => new Thread(uuid));
  useEffect(() => thread.open(), [thread]);
  // The thread keeps the messages itself; the query says when to look for new ones.
  const messages = useQuery({
    queryKey: ['thread', uuid],
    queryFn: ({ signal }) => thread.refresh(signal).then(() => true),
  });
  const view = useSyncExternalStore(thread.subscribe, thread.get);
  usePageTitle(session.data?.prompt ?? '会话');

  const failure = session.error ?? (view.loaded ? null : messages.error);
  if (failure && !session.isFetching) {
    const page = pageOf(failure);
    if (page?.to === '/404') return <Navigate to="/404" replace />;
    if (page) return <Navigate to="/error" search={{ code: String(page.code) }} replace />;
    if (!session.data || !view.loaded)
      return (
        <div className="chat chat-failed">
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
  if (!session.data || !view.loaded) return <Opening />;
  return <Conversation session={session.data} thread={thread} view={view} />;
};

const Opening = () => (
  <div className="chat" aria-busy="true" aria-label="正在打开会话">
    <div className="chat-head" />
    <div className="list list-opening">
      <div className="bubble bubble-mine">
        <Skeleton lines={1} />
      </div>
      <div className="bubble bubble-theirs">
        <Skeleton lines={4} />
      </div>
    </div>
  </div>
);

/** Leads to the page that explains a refusal, if it has one; else says it here. */
const useRefusal = () => {
  const navigate = useNavigate();
  return useCallback(
    (error: unknown) => {
      if (isCancelled(error)) return;
      const code = error instanceof ApiError ? error.code : 0;
      // The call itself has led to the login already.
      if (code === codes.login_required.code) return;
      if (errorPageTexts[code] !== undefined)
        void navigate({ to: '/error', search: { code: String(code) } });
      else toast(errorText(error), 'error');
    },
    [navigate],
  );
};

const useKeys = (list: RefObject<ListHandle | null>, back: () => void) => {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
      if (document.querySelector('#root')?.hasAttribute('inert')) return;
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
  }, [list, back]);
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

/** Acts that the rows of the list call. */
const useActs = (
  session: SessionDetail,
  thread: Thread,
  openMenu: (target: MenuTarget) => void,
): ChatActs => {
  const refuse = useRefusal();
  const navigate = useNavigate();
  const models = useChatModels();
  const free = models.data?.find((model) => model.factor === 0)?.name;
  const { owner, model } = session;
  return useMemo(() => {
    const raw = createStore<ReadonlySet<number>>(new Set());
    const startAnew = async (question: string, which: 'same' | 'free') => {
      try {
        const fresh = await api.newSession(
          { type: 0, model: which === 'same' ? model : free },
          { quiet: true },
        );
        writeDraft(fresh.uuid, question);
        await navigate({ to: '/chat', search: { uuid: fresh.uuid } });
      } catch (error) {
        refuse(error);
      }
    };
    return {
      thread,
      owner,
      openMenu: (message, part) => openMenu({ message, part }),
      retry: (message) => {
        thread.retry(message.id).catch(refuse);
      },
      reconnect: (message) => thread.reconnect(message.id),
      startAnew: (question, which) => void startAnew(question, which),
      isRaw: (id) => raw.get().has(id),
      toggleRaw: (id) => {
        const next = new Set(raw.get());
        if (!next.delete(id)) next.add(id);
        raw.set(next);
      },
      onRawChange: raw.subscribe,
    };
  }, [thread, owner, model, free, navigate, refuse, openMenu]);
};

/** Sends a message; false when it was not taken, so that its text goes back into the box. */
const useSend = (thread: Thread, list: RefObject<ListHandle | null>) => {
  const refuse = useRefusal();
  // A try that got no answer may have reached the server: the same text goes again under its key.
  const open = useRef({ text: '', key: '' });
  return useCallback(
    async (text: string, options: SendOptions = {}): Promise<boolean> => {
      if (open.current.text !== text) open.current = { text, key: newKey() };
      try {
        const sending = thread.send(text, open.current.key, options);
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

/** `?prompt=…` fills the box; with `send=1` it is sent, once, and leaves the address first. */
const usePromptOfAddress = (
  session: SessionDetail,
  view: ThreadView,
  send: (text: string, options: SendOptions) => Promise<boolean>,
) => {
  const { prompt, send: atOnce, suggestion } = route.useSearch();
  const navigate = route.useNavigate();
  const models = useChatModels();
  const taken = useRef(false);
  const asked = prompt !== undefined || atOnce === 1;
  useEffect(() => {
    if (!asked || taken.current || !session.writable) return;
    taken.current = true;
    const text = (prompt ?? readDraft(session.uuid)).trim();
    writeDraft(session.uuid, text);
    const clean = navigate({
      search: (old) => ({ ...old, prompt: undefined, send: undefined, suggestion: undefined }),
      replace: true,
    });
    if (atOnce !== 1 || text === '') return;
    const model = models.data?.find((each) => each.name === session.model);
    const most = model?.max_prompt ?? limits.defaultMaxPrompt;
    const first = view.count === 0 && suggestion !== 1;
    const refusal = text.length > most ? tooLongText(most) : refusalOf(text, most, first);
    if (refusal !== '') {
      toast(refusal, 'error');
      return;
    }
    const sendNow = async () => {
      await clean;
      await deliver(session, text, send, { suggestion: suggestion === 1 });
    };
    sendNow().catch(() => toast(offlineText, 'error'));
  }, [asked, prompt, atOnce, suggestion, session, view.count, models.data, navigate, send]);
  return asked && session.writable;
};

const Conversation = ({
  session,
  thread,
  view,
}: {
  session: SessionDetail;
  thread: Thread;
  view: ThreadView;
}) => {
  const box = useRef<HTMLDivElement>(null);
  const list = useRef<ListHandle>(null);
  const [sheet, setSheet] = useState<'none' | 'more' | 'settings'>('none');
  const [target, setTarget] = useState<MenuTarget | null>(null);
  const navigate = useNavigate();
  const back = useBack();
  const acts = useActs(session, thread, setTarget);
  const send = useSend(thread, list);
  const arriving = usePromptOfAddress(session, view, send);
  useKeys(list, back);
  useVisibleHeight(box);
  const follow = useCallback(
    (href: string) => {
      void navigate({ href });
    },
    [navigate],
  );
  const leave = () => void navigate({ to: '/', search: { channel: 'private' } });

  const remove = async () => {
    setSheet('none');
    const sure = await confirmDialog({
      title: '删除会话',
      text: '会话和其中的全部消息都会删除，不能恢复。',
      ok: '删除',
      danger: true,
    });
    if (!sure) {
      toast('已取消删除');
      return;
    }
    try {
      await api.deleteSession({ session_id: session.uuid });
      writeDraft(session.uuid, '');
      toast('会话已删除', 'success');
      leave();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  };
  const sort = () => thread.setNewestFirst(!view.newestFirst);

  return (
    <ChatContext value={acts}>
      <MarkdownNavigate value={follow}>
        <div className="chat" ref={box}>
          <ChatHeader
            session={session}
            newestFirst={view.newestFirst}
            onBack={back}
            onSort={sort}
            onMore={() => setSheet('more')}
          />
          <Connection view={view} />
          {view.rows.length + view.tail.length === 0 ? (
            <FirstHint session={session} quiet={arriving} />
          ) : (
            <MessageList thread={thread} view={view} ref={list} />
          )}
          {session.writable && !arriving ? (
            <SendBox session={session} view={view} onSend={send} />
          ) : (
            !session.writable && <ReadOnly />
          )}
        </div>
        <Sheet open={sheet === 'more'} onClose={() => setSheet('none')} title="会话">
          <button
            type="button"
            className="act"
            onClick={() => {
              setSheet('none');
              sort();
            }}
          >
            <Icon name="sort" />
            {view.newestFirst ? '改为最新在下' : '改为最新在上'}
          </button>
          {session.owner && (
            <button type="button" className="act" onClick={() => setSheet('settings')}>
              <Icon name="settings" />
              设置
            </button>
          )}
          {session.owner && (
            <button type="button" className="act act-danger" onClick={() => void remove()}>
              <Icon name="trash" />
              删除会话
            </button>
          )}
        </Sheet>
        <Sheet open={sheet === 'settings'} onClose={() => setSheet('none')} title="会话设置">
          <ChatSettings session={session} />
        </Sheet>
        <MessageMenu target={target} onClose={() => setTarget(null)} onSessionGone={leave} />
      </MarkdownNavigate>
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
    : '写的内容会保存在这台设备上，联网后再发送';
  return (
    <p className="strip" role="status">
      <Icon name="offline" size={16} />
      {what}。{next}
    </p>
  );
};

const FirstHint = ({ session, quiet }: { session: SessionDetail; quiet: boolean }) => {
  const models = useChatModels();
  const model = models.data?.find((each) => each.name === session.model);
  if (quiet) return <div className="list" />;
  return (
    <div className="list first-hint">
      <span className="first-dot" style={{ background: model?.color || undefined }}>
        <Icon name="spark" size={26} />
      </span>
      <h2>{session.writable ? `和${model?.label ?? session.model}聊聊` : '这里还没有消息'}</h2>
      {model?.remark && <p>{model.remark}</p>}
      {session.writable && (
        <p className="first-rule">
          第一句至少 {Math.ceil(limits.minPromptBytes / 3)} 个汉字或 {limits.minPromptBytes}{' '}
          个英文字母；发出之前还可以换模型
        </p>
      )}
    </div>
  );
};

const ReadOnly = () => {
  const { token } = useAuth();
  const navigate = useNavigate();
  return (
    <div className="read-only">
      <p>这是别人公开的会话，只能看{token === '' ? '；您可以免登录新建自己的会话' : ''}</p>
      <Button size="small" onClick={() => void navigate({ to: '/', search: { new: 1 } })}>
        新建会话
      </Button>
    </div>
  );
};
