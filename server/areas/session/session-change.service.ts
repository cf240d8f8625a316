import type { Parsed } from '#contract/calls.ts';
import { limits } from '#contract/limits.ts';
import { sessionTypes } from '#contract/kinds.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import { requirePhone } from '../contact/phone-rule.service.ts';
import { refuseBlocked } from '../moderation/blocked-words.service.ts';
import { requireOpening } from './day-counts.ts';
import { privacyChangeRefusal } from './privacy.ts';
import { basesFor } from './session-bases.ts';
import type { SessionServiceDeps } from './session-deps.ts';
import { modelFor } from './session-models.ts';
import { ownSession, writableSession } from './session.service.ts';
import * as store from './session.store.ts';

type Deps = Pick<SessionServiceDeps, 'models' | 'requireTrained' | 'knowledge'>;

const pin = async (tx: Transaction, ref: string, user: Identity, onTop: boolean) => {
  const { id } = await writableSession(tx, ref, user);
  if (onTop && (await store.countPins(tx, user.id)) >= limits.pins)
    throw new Refusal('session_unsuitable', `最多置顶 ${limits.pins} 个会话`);
  await store.setOnTop(tx, { userId: user.id, sessionId: id }, onTop);
};

const requireTitled = (row: store.SessionRow): void => {
  if (row.lowUserId !== null)
    throw new Refusal('session_unsuitable', '两个人的私聊以对方的名字为标题');
  if (row.prompt === '')
    throw new Refusal('session_unsuitable', '会话还没有内容，发出第一条消息后再重命名');
};

/** What everybody will read of it has no blocked words. @throws Refusal words_blocked */
const requireClean = async (
  tx: Transaction,
  row: store.SessionRow,
  title: string | undefined,
  toPrivate: boolean,
): Promise<void> => {
  if (title === undefined) {
    if (!toPrivate && row.private) await refuseBlocked(tx, row.prompt);
  } else if (!toPrivate || row.type === sessionTypes.people) await refuseBlocked(tx, title);
};

/** @throws Refusal private_forced for a session that nobody may open to others */
export const requireMayBeOpen = (
  row: Pick<store.SessionRow, 'temporary' | 'lowUserId'>,
  toPrivate: boolean,
): void => {
  if (toPrivate || (!row.temporary && row.lowUserId === null)) return;
  const what = row.temporary ? '临时对话' : '两个人的私聊';
  throw new Refusal('private_forced', `${what}只能是私有的`);
};

const requirePrivacyChange = (row: store.SessionRow, toPrivate: boolean): void => {
  requireMayBeOpen(row, toPrivate);
  const rules = { forced: row.ownerForcedPrivate, setting: row.ownerSetting };
  const refusal = privacyChangeRefusal(rules, toPrivate);
  if (refusal) throw new Refusal(refusal);
};

/** Another model is possible until the first message. */
const otherModel = async (
  deps: Deps,
  tx: Transaction,
  row: store.SessionRow,
  { name, asker }: { name: string; asker: Identity },
): Promise<string> => {
  if (row.type === sessionTypes.people)
    throw new Refusal('model_locked', '问答与私聊没有固定的模型，用 @ 提到一个即可');
  if (await store.hasMessages(tx, row.id)) throw new Refusal('model_locked');
  return modelFor(deps, tx, row.type, { name, asker });
};

/** Only a model that talks rests its answers on them. */
const otherBases = (
  deps: Deps,
  tx: Transaction,
  row: store.SessionRow,
  { keys, asker }: { keys: readonly string[]; asker: Identity },
) => {
  if (row.type !== sessionTypes.chat)
    throw new Refusal('session_unsuitable', '只有与模型的会话可以问知识库');
  return basesFor(deps, tx, keys, asker.id);
};

/**
 * Changes what an owner may: the title, the model, the knowledge bases, who sees it; whoever may write in it may keep it
 * at the top of their own list.
 * @throws Refusal not_found, session_deleted, session_unsuitable, words_blocked, private_forced,
 *   private_global_off, model_locked, model_unavailable, embedding_missing, too_many
 */
export const changeSession = (
  deps: Deps,
  db: Executor,
  input: Parsed<'setSession'>,
  user: Identity,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const { session_id: ref, on_top: onTop, private: hidden, model, title, embeddings } = input;
    if (onTop !== undefined) await pin(tx, ref, user, onTop === 1);
    if ([hidden, model, title, embeddings].every((each) => each === undefined)) return;
    const row = await ownSession(tx, ref, user);
    const toPrivate = hidden === undefined ? row.private : hidden === 1;
    const values: Parameters<typeof store.updateSession>[2] =
      embeddings === undefined
        ? {}
        : await otherBases(deps, tx, row, { keys: embeddings, asker: user });
    if (title !== undefined) {
      requireTitled(row);
      values.prompt = title;
    }
    await requireClean(tx, row, title, toPrivate);
    // Of a session that is private with its owner alone, private is another thing to ask for.
    if (toPrivate !== row.private || (hidden === 1 && row.closedWithOwner)) {
      requirePrivacyChange(row, toPrivate);
      if (!toPrivate) {
        await requirePhone(tx, user);
        await requireOpening(tx, user.id);
      }
      values.private = toPrivate;
    }
    if (model !== undefined && model !== row.model)
      values.model = await otherModel(deps, tx, row, { name: model, asker: user });
    if (Object.keys(values).length > 0) await store.updateSession(tx, row.id, values);
  });

/**
 * Marks the session as deleted; gives its number, for its running reply to be stopped.
 * @throws Refusal not_found, session_deleted
 */
export const removeSession = (db: Executor, ref: string, user: Identity): Promise<number> =>
  inTransaction(db, async (tx) => {
    const row = await ownSession(tx, ref, user);
    await store.markDeleted(tx, row.id);
    return row.id;
  });
