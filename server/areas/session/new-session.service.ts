import { summaryOf } from '#common/markdown/digest.ts';
import type { Settings } from '#contract/auth.ts';
import type { Parsed } from '#contract/calls.ts';
import { limits } from '#contract/limits.ts';
import { sessionTypes } from '#contract/kinds.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import { tooMany } from '#server/http/rate-limit.ts';
import { lacksPhone } from '../contact/phone-rule.service.ts';
import { countSession, noScenario } from '../scenario/scenario.service.ts';
import { countDay, countOpened, requireOpening } from './day-counts.ts';
import { copyMessages, findForkPoint, sizeOfCopy } from './fork.store.ts';
import { findFriend, findFriendSession, lockPeople, setFriendSession } from './friend.store.ts';
import { countThisMonth } from './person-sessions.store.ts';
import { newSessionIsPrivate } from './privacy.ts';
import { basesFor } from './session-bases.ts';
import type { SessionServiceDeps } from './session-deps.ts';
import { modelFor } from './session-models.ts';
import { basesOf, forkable, forkMark, readableSession } from './session.service.ts';
import * as store from './session.store.ts';

type Deps = SessionServiceDeps;
type Input = Parsed<'newSession'>;
type Made = Promise<{ id: number; uuid: string }>;

interface Maker {
  id: number;
  guest: boolean;
  setting: Settings;
  sessionPrivate: boolean;
}

/** The type of the session that is asked for. */
const typeAsked = ({ type, group_id: group }: Input): number =>
  type ?? (group === undefined ? sessionTypes.chat : sessionTypes.people);

/**
 * Refuses what cannot be asked for together, before a visitor gets an account for it.
 * @throws Refusal bad_input, login_required
 */
export const requireSense = (input: Input, user: Identity | null): void => {
  const { history_id: fork, scenario_id: scenario, temporary } = input;
  const embedding = input.embeddings?.[0] ?? input.embedding;
  const type = typeAsked(input);
  const ofChat = fork !== undefined || embedding !== undefined || temporary === 1;
  if (type === sessionTypes.people) {
    if (!user || user.guest) throw new Refusal('login_required', '向大家提问需要先登录');
    if (ofChat || scenario !== undefined)
      throw new Refusal('bad_input', 'type：问答没有场景、知识库与临时对话，也不能接着别的会话');
  }
  if (type === sessionTypes.image && ofChat)
    throw new Refusal('bad_input', 'type：作画没有知识库与临时对话，也不能接着别的会话');
  if (type === sessionTypes.video && (ofChat || scenario !== undefined))
    throw new Refusal('bad_input', 'type：视频没有场景、知识库与临时对话，也不能接着别的会话');
  if (fork !== undefined && (scenario !== undefined || embedding !== undefined || temporary === 1))
    throw new Refusal('bad_input', 'history_id：接着别的会话时不能再选场景、知识库或临时对话');
};

/** The account that makes a session, its row locked so that two calls count right. */
const makerOf = async (tx: Transaction, id: number): Promise<Maker & { vip: boolean }> => {
  const maker = await store.lockMaker(tx, id);
  if (!maker) throw new Refusal('unauthorized');
  if (maker.sessionBlacklist) throw new Refusal('sessions_forbidden');
  // What nobody may write in public begins as theirs alone.
  const sessionPrivate = maker.sessionPrivate || (await lacksPhone(tx, id));
  return { ...maker, id, sessionPrivate };
};

const insert = async (tx: Transaction, values: store.NewSession): Made => {
  const made = await store.insertSession(tx, values);
  // Somebody else made one of that address at this moment.
  if (!made) throw new Refusal('conflict');
  return made;
};

/** What every kind of session has of what was asked for; only questions show their group. */
const askedFor = ({ uuid, group_id: groupId }: Input, maker: Maker) => ({
  uuid,
  userId: maker.id,
  ...(groupId !== undefined && { groupId }),
});

/**
 * Whether it begins as its maker's alone: as they ask or usually have it, and where they have opened
 * enough today. @throws Refusal too_many, where they ask for it to be everybody's all the same
 */
const isPrivate = async (
  tx: Transaction,
  { id, sessionPrivate: forced, setting }: Maker,
  { private: asked }: Input,
): Promise<boolean> => {
  if (newSessionIsPrivate({ forced, setting }, asked)) return true;
  if (asked === undefined) return (await countOpened(tx, id)) > 0;
  await requireOpening(tx, id);
  return false;
};

