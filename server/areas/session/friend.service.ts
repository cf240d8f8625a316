import type { Parsed } from '#contract/calls.ts';
import { summaryOf } from '#common/markdown/digest.ts';
import { limits } from '#contract/limits.ts';
import type { FriendState } from '#contract/session.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import * as store from './friend.store.ts';
import { findSession, lockMaker, noteReply } from './session.store.ts';

export { areFriends, blocksPerson } from './friend.store.ts';

/** How two people who write to each other alone stand: asked, accepted, blocked. */

const isLow = (friends: store.FriendRow, userId: number): boolean => friends.lowUserId === userId;
const blocks = (friends: store.FriendRow, userId: number): boolean =>
  isLow(friends, userId) ? friends.lowBlocks : friends.highBlocks;

const stateFor = (friends: store.FriendRow, userId: number): FriendState => {
  if (blocks(friends, userId)) return 'blocking';
  if (friends.acceptedAt !== null) return 'accepted';
  if (friends.askedBy === null) return 'new';
  return friends.askedBy === userId ? 'asking' : 'asked';
};

/** Null where the session is none of two people, or not this person's. */
export const friendStateOf = async (
  db: Executor,
  sessionId: number,
  userId: number,
): Promise<FriendState | null> => {
  const friends = await store.findFriends(db, sessionId);
  return friends && (friends.lowUserId === userId || friends.highUserId === userId)
    ? stateFor(friends, userId)
    : null;
};

/** Refuses words to somebody who does not want them, new ones and changed ones. */
const requireUnblocked = (friends: store.FriendRow, userId: number): void => {
  if (blocks(friends, userId))
    throw new Refusal('session_unsuitable', '您屏蔽了对方，取消屏蔽之后才能发消息');
  if (friends.lowBlocks || friends.highBlocks)
    throw new Refusal('session_unsuitable', '对方现在不接收您的消息');
};

/** @throws Refusal session_unsuitable */
export const requireWelcome = async (
  tx: Transaction,
  sessionId: number,
  userId: number,
): Promise<void> => {
  const friends = await store.findFriends(tx, sessionId);
  if (friends) requireUnblocked(friends, userId);
};

/** How what somebody writes gets to the other one: at once, once they accept, or it accepts them. */
export type Delivery = 'arrives' | 'waits' | 'accepts';

/**
 * Somebody is about to write: the first message asks, what else they write waits, an answer accepts.
 * @throws Refusal session_unsuitable, too_many
 */
export const noteSent = async (
  tx: Transaction,
  sessionId: number,
  userId: number,
): Promise<Delivery> => {
  const friends = await store.findFriends(tx, sessionId, { lock: true });
  if (!friends) return 'arrives';
  requireUnblocked(friends, userId);
  if (friends.acceptedAt !== null) return 'arrives';
  if (friends.askedBy === null) {
    // Two requests at once count one after the other.
    await lockMaker(tx, userId);
    if ((await store.openRequests(tx, userId)) >= limits.unansweredRequests)
      throw new Refusal('too_many', '今天向陌生人发出的请求太多了，请等对方接受，或明天再来');
    await store.updateFriends(tx, sessionId, { askedBy: userId, askedAt: new Date() });
    return 'arrives';
  }
  if (friends.askedBy === userId) return 'waits';
  await store.updateFriends(tx, sessionId, { acceptedAt: new Date() });
  return 'accepts';
};

/** What waited for consent is now before the other one, in the order in which it was written. */
export const deliverWaiting = async (tx: Transaction, sessionId: number): Promise<void> => {
  const texts = await store.showWaiting(tx, sessionId);
  const last = texts.at(-1);
  if (last !== undefined)
    await noteReply(tx, sessionId, { replies: texts.length, summary: summaryOf(last) });
};

/** What somebody says to the other one's request, or to the other one at all. */
export const answerFriend = (
  db: Executor,
  { session_id: ref, act }: Parsed<'answerFriend'>,
  user: Identity,
): Promise<FriendState> =>
  inTransaction(db, async (tx) => {
    const session = await findSession(tx, ref, { lock: true });
    const friends = session && (await store.findFriends(tx, session.id, { lock: true }));
    if (!session || !friends || (friends.lowUserId !== user.id && friends.highUserId !== user.id))
      throw new Refusal('not_found');
    if (session.deletedAt) throw new Refusal('session_deleted');
    const changed = { ...friends };
    if (act === 'accept') {
      if (friends.askedBy !== null && friends.askedBy !== user.id)
        changed.acceptedAt ??= new Date();
    } else if (isLow(friends, user.id)) changed.lowBlocks = act === 'block';
    else changed.highBlocks = act === 'block';
    const { acceptedAt, lowBlocks, highBlocks } = changed;
    await store.updateFriends(tx, session.id, { acceptedAt, lowBlocks, highBlocks });
    if (acceptedAt !== null) await deliverWaiting(tx, session.id);
    return stateFor(changed, user.id);
  });
