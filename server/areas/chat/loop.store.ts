import { and, desc, eq, lte, sql } from 'drizzle-orm';
import type { StoredTool } from '#contract/tool.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { sqlState, uniqueViolation } from '#server/db/failure.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { history, sessions } from '#server/db/schema.ts';
import { storable } from '#server/storable.ts';
import { replyLoops } from './chat.tables.ts';
import type { LoopState } from './loop-state.ts';
import type { ReplyLog } from './reply-log.ts';
import { announce, changedChannel } from './reply.store.ts';

const isOwn = (owner: number, id: number) =>
  and(eq(history.id, id), eq(history.owner, owner), eq(history.state, 'streaming'));

/** Changes a reply that this owner writes; false: it is no longer this owner's. */
const changeOwn = async (
  db: Executor,
  owner: number,
  id: number,
  values: Partial<typeof history.$inferInsert>,
): Promise<boolean> => {
  const rows = await db
    .update(history)
    .set(values)
    .where(isOwn(owner, id))
    .returning({ id: history.id });
  return rows.length > 0;
};

/** The same together with its loop, which its readers are told of. */
const change = async (
  tx: Transaction,
  { owner, id, state }: { owner: number; id: number; state: LoopState },
  values: Partial<typeof history.$inferInsert>,
): Promise<boolean> => {
  if (!(await changeOwn(tx, owner, id, values))) return false;
  await saveLoop(tx, id, state);
  await announce(tx, changedChannel, String(id));
  return true;
};

/** What a reply has at the end of a round. False when it is no longer this owner's. */
export const storeRound = (
  tx: Transaction,
  { owner, id, log, state }: { owner: number; id: number; log: ReplyLog; state: LoopState },
): Promise<boolean> => {
  log.endThought();
  const values = {
    thoughtMs: log.thoughtMs,
    ai: log.text,
    reasoning: log.reasoning,
    parts: log.parts,
    tools: storable(log.tools),
    holdId: null,
  };
  return change(tx, { owner, id, state }, values);
};

export const saveLoop = async (db: Executor, id: number, state: LoopState): Promise<void> => {
  const loop = storable(state);
  await db
    .insert(replyLoops)
    .values({ historyId: id, loop })
    .onConflictDoUpdate({ target: replyLoops.historyId, set: { loop } });
};

/** Stores how the calls stand, and what they changed. False when the reply is no longer this owner's. */
export const storeTools = (
  db: Executor,
  {
    owner,
    id,
    tools,
    state,
  }: { owner: number; id: number; tools: readonly StoredTool[]; state: LoopState },
): Promise<boolean> =>
  inTransaction(db, (tx) => change(tx, { owner, id, state }, { tools: storable([...tools]) }));

/** Notes what is held for the next round. False when the reply is no longer this owner's. */
export const noteHold = (
  tx: Transaction,
  owner: number,
  id: number,
  holdId: string | null,
): Promise<boolean> => changeOwn(tx, owner, id, { holdId });

export const readLoop = async (db: Executor, id: number): Promise<LoopState | null> => {
  const [row] = await db
    .select({ loop: replyLoops.loop })
    .from(replyLoops)
    .where(eq(replyLoops.historyId, id));
  return row?.loop ?? null;
};

export const removeLoop = async (db: Executor, id: number): Promise<void> => {
  await db.delete(replyLoops).where(eq(replyLoops.historyId, id));
};

/** Takes a reply over from a process that is gone. False: somebody else did, or it has ended. */
export const takeOver = (db: Executor, id: number, from: number, to: number): Promise<boolean> =>
  changeOwn(db, from, id, { owner: to });

/** The calls of a reply that waits for an answer, locked; null: it waits for none. */
export const lockWaiting = async (tx: Transaction, id: number): Promise<StoredTool[] | null> => {
  const [row] = await tx
    .select({ tools: history.tools })
    .from(history)
    .where(and(eq(history.id, id), eq(history.state, 'waiting')))
    .for('update');
  return row ? (row.tools ?? []) : null;
};

/** Writes what was answered. With an owner the reply goes on; false: another one is being written. */
export const answerWaiting = async (
  tx: Transaction,
  id: number,
  tools: StoredTool[],
  owner: number | null,
): Promise<boolean> => {
  try {
    await tx
      .update(history)
      .set({
        tools,
        ...(owner === null ? {} : { owner, state: 'streaming' as const, stopRequested: false }),
      })
      .where(eq(history.id, id));
    return true;
  } catch (error) {
    if (sqlState(error) === uniqueViolation) return false;
    throw error;
  }
};

/** So many replies of one person go on at once. */
const mostWaiting = 20;

/** One person's replies in which a call waits for a sign-in at this server of tools, newest first. */
export const waitingAt = (db: Executor, userId: number, server: number) =>
  db
    .select({ id: history.id, sessionUuid: sessions.uuid, tools: history.tools })
    .from(history)
    .innerJoin(sessions, eq(sessions.id, history.sessionId))
    .where(
      and(
        eq(history.userId, userId),
        eq(history.state, 'waiting'),
        sql`${history.tools} @> ${JSON.stringify([{ state: 'asking', sign_in: server }])}::jsonb`,
      ),
    )
    .orderBy(desc(history.id))
    .limit(mostWaiting);

/** What may run in a session without a question, and whether others may read it. */
export const rulesOf = async (
  db: Executor,
  sessionId: number,
): Promise<{ grants: string[]; open: boolean }> => {
  const [row] = await db
    .select({ grants: sessions.toolGrants, private: sessions.private })
    .from(sessions)
    .where(eq(sessions.id, sessionId));
  return { grants: row?.grants ?? [], open: row?.private === false };
};

export const grantTool = async (tx: Transaction, sessionId: number, name: string) => {
  await tx
    .update(sessions)
    .set({ toolGrants: sql`array_append(array_remove(${sessions.toolGrants}, ${name}), ${name})` })
    .where(eq(sessions.id, sessionId));
};

/** Messages that are looked through for what stands in a conversation. */
const mostLooked = 300;

/** What one person brought and had made in what is shown of a session, newest first. */
export const madeInSession = (
  db: Executor,
  { sessionId, upTo, userId }: { sessionId: number; upTo: number; userId: number },
) =>
  db
    .select({ id: history.id, tools: history.tools, request: history.request })
    .from(history)
    .where(
      and(
        eq(history.sessionId, sessionId),
        eq(history.userId, userId),
        lte(history.id, upTo),
        history.shown,
        sql`(${history.tools} IS NOT NULL OR ${history.request} IS NOT NULL)`,
      ),
    )
    .orderBy(desc(history.id))
    .limit(mostLooked);
