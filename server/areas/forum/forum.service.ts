import type { Parsed } from '#contract/calls.ts';
import { limits } from '#contract/limits.ts';
import { sessionTypes } from '#contract/kinds.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { countWithin } from '#server/db/count-within.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { type ActNote, Refusal, type Identity } from '#server/http/handlers.ts';
import { pageOf, windowOf } from '#server/paging.ts';
import {
  amongStrangers,
  findSession,
  readableSession,
  type SessionRow,
} from '../session/session.service.ts';
import { summaryOf } from '#common/markdown/digest.ts';
import { imagesIn } from './forum-list.service.ts';
import { requireGroup } from './groups.service.ts';
import { markRead, tell, unreadOf, type Told } from './news.service.ts';
import * as store from './forum.store.ts';

type Note = (act: ActNote) => void;

/** One person reports no more than this in a day. */
const reportsADay = 30;
const shownEdits = 50;

const requirePeople = (session: SessionRow): void => {
  if (session.type !== sessionTypes.people || session.lowUserId !== null)
    throw new Refusal('session_unsuitable', '只有社区的问题可以这样做');
};

const keyOf = (url: string): string => url.slice('/files/'.length, '/files/'.length + 40);

// ---- what people write (called by the chat) --------------------------------------------------------

/** Images in a message to people stay as long as it does. */
export const keepImagesOf = (tx: Transaction, id: number, human: string): Promise<void> =>
  store.keepImages(tx, id, imagesIn(human).map(keyOf));

/** One person's mentions push to another one once in ten minutes; their list has them all. */
const mayPush = async (tx: Transaction, by: number, person: number): Promise<boolean> =>
  (await countWithin(tx, `pushes of mentions of ${person} by ${by}`, 600_000)).points === 1;

/** A message to people was written: who answered where is known, and its images stay. */
export const noteWritten = async (
  tx: Transaction,
  session: SessionRow,
  message: { id: number; userId: number; human: string; model: string; first: boolean },
  /** Whom it is for, each once. */
  atUsers: readonly number[],
): Promise<Told[]> => {
  const { id, userId, human, model, first } = message;
  await keepImagesOf(tx, id, human);
  if (!first) await store.noteReply(tx, { userId, sessionId: session.id, model });
  else if (model !== '') await store.noteModel(tx, session.id, model);
  const about = {
    sessionId: session.id,
    historyId: id,
    actorId: userId,
  };
  const told: Told[] = [];
  // Who may not read the session is not told of it.
  const partner = session.lowUserId === userId ? session.highUserId : session.lowUserId;
  const readable = (person: number) =>
    !session.private || person === session.userId || person === partner;
  // In one order, as each is counted and locked.
  for (const person of atUsers.filter(readable).sort((a, b) => a - b)) {
    const mention = await tell(tx, { ...about, userId: person, kind: 'mention' });
    const pushed = partner !== null || (mention.length > 0 && (await mayPush(tx, userId, person)));
    if (pushed) told.push(...mention);
  }
  const asker = partner ?? session.userId;
  if (!first && !atUsers.includes(asker))
    told.push(...(await tell(tx, { ...about, userId: asker, kind: 'reply' })));
  return told;
};

/** A message to people is about to be changed. */
export const noteChanged = async (
  tx: Transaction,
  before: { id: number; title: string; human: string },
  after: { title: string; human: string },
): Promise<void> => {
  if (before.human !== after.human || before.title !== after.title)
    await store.keepEdit(
      tx,
      { historyId: before.id, title: before.title, human: before.human },
      shownEdits,
    );
  await store.keepImages(tx, before.id, imagesIn(after.human).map(keyOf));
};

export const noteRemoved = store.forgetReply;
export const noteModel = store.noteModel;

/** Moves a question to another group. */
export const moveQuestion = async (tx: Transaction, id: number, groupId: number): Promise<void> => {
  await requireGroup(tx, groupId);
  await store.markSession(tx, id, { groupId });
};

// ---- calls -------------------------------------------------------------------------------------------

export const accept = (
  db: Executor,
  input: Parsed<'acceptAnswer'>,
  user: Identity,
): Promise<{ acceptedId: number | null; told: Told[] }> =>
  inTransaction(db, async (tx) => {
    const session = await readableSession(tx, input.session_id, user);
    // An answer that is taken away at this moment is not accepted after that.
    await findSession(tx, String(session.id), { lock: true });
    const answer = await store.findAnswer(tx, session.id, input.history_id);
    if (!answer) throw new Refusal('not_found');
    requirePeople(session);
    if (session.userId !== user.id && !user.manager)
      throw new Refusal('not_owner', '只有提问的人可以采纳回答');
    // What a model answered stands in the row of the question that asked it.
    if (answer.isQuestion && answer.ai === '')
      throw new Refusal('session_unsuitable', '问题本身不能被采纳');
    if (input.accepted === 0) {
      if (session.acceptedId === answer.id) {
        await store.markSession(tx, session.id, { acceptedId: null });
        return { acceptedId: null, told: [] };
      }
      return { acceptedId: session.acceptedId, told: [] };
    }
    await store.markSession(tx, session.id, { acceptedId: answer.id });
    const told =
      session.acceptedId === answer.id
        ? []
        : await tell(tx, {
            userId: answer.userId,
            kind: 'accept',
            sessionId: session.id,
            historyId: answer.id,
            actorId: user.id,
          });
    return { acceptedId: answer.id, told };
  });

