import { maskName } from '#contract/mask-name.ts';
import { sessionTypes } from '#contract/kinds.ts';
import type { Session, SessionDetail } from '#contract/session.ts';
import type { Executor } from '#server/db/database.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import { findAll as findScenarios } from '../scenario/scenario.service.ts';
import { friendStateOf } from './friend.service.ts';
import type { SessionServiceDeps } from './session-deps.ts';
import {
  basesOf,
  belongsTo,
  forkable,
  ownedBy,
  readableSession,
  writeRefusal,
} from './session.service.ts';
import { type Card, readCards, type SessionRow } from './session.store.ts';

type Deps = Pick<SessionServiceDeps, 'knowledge' | 'forum'>;

/** The newest of what was made in a session of images or films, as its messages have it. */
const completionOf = ({
  type,
  images,
  uuids,
  films,
}: Pick<Card, 'images' | 'uuids' | 'films'> & Pick<SessionRow, 'type'>): string => {
  if (type === sessionTypes.image)
    return JSON.stringify(images.map((url, at) => ({ uuid: uuids[at], url, error: '' })));
  if (type !== sessionTypes.video) return '';
  return JSON.stringify(films.map((film, at) => ({ ...film, poster: images[at] })));
};

/**
 * Sessions as one person may see them; null: a visitor.
 * @param matches where the words of a search stand, by number of the session
 */
export const viewCards = async (
  { knowledge, forum }: Deps,
  db: Executor,
  cards: readonly Card[],
  user: Identity | null,
  matches?: ReadonlyMap<number, Session['match']>,
): Promise<Session[]> => {
  const keys = cards.flatMap(({ session }) => basesOf(session));
  const bases = await knowledge.findAll(db, keys, user?.id ?? null);
  const openBases = (row: SessionRow) =>
    basesOf(row).flatMap((key) => bases.find((base) => base.key === key) ?? []);
  const looks = await forum.looks(
    db,
    cards.flatMap(({ session: { id, type } }) => (type === sessionTypes.people ? [id] : [])),
  );
  const scenarios = new Map(
    (
      await findScenarios(db, [...new Set(cards.flatMap((card) => card.session.scenarioId ?? []))])
    ).map((found) => [found.id, found]),
  );
  const scenarioOf = ({ scenarioId }: SessionRow): Session['scenario'] => {
    const found = scenarioId === null ? undefined : scenarios.get(scenarioId);
    if (!found) return null;
    const { id, name, prompt } = found;
    // The words of a private one are its maker's.
    const open = found.state === 'public' || found.userId === user?.id;
    return { id, name, prompt: open ? prompt : '' };
  };
  /** Among people it is what was said last. */
  const summaryOfCard = (row: SessionRow, friendName: string | null): string => {
    const look = looks.get(row.id);
    return friendName === null && look?.lastSuspended ? look.content : row.summary;
  };
  return cards.map(
    ({ session: row, images, uuids, films, favorite, onTop, friendName, unread }) => ({
      id: row.id,
      uuid: row.uuid,
      type: row.type,
      model: row.model,
      user_id: row.userId,
      user_name: row.userName,
      ...(row.avatar === '' ? {} : { avatar: row.avatar }),
      prompt: friendName !== null && belongsTo(row, user) ? maskName(friendName) : row.prompt,
      summary: summaryOfCard(row, friendName),
      private: row.private ? 1 : 0,
      reply_count: row.replyCount,
      like_count: row.likeCount,
      images: looks.get(row.id)?.images ?? images,
      completion: completionOf({ type: row.type, images, uuids, films }),
      deleted: row.deletedAt === null ? 0 : 1,
      embedding_private: Math.max(0, ...openBases(row).map(({ private: hidden }) => hidden)),
      favorite,
      on_top: onTop,
      unread,
      scenario: scenarioOf(row),
      scenario_id: row.scenarioId,
      // Another's private base is nothing that a reader could use.
      embedding_key: ownedBy(row, user) ? row.embeddingKey : (openBases(row)[0]?.key ?? ''),
      embedding_name: openBases(row)
        .map(({ name }) => name)
        .join('、'),
      // What was found in no message was found in the title.
      match: matches ? (matches.get(row.id) ?? { history_id: null, snippet: row.prompt }) : null,
      group_id: row.groupId,
      title: row.prompt,
      content: looks.get(row.id)?.content ?? row.summary,
      accepted_id: row.acceptedId,
      essence: row.essence,
      pinned: row.pinned,
      closed: row.closed,
      created_at: row.createdAt.toISOString(),
      updated_at: row.updatedAt.toISOString(),
    }),
  );
};

/** A session with all that its page shows. @throws Refusal not_found, session_deleted, private_session */
export const sessionDetail = async (
  deps: Deps,
  db: Executor,
  ref: string,
  user: Identity | null,
): Promise<SessionDetail> => {
  const row = await readableSession(db, ref, user);
  const cards = await readCards(db, [row.id], user?.id ?? 0);
  const [view] = await viewCards(deps, db, cards, user);
  const friendName = cards[0]?.friendName ?? null;
  if (!view) throw new Refusal('not_found');
  const friendId = row.lowUserId === user?.id ? row.highUserId : row.lowUserId;
  const state = user && friendId !== null ? await friendStateOf(db, row.id, user.id) : null;
  return {
    ...view,
    owner: ownedBy(row, user),
    writable: user !== null && writeRefusal(row, user) === null,
    owner_vip: row.ownerVip,
    private_forced: row.ownerForcedPrivate,
    temporary: row.temporary,
    friend:
      friendId !== null && friendName !== null && state !== null
        ? { id: friendId, name: maskName(friendName), state }
        : null,
    forkable: forkable(row),
    ...(row.type === sessionTypes.people && friendId === null
      ? { views: await deps.forum.views(db, row.id) }
      : {}),
    ...(row.embeddingKey === ''
      ? {}
      : { bases: await deps.knowledge.findAll(db, basesOf(row), user?.id ?? null) }),
  };
};
