import {
  and,
  type AnyColumn,
  asc,
  desc,
  eq,
  gt,
  gte,
  inArray,
  lt,
  lte,
  ne,
  not,
  or,
  sql,
  type SQL,
} from 'drizzle-orm';
import type { StoredSource } from '#contract/embedding.ts';
import type { ReplyState, StructuredMessage } from '#contract/chat.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { suspended } from '#server/db/suspended.ts';
import { sqlState, uniqueViolation } from '#server/db/failure.ts';
import { history, sessions, users } from '#server/db/schema.ts';
import { statement } from '#server/db/statement.ts';
import { showsWhere } from '#server/db/shown.ts';

/** What a structured message carries beside its prompt. */
export type Request = Omit<StructuredMessage, 'prompt'>;

const columns = {
  id: history.id,
  prevId: history.prevId,
  shown: history.shown,
  besideGroup: history.besideGroup,
  human: history.human,
  request: history.request,
  title: history.title,
  ai: history.ai,
  reasoning: history.reasoning,
  thoughtMs: history.thoughtMs,
  type: history.type,
  model: history.model,
  state: history.state,
  errorCode: history.errorCode,
  errorMessage: history.errorMessage,
  userId: history.userId,
  userName: users.userName,
  avatar: users.avatar,
  createdAt: history.createdAt,
  editedAt: history.editedAt,
  promptTokens: history.promptTokens,
  completionTokens: history.completionTokens,
  deductTokens: history.deductTokens,
  cachedTokens: history.cachedTokens,
  likeCount: history.likeCount,
  sources: history.sources,
  tools: history.tools,
};

/** What somebody has marked. Nobody (null) has marked nothing. */
export const marksOf = (viewer: number | null) => ({
  liked:
    viewer === null
      ? sql<boolean>`false`
      : sql<boolean>`EXISTS (SELECT FROM likes WHERE likes.history_id = ${history.id}
          AND likes.user_id = ${viewer})`,
  inFavorites:
    viewer === null
      ? sql<boolean>`false`
      : sql<boolean>`EXISTS (SELECT FROM favorites WHERE favorites.user_id = ${viewer}
          AND favorites.session_id = ${history.sessionId} AND favorites.history_id = ${history.id})`,
});
export type MessageRow = Awaited<ReturnType<typeof listMessages>>[number];

/** Shown, or standing beside a message that is. */
const visible = sql<boolean>`(${history.shown} OR (${history.besideGroup} <> 0 AND EXISTS (
  SELECT FROM history partner WHERE partner.session_id = ${history.sessionId}
    AND partner.prev_id = ${history.prevId} AND partner.beside_group = ${history.besideGroup}
    AND partner.shown)))`;

export interface MessageFilter {
  sessionId: number;
  /** This one alone, on whichever branch; `hidden`: also where it cannot be seen. */
  only?: { id: number; hidden: boolean };
  /** Only messages older than this one. */
  before?: number;
  /** Only messages newer than this one, or also those that changed in the last two minutes. */
  after?: number;
  orChanged?: boolean;
  /** None behind this one, and none whose reply is being written: what a public link shows. */
  sharedUpTo?: number;
  /** None of people who are disabled: what strangers see. */
  forStrangers?: boolean;
  /** Also what this person wrote in a talk of two that waits for the other one's consent. */
  waitingOf?: number | undefined;
}

const recentlyChanged = sql`greatest(${history.editedAt}, ${history.answeredAt})
  > now() - interval '2 minutes'`;