/** What a manager says of a question. */
export const mark = (
  db: Executor,
  input: Parsed<'markQuestion'>,
  user: Identity,
  note: Note,
): Promise<Told[]> =>
  inTransaction(db, async (tx) => {
    const session = await readableSession(tx, input.session_id, user);
    requirePeople(session);
    if (input.group_id !== undefined) await requireGroup(tx, input.group_id);
    const marks = {
      ...(input.essence === undefined ? {} : { essence: input.essence === 1 }),
      ...(input.pinned === undefined ? {} : { pinned: input.pinned === 1 }),
      ...(input.closed === undefined ? {} : { closed: input.closed === 1 }),
      ...(input.group_id === undefined ? {} : { groupId: input.group_id }),
    };
    await store.markSession(tx, session.id, marks);
    note({
      subject: `session:${session.id}`,
      from: Object.fromEntries(
        Object.keys(marks).map((key) => [key, session[key as keyof typeof marks]]),
      ),
      to: marks,
    });
    if (input.essence !== 1 || session.essence) return [];
    return tell(tx, {
      userId: session.userId,
      kind: 'essence',
      sessionId: session.id,
      historyId: null,
      actorId: user.id,
    });
  });

export const addReport = (db: Executor, input: Parsed<'report'>, user: Identity): Promise<void> =>
  inTransaction(db, async (tx) => {
    const session = await readableSession(tx, input.session_id, user);
    const message =
      input.history_id === undefined
        ? null
        : await store.findAnswer(tx, session.id, input.history_id);
    if (input.history_id !== undefined && !message) throw new Refusal('not_found');
    if ((await store.reportsToday(tx, user.id)) >= reportsADay)
      throw new Refusal('too_many', '今天的举报太多了，请明天再来');
    const words = message ? `${message.title} ${message.human || message.ai}` : session.prompt;
    await store.addReport(tx, {
      userId: user.id,
      sessionId: session.id,
      historyId: message && !message.isQuestion ? message.id : 0,
      reason: input.reason,
      note: input.note.trim(),
      excerpt: summaryOf(words),
    });
  });

export const reports = async (db: Executor, { state, page, sort, order }: Parsed<'reportList'>) => {
  const pageSize = limits.pageSize;
  const wanted = { open: state === 'open', sort, order };
  const { list, total } = await store.listReports(db, wanted, windowOf(page, pageSize));
  return {
    list: list.map(({ created_at: made, resolved_at: resolved, ...row }) => ({
      ...row,
      created_at: new Date(made).toISOString(),
      resolved_at: resolved === null ? null : new Date(resolved).toISOString(),
    })),
    ...pageOf(total, page, pageSize),
  };
};

/**
 * Closes all reports of one thing, and takes it away where that is asked for.
 * @param remove takes a message away, or with 0 the whole session
 */
export const resolve = (
  db: Executor,
  { id, remove: removed }: Parsed<'resolveReport'>,
  {
    user,
    note,
    remove,
  }: {
    user: Identity;
    note: Note;
    remove: (tx: Transaction, sessionId: number, historyId: number) => Promise<void>;
  },
): Promise<Told[]> =>
  inTransaction(db, async (tx) => {
    const found = await store.findReport(tx, id);
    if (!found) throw new Refusal('not_found', '没有这个举报，或已经处理过了');
    const { sessionId, historyId } = found;
    const by = { userId: user.id, removed: removed === 1 };
    const people = await store.resolveReports(tx, { sessionId, historyId }, by);
    if (removed === 1) await remove(tx, sessionId, historyId);
    note({
      subject: `report:${id}`,
      from: { session_id: sessionId, history_id: historyId, excerpt: found.excerpt },
      to: { removed: removed === 1 },
    });
    const told: Told[] = [];
    for (const userId of new Set(people))
      told.push(
        ...(await tell(tx, {
          userId,
          kind: 'report',
          sessionId,
          historyId: null,
          actorId: user.id,
        })),
      );
    return told;
  });

export const edits = async (db: Executor, input: Parsed<'messageEdits'>, user: Identity | null) => {
  const session = await readableSession(db, input.session_id, user);
  const answer = await store.findAnswer(db, session.id, input.history_id);
  if (!answer || (answer.suspended && amongStrangers(session, user)))
    throw new Refusal('not_found');
  const rows = await store.listEdits(db, input.history_id, shownEdits);
  return rows.map(({ title, human, createdAt }) => ({
    title,
    content: human,
    created_at: createdAt.toISOString(),
  }));
};

/** News are read: all of them, or those of a session, which from now on has been looked at. */
export const read = (db: Executor, ref: string | undefined, user: Identity): Promise<number> =>
  inTransaction(db, async (tx) => {
    const session = ref === undefined ? null : await readableSession(tx, ref, user);
    await markRead(tx, user.id, session?.id ?? null);
    if (session?.type === sessionTypes.people && !session.private)
      await store.noteVisit(tx, user.id, session.id);
    return unreadOf(tx, user.id);
  });
