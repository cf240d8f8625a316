import type { Transaction } from '../../db/database.ts';
import { noteRemoved } from '../forum/forum.service.ts';
import { anySession, markDeleted, noteReply } from '../session/session.service.ts';
import { removeFromBranch } from './branch.store.ts';
import { findMessage, newestText, type FoundMessage } from './chat.store.ts';
import { summaryOf } from '../../../common/markdown/digest.ts';
import { forgetFavorites } from './marks.store.ts';

/** Takes a message out of a session of people, and out of what counts it. */
export const removeFromTalk = async (tx: Transaction, message: FoundMessage): Promise<void> => {
  const { id, sessionId, userId } = message;
  await forgetFavorites(tx, id);
  await removeFromBranch(tx, message);
  await noteRemoved(tx, { id, userId, sessionId });
  await noteReply(tx, sessionId, {
    replies: message.answered ? -2 : -1,
    likes: -message.likeCount,
    summary: summaryOf(await newestText(tx, sessionId)),
  });
};

/**
 * Takes away what was reported, if it is there still.
 * @param historyId 0: the whole session
 */
export const removeReported = async (
  tx: Transaction,
  sessionId: number,
  historyId: number,
): Promise<void> => {
  if (historyId === 0) return markDeleted(tx, sessionId);
  const session = await anySession(tx, String(sessionId));
  const message = await findMessage(tx, historyId);
  if (!session || message?.sessionId !== sessionId) return undefined;
  // Of a talk with a model the thread hangs together: all of it goes.
  if (session.type !== 2 || message.prevId === 0) return markDeleted(tx, sessionId);
  return removeFromTalk(tx, message);
};
