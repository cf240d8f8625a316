import { sessionTypes } from '#contract/kinds.ts';
import { useNavigate, getRouteApi } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useRef, type RefObject } from 'react';
import type { In } from '#contract/calls.ts';
import type { Message } from '#contract/chat.ts';
import type { SessionDetail } from '#contract/session.ts';
import { ignoreApiError } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { ApiError } from '#src/platform/api-error.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { writeDraft } from '#src/platform/draft.ts';
import { useModelsOf } from '#src/platform/queries.ts';
import { ownFiles, readQuestion } from '#src/platform/question.ts';
import { createStore } from '#src/platform/store.ts';
import { toast } from '#src/platform/toast.ts';
import { useMedia } from '#src/platform/use-media.ts';
import { uuid as newKey } from '#src/platform/uuid.ts';
import { confirmDelete } from '#src/ui/dialog.ts';
import type { ChatActs } from '#src/widgets/conversation/chat-context.ts';
import type { SessionType } from '#src/widgets/conversation/session-type.ts';
import type { SendOptions, ThreadCommands } from '#src/widgets/conversation/thread-commands.ts';
import type { Thread } from '#src/widgets/conversation/thread.ts';
import { useRefusal } from '#src/widgets/conversation/use-refusal.ts';
import type { Panel } from './chat-panels.tsx';
import { setCompose } from './compose-store.ts';
import type { ListHandle } from './message-list.tsx';

const route = getRouteApi('/chat');
const hasPointer = '(hover: hover)';

/** Asks before a message is deleted, and says what goes with it. */
const deletionOf = (message: Message, session: SessionDetail, first: boolean) => {
  if (session.type !== sessionTypes.people) return '问题和它的回复会一起删除，不能恢复。';
  if (session.friend === null && session.owner && first && message.user_id === session.user_id)
    return '这是整个问答的问题：删除后，问题和大家的全部回答都会删除，不能恢复。';
  return '消息会从所有人的会话里删除，不能恢复。';
};

/** How rows are shown otherwise than usual: edited, as they were written. */
const createModes = (): Pick<ChatActs, 'is' | 'toggle' | 'onModes'> => {
  const modes = createStore<ReadonlySet<string>>(new Set());
  return {
    is: (mode, id) => modes.get().has(`${mode}${id}`),
    toggle: (mode, id) => {
      const next = new Set(modes.get());
      if (!next.delete(`${mode}${id}`)) next.add(`${mode}${id}`);
      modes.set(next);
    },
    onModes: modes.subscribe,
  };
};

/** Other words with the images and files of a question, as they are sent; null: it has none. */
const withItsFiles = (message: Message, prompt: string): string | null => {
  const { images, detail, files: attached } = readQuestion(message);
  const files = ownFiles(attached);
  if (images.length + files.length === 0) return null;
  const type = images.length > 0 ? 'chat-vision' : 'chat';
  return JSON.stringify({ type, prompt, images, image_detail: detail, files });
};

/** Acts that the rows of the list call. */
export const useActs = (
  session: SessionDetail,
  thread: Thread,
  open: (panel: Panel) => void,
  send: (text: string, options?: SendOptions) => Promise<boolean>,
  sessionType: SessionType | null,
  list: RefObject<ListHandle | null>,
): ChatActs => {
  const refuse = useRefusal({ uuid: route.useSearch({ select: (search) => search.uuid }) });
  const navigate = useNavigate();
  const models = useModelsOf(sessionType?.models ?? 'chat').data;
  const free = models?.find(({ factor }) => factor === 0)?.name;
  const me = useAuth().user?.id ?? 0;
  const { uuid, owner, model, writable, temporary, forkable } = session;
  const people = session.type === sessionTypes.people;
  const pointer = useMedia(hasPointer);
  // What the rows see stays the same while only the session's summary changes.
  const latest = useRef(session);
  useEffect(() => {
    latest.current = session;
  });
  return useMemo(() => {
    const modes = createModes();
    const quietly = (act: Promise<unknown>) => void act.catch(refuse);
    const command = (act: (commands: ThreadCommands) => Promise<unknown>) =>
      thread.commands().then(act);
    const openNew = async (input: In<'newSession'>, onMade: (uuid: string) => void) => {
      const fresh = await api.newSession(input, { quiet: true });
      onMade(fresh.uuid);
      await navigate({ to: '/chat', search: { uuid: fresh.uuid } });
    };
    const remove = async (message: Message) => {
      const sure = await confirmDelete({
        title: '删除消息',
        text: deletionOf(message, latest.current, thread.store.isFirst(message.id)),
      });
      if (!sure) return;
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
      openSource: ({ id }, source, said = '') =>
        open({ kind: 'source', opened: { historyId: id, source, said } }),
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
      answerTool: ({ id }, ...given) => command((commands) => commands.answerTool(id, ...given)),
      regenerate: (message, other) =>
        quietly(command((commands) => commands.regenerate(message.id, other))),
      choose: (id) => command((commands) => commands.choose(id)).then(() => undefined, refuse),
      like: ({ id }) => quietly(command((commands) => commands.like(id))),
      favourite: ({ id }) => quietly(command((commands) => commands.favourite(id))),
      ask: async (message, text) => {
        const more = withItsFiles(message, text);
        const replace = message.id;
        const taken = await (more === null
          ? send(text, { replace })
          : send(more, { replace, format: 1 }));
        if (taken) modes.toggle('edit', message.id);
        return taken;
      },
      remove: (message) => {
        remove(message).catch(ignoreApiError);
      },
      fork: (id) =>
        quietly(
          openNew({ history_id: id }, () => toast('已复制到您的会话，可以接着聊了', 'success')),
        ),
      startAnew: (question, which) => {
        const input = { type: sessionType?.type ?? 0, model: which === 'same' ? model : free };
        quietly(openNew(input, (fresh) => writeDraft(fresh, question)));
      },
      ...modes,
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
export const useSend = (thread: Thread, list: RefObject<ListHandle | null>) => {
  const refuse = useRefusal({ uuid: route.useSearch({ select: (search) => search.uuid }) });
  // A try that got no answer may have reached the server: the same text goes again under its key.
  const unheard = useRef<{ text: string; key: string } | null>(null);
  return useCallback(
    async (text: string, options: SendOptions = {}): Promise<boolean> => {
      const key = unheard.current?.text === text ? unheard.current.key : newKey();
      unheard.current = null;
      try {
        const commands = await thread.commands();
        const sending = commands.send(text, key, options);
        list.current?.toBottom();
        await sending;
        return true;
      } catch (error) {
        if (error instanceof ApiError && error.status === 0) unheard.current = { text, key };
        refuse(error);
        return false;
      }
    },
    [thread, list, refuse],
  );
};