const countScenario = async (tx: Transaction, id: number | undefined, maker: Maker) => {
  if (id !== undefined && !(await countSession(tx, id, maker.id))) throw noScenario();
};

/** Public, unless asked or forced to be private. */
const makePeopleSession = async (tx: Transaction, maker: Maker, input: Input): Made => {
  const hidden = maker.sessionPrivate || input.private === 1;
  if (!hidden) await requireOpening(tx, maker.id);
  return insert(tx, {
    ...askedFor(input, maker),
    type: sessionTypes.people,
    model: '',
    private: hidden,
  });
};

/** What new_session makes when it takes over what another session shows up to a message. */
const forkSource = async (
  db: Executor,
  historyId: number,
  user: Identity | null,
): Promise<{ row: store.SessionRow; point: { historyId: number; shownUpTo: number } }> => {
  const point = await findForkPoint(db, historyId);
  if (!point) throw new Refusal('not_found', '没有这条消息');
  const row = await readableSession(db, String(point.sessionId), user);
  if (!forkable(row) || !point.visible) throw new Refusal('not_found', '没有可以接着聊的这条消息');
  return { row, point: { historyId, shownUpTo: point.shownUpTo } };
};

/** KB that copies of talks take in a day: of a person, of a guest, and of all guests of a network. */
const copiedADay = { person: 50_000, guest: 5_000, guests: 20_000 };

/** Messages that one copy may have, which is made within one request: of a person, and of a guest. */
const mostCopied = { person: 20_000, guest: 5_000 };

/** @throws Refusal too_large; too_many, where so much was copied today */
const countCopied = async (
  tx: Transaction,
  maker: Maker,
  { messages, bytes }: { messages: number; bytes: number },
) => {
  const most = maker.guest ? mostCopied.guest : mostCopied.person;
  if (messages > most)
    throw new Refusal('too_large', `这个会话超过 ${most} 条消息，太长，不能接着聊`);
  const left = await countDay(tx, maker.id, 'copied', copiedADay, Math.ceil(bytes / 1000));
  if (left > 0) throw tooMany(left);
};

const makeFork = async (
  deps: Deps,
  tx: Transaction,
  maker: Maker,
  { input, historyId, user }: { input: Input; historyId: number; user: Identity | null },
): Made => {
  const { row, point } = await forkSource(tx, historyId, user);
  await deps.requireDisk({ guest: user?.guest ?? true });
  await countCopied(tx, maker, await sizeOfCopy(tx, row.id, point));
  const wanted = { name: input.model, preferred: row.model, asker: maker };
  const model = await modelFor(deps, tx, sessionTypes.chat, wanted);
  const open = await deps.knowledge.findAll(tx, basesOf(row), maker.id);
  const [key = '', ...more] = open.map((base) => base.key);
  const made = await insert(tx, {
    ...askedFor(input, maker),
    type: sessionTypes.chat,
    model,
    private: await isPrivate(tx, maker, input),
    scenarioId: row.scenarioId,
    embeddingKey: key,
    moreEmbeddings: more,
    forkedFrom: row.id,
    // Told from its original in every list; a fork of a fork is no longer.
    prompt:
      row.prompt === '' || row.prompt.endsWith(forkMark) ? row.prompt : `${row.prompt}${forkMark}`,
  });
  const { replies, lastReply } = await copyMessages(tx, {
    from: row.id,
    point,
    into: { sessionId: made.id, userId: maker.id },
  });
  await store.noteReply(tx, made.id, { replies, summary: summaryOf(lastReply) });
  return made;
};

/** A trained style is a model, too, to those who draw with it (document 2 §4): its key names it. */
const drawnWith = async (
  { models, requireTrained }: Deps,
  db: Executor,
  maker: Maker,
  name: string | undefined,
): Promise<{ name?: string; styleKey?: string }> => {
  if (name === undefined || (await models.findImage(db, name))) return { name };
  const [styleKey] = await requireTrained(db, [name], maker.id);
  return styleKey === undefined ? { name } : { styleKey };
};

