import type { Message } from '../../contract/chat.ts';
import { sessionTypes } from '../../contract/session.ts';
import type { Executor } from '../db/database.ts';
import type { Identity } from '../http/handlers.ts';
import type { SessionRow } from '../session/session.service.ts';
import { seesHidden } from './access.ts';
import { followersOf } from './branch.store.ts';
import { partnersOf, type MessageRow, type Request } from './chat.store.ts';

type OneMessage = Omit<Message, 'beside'>;

/** What stands in `msg` of a message: its prompt, or with all that goes along as JSON. */
export const humanText = (human: string, request: Request | null): string =>
  request === null ? human : JSON.stringify({ prompt: human, ...request });

const oneView = (
  row: MessageRow,
  session: SessionRow,
  user: Identity | null,
  siblings: number[],
): OneMessage => {
  // Among people each pays for the replies that they asked for.
  const payer = session.type === sessionTypes.people ? row.userId : session.userId;
  const own = payer === user?.id;
  return {
    id: row.id,
    human: humanText(row.human, row.request),
    format: row.request === null ? 0 : 1,
    title: row.title,
    ai: row.ai,
    reasoning: row.reasoning,
    type: row.type,
    model: row.model,
    state: row.state,
    error_code: row.errorCode,
    error_message: row.errorMessage,
    user_id: row.userId,
    user_name: row.userName,
    created_at: row.createdAt.toISOString(),
    prompt_tokens: own ? row.promptTokens : 0,
    completion_tokens: own ? row.completionTokens : 0,
    deduct_tokens: own ? row.deductTokens : 0,
    like_count: row.likeCount,
    liked: row.liked,
    in_favorites: row.inFavorites,
    edited: row.editedAt !== null,
    job: null,
    siblings,
  };
};

type Follower = Awaited<ReturnType<typeof followersOf>>[number];

/**
 * The branches at a message's place: two answers beside each other are one, and stand for the
 * message itself or by the one that was looked at last.
 */
export const siblingsAmong = (
  followers: readonly Follower[],
  row: Pick<Follower, 'id' | 'prevId' | 'besideGroup'>,
): number[] => {
  const branches = new Map<number, Follower>();
  for (const each of followers) {
    if (each.prevId !== row.prevId) continue;
    const key = each.besideGroup === 0 ? each.id : each.besideGroup;
    const known = branches.get(key);
    const better =
      each.id === row.id ||
      known === undefined ||
      (known.id !== row.id && each.branchRank > known.branchRank);
    if (better) branches.set(key, each);
  }
  if (branches.size < 2) return [];
  return [...branches].sort(([a], [b]) => a - b).map(([, each]) => each.id);
};

/** Messages as one person may see them. */
export const viewMessages = async (
  db: Executor,
  rows: readonly MessageRow[],
  session: SessionRow,
  user: Identity | null,
): Promise<Message[]> => {
  const viewer = user?.id ?? null;
  const branched = session.type === sessionTypes.chat && rows.length > 0;
  const followers =
    branched && seesHidden(session, user)
      ? await followersOf(
          db,
          session.id,
          rows.map((row) => row.prevId),
        )
      : [];
  const partners = branched ? await partnersOf(db, viewer, session.id, rows) : [];
  return rows.map((row) => {
    const partner = row.shown
      ? partners.find((each) => each.besideGroup === row.besideGroup)
      : undefined;
    return {
      ...oneView(row, session, user, siblingsAmong(followers, row)),
      beside: partner ? oneView(partner, session, user, []) : null,
    };
  });
};
