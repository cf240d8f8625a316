import { maskName } from '../../../contract/mask-name.ts';
import type { Settings } from '../../../contract/auth.ts';
import type { Parsed } from '../../../contract/calls.ts';
import type { CodeName } from '../../../contract/errors.ts';
import { limits } from '../../../contract/limits.ts';
import { modelTypes } from '../../../contract/kinds.ts';
import { sessionTypes } from '../../../contract/kinds.ts';
import { type Session, type SessionDetail } from '../../../contract/session.ts';
import { summaryOf } from '../../../common/markdown/digest.ts';
import type { Executor, Transaction } from '../../db/database.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import type { KnowledgeService } from '../embedding/embedding.service.ts';
import { Refusal, type Identity } from '../../http/handlers.ts';
import type { ModelService } from '../model/model.service.ts';
import type {
  ResolvedImageModel,
  ResolvedMediaModel,
  ResolvedModel,
} from '../model/resolved-model.ts';
import { refuseBlocked } from '../moderation/blocked-words.service.ts';
import { countSession, find as findScenario } from '../scenario/scenario.service.ts';
import { friendStateOf } from './friend.service.ts';
import { newSessionIsPrivate, privacyChangeRefusal } from './privacy.ts';
import {
  type FoundSession,
  findSessions,
  searchSession,
  snippetsOf,
  wordsOf,
} from './search.service.ts';
import { type Asker, isUsable, requireUsable } from '../model/usable.ts';
import * as store from './session.store.ts';
import { noteReply } from './session.store.ts';

export type { SessionRow } from './session.store.ts';
export {
  busyAmong,
  countThisMonth,
  deleteAllOf,
  makeAllPrivate,
  markDeleted,
  moveSessions,
  noteReply,
  removeTemporary,
  sessionIdsOf,
  sessionsByMonth,
} from './session.store.ts';

/** The session whoever asks, deleted ones included: its reader decides who may know of it. */
export const anySession = (db: Executor, ref: string): Promise<store.SessionRow | null> =>
  store.findSession(db, ref);

const ownedBy = (row: store.SessionRow, user: Identity | null): boolean => row.userId === user?.id;

/** The owner, or one of the two people of a session that new_friend made. */
const belongsTo = (row: store.SessionRow, user: Identity | null): boolean =>
  user !== null && (ownedBy(row, user) || row.lowUserId === user.id || row.highUserId === user.id);

/** One of two people has had these messages of their session before them. */
export const noteSeen = async (
  db: Executor,
  row: store.SessionRow,
  user: Identity | null,
  messages: readonly { id: number }[],
): Promise<void> => {
  if (!user || messages.length === 0) return;
  if (row.lowUserId !== user.id && row.highUserId !== user.id) return;
  await store.markSeen(db, row.id, user.id, Math.max(...messages.map(({ id }) => id)));
};

/** In the forum people read what strangers wrote; managers see all of it. */
export const amongStrangers = (session: store.SessionRow, user: Identity | null): boolean =>
  session.type === sessionTypes.people && session.lowUserId === null && user?.manager !== true;

/**
 * Why somebody may not write in a session; null when they may: in their own one, in one of two
 * friends, and in a public one of people, for which guests have to register.
 */
export const writeRefusal = (row: store.SessionRow, user: Identity): CodeName | null => {
  if (row.deletedAt) return 'session_deleted';
  const ofPeople = row.type === sessionTypes.people;
  if (row.private && !belongsTo(row, user)) return 'private_session';
  if (!ofPeople) return ownedBy(row, user) ? null : 'not_owner';
  if (user.guest) return 'login_required';
  return row.closed && !user.manager ? 'question_closed' : null;
};

/**
 * The session for somebody who wants to read it. Missing: 404; deleted: 1433; another's private
 * one: 1432. Managers see all.
 */
export const readableSession = async (
  db: Executor,
  ref: string,
  user: Identity | null,
): Promise<store.SessionRow> => {
  const row = await store.findSession(db, ref);
  if (!row) throw new Refusal('not_found');
  if (user?.manager) return row;
  if (row.deletedAt) throw new Refusal('session_deleted');
  if (row.private && !belongsTo(row, user)) throw new Refusal('private_session');
  return row;
};

