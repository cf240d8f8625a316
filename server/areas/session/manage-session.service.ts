import type { Out, Parsed } from '#contract/calls.ts';
import type { AdminSession } from '#contract/manage-session.ts';
import { limits } from '#contract/limits.ts';
import type { SortOf } from '#contract/sorts.ts';
import type { Executor } from '#server/db/database.ts';
import { type Identity, Refusal } from '#server/http/handlers.ts';
import { pageOf } from '#server/paging.ts';
import { requireSortable, sortRows } from '#server/sorting.ts';
import { findSessions, snippetsOf, wordsOf } from './search.service.ts';
import * as store from './manage-session.store.ts';
import { noteOpened, readableSession } from './session.service.ts';
import { requireMayBeOpen } from './session-change.service.ts';
import { findSession, markDeleted, updateSession } from './session.store.ts';

export { countOpenOf, hideSessionsOf } from './manage-session.store.ts';

/** So many are found by words in their titles. */
const mostTitles = 200;

type Row = Awaited<ReturnType<typeof store.pageOfSessions>>[number];

const viewOf = (row: Row, match: AdminSession['match'] = null): AdminSession => ({
  id: row.id,
  uuid: row.uuid,
  type: row.type,
  user_id: row.userId,
  user_name: row.userName,
  model: row.model,
  prompt: row.prompt,
  summary: row.summary,
  private: row.private ? 1 : 0,
  deleted: row.deletedAt ? 1 : 0,
  deleted_at: row.deletedAt?.toISOString() ?? null,
  reply_count: row.replyCount,
  like_count: row.likeCount,
  created_at: row.createdAt.toISOString(),
  updated_at: row.updatedAt.toISOString(),
  match,
});

/** What a manager may not see is left out of all lists. */
const seenBy = ({ id, owner }: Identity) => ({ for: owner ? undefined : id });

/**
 * A manager has no power over what another manager wrote; an owner has.
 * @throws Refusal manage_unsuitable
 */
export const requirePowerOver = async (
  db: Executor,
  people: readonly number[],
  { id, owner }: Identity,
): Promise<void> => {
  if (!owner && (await store.isOtherManager(db, people, id)))
    throw new Refusal('manage_unsuitable', '别的管理员的会话只有所有者可以更改');
};

const filterOf = (input: Parsed<'adminSessionList'>, by: Identity): store.ManageFilter => ({
  ...seenBy(by),
  ...(input.user_id === undefined ? {} : { userId: input.user_id }),
  ...(input.uuid === undefined ? {} : { ref: input.uuid }),
  ...(input.type === undefined ? {} : { type: input.type }),
  ...(input.model === undefined ? {} : { model: input.model }),
  ...(input.private === undefined ? {} : { private: input.private === 1 }),
  ...(input.deleted === undefined ? {} : { deleted: input.deleted === 1 }),
});

const sortValues: Readonly<Record<SortOf<'adminSessionList'>, (row: Row) => number>> = {
  created_at: (row) => row.createdAt.getTime(),
  reply_count: (row) => row.replyCount,
  like_count: (row) => row.likeCount,
};

/** All sessions, or those with all the words in their title or in one message. */
export const manageList = async (
  db: Executor,
  input: Parsed<'adminSessionList'>,
  by: Identity,
): Promise<Out<'adminSessionList'>> => {
  const { page, page_size: size } = input;
  const filter = filterOf(input, by);
  const words = wordsOf(input.query ?? '');
  const offset = (page - 1) * size;
  if (words.length === 0) {
    const total = await store.countSessions(db, filter, limits.counted);
    requireSortable('adminSessionList', input, total);
    const rows = await store.pageOfSessions(db, filter, { offset, limit: size }, input);
    return { list: rows.map((row) => viewOf(row)), ...pageOf(total, page, size) };
  }
  const inTitles = await store.pageOfSessions(
    db,
    { ...filter, titleWords: words },
    { offset: 0, limit: mostTitles },
  );
  const messages = await findSessions(
    db,
    words,
    { in: 'all' },
    {
      ...(filter.userId === undefined ? {} : { userId: filter.userId }),
      ...(filter.model === undefined ? {} : { model: filter.model }),
    },
  );
  const at = new Map(messages.map(({ id, historyId }) => [id, historyId]));
  const known = new Set(inTitles.map(({ id }) => id));
  const more =
    at.size === 0
      ? []
      : await store.pageOfSessions(
          db,
          { ...filter, ids: [...at.keys()].filter((id) => !known.has(id)) },
          { offset: 0, limit: at.size },
        );
  const newest = sortRows([...inTitles, ...more], ({ id }) => id);
  const found = input.sort ? sortRows(newest, sortValues[input.sort], input.order) : newest;
  const shown = found.slice(offset, offset + size);
  const snippets = await snippetsOf(
    db,
    shown.flatMap(({ id }) => at.get(id) ?? []),
    words,
  );
  // A snippet is words of a message.
  for (const row of shown) if (at.has(row.id)) await noteOpened(db, row, by);
  return {
    list: shown.map((row) =>
      viewOf(row, snippets.get(at.get(row.id) ?? 0) ?? { history_id: null, snippet: row.prompt }),
    ),
    ...pageOf(found.length, page, size),
  };
};

/** Any session, deleted or not. @throws Refusal not_found */
export const manageOne = async (db: Executor, ref: string, by: Identity): Promise<AdminSession> => {
  const [row] = await store.pageOfSessions(db, { ...seenBy(by), ref }, { offset: 0, limit: 1 });
  if (!row) throw new Refusal('not_found', '没有这个会话');
  await readableSession(db, String(row.id), by);
  return viewOf(row);
};

const living = async (db: Executor, ref: string, by: Identity) => {
  const row = await findSession(db, ref, { lock: true });
  if (!row) throw new Refusal('not_found', '没有这个会话');
  await requirePowerOver(db, [row.userId], by);
  if (row.deletedAt) throw new Refusal('session_deleted');
  return row;
};

export const manageDelete = async (db: Executor, ref: string, by: Identity) => {
  const row = await living(db, ref, by);
  await markDeleted(db, row.id);
  return row;
};

/** @throws Refusal private_forced for what can only be private, whoever asks */
export const manageSet = async (db: Executor, ref: string, isPrivate: boolean, by: Identity) => {
  const row = await living(db, ref, by);
  requireMayBeOpen(row, isPrivate);
  await updateSession(db, row.id, { private: isPrivate });
  return row;
};
