import { sessionTypes } from '#contract/kinds.ts';
import { maskName } from '#src/platform/format.ts';
import { callQuery, useCall } from '#src/platform/call-query.ts';
import { ApiError } from '#src/platform/api-error.ts';
import { codeNumbers } from '#contract/page-errors.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { useLine } from '#src/platform/line.ts';
import { endFirstView, hasSnapshot } from '#src/platform/first-view.ts';
import { whenLoaded } from '#src/platform/lazy-chunk.ts';
import { useChatModels } from '#src/platform/queries.ts';
import { queryClient } from '#src/platform/query-client.ts';
import { ToError, ToMissing } from '#src/ui/lead-away.tsx';
import { Button } from '#src/ui/button.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { LoadFailed } from '#src/ui/load-failed.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { limits } from '#contract/limits.ts';
import type { SessionDetail } from '#contract/session.ts';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useContext, useEffect, useLayoutEffect, useState, useSyncExternalStore } from 'react';
import { Connection } from './connection.tsx';
import { Conversation, isQuestion } from './conversation.tsx';
import { useArrivingWords } from './arriving-words.ts';
import { Arriving } from '#src/widgets/conversation/arriving.tsx';
import { SessionTypes, type SessionType } from '#src/widgets/conversation/session-type.ts';
import { Thread } from '#src/widgets/conversation/thread.ts';
import { useBack } from './use-address.ts';
import css from './chat.module.css';
import rowCss from '#src/widgets/conversation/conversation.module.css';

const route = getRouteApi('/chat');

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
          {arriving.words !== '' && <Arriving words={arriving.words} />}
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