/**
 * The session for somebody to write in (see `writeRefusal`), locked until the transaction ends.
 * `closedToo`: one may still take away what is one's own.
 */
export const writableSession = async (
  db: Executor,
  ref: string,
  user: Identity,
  { closedToo = false } = {},
): Promise<store.SessionRow> => {
  const row = await store.findSession(db, ref, { lock: true });
  if (!row) throw new Refusal('not_found');
  const refusal = writeRefusal(closedToo ? { ...row, closed: false } : row, user);
  if (refusal === 'login_required') throw new Refusal(refusal, '登录之后就可以回复');
  if (refusal) throw new Refusal(refusal);
  return row;
};

/** The session for its owner to change, locked; others' sessions are as if they were not there. */
const ownSession = async (db: Executor, ref: string, user: Identity): Promise<store.SessionRow> => {
  const row = await store.findSession(db, ref, { lock: true });
  if (!row || !ownedBy(row, user)) throw new Refusal('not_found');
  if (row.deletedAt) throw new Refusal('session_deleted');
  return row;
};

/** The person's number for statements that look at what is theirs; a visitor has none. */
const numberOf = (user: Identity | null): number => user?.id ?? 0;

const publicScope = { channel: 'public' } as const;

/** What new_session makes when it takes over what another session shows up to a message. */
const forkSource = async (
  db: Executor,
  historyId: number,
  user: Identity | null,
): Promise<{ row: store.SessionRow; point: { historyId: number; shownUpTo: number } }> => {
  const point = await store.findForkPoint(db, historyId);
  if (!point) throw new Refusal('not_found', '没有这条消息');
  const row = await readableSession(db, String(point.sessionId), user);
  if (!forkable(row) || !point.visible) throw new Refusal('not_found', '没有可以接着聊的这条消息');
  return { row, point: { historyId, shownUpTo: point.shownUpTo } };
};

/** Only what is a chat, is kept and has begun can be gone on with as one's own. */
/** At the end of the title of what was taken over from another session. */
export const forkMark = ' ·续';

const forkable = (row: store.SessionRow): boolean =>
  row.type === sessionTypes.chat && !row.temporary && row.prompt !== '' && row.deletedAt === null;

/** The type of the session that is asked for. */
const typeAsked = ({ type, group_id: group }: Parsed<'newSession'>): number =>
  type ?? (group === undefined ? sessionTypes.chat : sessionTypes.people);

/** Refuses what cannot be asked for together, before a visitor gets an account for it. */
export const requireSense = (input: Parsed<'newSession'>, user: Identity | null): void => {
  const { history_id: fork, scenario_id: scenario, embedding, temporary } = input;
  const type = typeAsked(input);
  if (input.group_id !== undefined && type !== sessionTypes.people)
    throw new Refusal('bad_input', 'group_id：只有问答在社区的分组里');
  if (type === sessionTypes.people) {
    if (!user || user.guest) throw new Refusal('login_required', '向大家提问需要先登录');
    if (fork !== undefined || scenario !== undefined || embedding !== undefined || temporary === 1)
      throw new Refusal('bad_input', 'type：问答没有场景、知识库与临时对话，也不能接着别的会话');
  }
  if (type === sessionTypes.image) {
    if (fork !== undefined || embedding !== undefined || temporary === 1)
      throw new Refusal('bad_input', 'type：作画没有知识库与临时对话，也不能接着别的会话');
  }
  if (type === sessionTypes.video) {
    if (fork !== undefined || scenario !== undefined || embedding !== undefined || temporary === 1)
      throw new Refusal('bad_input', 'type：视频没有场景、知识库与临时对话，也不能接着别的会话');
  }
  if (fork !== undefined && (scenario !== undefined || embedding !== undefined || temporary === 1))
    throw new Refusal('bad_input', 'history_id：接着别的会话时不能再选场景、知识库或临时对话');
};

