import { summaryOf, titleOf } from '#common/markdown/digest.ts';
import { storableText } from '#server/storable.ts';

/** A message on its way in; the names are the columns'. */
export interface MessageRow {
  human: string;
  ai: string;
  reasoning: string;
  parts: number[];
  request: unknown;
  title: string;
  type: number;
  model: string;
  state: string;
  error_code: string;
  error_message: string;
  shown: boolean;
  branch_rank: number;
  place: number;
  prompt_tokens: number;
  completion_tokens: number;
  created_at: string;
  answered_at: string | null;
  edited_at: string | null;
}

export interface ImportedMessage {
  row: MessageRow;
  /** Place in the session's list of the message that it follows, always before its own; -1: none. */
  before: number;
  /** Place of the first of two answers beside each other; -1: there is but one. */
  group: number;
}

export interface ImportedSession {
  model: string;
  prompt: string;
  summary: string;
  reply_count: number;
  created_at: string;
  updated_at: string;
  messages: ImportedMessage[];
}

export const bounds = {
  sessions: 5_000,
  messages: 200_000,
  /** Of one session: whoever turns to another of its branches rewrites them all. */
  messagesOfSession: 50_000,
  /** Characters of one text, and messages that follow the same one: more than any real file has. */
  text: 400_000,
  followers: 1_000,
  /** Characters of all texts: what branches share counts for each of them. */
  all: 160_000_000,
  /** Things that are named as not read. */
  skipped: 100,
} as const;

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A field of the value's own, so that `__proto__` and its like are nothing special. */
export const field = (of: Fields, name: string): unknown =>
  Object.hasOwn(of, name) ? of[name] : undefined;

/** NUL and halves of surrogate pairs, which PostgreSQL cannot keep, become U+FFFD, one for one. */

export const words = (value: unknown, most: number): string =>
  typeof value === 'string' ? storableText(value.slice(0, most)) : '';

export const whole = (value: unknown, most: number): number =>
  typeof value === 'number' && Number.isFinite(value)
    ? Math.min(Math.max(0, Math.trunc(value)), most)
    : 0;

/** A time between 1970 and now, from ISO text or seconds; null for anything else. */
export const timeOf = (value: unknown, now: number): string | null => {
  const ms =
    typeof value === 'number' ? value * 1000 : typeof value === 'string' ? Date.parse(value) : NaN;
  if (!Number.isFinite(ms)) return null;
  return new Date(Math.min(Math.max(0, ms), now)).toISOString();
};

/** What could not be read, in Chinese; named up to a number, then only counted. */
export class Skipped {
  readonly #list: string[] = [];
  #more = 0;

  add(text: string): void {
    if (this.#list.length < bounds.skipped) this.#list.push(text);
    else this.#more += 1;
  }

  get list(): string[] {
    return this.#more > 0 ? [...this.#list, `另有 ${this.#more} 处没有读懂`] : this.#list;
  }
}

/** How much has been taken in so far. */
export class Budget {
  messages = 0;
  #ofSession = 0;
  #characters = 0;

  /** What is counted from now on is another session's. */
  beginSession(): void {
    this.#ofSession = 0;
  }

  /** Counts a message, and says whether there was room for it. */
  take(row: MessageRow): boolean {
    const size = row.human.length + row.ai.length + row.reasoning.length;
    if (this.messages >= bounds.messages || this.#characters + size > bounds.all) return false;
    if (this.#ofSession >= bounds.messagesOfSession) return false;
    this.messages += 1;
    this.#ofSession += 1;
    this.#characters += size;
    return true;
  }
}

/** Where the messages of a session follow: of too many at one place the rest follows the last of them. */
export class Followers {
  readonly #places = new Map<number, { count: number; last: number }>();
  moved = 0;

  /** The place to follow for the message at `at` that would follow `before`. */
  place(before: number, at: number): number {
    for (let place = before; ;) {
      const { count, last } = this.#places.get(place) ?? { count: 0, last: -1 };
      if (count < bounds.followers) {
        this.#places.set(place, { count: count + 1, last: at });
        if (place !== before) this.moved += 1;
        return place;
      }
      place = last;
    }
  }

  /** Says of the session of this name what was moved. */
  tell(name: string, skipped: Skipped): void {
    if (this.moved > 0)
      skipped.add(
        `${name}：一处的分支超过 ${bounds.followers} 个，多出的 ${this.moved} 条接在了最后一个后面`,
      );
  }
}

/** What is said of a text that was cut. */
export const cutText = `太长，只导入了前 ${bounds.text / 10_000} 万个字`;

export const sessionName = (at: number, title: string): string =>
  title === '' ? `第 ${at + 1} 个会话` : `会话「${Array.from(title).slice(0, 40).join('')}」`;

/**
 * Shows exactly one path through the branches: at each fork the one that was shown, else the one
 * that was looked at last, else the newest.
 */
const showOnePath = (messages: readonly ImportedMessage[]): void => {
  const following = new Map<number, number[]>();
  messages.forEach(({ before }, at) => {
    const list = following.get(before);
    if (list) list.push(at);
    else following.set(before, [at]);
  });
  const shown = new Set<number>();
  for (let at = -1; ;) {
    let best = -1;
    for (const next of following.get(at) ?? []) {
      const one = messages[next]?.row;
      const other = messages[best]?.row;
      if (!one) continue;
      const wins =
        !other || (one.shown !== other.shown ? one.shown : one.branch_rank >= other.branch_rank);
      if (wins) best = next;
    }
    if (best < 0) break;
    shown.add(best);
    at = best;
  }
  messages.forEach(({ row }, at) => {
    row.shown = shown.has(at);
  });
};

/** A session that is ready to be kept; null where nothing of it is left. */
export const finishSession = (
  head: { model: string; title: string; createdAt: string | null; updatedAt: string | null },
  messages: ImportedMessage[],
  now: number,
): ImportedSession | null => {
  if (messages.length === 0) return null;
  showOnePath(messages);
  const shown = messages.filter(({ row }) => row.shown);
  const first = shown[0]?.row;
  const last = shown.at(-1)?.row;
  const createdAt = head.createdAt ?? first?.created_at ?? new Date(now).toISOString();
  const updatedAt = head.updatedAt ?? last?.answered_at ?? last?.created_at ?? createdAt;
  const answered = shown.filter(({ row }) => row.ai !== '');
  return {
    model: head.model,
    prompt: titleOf(head.title) || titleOf(first?.human ?? '') || '导入的会话',
    summary: summaryOf(answered.at(-1)?.row.ai ?? ''),
    reply_count: answered.length,
    created_at: createdAt,
    updated_at: updatedAt < createdAt ? createdAt : updatedAt,
    messages,
  };
};