export const conditions = ({
  sessionId,
  only,
  before,
  after,
  orChanged,
  sharedUpTo,
  forStrangers,
  waitingOf,
}: MessageFilter): SQL | undefined => {
  const orWaiting = (seen: SQL) =>
    waitingOf === undefined ? seen : or(seen, eq(history.userId, waitingOf));
  return and(
    eq(history.sessionId, sessionId),
    only === undefined ? orWaiting(eq(history.shown, true)) : eq(history.id, only.id),
    only === undefined || only.hidden ? undefined : orWaiting(visible),
    before === undefined ? undefined : lt(history.id, before),
    after === undefined
      ? undefined
      : orChanged
        ? or(gt(history.id, after), recentlyChanged)
        : gt(history.id, after),
    sharedUpTo === undefined
      ? undefined
      : and(lte(history.id, sharedUpTo), ne(history.state, 'streaming')),
    forStrangers ? not(suspended(history.userId)) : undefined,
  );
};

/** In which order messages are listed. */
export interface MessageOrder {
  newestFirst: boolean;
  /** The first message, then the accepted answer, then those with the most likes. */
  byVotes?: boolean;
}

export const orderOf = ({ newestFirst, byVotes = false }: MessageOrder): SQL[] =>
  byVotes
    ? [
        sql`${history.prevId} <> 0`,
        sql`${history.id} IS DISTINCT FROM
          (SELECT s.accepted_id FROM sessions s WHERE s.id = ${history.sessionId})`,
        desc(history.likeCount),
        asc(history.id),
      ]
    : [newestFirst ? desc(history.id) : asc(history.id)];

/** Messages of the branch that is shown. */
export const listMessages = (
  db: Executor,
  viewer: number | null,
  filter: MessageFilter,
  { offset, limit, ...order }: MessageOrder & { offset: number; limit: number },
) =>
  db
    .select({ ...columns, ...marksOf(viewer) })
    .from(history)
    .innerJoin(users, eq(users.id, history.userId))
    .where(conditions(filter))
    .orderBy(...orderOf(order))
    .offset(offset)
    .limit(limit);

/** The other ones of two answers side by side, of which these are the shown ones. */
export const partnersOf = (
  db: Executor,
  viewer: number | null,
  sessionId: number,
  rows: readonly MessageRow[],
): Promise<MessageRow[]> => {
  const paired = rows.filter((row) => row.besideGroup !== 0);
  if (paired.length === 0) return Promise.resolve([]);
  return db
    .select({ ...columns, ...marksOf(viewer) })
    .from(history)
    .innerJoin(users, eq(users.id, history.userId))
    .where(
      and(
        eq(history.sessionId, sessionId),
        inArray(history.prevId, [...new Set(paired.map((row) => row.prevId))]),
        inArray(history.besideGroup, [...new Set(paired.map((row) => row.besideGroup))]),
        sql`${history.id} <> ALL(${sql.param(`{${paired.map((row) => row.id).join(',')}}`)}::bigint[])`,
      ),
    );
};

/** Bytes of what is kept as JSON: larger ones are kept packed, a letter that is repeated to nothing. */
const bytesOf = (column: AnyColumn): SQL => sql`CASE WHEN pg_column_size(${column}) > 1500
  THEN octet_length(${column}::text) ELSE coalesce(pg_column_size(${column}), 0) END`;

/** Bytes of a message, those of the answer beside it as many again. Its words are not read for it. */
const weightOf = sql<number>`(octet_length(${history.human}) + octet_length(${history.ai})
  + octet_length(${history.reasoning}) + ${bytesOf(history.tools)} + ${bytesOf(history.sources)})
  * CASE WHEN ${history.besideGroup} = 0 THEN 1 ELSE 2 END`;

/**
 * How many messages there are, counting no further than `most`, and how heavy the first `reach` of
 * them are in their order.
 */
export const measureMessages = async (
  db: Executor,
  where: SQL | undefined,
  { most, reach, ...order }: MessageOrder & { most: number; reach: number },
): Promise<{ total: number; weights: number[] }> => {
  const some = db
    .select({ one: sql`1` })
    .from(history)
    .where(where)
    .limit(most);
  const first = db
    .select({ weight: weightOf })
    .from(history)
    .where(where)
    .orderBy(...orderOf(order))
    .limit(reach);
  const { rows } = await db.execute<{ total: number; weights: number[] }>(
    sql`SELECT (SELECT count(*)::int FROM (${some}) counted) AS total, ARRAY(${first}) AS weights`,
  );
  return rows[0] ?? { total: 0, weights: [] };
};