/** How many sessions a list reaches back: all that fit, and with a filter the ones looked through. */
const reach = { plain: 1000, filtered: 5000, own: 10_000 } as const;
/** So many titles a search looks at. Most are the first words of a message, and all of those are. */
const searchedTitles = { public: 300, private: 2000, favorites: 500 } as const;
/** A search finds no more sessions than this by their titles. */
const foundTitles = 60;
/** Of the marked sessions so many are searched, those marked last. */
const searchedMarks = 500;

interface Listed {
  ids: number[];
  total: number;
  matches?: ReadonlyMap<number, Session['match']>;
}

interface Asked {
  offset: number;
  limit: number;
}

const listed = async (
  db: Executor,
  scope: store.ListScope,
  filter: store.SessionFilter,
  { offset, limit }: Asked,
): Promise<Listed> => {
  const narrowed = filter.model === undefined ? reach.plain : reach.filtered;
  const window = scope.channel === 'public' ? narrowed : reach.own;
  const { found, total } = await store.listSessions(db, scope, filter, {
    window,
    offset: Math.min(offset, window),
    limit,
  });
  return { ids: found.map(({ id }) => id), total };
};

/** What was marked in sessions of somebody's favourites. */
const marksOf = async (
  db: Executor,
  userId: number,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Session['match']>> => {
  const marks = await store.lastMarks(db, userId, ids);
  const texts = await snippetsOf(
    db,
    marks.map(({ historyId }) => historyId),
    [],
  );
  return new Map(
    marks.map(({ sessionId, historyId }) => [
      sessionId,
      texts.get(historyId) ?? { history_id: historyId, snippet: '' },
    ]),
  );
};

/** The sessions with all the words in their title or in one message, in the order of their list. */
const search = async (
  db: Executor,
  words: readonly string[],
  scope: store.ListScope,
  filter: store.SessionFilter,
  { offset, limit }: Asked,
): Promise<Listed> => {
  const window = searchedTitles[scope.channel];
  const byTitle = { ...filter, titleWords: words };
  const [inTitles, messages] = await Promise.all([
    store.listSessions(db, scope, byTitle, { window, offset: 0, limit: foundTitles }),
    searchMessages(db, words, scope, filter),
  ]);
  const found = new Map(inTitles.found.map(({ id, at }) => [id, { id, at, historyId: 0 }]));
  for (const { id, at, historyId } of messages) found.set(id, { id, at, historyId });
  const sorted = [...found.values()].sort((a, b) => b.at - a.at || b.id - a.id);
  const shown = sorted.slice(offset, offset + limit);
  const snippets = await snippetsOf(
    db,
    shown.flatMap(({ historyId }) => (historyId > 0 ? [historyId] : [])),
    words,
  );
  return {
    ids: shown.map(({ id }) => id),
    total: sorted.length,
    matches: new Map(shown.map(({ id, historyId }) => [id, snippets.get(historyId) ?? null])),
  };
};

/** The sessions of a list with all the words in one message; `at` is what the list is ordered by. */
const searchMessages = async (
  db: Executor,
  words: readonly string[],
  scope: store.ListScope,
  filter: store.SessionFilter,
): Promise<FoundSession[]> => {
  if (scope.channel === 'public') return findSessions(db, words, { in: 'public' }, filter);
  if (scope.channel === 'private')
    return findSessions(db, words, { in: 'own', userId: scope.userId }, filter);
  const { found: marked } = await store.listSessions(db, scope, filter, {
    window: reach.own,
    offset: 0,
    limit: searchedMarks,
  });
  if (marked.length === 0) return [];
  const order = new Map(marked.map(({ id, at }) => [id, at]));
  const place = { in: 'sessions', sessionIds: [...order.keys()] } as const;
  const found = await findSessions(db, words, place, {});
  return found.map((each) => ({ ...each, at: order.get(each.id) ?? each.at }));
};

/** What the forum knows of sessions among people. */
export interface ForumShelf {
  /**
   * A page of its questions, or of what is found among them by words.
   * @param me whose questions, answers and visits are meant; 0: a visitor's
   */
  list: (
    db: Executor,
    words: readonly string[],
    filter: Pick<Parsed<'sessionList'>, 'category' | 'model'> & {
      groupId: number | undefined;
      userId: number | undefined;
    },
    me: number,
    part: { offset: number; limit: number },
  ) => Promise<{ ids: number[]; total: number; found: ReadonlyMap<number, number> | null }>;
  /** What the cards of questions show of them. */
  looks: (
    db: Executor,
    ids: readonly number[],
  ) => Promise<ReadonlyMap<number, { content: string; images: string[]; lastSuspended: boolean }>>;
  /** @throws Refusal bad_input where there is no such group */
  requireGroup: (db: Executor, id: number) => Promise<void>;
}

export interface SessionServiceDeps {
  models: ModelService;
  knowledge: Pick<KnowledgeService, 'find' | 'findAll'>;
  forum: ForumShelf;
  /** Refuses a style of images that is still in training. @throws Refusal training_unfinished */
  requireTrained: (db: Executor, keys: readonly string[], userId: number) => Promise<void>;
}

export const createSessionService = ({
  models,
  knowledge,
  forum,
  requireTrained,
}: SessionServiceDeps) => {
  /** No model has this name. @throws Refusal training_unfinished, model_unavailable */
  const refuseUnknown = async (db: Executor, name: string, asker: Asker): Promise<never> => {
    if (asker) await requireTrained(db, [name], asker.id);
    throw new Refusal('model_unavailable');
  };

  const chatModel = async (db: Executor, name: string, asker: Asker): Promise<ResolvedModel> => {
    const model = (await models.find(db, name)) ?? (await refuseUnknown(db, name, asker));
    await requireUsable(db, model, asker);
    return model;
  };

  const preferredModel = async (
    db: Executor,
    preferred: string | undefined,
    asker: Asker,
  ): Promise<ResolvedModel> => {
    const model = preferred === undefined ? null : await models.find(db, preferred);
    if (model && (await isUsable(db, model, asker))) return model;
    return models.defaultModel(db, asker);
  };

  const views = async (
    db: Executor,
    cards: readonly store.Card[],
    user: Identity | null,
    matches?: ReadonlyMap<number, Session['match']>,
  ): Promise<Session[]> => {
    const keys = cards.map(({ session }) => session.embeddingKey).filter((key) => key !== '');
    const bases = await knowledge.findAll(db, keys, user?.id ?? null);
    const looks = await forum.looks(
      db,
      cards.flatMap(({ session: { id, type } }) => (type === sessionTypes.people ? [id] : [])),
    );
    /** Among people it is what was said last. */
    const summaryOfCard = (row: store.SessionRow, friendName: string | null): string => {
      const look = looks.get(row.id);
      return friendName === null && look?.lastSuspended ? look.content : row.summary;
    };
    return cards.map(({ session: row, images, favorite, onTop, friendName, unread }) => ({
      id: row.id,
      uuid: row.uuid,
      type: row.type,
      model: row.model,
      user_id: row.userId,
      user_name: row.userName,
      prompt: friendName !== null && belongsTo(row, user) ? maskName(friendName) : row.prompt,
      summary: summaryOfCard(row, friendName),
      private: row.private ? 1 : 0,
      reply_count: row.replyCount,
      like_count: row.likeCount,
      images: looks.get(row.id)?.images ?? images,
      completion:
        row.type === sessionTypes.image || row.type === sessionTypes.video
          ? JSON.stringify(images.map((url) => ({ url })))
          : '',
      deleted: row.deletedAt === null ? 0 : 1,
      embedding_private: bases.find(({ key }) => key === row.embeddingKey)?.private ?? 0,
      favorite,
      on_top: onTop,
      unread,
      scenario_id: row.scenarioId,
      embedding_key: row.embeddingKey,
      embedding_name: bases.find(({ key }) => key === row.embeddingKey)?.name ?? '',
      // What was found in no message was found in the title.
      match: matches ? (matches.get(row.id) ?? { history_id: null, snippet: row.prompt }) : null,
      group_id: row.groupId,
      title: row.prompt,
      content: looks.get(row.id)?.content ?? row.summary,
      accepted_id: row.acceptedId,
      essence: row.essence,
      pinned: row.pinned,
      closed: row.closed,
      created_at: row.createdAt.toISOString(),
      updated_at: row.updatedAt.toISOString(),
    }));
  };

  interface Maker {
    id: number;
    guest: boolean;
    setting: Settings;
    sessionPrivate: boolean;
  }

  /** The account that makes a session, its row locked so that two calls count right. */
  const makerOf = async (tx: Transaction, id: number): Promise<Maker & { vip: boolean }> => {
    const maker = await store.lockMaker(tx, id);
    if (!maker) throw new Refusal('unauthorized');
    if (maker.sessionBlacklist) throw new Refusal('sessions_forbidden');
    return { ...maker, id };
  };

  const insert = async (
    tx: Transaction,
    values: Parameters<typeof store.insertSession>[1],
  ): Promise<{ id: number; uuid: string }> => {
    const made = await store.insertSession(tx, values);
    // Somebody else made one of that address at this moment.
    if (!made) throw new Refusal('conflict');
    return made;
  };

  /** Public, unless asked or forced to be private. */
  const makePeopleSession = async (tx: Transaction, maker: Maker, input: Parsed<'newSession'>) => {
    const groupId = input.group_id ?? limits.defaultGroup;
    await forum.requireGroup(tx, groupId);
    return insert(tx, {
      uuid: input.uuid,
      userId: maker.id,
      type: sessionTypes.people,
      model: '',
      private: maker.sessionPrivate || input.private === 1,
      groupId,
    });
  };

  const makeFork = async (
    tx: Transaction,
    maker: Maker,
    input: Parsed<'newSession'>,
    user: Identity | null,
  ) => {
    const { row, point } = await forkSource(tx, input.history_id ?? 0, user);
    const model =
      input.model === undefined
        ? await preferredModel(tx, row.model, maker)
        : await chatModel(tx, input.model, maker);
    const base =
      row.embeddingKey === '' ? null : await knowledge.find(tx, row.embeddingKey, maker.id);
    const rules = { forced: maker.sessionPrivate, setting: maker.setting };
    const made = await insert(tx, {
      uuid: input.uuid,
      userId: maker.id,
      type: sessionTypes.chat,
      model: model.name,
      private: newSessionIsPrivate(rules, input.private),
      scenarioId: row.scenarioId,
      embeddingKey: base?.key ?? '',
      forkedFrom: row.id,
      // Told from its original in every list; a fork of a fork is no longer.
      prompt:
        row.prompt === '' || row.prompt.endsWith(forkMark)
          ? row.prompt
          : `${row.prompt}${forkMark}`,
    });
    const { replies, lastReply } = await store.copyMessages(tx, {
      from: row.id,
      point,
      into: { sessionId: made.id, userId: maker.id },
    });
    await noteReply(tx, made.id, { replies, summary: summaryOf(lastReply) });
    return made;
  };

  /** The model named where it paints, else the one the person prefers, else Midjourney's, else the first. */
  const imageModel = async (
    db: Executor,
    { name, preferred, asker }: { name?: string; preferred?: string; asker: Asker },
  ): Promise<ResolvedImageModel> => {
    if (name !== undefined) {
      const model = await models.findImage(db, name);
      if (model) {
        await requireUsable(db, model, asker);
        return model;
      }
      // A chat's model cannot paint: then it is as if none were named (document 2 §4).
      if (!(await models.find(db, name))) await refuseUnknown(db, name, asker);
    }
    const wished = preferred === undefined ? null : await models.findImage(db, preferred);
    if (wished && (await isUsable(db, wished, asker))) return wished;
    const model = await models.defaultImageModel(db, asker);
    if (!model) throw new Refusal('model_unavailable');
    return model;
  };

  const makeImages = async (tx: Transaction, maker: Maker, input: Parsed<'newSession'>) => {
    const { scenario_id: scenarioId } = input;
    if (scenarioId !== undefined && !(await countSession(tx, scenarioId, maker.id)))
      throw new Refusal('not_found', '没有这个场景');
    const model = await imageModel(tx, {
      name: input.model,
      preferred: maker.setting.default_image_model,
      asker: maker,
    });
    const rules = { forced: maker.sessionPrivate, setting: maker.setting };
    return insert(tx, {
      uuid: input.uuid,
      userId: maker.id,
      type: sessionTypes.image,
      model: model.name,
      private: newSessionIsPrivate(rules, input.private),
      scenarioId: scenarioId ?? null,
    });
  };

  /** The model named where it films, else what is usual. */
  const filmModel = async (
    db: Executor,
    { name, asker }: { name?: string; asker: Asker },
  ): Promise<ResolvedMediaModel> => {
    const named = name === undefined ? null : await models.findMedia(db, modelTypes.video, name);
    if (named) {
      await requireUsable(db, named, asker);
      return named;
    }
    // Another kind's model cannot film: then it is as if none were named.
    if (name !== undefined && !(await models.find(db, name)) && !(await models.findImage(db, name)))
      throw new Refusal('model_unavailable');
    const model = await models.defaultMedia(db, modelTypes.video, asker);
    if (!model) throw new Refusal('model_unavailable');
    return model;
  };

  const makeFilms = async (tx: Transaction, maker: Maker, input: Parsed<'newSession'>) => {
    const model = await filmModel(tx, { name: input.model, asker: maker });
    const rules = { forced: maker.sessionPrivate, setting: maker.setting };
    return insert(tx, {
      uuid: input.uuid,
      userId: maker.id,
      type: sessionTypes.video,
      model: model.name,
      private: newSessionIsPrivate(rules, input.private),
    });
  };

  /** A knowledge base is a model, too, to those who train it (document 3 §3): its key names it. */
  const talkedTo = async (
    db: Executor,
    maker: Maker,
    { model: name, embedding }: Parsed<'newSession'>,
  ): Promise<{ name?: string; embedding?: string }> => {
    if (name === undefined || embedding !== undefined || (await models.find(db, name)))
      return { name, embedding };
    return (await knowledge.find(db, name, maker.id)) ? { embedding: name } : { name };
  };

  const makeChat = async (tx: Transaction, maker: Maker, input: Parsed<'newSession'>) => {
    const { scenario_id: scenarioId, temporary } = input;
    if (scenarioId !== undefined && !(await countSession(tx, scenarioId, maker.id)))
      throw new Refusal('not_found', '没有这个场景');
    const { name, embedding } = await talkedTo(tx, maker, input);
    if (embedding !== undefined && !(await knowledge.find(tx, embedding, maker.id)))
      throw new Refusal('embedding_missing');
    const model =
      name === undefined
        ? await preferredModel(tx, maker.setting.default_chat_model, maker)
        : await chatModel(tx, name, maker);
    const rules = { forced: maker.sessionPrivate, setting: maker.setting };
    return insert(tx, {
      uuid: input.uuid,
      userId: maker.id,
      type: sessionTypes.chat,
      model: model.name,
      private: temporary === 1 || newSessionIsPrivate(rules, input.private),
      scenarioId: scenarioId ?? null,
      embeddingKey: embedding ?? '',
      temporary: temporary === 1,
    });
  };

  const listOfForum = async (db: Executor, input: Parsed<'sessionList'>, user: Identity | null) => {
    const { page, page_size: pageSize, category } = input;
    const own = category === 'mine' || category === 'replied' || category === 'history';
    if (own && !user) throw new Refusal('unauthorized');
    const words = wordsOf(input.query ?? '');
    const filter = {
      category,
      groupId: input.group_id,
      userId: input.user_id,
      model: input.model,
    };
    const me = numberOf(user);
    const asked = { offset: (page - 1) * pageSize, limit: pageSize };
    const { ids, total, found } = await forum.list(db, words, filter, me, asked);
    const matches = found && (await snippetsOf(db, [...found.values()], words));
    const cards = await store.readCards(db, ids, me);
    const list = await views(
      db,
      cards,
      user,
      found && matches
        ? new Map([...found].map(([id, historyId]) => [id, matches.get(historyId) ?? null]))
        : undefined,
    );
    const named = (await models.list(db)).filter(({ type }) => type === modelTypes.chat);
    return {
      list,
      page,
      page_count: Math.ceil(total / pageSize),
      page_size: pageSize,
      total,
      models: named.map((model) => model.name),
    };
  };

  return {
    async list(db: Executor, input: Parsed<'sessionList'>, user: Identity | null) {
      const { channel, page, page_size: pageSize } = input;
      if (channel === 'forum') return listOfForum(db, input, user);
      if (channel !== 'public' && !user) throw new Refusal('unauthorized');
      const scope = user && channel !== 'public' ? { channel, userId: user.id } : publicScope;
      const named = (await models.list(db)).filter(
        ({ type }) =>
          type === modelTypes.chat || type === modelTypes.image || type === modelTypes.video,
      );
      const words = wordsOf(input.query ?? '');
      const filter = {
        userId: input.user_id,
        model: input.model,
        scenarioId: input.scenario_id,
      };
      const asked = { offset: (page - 1) * pageSize, limit: pageSize };
      const { ids, total, matches } =
        words.length > 0
          ? await search(db, words, scope, filter, asked)
          : await listed(db, scope, filter, asked);
      const marks =
        scope.channel === 'favorites' && !matches ? await marksOf(db, scope.userId, ids) : matches;
      return {
        list: await views(db, await store.readCards(db, ids, numberOf(user)), user, marks),
        page,
        page_count: Math.ceil(total / pageSize),
        page_size: pageSize,
        total,
        models: named.map((model) => model.name),
      };
    },

    async get(db: Executor, ref: string, user: Identity | null): Promise<SessionDetail> {
      const row = await readableSession(db, ref, user);
      const cards = await store.readCards(db, [row.id], numberOf(user));
      const [view] = await views(db, cards, user);
      const friendName = cards[0]?.friendName ?? null;
      if (!view) throw new Refusal('not_found');
      const scenario = row.scenarioId === null ? null : await findScenario(db, row.scenarioId);
      const friendId = row.lowUserId === user?.id ? row.highUserId : row.lowUserId;
      const state = user && friendId !== null ? await friendStateOf(db, row.id, user.id) : null;
      return {
        ...view,
        owner: ownedBy(row, user),
        writable: user !== null && writeRefusal(row, user) === null,
        owner_vip: row.ownerVip,
        private_forced: row.ownerForcedPrivate,
        // The words of a private one are its maker's.
        scenario: scenario && {
          id: scenario.id,
          name: scenario.name,
          prompt:
            scenario.state === 'public' || scenario.userId === user?.id ? scenario.prompt : '',
        },
        temporary: row.temporary,
        friend:
          friendId !== null && friendName !== null && state !== null
            ? { id: friendId, name: friendName, state }
            : null,
        forkable: forkable(row),
      };
    },

    /** Where words stand in one session. */
    async searchIn(db: Executor, input: Parsed<'searchMessages'>, user: Identity) {
      const row = await readableSession(db, input.session_id, user);
      const asked = { page: input.page, pageSize: limits.pageSize };
      return searchSession(db, row.id, wordsOf(input.query), asked);
    },

    create(db: Executor, input: Parsed<'newSession'>, userId: number, user: Identity | null) {
      return inTransaction(db, async (tx) => {
        const maker = await makerOf(tx, userId);
        const there = input.uuid === undefined ? null : await store.findSession(tx, input.uuid);
        if (there) {
          if (there.userId !== userId) throw new Refusal('conflict');
          if (there.deletedAt) throw new Refusal('session_deleted');
          return { id: there.id, uuid: there.uuid };
        }
        const made = maker.vip
          ? 0
          : await store.countThisMonth(tx, userId, limits.freeSessionsAMonth);
        if (made >= limits.freeSessionsAMonth) throw new Refusal('monthly_limit');
        const type = typeAsked(input);
        if (type === sessionTypes.people) return makePeopleSession(tx, maker, input);
        if (type === sessionTypes.image) return makeImages(tx, maker, input);
        if (type === sessionTypes.video) return makeFilms(tx, maker, input);
        if (input.history_id !== undefined) return makeFork(tx, maker, input, user);
        return makeChat(tx, maker, input);
      });
    },

    /** The one private session of two people; made when there is none. */
    befriend(db: Executor, friendId: number, user: Identity) {
      const [low = 0, high = 0] = [user.id, friendId].sort((a, b) => a - b);
      return inTransaction(db, async (tx) => {
        if (low === high || !(await store.findFriend(tx, friendId)))
          throw new Refusal('not_found', low === high ? '不能和自己私聊' : '没有这个人');
        await store.lockPeople(tx, low, high);
        const found = await store.findFriendSession(tx, low, high);
        if (found) return found;
        await makerOf(tx, user.id);
        const made = await insert(tx, {
          userId: user.id,
          type: sessionTypes.people,
          model: '',
          private: true,
        });
        await store.setFriendSession(tx, low, high, made.id);
        return made;
      });
    },

    change(db: Executor, input: Parsed<'setSession'>, user: Identity): Promise<void> {
      return inTransaction(db, async (tx) => {
        if (input.on_top !== undefined) {
          const { id } = await writableSession(tx, input.session_id, user);
          if (input.on_top === 1 && (await store.countPins(tx, user.id)) >= limits.pins)
            throw new Refusal('session_unsuitable', `最多置顶 ${limits.pins} 个会话`);
          await store.setOnTop(tx, { userId: user.id, sessionId: id }, input.on_top === 1);
        }
        const { private: hidden, model: named, title } = input;
        if (hidden === undefined && named === undefined && title === undefined) return;
        const row = await ownSession(tx, input.session_id, user);
        const values: { private?: boolean; model?: string; prompt?: string } = {};
        if (title !== undefined) {
          if (row.lowUserId !== null)
            throw new Refusal('session_unsuitable', '两个人的私聊以对方的名字为标题');
          if (row.prompt === '')
            throw new Refusal('session_unsuitable', '会话还没有内容，发出第一条消息后再改名');
          values.prompt = title;
        }
        const open = hidden === undefined ? !row.private : hidden === 0;
        if (title !== undefined && (open || row.type === sessionTypes.people))
          await refuseBlocked(tx, title);
        else if (title === undefined && open && row.private) await refuseBlocked(tx, row.prompt);
        // Of a session that is private with its owner alone, private is another thing to ask for.
        if (
          input.private !== undefined &&
          ((input.private === 1) !== row.private || (input.private === 1 && row.closedWithOwner))
        ) {
          const rules = { forced: row.ownerForcedPrivate, setting: row.ownerSetting };
          const toPrivate = input.private === 1;
          if (!toPrivate && (row.temporary || row.lowUserId !== null)) {
            const what = row.temporary ? '临时对话' : '两个人的私聊';
            throw new Refusal('private_forced', `${what}只能是私有的`);
          }
          const refusal = privacyChangeRefusal(rules, toPrivate);
          if (refusal) throw new Refusal(refusal);
          values.private = toPrivate;
        }
        if (input.model !== undefined && input.model !== row.model) {
          if (row.type === sessionTypes.people)
            throw new Refusal('model_locked', '问答与私聊没有固定的模型，用 @ 提到一个即可');
          if (await store.hasMessages(tx, row.id)) throw new Refusal('model_locked');
          const asked = { name: input.model, asker: user };
          const model =
            row.type === sessionTypes.image
              ? await imageModel(tx, asked)
              : row.type === sessionTypes.video
                ? await filmModel(tx, asked)
                : await chatModel(tx, input.model, user);
          values.model = model.name;
        }
        if (Object.keys(values).length > 0) await store.updateSession(tx, row.id, values);
      });
    },

    /** Marks the session as deleted; gives its number, for its running reply to be stopped. */
    remove(db: Executor, ref: string, user: Identity): Promise<number> {
      return inTransaction(db, async (tx) => {
        const row = await ownSession(tx, ref, user);
        await store.markDeleted(tx, row.id);
        return row.id;
      });
    },
  };
};
