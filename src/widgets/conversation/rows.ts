import { sessionTypes } from '#contract/kinds.ts';
import type { Message } from '#contract/chat.ts';
import { limits } from '#contract/limits.ts';
import { segmentsOf, type LiveReply, type Segment } from './live-reply.ts';

interface RowBase {
  key: string;
  message: Message;
}
export interface QuestionRow extends RowBase {
  kind: 'question';
  /** When it was asked; null where the message before is close in time. */
  time: string | null;
}
export interface ReplyRow extends RowBase {
  kind: 'reply';
  part: number;
  first: boolean;
  last: boolean;
  /** What a finished row shows; null: follow the live reply's open row. */
  segment: Segment | null;
  live: LiveReply | null;
}
/** All of a reply that is followed live at the end of the list. */
export interface LiveRow extends RowBase {
  kind: 'live';
  live: LiveReply;
}
/** Two answers to the same question, by two models. */
export interface SideBySideRow extends RowBase {
  kind: 'side-by-side';
  /** In the order in which they were asked for, whichever is gone on with. */
  answers: readonly { message: Message; live: LiveReply | null }[];
  newest: boolean;
}
/** A message of a session in which things are made: what was asked for, and what came of it. */
export interface WorkRow extends RowBase {
  kind: 'work';
  time: string | null;
}
/** How the reply stands, where that needs saying. */
export interface NoticeRow extends RowBase {
  kind: 'notice';
  /** The message is the newest of the session: it can be asked again. */
  newest: boolean;
}
/** Below an own message that is not with the server yet: why, and what can be done. */
export interface OutgoingRow extends RowBase {
  kind: 'outgoing';
  outgoing: Outgoing;
}
export type Row =
  | OutgoingRow
  | QuestionRow
  | ReplyRow
  | LiveRow
  | SideBySideRow
  | WorkRow
  | NoticeRow;

/** How a message stands that waits in the outbox. */
export interface Outgoing {
  /** Its key in the outbox. */
  key: string;
  state: 'waiting' | 'sending' | 'behind' | 'failed';
  /** Why it was refused. */
  reason: string;
  /** There was no room for it on this device: it lasts as long as the page. */
  held: boolean;
  /** What has to be tried again: itself, or the making of its session. */
  retryKey: string;
  /** Names of what is uploaded with it. */
  parts: readonly string[];
}

type Answer = NonNullable<Message['beside']>;
const wrapped = new WeakMap<Answer, Message>();
/** A second answer as the message that it would be by itself; the same object each time. */
export const asMessage = (answer: Answer): Message => {
  let message = wrapped.get(answer);
  if (!message) {
    message = { ...answer, beside: null };
    wrapped.set(answer, message);
  }
  return message;
};

/** Messages not yet on the server come last, in the order they were written. */
export const order = (message: Message): number =>
  message.id > 0 ? message.id : Number.MAX_SAFE_INTEGER / 2 - message.id;

/** Shorter replies are one row, and are split into blocks only when they come into view. */
const oneRow = 2_500;

const cache = new WeakMap<Message, { time: string | null; newest: boolean; rows: Row[] }>();

const split = new WeakMap<Message, Segment[]>();
/** A reply's rows, one for a short reply; kept as long as the message is. */
export const segmentsOfMessage = (message: Message): Segment[] => {
  let segments = split.get(message);
  if (!segments) {
    segments = segmentsOf(message.ai);
    if (message.ai.length <= oneRow) segments = [segments.flat()];
    split.set(message, segments);
  }
  return segments;
};

const finished = new WeakMap<LiveReply, Map<string, ReplyRow>>();
/** The row as it was before, if the same is in it: what is shown need not be looked at again. */
const sameRow = (live: LiveReply, row: ReplyRow): ReplyRow => {
  let known = finished.get(live);
  if (!known) {
    known = new Map();
    finished.set(live, known);
  }
  const before = known.get(row.key);
  const same =
    before?.message === row.message && before.segment === row.segment && before.last === row.last;
  if (same) return before;
  known.set(row.key, row);
  return row;
};

export const replyRows = (key: string, message: Message, live: LiveReply | null): ReplyRow[] => {
  const row = (part: number, last: boolean, segment: Segment | null): ReplyRow => ({
    kind: 'reply',
    key: `${key}:${part}`,
    message,
    part,
    first: part === 0,
    last,
    segment,
    live: last ? live : part === 0 ? live : null,
  });
  if (live) {
    const waiting = message.state === 'streaming';
    if (!live.started && !waiting) return [];
    return [
      ...live.segments.map((segment, part) => sameRow(live, row(part, false, segment))),
      sameRow(live, row(live.segments.length, true, null)),
    ];
  }
  const silent = message.ai === '' && message.reasoning === '' && !message.tools;
  if (silent && message.state !== 'streaming') return [];
  if (message.ai.length <= oneRow) return [row(0, true, null)];
  const segments = segmentsOfMessage(message);
  return segments.map((segment, part) => row(part, part === segments.length - 1, segment));
};

