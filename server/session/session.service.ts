import { limits } from '../../contract/limits.ts';
import { modelTypes } from '../../contract/model.ts';
import { isFree } from '../../contract/price.ts';
import { sessionTypes, type Session, type SessionDetail } from '../../contract/session.ts';
import type { Parsed } from '../../contract/calls.ts';
import type { CodeName } from '../../contract/errors.ts';
import type { Executor } from '../db/database.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { Refusal, type Identity } from '../http/handlers.ts';
import type { ModelService, ResolvedModel } from '../model/model.service.ts';
import { newSessionIsPrivate, privacyChangeRefusal } from './privacy.ts';
import * as store from './session.store.ts';

export type { SessionRow } from './session.store.ts';
export { countThisMonth, moveSessions, noteReply } from './session.store.ts';

export const loginUrl = '/login';

/** Refuses a model that costs to somebody who has no account to pay from. */
export const requireUsable = (model: ResolvedModel, guest: boolean): void => {
  if (guest && !isFree(model)) {
    throw new Refusal('login_required', '这个模型登录后才能使用', { login_url: loginUrl });
  }
};

const ownedBy = (row: store.SessionRow, user: Identity | null): boolean => row.userId === user?.id;

/** The owner, or one of the two people of a session that new_friend made. */
const belongsTo = (row: store.SessionRow, user: Identity | null): boolean =>
  user !== null && (ownedBy(row, user) || row.lowUserId === user.id || row.highUserId === user.id);

/**
 * Why somebody may not write in a session; null when they may: in their own one, in one of two
 * friends, and in a public one of people, for which guests have to register.
 */
export const writeRefusal = (row: store.SessionRow, user: Identity): CodeName | null => {
  if (row.deletedAt) return 'session_deleted';
  const ofPeople = row.type === sessionTypes.people;
  if (row.private && !belongsTo(row, user)) return 'private_session';
  if (!ofPeople) return ownedBy(row, user) ? null : 'not_owner';
  return user.guest ? 'login_required' : null;
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

/** The session for somebody to write in (see `writeRefusal`), locked until the transaction ends. */
export const writableSession = async (
  db: Executor,
  ref: string,
  user: Identity,
): Promise<store.SessionRow> => {
  const row = await store.findSession(db, ref, { lock: true });
  if (!row) throw new Refusal('not_found');
  const refusal = writeRefusal(row, user);
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

const view = (row: store.SessionRow): Session => ({
  id: row.id,
  uuid: row.uuid,
  type: row.type,
  model: row.model,
  user_id: row.userId,
  user_name: row.userName,
  prompt: row.prompt,
  summary: row.summary,
  private: row.private ? 1 : 0,
  reply_count: row.replyCount,
  like_count: row.likeCount,
  images: [],
  favorite: false,
  scenario_id: null,
  embedding_key: '',
  embedding_name: '',
  match: null,
  created_at: row.createdAt.toISOString(),
  updated_at: row.updatedAt.toISOString(),
});

const detailView = (row: store.SessionRow, user: Identity | null): SessionDetail => ({
  ...view(row),
  owner: ownedBy(row, user),
  writable: user !== null && writeRefusal(row, user) === null,
  owner_vip: row.ownerVip,
  private_forced: row.ownerForcedPrivate,
  scenario: null,
  temporary: row.temporary,
  friend: null,
  forkable: false,
});

/** How many sessions a list reaches back: all that fit, and with a filter the ones looked through. */
const reach = { plain: 1000, filtered: 5000, own: 10_000 } as const;

export const createSessionService = (models: ModelService) => {
  const chatModel = async (db: Executor, name: string, guest: boolean): Promise<ResolvedModel> => {
    const model = await models.find(db, name);
    if (!model) throw new Refusal('model_unavailable');
    requireUsable(model, guest);
    return model;
  };

  const preferredModel = async (
    db: Executor,
    preferred: string | undefined,
    guest: boolean,
  ): Promise<ResolvedModel> => {
    const model = preferred === undefined ? null : await models.find(db, preferred);
    if (model && !(guest && !isFree(model))) return model;
    return models.defaultModel(db, { freeOnly: guest });
  };

  return {
    async list(db: Executor, input: Parsed<'sessionList'>, user: Identity | null) {
      if (input.channel !== 'public' && !user) throw new Refusal('unauthorized');
      const { page, page_size: pageSize } = input;
      const named = (await models.list(db)).filter((model) => model.type === modelTypes.chat);
      const answer = (list: Session[], total: number) => ({
        list,
        page,
        page_count: Math.ceil(total / pageSize),
        page_size: pageSize,
        total,
        models: named.map((model) => model.name),
      });
      const mine = input.channel === 'private';
      // Nothing can be a favourite or of a scenario, and nobody's sessions are another's.
      const nothing =
        input.channel === 'favorites' ||
        input.scenario_id !== undefined ||
        (mine && input.user_id !== undefined && input.user_id !== user?.id);
      if (nothing) return answer([], 0);
      const query = input.query?.trim() || undefined;
      const filtered = query !== undefined || input.model !== undefined;
      const window = mine ? reach.own : filtered ? reach.filtered : reach.plain;
      const { list, total } = await store.listSessions(
        db,
        {
          userId: mine ? user?.id : input.user_id,
          publicOnly: !mine,
          model: input.model,
          query,
        },
        { window, offset: Math.min((page - 1) * pageSize, window), limit: pageSize },
      );
      return answer(
        list.map((row) => view(row)),
        total,
      );
    },

    async get(db: Executor, ref: string, user: Identity | null): Promise<SessionDetail> {
      return detailView(await readableSession(db, ref, user), user);
    },

    create(db: Executor, input: Parsed<'newSession'>, userId: number) {
      return inTransaction(db, async (tx) => {
        const maker = await store.lockMaker(tx, userId);
        if (!maker) throw new Refusal('unauthorized');
        if (maker.sessionBlacklist) throw new Refusal('sessions_forbidden');
        const made = maker.vip
          ? 0
          : await store.countThisMonth(tx, userId, limits.freeSessionsAMonth);
        if (made >= limits.freeSessionsAMonth) throw new Refusal('monthly_limit');
        const model =
          input.model === undefined
            ? await preferredModel(tx, maker.setting.default_chat_model, maker.guest)
            : await chatModel(tx, input.model, maker.guest);
        const rules = { forced: maker.sessionPrivate, setting: maker.setting };
        return store.insertSession(tx, {
          userId,
          type: input.type,
          model: model.name,
          private: newSessionIsPrivate(rules, input.private),
        });
      });
    },

    change(db: Executor, input: Parsed<'setSession'>, user: Identity): Promise<void> {
      return inTransaction(db, async (tx) => {
        const row = await ownSession(tx, input.session_id, user);
        const values: { private?: boolean; model?: string } = {};
        if (input.private !== undefined && (input.private === 1) !== row.private) {
          const rules = { forced: row.ownerForcedPrivate, setting: row.ownerSetting };
          const refusal = privacyChangeRefusal(rules, input.private === 1);
          if (refusal) throw new Refusal(refusal);
          values.private = input.private === 1;
        }
        if (input.model !== undefined && input.model !== row.model) {
          if (await store.hasMessages(tx, row.id)) throw new Refusal('model_locked');
          values.model = (await chatModel(tx, input.model, user.guest)).name;
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
