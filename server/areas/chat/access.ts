import { sessionTypes } from '#contract/kinds.ts';
import type { Executor } from '#server/db/database.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import type { SessionRow } from '../session/session.service.ts';
import { findMessage, type FoundMessage } from './chat.store.ts';

/**
 * Whoever owns a session sees all its branches, and so do managers; others see the shown one. Among
 * people nothing branches: what is not shown there is not for its owner's eyes yet.
 */
export const seesHidden = (session: SessionRow, user: Identity | null): boolean =>
  user !== null &&
  (user.manager || (session.userId === user.id && session.type !== sessionTypes.people));

/** A message of the session that the person may see; 404 for any other. */
export const requireVisible = async (
  db: Executor,
  id: number,
  session: SessionRow,
  user: Identity | null,
): Promise<FoundMessage> => {
  const message = await findMessage(db, id);
  if (message?.sessionId !== session.id) throw new Refusal('not_found');
  if (!message.visible && !seesHidden(session, user)) throw new Refusal('not_found');
  return message;
};
