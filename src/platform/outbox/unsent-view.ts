import type { Settings, User } from '#contract/auth.ts';
import type { In, Out, PlainCallName } from '#contract/calls.ts';
import type { Message } from '#contract/chat.ts';
import type { Session, SessionDetail } from '#contract/session.ts';
import { authStore } from '#src/platform/auth-store.ts';
import type { OfName } from '#src/platform/note.ts';
import type { UnsentHooks } from '#src/platform/unsent-hooks.ts';
import { settingsOf } from '#src/platform/saved-settings.ts';
import { readQuestion } from '#src/platform/question.ts';
import type { Act } from '#common/outbox/act.ts';

/** What is read, as it will be once what waits is done. */

type MessageAct = OfName<Act, 'sendMessage'>;

const titleOf = (acts: readonly Act[], uuid: string): string => {
  const first = acts.find(
    (act): act is MessageAct => act.name === 'sendMessage' && act.lane === uuid,
  );
  if (first?.input.title !== undefined) return first.input.title;
  return first
    ? readQuestion({ human: first.input.msg, format: first.input.format === 1 ? 1 : 0 }).text.slice(
        0,
        100,
      )
    : '';
};

/** A session that the server does not have yet. */
const freshSession = (act: OfName<Act, 'newSession'>, acts: readonly Act[]): SessionDetail => {
  const { user } = authStore.get();
  const { input } = act;
  return {
    // No number of the server's: it is known by its uuid alone.
    id: -act.id,
    uuid: act.lane,
    type: Number(input.type ?? 0),
    model: input.model ?? '',
    user_id: user?.id ?? 0,
    user_name: user?.user_name ?? '',
    prompt: titleOf(acts, act.lane),
    summary: '',
    private: Number(input.private ?? 1),
    reply_count: 0,
    like_count: 0,
    completion: '',
    deleted: 0,
    embedding_private: 0,
    images: [],
    favorite: false,
    on_top: false,
    unread: 0,
    scenario_id: input.scenario_id === undefined ? null : Number(input.scenario_id),
    embedding_key: input.embeddings?.[0] ?? input.embedding ?? '',
    embedding_name: '',
    match: null,
    group_id: Number(input.group_id ?? 1),
    title: titleOf(acts, act.lane),
    content: '',
    accepted_id: null,
    essence: false,
    pinned: false,
    closed: false,
    created_at: act.made,
    updated_at: act.made,
    owner: true,
    writable: true,
    owner_vip: false,
    private_forced: false,
    scenario: null,
    temporary: false,
    friend: null,
    forkable: false,
  };
};

const nothing = { list: [], page: 1, page_count: 0, page_size: 30, total: 0 };

const overMessage = (message: Message, acts: readonly Act[]): Message => {
  let next = message;
  for (const act of acts) {
    if (act.name === 'historyLike' && Number(act.input.history_id) === message.id) {
      const liked = act.input.liked === 1;
      const more = liked === next.liked ? 0 : liked ? 1 : -1;
      next = { ...next, liked, like_count: Math.max(0, next.like_count + more) };
    } else if (act.name === 'updateMessage' && Number(act.input.id) === message.id)
      next = {
        ...next,
        human: act.input.content,
        title: act.input.title ?? next.title,
        edited: true,
      };
    else if (act.name === 'addToFavorites' && Number(act.input.history_id) === message.id)
      next = { ...next, in_favorites: true };
    else if (act.name === 'removeFromFavorites' && Number(act.input.history_id) === message.id)
      next = { ...next, in_favorites: false };
  }
  return next;
};

const overMessages = (list: Message[], acts: readonly Act[]): Message[] => {
  const gone = new Set(
    acts.flatMap((act) => (act.name === 'deleteHistory' ? [Number(act.input.id)] : [])),
  );
  return list.filter(({ id }) => !gone.has(id)).map((message) => overMessage(message, acts));
};

const overSession = <T extends Session>(session: T, acts: readonly Act[]): T => {
  let next = session;
  for (const act of acts) {
    if (act.lane !== session.uuid) continue;
    if (act.name === 'addToFavorites') {
      const { history_id: kept } = act.input;
      next = { ...next, favorite: kept === undefined || next.favorite === true || Number(kept) };
    } else if (act.name === 'removeFromFavorites' && act.input.history_id === undefined)
      next = { ...next, favorite: false };
    else if (act.name === 'setSession')
      next = {
        ...next,
        ...(act.input.model === undefined ? {} : { model: act.input.model }),
        ...(act.input.private === undefined ? {} : { private: Number(act.input.private) }),
        ...(act.input.title === undefined ? {} : { prompt: act.input.title }),
        ...(act.input.on_top === undefined ? {} : { on_top: Number(act.input.on_top) === 1 }),
      };
  }
  return next;
};

const overList = (
  input: In<'sessionList'>,
  data: Out<'sessionList'>,
  acts: readonly Act[],
): Out<'sessionList'> => {
  const deleted = new Set(
    acts.flatMap(({ name, lane }) => (name === 'deleteSession' ? [lane] : [])),
  );
  const plain =
    input.channel === 'private' &&
    Number(input.page ?? 1) === 1 &&
    [input.query, input.model, input.scenario_id].every((each) => each === undefined);
  const fresh = plain
    ? acts
        .filter((act) => act.name === 'newSession')
        .filter(({ lane }) => !data.list.some(({ uuid }) => uuid === lane))
        .map((act) => freshSession(act, acts))
        .reverse()
    : [];
  return {
    ...data,
    list: [...fresh, ...data.list]
      .filter(({ uuid }) => !deleted.has(uuid))
      .map((session) => overSession(session, acts)),
    total: data.total + fresh.length,
  };
};

const overUser = (user: User, acts: readonly Act[]): User => {
  const changes = acts.filter((act) => act.name === 'saveSettings');
  if (changes.length === 0) return user;
  let setting = settingsOf(user);
  for (const { input } of changes) setting = { ...setting, ...(input as Settings) };
  return { ...user, setting: JSON.stringify(setting) };
};

/** @param waiting what waits now, of the account that is signed in */
export const unsentHooks = (waiting: () => readonly Act[]): UnsentHooks => ({
  local: (name: PlainCallName, input: unknown) => {
    const { uuid } = input as { uuid?: unknown };
    if (name === 'historyList') return nothing;
    if (name === 'lastMessages') return [];
    if (name !== 'getSession') return undefined;
    const acts = waiting();
    const made = acts.find((act) => act.name === 'newSession' && act.lane === uuid);
    return made?.name === 'newSession' ? overSession(freshSession(made, acts), acts) : undefined;
  },
  over: (name, input, data) => {
    const acts = waiting();
    if (acts.length === 0) return data;
    const about = (ref: unknown) => acts.filter(({ lane }) => lane === String(ref));
    const seen = (): unknown => {
      switch (name) {
        case 'sessionList':
          return overList(input as In<'sessionList'>, data as Out<'sessionList'>, acts);
        case 'getSession':
          return overSession(data as SessionDetail, acts);
        case 'historyList': {
          const page = data as Out<'historyList'>;
          const own = about((input as In<'historyList'>).session_id);
          return { ...page, list: overMessages(page.list, own) };
        }
        case 'lastMessages':
          return overMessages(data as Message[], about((input as In<'lastMessages'>).sessionId));
        case 'userInfo':
          return overUser(data as User, acts);
        default:
          return data;
      }
    };
    return seen() as typeof data;
  },
});