const needsNotice = (message: Message, people: boolean): boolean =>
  message.state === 'error' ||
  message.state === 'interrupted' ||
  message.state === 'stopped' ||
  (message.state === 'none' && message.ai === '' && !people);

interface Place {
  key: string;
  time: string | null;
  newest: boolean;
  /** Stands behind the measured list. */
  atEnd: boolean;
  people: boolean;
}

type Lives = ReadonlyMap<number, LiveReply>;

const sideBySideRow = (
  message: Message,
  beside: Answer,
  lives: Lives,
  place: Place,
): SideBySideRow => ({
  kind: 'side-by-side',
  key: `${place.key}:side-by-side`,
  message,
  newest: place.newest,
  answers: [message, asMessage(beside)]
    .sort((a, b) => Math.abs(a.id) - Math.abs(b.id))
    .map((each) => ({ message: each, live: lives.get(each.id) ?? null })),
});

const rowsOf = (message: Message, lives: Lives, place: Place): Row[] => {
  const { key, time, newest, atEnd, people } = place;
  if (message.type === sessionTypes.image || message.type === sessionTypes.video)
    return [{ kind: 'work', key: `${key}:q`, message, time }];
  const live = lives.get(message.id) ?? null;
  const rows: Row[] = [];
  if (message.human !== '') rows.push({ kind: 'question', key: `${key}:q`, message, time });
  // The server does not have it yet: there is nothing more to show of it.
  if (message.id < 0) return rows;
  if (message.beside) return [...rows, sideBySideRow(message, message.beside, lives, place)];
  if (live && atEnd) rows.push({ kind: 'live', key: `${key}:live`, message, live });
  else rows.push(...replyRows(key, message, live));
  if (needsNotice(message, people) && (newest || message.state !== 'none'))
    rows.push({ kind: 'notice', key: `${key}:n`, message, newest });
  return rows;
};

export interface Rows {
  /** What the list measures and of which it shows a part. */
  rows: Row[];
  /** What stands behind the list, always on the page: a reply that grows costs no measuring. */
  tail: Row[];
}

/**
 * The rows of a session, oldest message first or newest first. Rows of messages that did not
 * change are the same objects as before.
 * @param tailFrom the message whose reply begins the tail
 * @param people a message without a reply lacks nothing
 */
export const buildRows = (
  messages: readonly Message[],
  lives: Lives,
  keyOf: (message: Message) => string,
  options: {
    newestFirst: boolean;
    tailFrom: number | null;
    people: boolean;
    /** Of the outbox, by the number of their message here. */
    outgoing: ReadonlyMap<number, Outgoing>;
  },
): Rows => {
  const { newestFirst, tailFrom, people, outgoing } = options;
  const rows: Row[] = [];
  const tail: Row[] = [];
  let inTail = false;
  let before = 0;
  const groups: Row[][] = [];
  for (const [at, message] of messages.entries()) {
    const asked = Date.parse(message.created_at);
    const time = asked - before > limits.timeSeparator ? message.created_at : null;
    before = asked;
    const newest = at === messages.length - 1;
    const isLive =
      lives.has(message.id) || (message.beside !== null && lives.has(message.beside.id));
    const known = cache.get(message);
    let own = known?.rows;
    const starts = message.id === tailFrom && !newestFirst;
    const waiting = outgoing.get(message.id);
    if (waiting) {
      const key = keyOf(message);
      own = [
        { kind: 'question', key: `${key}:q`, message, time },
        { kind: 'outgoing', key: `${key}:o`, message, outgoing: waiting },
      ];
    } else if (!own || isLive || known?.time !== time || known.newest !== newest) {
      own = rowsOf(message, lives, {
        key: keyOf(message),
        time,
        newest,
        atEnd: inTail || starts,
        people,
      });
      if (!isLive) cache.set(message, { time, newest, rows: own });
    }
    if (newestFirst) groups.push(own);
    else if (starts) for (const row of own) (row.kind === 'question' ? rows : tail).push(row);
    else (inTail ? tail : rows).push(...own);
    inTail ||= starts;
  }
  return { rows: newestFirst ? groups.reverse().flat() : rows, tail };
};