/**
 * The newest questions of the shown branch that have an answer, newest first.
 * @param upTo none behind this message
 * @param from none before this one
 */
export const answeredExchanges = (
  db: Executor,
  {
    sessionId,
    upTo,
    from,
    limit,
  }: { sessionId: number; upTo?: number | undefined; from?: number; limit: number },
) =>
  db
    .select({
      id: history.id,
      human: history.human,
      request: history.request,
      withTemplate: history.withTemplate,
      userId: history.userId,
      createdAt: history.createdAt,
      ai: history.ai,
    })
    .from(history)
    .where(
      and(
        conditions({ sessionId }),
        upTo === undefined ? undefined : lte(history.id, upTo),
        from === undefined ? undefined : gte(history.id, from),
        ne(history.ai, ''),
      ),
    )
    .orderBy(desc(history.id))
    .limit(limit);

const draw = statement<{ id: number; created_at: Date }>(
  'message_draw',
  `SELECT nextval('history_id_seq')::float8 AS id, now() AS created_at`,
);

/** The number and time of a message to be, which so need not be waited for when it is inserted. */
export interface Drawn {
  id: number;
  createdAt: Date;
}

/** Drawn while the session is locked, numbers grow along it. One that is not used is missing. */
export const drawMessage = async (tx: Transaction): Promise<Drawn> => {
  const [row] = await draw(tx, []);
  if (!row) throw new Error('a sequence gave nothing');
  return { id: row.id, createdAt: row.created_at };
};

const ask = statement(
  'message_ask',
  `WITH asked AS (
     INSERT INTO history (id, session_id, user_id, human, model, owner, hold_id, state, prev_id,
       branch_rank, request, title, with_template, type, sources)
     OVERRIDING SYSTEM VALUE
     VALUES ($18, $1, $2, $3, $4, $5, $6, $7,
       coalesce($8, (SELECT max(id) FROM history WHERE session_id = $1 AND shown), 0), $9,
       $10::jsonb, $11, $12, $17, $19::jsonb)
     RETURNING session_id
   )
   UPDATE sessions SET updated_at = now(), summary = coalesce($15, summary),
     reply_count = reply_count + $16,
     prompt = CASE WHEN prompt = '' OR $14 THEN $13 ELSE prompt END
   FROM asked WHERE sessions.id = asked.session_id`,
);

/** Where a message is put: behind one, as the branch that is looked at. */
export interface Place {
  prevId: number;
  rank: number;
}

export interface NewMessage {
  /** As drawn. */
  id: number;
  sessionId: number;
  userId: number;
  human: string;
  request: Request | null;
  withTemplate: boolean;
  /** Empty where nobody is asked to answer. */
  model: string;
  /** The process that writes the reply; null: there will be none. */
  owner: number | null;
  holdId: string | null;
  /** What the reply is given to rest on. */
  sources?: StoredSource[] | null;
  /** Undefined: at the end of the shown branch. */
  place?: Place;
  title?: string;
  /** Of sessions (`sessionTypes`); left out: words. */
  type?: number;
  card: {
    /** The session's title, taken when it has none, or in any case. */
    title: string;
    retitle?: boolean;
    /** What the session's card says from now on. */
    summary?: string;
    /** How many replies more the session counts. */
    replies?: number;
  };
}

/**
 * Inserts a message; false while another reply to the same person is being written: then the
 * transaction can only be rolled back, which a commit does as well. The first message gives its
 * session the title.
 */
