import { and, asc, desc, eq, gt, lt, ne, sql } from 'drizzle-orm';
import type { Executor, Transaction } from '../db/database.ts';
import { history, users } from '../db/schema.ts';
import { statement } from '../db/statement.ts';
import type { Pair } from './prompt.ts';

const columns = {
  id: history.id,
  human: history.human,
  ai: history.ai,
  reasoning: history.reasoning,
  type: history.type,
  model: history.model,
  state: history.state,
  errorCode: history.errorCode,
  errorMessage: history.errorMessage,
  userId: history.userId,
  userName: users.userName,
  createdAt: history.createdAt,
  promptTokens: history.promptTokens,
  completionTokens: history.completionTokens,
  deductTokens: history.deductTokens,
  likeCount: history.likeCount,
};
export type MessageRow = Awaited<ReturnType<typeof listMessages>>[number];

export interface MessageFilter {
  sessionId: number;
  id?: number;
  /** Only messages older than this one. */
  before?: number;
  /** Only messages newer than this one. */
  after?: number;
}

const conditions = ({ sessionId, id, before, after }: MessageFilter) =>
  and(
    eq(history.sessionId, sessionId),
    id === undefined ? undefined : eq(history.id, id),
    before === undefined ? undefined : lt(history.id, before),
    after === undefined ? undefined : gt(history.id, after),
  );

export const listMessages = (
  db: Executor,
  filter: MessageFilter,
  { newestFirst, offset, limit }: { newestFirst: boolean; offset: number; limit: number },
) =>
  db
    .select(columns)
    .from(history)
    .innerJoin(users, eq(users.id, history.userId))
    .where(conditions(filter))
    .orderBy(newestFirst ? desc(history.id) : asc(history.id))
    .offset(offset)
    .limit(limit);

/** How many messages there are, counting no further than `most`. */
export const countMessages = async (
  db: Executor,
  filter: MessageFilter,
  most: number,
): Promise<number> => {
  const some = db
    .select({ one: sql`1` })
    .from(history)
    .where(conditions(filter))
    .limit(most)
    .as('some');
  const rows = await db.select({ count: sql<number>`count(*)::int` }).from(some);
  return rows[0]?.count ?? 0;
};

/** The newest earlier questions that have an answer, newest first. */
export const answeredPairs = (
  db: Executor,
  { sessionId, before, limit }: { sessionId: number; before?: number; limit: number },
): Promise<Pair[]> =>
  db
    .select({ human: history.human, ai: history.ai })
    .from(history)
    .where(and(conditions({ sessionId, before }), ne(history.ai, '')))
    .orderBy(desc(history.id))
    .limit(limit);

const ask = statement<{ id: number; created_at: string }>(
  'message_ask',
  `WITH asked AS (
     INSERT INTO history (session_id, user_id, human, model, owner, hold_id, state)
     VALUES ($1, $2, $3, $4, $5, $6, 'streaming') ON CONFLICT DO NOTHING
     RETURNING id, session_id, created_at
   ), card AS (
     UPDATE sessions SET updated_at = now(), prompt = CASE WHEN prompt = '' THEN $7 ELSE prompt END
     FROM asked WHERE sessions.id = asked.session_id
   )
   SELECT id::float8, created_at FROM asked`,
);

/**
 * Inserts a message whose reply is about to be written; null while another one is being written.
 * The first message gives its session the title.
 */
export const insertMessage = async (
  tx: Transaction,
  values: {
    sessionId: number;
    userId: number;
    human: string;
    model: string;
    owner: number;
    holdId: string | null;
    title: string;
  },
): Promise<{ id: number; createdAt: Date } | null> => {
  const { sessionId, userId, human, model, owner, holdId, title } = values;
  const [row] = await ask(tx, [sessionId, userId, human, model, owner, holdId, title]);
  return row ? { id: row.id, createdAt: new Date(row.created_at) } : null;
};

export const lastMessage = async (db: Executor, sessionId: number) => {
  const rows = await db
    .select({ id: history.id, human: history.human, ai: history.ai, state: history.state })
    .from(history)
    .where(eq(history.sessionId, sessionId))
    .orderBy(desc(history.id))
    .limit(1);
  return rows[0] ?? null;
};

/** Makes a message as new: its reply will be written again. */
export const restartMessage = async (
  tx: Transaction,
  id: number,
  { owner, model, holdId }: { owner: number; model: string; holdId: string | null },
): Promise<void> => {
  await tx
    .update(history)
    .set({
      owner,
      model,
      state: 'streaming',
      ai: '',
      reasoning: '',
      parts: [],
      errorCode: '',
      errorMessage: '',
      stopRequested: false,
      holdId,
      promptTokens: 0,
      completionTokens: 0,
      deductTokens: 0,
      answeredAt: null,
    })
    .where(eq(history.id, id));
};

/** A message's place: its session, whose it is, and whether its reply is being written. */
export const findMessage = async (db: Executor, id: number) => {
  const rows = await db
    .select({
      id: history.id,
      sessionId: history.sessionId,
      userId: history.userId,
      state: history.state,
      answered: sql<boolean>`${history.ai} <> ''`,
    })
    .from(history)
    .where(eq(history.id, id));
  return rows[0] ?? null;
};

export const deleteMessage = async (tx: Transaction, id: number): Promise<void> => {
  await tx.delete(history).where(eq(history.id, id));
};
