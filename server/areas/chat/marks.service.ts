import type { Parsed } from '#contract/calls.ts';
import type { Executor } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import { anySession, readableSession } from '../session/session.service.ts';
import { requireVisible } from './access.ts';
import * as store from './marks.store.ts';

/** Nothing of a temporary session is kept, so nothing in it can be marked. */
const requireKept = ({ temporary }: { temporary: boolean }): void => {
  if (temporary) throw new Refusal('session_unsuitable', '临时对话不保存内容，不能点赞或收藏');
};

export const like = (db: Executor, input: Parsed<'historyLike'>, user: Identity) =>
  inTransaction(db, async (tx) => {
    const session = await readableSession(tx, input.session_id, user);
    requireKept(session);
    await store.lockSession(tx, session.id);
    const { id: historyId } = await requireVisible(tx, input.history_id, session, user);
    const mark = { user, sessionId: session.id, historyId };
    return store.setLike(tx, mark, input.liked === undefined ? undefined : input.liked === 1);
  });

export const addFavorite = (
  db: Executor,
  input: Parsed<'addToFavorites'>,
  user: Identity,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const session = await readableSession(tx, input.session_id, user);
    requireKept(session);
    await store.lockSession(tx, session.id);
    const historyId = input.history_id ?? 0;
    if (historyId !== 0) await requireVisible(tx, historyId, session, user);
    await store.addFavorite(tx, { userId: user.id, sessionId: session.id, historyId });
  });

/** Also of a session that can no longer be read; 404 where there is nothing to see and no mark. */
export const removeFavorite = async (
  db: Executor,
  input: Parsed<'removeFromFavorites'>,
  user: Identity,
): Promise<void> => {
  const session = await anySession(db, input.session_id);
  if (!session) throw new Refusal('not_found');
  const historyId = input.history_id ?? 0;
  const mark = { userId: user.id, sessionId: session.id, historyId };
  if (await store.removeFavorite(db, mark)) return;
  const seen = await readableSession(db, input.session_id, user).catch((error: unknown) => {
    throw error instanceof Refusal ? new Refusal('not_found') : error;
  });
  if (historyId !== 0) await requireVisible(db, historyId, seen, user);
};
