import { readQuestion } from '#src/platform/question.ts';
import type { Message } from '#contract/chat.ts';
import { limits } from '#contract/limits.ts';
import type { LiveReply } from './live-reply.ts';
import type { Exchange } from './price-ahead.ts';
import { asMessage, buildRows, order, type Outgoing, type Row, type Rows } from './rows.ts';

export interface ThreadView {
  /** False until the first page of messages is there. */
  loaded: boolean;
  rows: readonly Row[];
  /** Rows behind those, from the reply on that began to be written since this page sent last. */
  tail: readonly Row[];
  /** What the list calls its first row; falls as older messages come before it. */
  firstIndex: number;
  /** Another number whenever the list shows another stretch of the session. */
  stretch: number;
  /** The message that the list is opened at; null: its newest end. */
  focus: number | null;
  count: number;
  /** Number of the newest message that the server has; null: none. */
  lastId: number | null;
  hasOlder: boolean;
  /** The newest messages are not here: the list was opened in the middle. */
  hasNewer: boolean;
  newestFirst: boolean;
  /** A message is on its way to the server. */
  sending: boolean;
  /** The message of one's own whose reply is being written, or null. */
  replying: Message | null;
  /** Its first chunk has arrived. */
  replyStarted: boolean;
  /** The reply's connection was lost and is being tried again. */
  reconnecting: boolean;
}

/** What a thread must know of its session and its reader. */
export interface ThreadSession {
  model: string;
  /** Nothing is stored: what was said goes along with each message. */
  temporary: boolean;
  /** Several people write, and see each other's edits. */
  people: boolean;
  /** The answer that stands right below its question; null: none does. */
  accepted: number | null;
  /** Things are made here: no reply is written. */
  makes: boolean;
  /** Of the session. */
  type: number;
  me: { id: number; name: string };
  /** Where a model's replies are read from; empty: this server. */
  streamBase: (model: string) => string;
}

const startIndex = 10_000_000;

/** How a message reads as text. */
export const replyText = (message: Message, live: LiveReply | null): string =>
  live?.whole ?? message.ai;

/** The accepted answer is read right below its question, wherever it was given. */
const pinned = (messages: readonly Message[], accepted: number | null): readonly Message[] => {
  const at = accepted === null ? -1 : messages.findIndex(({ id }) => id === accepted);
  const [question, ...answers] = messages;
  const answer = messages[at];
  if (at < 2 || !question || question.title === '' || !answer) return messages;
  return [question, answer, ...answers.filter((each) => each !== answer)];
};

/** Of a file that was attached before its characters were counted. */
const bytesOfChar = 3;

const keptNotice = (letters: number): string =>
  `服务器重启过，这条回复没有写完；最后 ${letters} 个字没有存到服务器，只留在这台设备上`;

/**
 * A server that was cut off stored less than was read here: what was read stays, and says so. Null:
 * the server's text is what there is, as when somebody shortened it since.
 */
const keptWords = (
  known: Pick<Message, 'reasoning' | 'state' | 'error_code' | 'error_message'>,
  fresh: Pick<Message, 'ai' | 'reasoning' | 'state'>,
  shown: string,
): Pick<Message, 'ai' | 'reasoning' | 'error_message'> | null => {
  const lost = shown.length - fresh.ai.length;
  if (fresh.state !== 'interrupted' || lost <= 0 || !shown.startsWith(fresh.ai)) return null;
  const cut = known.state === 'error' && known.error_code === 'interrupted';
  if (!cut && known.error_message !== keptNotice(lost)) return null;
  const reasoning = known.reasoning.startsWith(fresh.reasoning) ? known.reasoning : fresh.reasoning;
  return { ai: shown, reasoning, error_message: keptNotice(lost) };
};

/**
 * The messages of one open session, outside React: what was loaded, what is being sent, and the
 * replies being written. It asks nobody for anything.
 */
export class MessageStore {
  readonly uuid: string;
  /** Only this message is shown (a favourite); null: the whole session. */
  readonly only: number | null;
  session: ThreadSession | null = null;
  messages: Message[] = [];
  readonly live = new Map<number, LiveReply>();
  readonly keys = new Map<number, string>();
  readonly streams = new Map<number, AbortController>();
  outgoing: ReadonlyMap<number, Outgoing> = new Map();
  tailFrom: number | null = null;
  private readonly listeners = new Set<() => void>();
  private view: ThreadView = {
    loaded: false,
    rows: [],
    tail: [],
    firstIndex: startIndex,
    stretch: 0,
    focus: null,
    count: 0,
    lastId: null,
    hasOlder: false,
    hasNewer: false,
    newestFirst: false,
    sending: false,
    replying: null,
    replyStarted: false,
    reconnecting: false,
  };

  constructor(
    uuid: string,
    { focus = null, only = null }: { focus?: number | null; only?: number | null } = {},
  ) {
    this.uuid = uuid;
    this.only = only;
    this.view.focus = focus;
  }

