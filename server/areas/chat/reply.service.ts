import type { Executor } from '../../db/database.ts';
import { Refusal, type Identity } from '../../http/handlers.ts';
import { readableSession } from '../session/session.service.ts';
import { requireVisible } from './access.ts';
import { findMessage, wholeReply } from './chat.store.ts';

/** A reply that somebody may read, with where it stands. @throws Refusal as of its session */
export const readableReply = async (
  db: Executor,
  historyId: number,
  user: Identity | null,
): Promise<{ sessionId: number; ai: string; human: string }> => {
  const found = await findMessage(db, historyId);
  if (!found) throw new Refusal('not_found', '没有这条消息');
  const session = await readableSession(db, String(found.sessionId), user);
  await requireVisible(db, historyId, session, user);
  return { sessionId: session.id, ...(await wholeReply(db, historyId)) };
};