/** For images or videos. */
const makeMediaSession = async (
  deps: Deps,
  tx: Transaction,
  maker: Maker,
  { input, type }: { input: Input; type: number },
): Made => {
  await countScenario(tx, input.scenario_id, maker);
  const { default_image_model: painter } = maker.setting;
  const preferred = type === sessionTypes.image ? painter : undefined;
  const { name, styleKey } =
    type === sessionTypes.image
      ? await drawnWith(deps, tx, maker, input.model)
      : { name: input.model };
  const wanted = { name, preferred, asker: maker };
  return insert(tx, {
    ...askedFor(input, maker),
    type,
    styleKey,
    model: await modelFor(deps, tx, type, wanted),
    private: await isPrivate(tx, maker, input),
    scenarioId: input.scenario_id ?? null,
  });
};

/**
 * A knowledge base is a model, too, to those who train it (document 3 §3): its key names it. Another's
 * is not, or whoever calls theirs like a model were asked in its place.
 */
const talkedTo = async (
  { models, knowledge }: Deps,
  db: Executor,
  maker: Maker,
  { model: name, embedding, embeddings = embedding === undefined ? [] : [embedding] }: Input,
): Promise<{ name?: string; keys: string[] }> => {
  if (name === undefined || embeddings.length > 0 || (await models.find(db, name, maker)))
    return { name, keys: embeddings };
  const base = await knowledge.find(db, name, maker.id);
  return base && (base.mine || base.built_in) ? { keys: [name] } : { name, keys: [] };
};

const makeChat = async (deps: Deps, tx: Transaction, maker: Maker, input: Input): Made => {
  const temporary = input.temporary === 1;
  await countScenario(tx, input.scenario_id, maker);
  const { name, keys } = await talkedTo(deps, tx, maker, input);
  const bases = await basesFor(deps, tx, keys, maker.id);
  const wanted = { name, preferred: maker.setting.default_chat_model, asker: maker };
  return insert(tx, {
    ...askedFor(input, maker),
    type: sessionTypes.chat,
    model: await modelFor(deps, tx, sessionTypes.chat, wanted),
    private: temporary || (await isPrivate(tx, maker, input)),
    scenarioId: input.scenario_id ?? null,
    ...bases,
    temporary,
  });
};

/**
 * Makes a session; one that this person has made of the same address is given again.
 * @param userId whose it will be: the guest's where `user` is null
 * @throws Refusal conflict, session_deleted, sessions_forbidden, monthly_limit, model_unavailable
 */
export const createSession = (
  deps: Deps,
  db: Executor,
  input: Input,
  { userId, user }: { userId: number; user: Identity | null },
): Made =>
  inTransaction(db, async (tx) => {
    const maker = await makerOf(tx, userId);
    const there = input.uuid === undefined ? null : await store.findSession(tx, input.uuid);
    if (there) {
      if (there.userId !== userId) throw new Refusal('conflict');
      if (there.deletedAt) throw new Refusal('session_deleted');
      return { id: there.id, uuid: there.uuid };
    }
    const most = limits.freeSessionsAMonth;
    if (!maker.vip && (await countThisMonth(tx, userId, most)) >= most)
      throw new Refusal('monthly_limit');
    if (input.group_id !== undefined) await deps.forum.requireGroup(tx, input.group_id);
    const type = typeAsked(input);
    if (type === sessionTypes.people) return makePeopleSession(tx, maker, input);
    if (type !== sessionTypes.chat) return makeMediaSession(deps, tx, maker, { input, type });
    const { history_id: historyId } = input;
    return historyId === undefined
      ? makeChat(deps, tx, maker, input)
      : makeFork(deps, tx, maker, { input, historyId, user });
  });

/**
 * The one private session of two people; made when there is none.
 * @throws Refusal not_found, sessions_forbidden
 */
export const befriend = (db: Executor, friendId: number, user: Identity): Made => {
  const [low = 0, high = 0] = [user.id, friendId].sort((a, b) => a - b);
  return inTransaction(db, async (tx) => {
    if (low === high || !(await findFriend(tx, friendId)))
      throw new Refusal('not_found', low === high ? '不能和自己私聊' : '没有这个人');
    await lockPeople(tx, low, high);
    const found = await findFriendSession(tx, low, high);
    if (found) return found;
    await makerOf(tx, user.id);
    const made = await insert(tx, {
      userId: user.id,
      type: sessionTypes.people,
      model: '',
      private: true,
    });
    await setFriendSession(tx, low, high, made.id);
    return made;
  });
};
