import { summaryOf } from '#common/markdown/digest.ts';
import { sessionTypes } from '#contract/kinds.ts';
import type { Transaction } from '#server/db/database.ts';
import { noteRemoved } from '../forum/forum.service.ts';
import { anySession, markDeleted, noteReply, type SessionRow } from '../session/session.service.ts';
import { removeFromBranch } from './branch.store.ts';
import {
  answeredExchanges,
  findMessage,
  newestText,
  updateCard,
  type FoundMessage,
} from './chat.store.ts';
import { forgetSummaryOf } from './context.store.ts';
import { summaryOfFilms } from './films.service.ts';
import { summaryOfNewest } from './image-messages.service.ts';
import { forgetFavorites } from './marks.store.ts';
import { forgetTitleOf } from './session-title.ts';

const summarisers: Readonly<Record<number, (ai: string) => string>> = {
  [sessionTypes.image]: summaryOfNewest,
  [sessionTypes.video]: summaryOfFilms,
};

type Where = Pick<SessionRow, 'id' | 'type'>;

/** What a session's card says of what was written in it last. */
const summaryNow = async (tx: Transaction, { id, type }: Where): Promise<string> => {
  if (type === sessionTypes.people) return summaryOf(await newestText(tx, id));
  const [newest] = await answeredExchanges(tx, { sessionId: id, limit: 1 });
  return (summarisers[type] ?? summaryOf)(newest?.ai ?? '');
};

/** Takes the words that a message had out of its session's card and out of its summary. */
export const renewCard = async (
  tx: Transaction,
  session: Where,
  before: FoundMessage,
): Promise<void> => {
  await forgetSummaryOf(tx, before);
  await updateCard(tx, session.id, { summary: await summaryNow(tx, session) });
  await forgetTitleOf(tx, before);
};

/** Takes a message out of its session, out of what counts it, and out of what shows its words. */
export const removeMessage = async (
  tx: Transaction,
  session: Where,
  message: FoundMessage,
): Promise<void> => {
  const { id, userId } = message;
  await forgetFavorites(tx, id);
  await removeFromBranch(tx, message);
  const ofPeople = session.type === sessionTypes.people;
  // What never arrived was never counted.
  if (ofPeople && !message.shown) return;
  if (ofPeople) await noteRemoved(tx, { id, userId, sessionId: session.id });
  const own = ofPeople ? 1 : 0;
  await noteReply(tx, session.id, {
    replies: -own - (message.answered ? 1 : 0),
    likes: -message.likeCount,
  });
  await renewCard(tx, session, message);
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
  return removeMessage(tx, session, message);
};