export const insertMessage = async (tx: Transaction, message: NewMessage): Promise<boolean> => {
  const { place, card } = message;
  const state: ReplyState = message.owner === null ? 'none' : 'streaming';
  const params = [
    message.sessionId,
    message.userId,
    message.human,
    message.model,
    message.owner,
    message.holdId,
    state,
    place?.prevId ?? null,
    place?.rank ?? 0,
    message.request === null ? null : JSON.stringify(message.request),
    message.title ?? '',
    message.withTemplate,
    card.title,
    card.retitle ?? false,
    card.summary ?? null,
    card.replies ?? 0,
    message.type ?? 0,
    message.id,
    message.sources ? JSON.stringify(message.sources) : null,
  ];
  return ask(tx, params).then(
    () => true,
    (error: unknown) => {
      if (sqlState(error) === uniqueViolation) return false;
      throw error;
    },
  );
};

const wholeMessage = {
  id: history.id,
  sessionId: history.sessionId,
  userId: history.userId,
  prevId: history.prevId,
  shown: history.shown,
  branchRank: history.branchRank,
  besideGroup: history.besideGroup,
  human: history.human,
  request: history.request,
  withTemplate: history.withTemplate,
  title: history.title,
  type: history.type,
  model: history.model,
  state: history.state,
  likeCount: history.likeCount,
  answered: sql<boolean>`${history.ai} <> ''`,
  visible,
};
export type FoundMessage = NonNullable<Awaited<ReturnType<typeof findMessage>>>;

/** A message with its place and whose it is. */
export const findMessage = async (db: Executor, id: number) => {
  const rows = await db.select(wholeMessage).from(history).where(eq(history.id, id));
  return rows[0] ?? null;
};

/** The last or the first message of the shown branch. */
export const endOfBranch = async (
  db: Executor,
  sessionId: number,
  end: 'first' | 'last',
): Promise<FoundMessage | null> => {
  const rows = await db
    .select(wholeMessage)
    .from(history)
    .where(conditions({ sessionId }))
    .orderBy(end === 'last' ? desc(history.id) : asc(history.id))
    .limit(1);
  return rows[0] ?? null;
};

/**
 * Makes a message as new: its reply will be written again. False while another reply to the same
 * person is being written at its place.
 */
export const restartMessage = async (
  tx: Transaction,
  id: number,
  {
    owner,
    model,
    holdId,
    sources,
  }: { owner: number; model: string; holdId: string | null; sources: StoredSource[] | null },
): Promise<boolean> => {
  const rows = await tx
    .update(history)
    .set({
      owner,
      model,
      state: 'streaming',
      ai: '',
      reasoning: '',
      thoughtMs: 0,
      parts: [],
      errorCode: '',
      errorMessage: '',
      stopRequested: false,
      holdId,
      sources,
      tools: null,
      promptTokens: 0,
      completionTokens: 0,
      deductTokens: 0,
      cachedTokens: 0,
      answeredAt: null,
    })
    .where(
      and(
        eq(history.id, id),
        sql`NOT EXISTS (SELECT FROM history other WHERE other.state = 'streaming'
          AND other.session_id = ${history.sessionId} AND other.user_id = ${history.userId}
          AND other.place = ${history.place})`,
      ),
    )
    .returning({ id: history.id });
  return rows.length > 0;
};

/** The newest reply or message of a session of people. */
export const newestText = async (db: Executor, sessionId: number): Promise<string> => {
  const rows = await db
    .select({
      text: sql<string>`CASE WHEN ${history.ai} = '' THEN ${history.human} ELSE ${history.ai} END`,
    })
    .from(history)
    .where(conditions({ sessionId }))
    .orderBy(desc(history.id))
    .limit(1);
  return rows[0]?.text ?? '';
};

export const editMessage = async (
  tx: Transaction,
  id: number,
  { human, title }: { human: string; title: string },
): Promise<void> => {
  await tx
    .update(history)
    .set({ human, title, editedAt: sql`now()` })
    .where(eq(history.id, id));
};

/** Changes what a session's card says without bringing it to the front. */
export const updateCard = async (
  tx: Transaction,
  sessionId: number,
  card: { prompt?: string; summary?: string },
): Promise<void> => {
  await tx.update(sessions).set(card).where(eq(sessions.id, sessionId));
};