  readonly get = (): ThreadView => this.view;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  };

  /** Tells what the session is, once that is known or has changed. */
  know(session: ThreadSession): void {
    // What a row looks like depends on it.
    if (session.people !== this.session?.people)
      this.messages = this.messages.map((message) => ({ ...message }));
    this.session = session;
    if (this.view.loaded) this.publish();
  }

  /** Puts fresh messages in the place of those with numbers above `after`, up to `end`. */
  takeStretch(fresh: readonly Message[], after: number, end: number): void {
    const there = new Set(fresh.map(({ id }) => id));
    for (const { id } of this.known()) if (id > after && id <= end && !there.has(id)) this.drop(id);
    for (const message of fresh) if (message.id > after) this.merge(message);
  }

  /** Another stretch of the session takes the place of what is here. */
  takeNew(messages: Message[], change: Pick<ThreadView, 'hasOlder' | 'hasNewer' | 'focus'>) {
    const waiting = this.messages.filter(({ id }) => id < 0);
    const before = new Map(this.messages.map((message) => [message.id, message]));
    this.messages = [
      ...messages.map((message) => this.freshened(before.get(message.id), message)),
      ...waiting,
    ];
    const here = new Set(this.messages.flatMap(({ id, beside }) => [id, beside?.id ?? id]));
    for (const id of this.live.keys()) if (!here.has(id)) this.forgetLive(id);
    const again = this.view.loaded && this.only === null;
    if (again) this.tailFrom = null;
    this.publish({
      ...change,
      loaded: true,
      ...(again ? { firstIndex: startIndex, stretch: this.view.stretch + 1 } : {}),
    });
  }

  /** Puts older messages before those that are here. */
  takeOlder(older: readonly Message[], hasOlder: boolean): void {
    const known = new Set(this.messages.map((message) => message.id));
    const rowsBefore = this.view.rows.length;
    this.messages = [...older.filter((message) => !known.has(message.id)), ...this.messages];
    const built = this.build(this.view.newestFirst);
    const more = this.view.newestFirst ? 0 : built.rows.length - rowsBefore;
    this.publish({ ...built, firstIndex: this.view.firstIndex - more, hasOlder });
  }

  /** Puts newer messages behind those that are here. */
  takeNewer(newer: readonly Message[], hasNewer: boolean): void {
    const rowsBefore = this.view.rows.length;
    for (const message of newer) this.merge(message);
    const built = this.build(this.view.newestFirst);
    const more = this.view.newestFirst ? built.rows.length - rowsBefore : 0;
    this.publish({ ...built, firstIndex: this.view.firstIndex - more, hasNewer });
  }

  setNewestFirst(newestFirst: boolean): void {
    this.publish({
      newestFirst,
      ...this.build(newestFirst),
      firstIndex: startIndex,
      stretch: this.view.stretch + 1,
      focus: null,
    });
  }

  /** Shows something else of a message, as it has just become known. */
  change(id: number, change: Partial<Message>): void {
    this.replace(id, change);
    this.publish();
  }

  /** The newest messages that have a reply, newest first: what goes along with the next question. */
  recentExchanges(most: number): Exchange[] {
    return this.known()
      .filter((message) => message.state !== 'streaming' && message.ai !== '')
      .reverse()
      .slice(0, most)
      .map((message) => {
        const { text, images, detail, files } = readQuestion(message);
        return {
          id: message.id,
          human: text,
          ai: this.textOf(message),
          images: images.length * limits.imageTokens[detail],
          files: files.map(({ chars, size, tokens }) => ({
            chars: chars ?? size / bytesOfChar,
            tokens,
          })),
        };
      });
  }

  /** What is here, oldest first. */
  all(): readonly Message[] {
    return this.known().map((message) => ({ ...message, ai: this.textOf(message) }));
  }

  /** The session is gone: there is nothing here to lose any more. */
  forget(): void {
    this.messages = [];
    this.publish();
  }

  /** The first message of the session is here, and it is this one. */
  isFirst(id: number): boolean {
    return !this.view.hasOlder && this.known()[0]?.id === id;
  }

  known(): Message[] {
    return this.messages.filter((message) => message.id > 0);
  }

  textOf(message: Message): string {
    return replyText(message, this.live.get(message.id) ?? null);
  }

  isMine(message: Message): boolean {
    return this.session?.people !== true || message.user_id === this.session.me.id;
  }

  /** The message itself or the second answer with this number. */
  find(id: number): Message | undefined {
    for (const message of this.messages) {
      if (message.id === id) return message;
      if (message.beside?.id === id) return asMessage(message.beside);
    }
    return undefined;
  }

  /** The message at whose place the number stands, as itself or as the second answer. */
  placeOf(id: number): Message | undefined {
    return this.messages.find((each) => each.id === id || each.beside?.id === id);
  }

  /** A number that the message at this place is newer than, and the one before it is not. */
  before(id: number): number {
    const at = this.messages.findIndex((each) => each.id === id || each.beside?.id === id);
    const { siblings = [], beside = null } = this.messages[at] ?? {};
    // Branches and second answers are all newer than what they follow.
    return this.messages[at - 1]?.id ?? Math.min(id, beside?.id ?? id, ...siblings) - 1;
  }

  /** Names the rows of a place in the list, whichever of its branches is shown. */
  readonly keyOf = (message: Message): string => {
    const first = message.siblings[0] ?? Math.min(message.id, message.beside?.id ?? message.id);
    return this.keys.get(message.id) ?? this.keys.get(first) ?? String(first);
  };

  replace(id: number, change: Partial<Message>): void {
    this.messages = this.messages.map((message) => {
      if (message.id === id) return { ...message, ...change };
      if (message.beside?.id !== id) return message;
      return { ...message, beside: { ...message.beside, ...change } };
    });
  }

  drop(id: number): void {
    const message = this.messages.find((each) => each.id === id);
    if (!message) return;
    this.forgetLive(id);
    if (message.beside) this.forgetLive(message.beside.id);
    this.messages = this.messages.filter((each) => each !== message);
  }

  forgetLive(id: number): void {
    this.streams.get(id)?.abort();
    this.streams.delete(id);
    this.live.get(id)?.dispose();
    this.live.delete(id);
  }

  /** Nobody reads the replies any more. */
  endStreams(): void {
    for (const stream of this.streams.values()) stream.abort();
    this.streams.clear();
    for (const reply of this.live.values()) reply.dispose();
    this.live.clear();
  }

  /** Takes a message as the server has it; one being read from its stream stays as it is. */
  private merge(fresh: Message): void {
    const known = this.messages.find((message) => message.id === fresh.id);
    if (!known) {
      this.messages = [...this.messages, fresh].sort((a, b) => order(a) - order(b));
      return;
    }
    const next = this.freshened(known, fresh);
    if (next !== known)
      this.messages = this.messages.map((message) => (message === known ? next : message));
  }

  private freshened(known: Message | undefined, fresh: Message): Message {
    if (!known) return fresh;
    let next = this.own(known, fresh);
    if (fresh.beside && known.beside && fresh.beside.id === known.beside.id) {
      const beside = this.own(known.beside, fresh.beside);
      if (beside !== fresh.beside) next = { ...next, beside };
    }
    return same(known, next) ? known : next;
  }

  /** The fields of an answer itself: what is being read here is newer than what the server told. */
  private own<T extends Message | NonNullable<Message['beside']>>(known: T, fresh: T): T {
    if (this.streams.has(fresh.id)) {
      const { ai, reasoning, state, error_code, error_message, tools } = known;
      return { ...fresh, ai, reasoning, state, error_code, error_message, ...(tools && { tools }) };
    }
    // Of a reply that is being written the server tells no words.
    if (known.state === 'streaming' && fresh.state === 'streaming' && fresh.ai === '') {
      const { ai, reasoning } = known;
      return { ...fresh, ai, reasoning };
    }
    const live = this.live.get(fresh.id);
    const kept = keptWords(known, fresh, live?.whole ?? known.ai);
    if (kept !== null) return { ...fresh, ...kept };
    // What is on the page stays as it stands there, if it is the same text.
    if (live && (live.whole !== fresh.ai || fresh.state === 'streaming')) this.forgetLive(fresh.id);
    return fresh;
  }

  private build(newestFirst: boolean): Rows {
    const accepted = this.session?.accepted ?? null;
    return buildRows(pinned(this.messages, newestFirst ? null : accepted), this.live, this.keyOf, {
      newestFirst,
      tailFrom: this.tailFrom,
      people: this.session?.people ?? false,
      outgoing: this.outgoing,
    });
  }

  publish(change: Partial<ThreadView> = {}): void {
    const newestFirst = change.newestFirst ?? this.view.newestFirst;
    const replying =
      this.messages
        .filter(
          (each) =>
            (each.state === 'streaming' || each.beside?.state === 'streaming') && this.isMine(each),
        )
        .at(-1) ?? null;
    const begun = (id: number | undefined) =>
      id !== undefined && (this.live.get(id)?.started ?? false);
    this.view = {
      ...this.view,
      ...(change.rows ? {} : this.build(newestFirst)),
      count: this.messages.length,
      lastId: this.known().at(-1)?.id ?? null,
      replying,
      replyStarted: begun(replying?.id) || begun(replying?.beside?.id),
      ...change,
    };
    for (const listener of this.listeners) listener();
  }
}

const same = (a: object, b: object): boolean =>
  Object.entries(b).every(([key, value]) => {
    const other = (a as Record<string, unknown>)[key];
    if (other === value) return true;
    const deep = typeof other === 'object' && typeof value === 'object' && other && value;
    return Boolean(deep) && JSON.stringify(other) === JSON.stringify(value);
  });
