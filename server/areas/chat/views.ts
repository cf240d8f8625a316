import type { Message } from '#contract/chat.ts';
import type { Source } from '#contract/embedding.ts';
import type { Job } from '#contract/job.ts';
import { sessionTypes } from '#contract/kinds.ts';
import type { VideoMessage } from '#contract/video.ts';
import type { Executor } from '#server/db/database.ts';
import type { Identity } from '#server/http/handlers.ts';
import { jobsOf } from '#server/jobs/job.service.ts';
import type { SessionRow } from '../session/session.service.ts';
import { seesHidden } from './access.ts';
import { type Follower, followersOf } from './branch.store.ts';
import { readReply } from './image-reply.ts';
import { withoutIds } from './question.ts';
import { namesAmong, type Names, withName } from './spoken-to.ts';
import { viewTool } from './stored-tool.ts';
import { partnersOf, type MessageRow, type Request } from './chat.store.ts';

type OneMessage = Omit<Message, 'beside'>;

/**
 * What stands in `msg` of a message: its prompt, or with all that goes along as JSON. What is asked
 * of images and films stands flat in it, too, as documents 1 §3 and 2 §3 list it.
 */
export const humanText = (human: string, request: Request | null): string => {
  if (request === null) return human;
  const film = request.type === 'img2video' && (request as Partial<VideoMessage>).parameters;
  return JSON.stringify({ prompt: human, ...request, ...request.image, ...film });
};

/** The answer as document 1 §3 has it: of images the list of them, and beside it what is more. */
const answerOf = ({ type, ai }: MessageRow): Pick<OneMessage, 'ai' | 'made'> => {
  const made = type === sessionTypes.image ? readReply(ai) : null;
  return made === null ? { ai, made } : { ai: JSON.stringify(made.images), made };
};

/** Its name and place alone: the text is given to who may open its knowledge base. */
const namedSource = ({ n, title, place, base }: Source): Source => ({ n, title, place, base });

/** `paid`: who reads it pays for it, and may know what it cost. `viewer`: null for a stranger. */
const oneView = (
  row: MessageRow,
  {
    paid,
    siblings,
    viewer,
    names,
    people = false,
    job = null,
  }: {
    paid: boolean;
    siblings: number[];
    viewer: number | null;
    names: Names;
    people?: boolean;
    job?: Job | null;
  },
): OneMessage => ({
  id: row.id,
  human: humanText(
    row.human,
    withName(row.userId === viewer ? row.request : withoutIds(row.request), names),
  ),
  format: row.request === null ? 0 : 1,
  title: row.title,
  content: people ? row.human : '',
  ...answerOf(row),
  reasoning: row.reasoning,
  ...(row.thoughtMs > 0 ? { thought_ms: row.thoughtMs } : {}),
  ...(row.sources && row.sources.length > 0 ? { sources: row.sources.map(namedSource) } : {}),
  ...(row.tools && row.tools.length > 0
    ? { tools: row.tools.map((each) => viewTool(each, row.userId === viewer ? 'asker' : 'other')) }
    : {}),
  type: row.type,
  model: row.model,
  state: row.state,
  error_code: row.errorCode,
  error_message: row.errorMessage,
  user_id: row.userId,
  user_name: row.userName,
  ...(row.avatar === '' ? {} : { avatar: row.avatar }),
  created_at: row.createdAt.toISOString(),
  prompt_tokens: paid ? row.promptTokens : 0,
  completion_tokens: paid ? row.completionTokens : 0,
  deduct_tokens: paid ? row.deductTokens : 0,
  ...(paid && row.cachedTokens > 0 ? { cached_tokens: row.cachedTokens } : {}),
  like_count: row.likeCount,
  liked: row.liked,
  in_favorites: row.inFavorites,
  edited: row.editedAt !== null,
  job,
  siblings,
  ...(people && !row.shown ? { pending: true } : {}),
});

/**
 * The branches at a message's place: two answers beside each other are one, and stand for the
 * message itself or by the one that was looked at last.
 */
export const siblingsAmong = (
  followers: readonly Follower[],
  row: Pick<Follower, 'id' | 'prevId' | 'besideGroup'>,
): number[] => {
  const branches = new Map<number, Follower>();
  // There may be more than are told of, and this one among them.
  for (const each of [{ ...row, branchRank: 0 }, ...followers]) {
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

const partnerAmong = (partners: readonly MessageRow[], row: MessageRow): MessageRow | undefined =>
  partners.find((each) => each.besideGroup === row.besideGroup);

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
  const made = session.type === sessionTypes.image || session.type === sessionTypes.video;
  const ofImages = made && session.userId === viewer;
  const jobs = ofImages
    ? await jobsOf(
        db,
        'message',
        rows.map((row) => row.id),
      )
    : null;
  const partners = branched ? await partnersOf(db, viewer, session.id, rows) : [];
  const names = await namesAmong(db, [...rows, ...partners], viewer);
  // Among people each pays for the replies that they asked for.
  const payer = (row: MessageRow) =>
    session.type === sessionTypes.people ? row.userId : session.userId;
  return rows.map((row) => {
    const paid = payer(row) === viewer;
    const partner = row.shown ? partnerAmong(partners, row) : undefined;
    return {
      ...oneView(row, {
        paid,
        viewer,
        names,
        people: session.type === sessionTypes.people,
        siblings: siblingsAmong(followers, row),
        job: jobs?.get(row.id) ?? null,
      }),
      beside: partner ? oneView(partner, { paid, viewer, names, siblings: [] }) : null,
    };
  });
};

/** Messages as strangers may see them: nothing of what they cost, no other branches, no favourites. */
export const viewSharedMessages = async (
  db: Executor,
  rows: readonly MessageRow[],
  sessionId: number,
  viewer: number | null,
): Promise<Message[]> => {
  const partners = await partnersOf(db, viewer, sessionId, rows);
  const names = await namesAmong(db, [...rows, ...partners], viewer);
  const shared = (row: MessageRow): OneMessage => ({
    ...oneView(row, { paid: false, siblings: [], viewer: null, names }),
    in_favorites: false,
  });
  return rows.map((row) => {
    const partner = partnerAmong(partners, row);
    return {
      ...shared(row),
      beside: partner && partner.state !== 'streaming' ? shared(partner) : null,
    };
  });
};