/** Makes a message of images as new: they are worked on from now on. */
export const restartImages = async (tx: Transaction, id: number, model: string): Promise<void> => {
  await tx
    .update(history)
    .set({ state: 'none', model, ai: '', errorCode: '', errorMessage: '', answeredAt: null })
    .where(eq(history.id, id));
};

/** Writes what became of a message of images; false where it is no longer there. */
export const endImages = async (
  tx: Transaction,
  id: number,
  end: {
    state: ReplyState;
    ai: string;
    errorCode: string;
    errorMessage: string;
    deductTokens: number;
  },
): Promise<boolean> => {
  const rows = await tx
    .update(history)
    .set({ ...end, answeredAt: sql`now()` })
    .where(eq(history.id, id))
    .returning({ id: history.id });
  return rows.length > 0;
};

/** What a message was answered with; empty: nothing, or it is gone. */
export const answerOf = async (db: Executor, id: number): Promise<string> => {
  const rows = await db.select({ ai: history.ai }).from(history).where(eq(history.id, id));
  return rows[0]?.ai ?? '';
};

/** A source of a message's answer; null: there is none of this number. */
export const sourceOf = async (
  db: Executor,
  id: number,
  n: number,
): Promise<StoredSource | null> => {
  const [row] = await db
    .select({ sources: history.sources })
    .from(history)
    .where(eq(history.id, id));
  return row?.sources?.find((each) => each.n === n) ?? null;
};

/** What a message says and was answered with; both empty: it is gone. */
export const wholeReply = async (
  db: Executor,
  id: number,
): Promise<{ human: string; ai: string }> => {
  const [row] = await db
    .select({ human: history.human, ai: history.ai })
    .from(history)
    .where(eq(history.id, id));
  return row ?? { human: '', ai: '' };
};

/** The same, to be changed: locked until the transaction ends. */
export const lockAnswer = async (tx: Transaction, id: number): Promise<string> => {
  const rows = await tx
    .select({ ai: history.ai })
    .from(history)
    .where(eq(history.id, id))
    .for('update');
  return rows[0]?.ai ?? '';
};

export const changeAnswer = async (tx: Transaction, id: number, ai: string): Promise<void> => {
  await tx.update(history).set({ ai }).where(eq(history.id, id));
};

export const messageIsThere = async (tx: Transaction, id: number): Promise<boolean> => {
  const rows = await tx
    .select({ id: history.id })
    .from(history)
    .where(eq(history.id, id))
    .for('update');
  return rows.length > 0;
};

/** So long a session that was deleted can be had back. */
const sessionStands = sql`(s.deleted_at IS NULL OR s.deleted_at > now() - interval '30 days')`;

/**
 * Images that messages took along, started from or have in their texts, also in former ones; and
 * the texts attached to them and what tools made for them.
 */
export const shownByMessages = showsWhere(sql`f.kind = 'image' AND EXISTS (
    SELECT FROM message_images m JOIN history h ON h.id = m.history_id
      JOIN sessions s ON s.id = h.session_id
    WHERE m.key = f.key AND ${sessionStands}
  ) OR f.kind = 'text' AND EXISTS (
    SELECT FROM history h JOIN sessions s ON s.id = h.session_id
    WHERE h.request IS NOT NULL AND h.user_id = f.user_id AND ${sessionStands}
      AND h.request @> jsonb_build_object('files', jsonb_build_array(
        jsonb_build_object('uuid', f.id)))
  ) OR f.kind = 'other' AND EXISTS (
    SELECT FROM history h JOIN sessions s ON s.id = h.session_id
    WHERE h.tools IS NOT NULL AND h.user_id = f.user_id AND ${sessionStands}
      AND h.tools @> jsonb_build_array(jsonb_build_object('files', jsonb_build_array(
        jsonb_build_object('url', f.url))))
  )`);
