import { api } from '@/platform/api.ts';
import { newestOf } from '@/platform/early.ts';
import { lazyChunk } from '@/platform/lazy-chunk.ts';
import { onActDone, outboxState } from '@/platform/outbox.ts';
import { isWaiting, loadOutbox } from '@/platform/pending.ts';
import { readQuestion } from '@/platform/question.ts';
import type { Message } from '@contract/chat.ts';
import { limits } from '@contract/limits.ts';
import type { LiveReply } from './live-reply.ts';
import type { Pair } from './price-ahead.ts';
import { asMessage, buildRows, order, type Outgoing, type Row, type Rows } from './rows.ts';
import type { ThreadWriting } from './thread-writing.ts';

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
  /** Things are made here: no reply is written. */
  makes: boolean;
  /** Of the session. */
  type: number;
  me: { id: number; name: string };
  /** Where a model's replies are read from; empty: this server. */
  streamBase: (model: string) => string;
}

const startIndex = 10_000_000;
/** As many messages as last_messages gives at once. */
const mostLast = 100;
/** How many of the newest messages of a session of people are looked at again for edits. */
const lookedAtAgain = 30;

/** How a message reads as text. */
export const replyText = (message: Message, live: LiveReply | null): string =>
  live?.whole ?? message.ai;

/** Of a file that was attached before its characters were counted. */
const bytesOfChar = 3;

/**
 * The messages of one open session, outside React: what was loaded, what is being sent, and the
 * replies being written. Tabs on the same session tell each other of changes.
 */
export class Thread {
  readonly uuid: string;
  /** Only this message is shown (a favourite); null: the whole session. */
  readonly only: number | null;
  session: ThreadSession | null = null;
  messages: Message[] = [];
  readonly live = new Map<number, LiveReply>();
  readonly keys = new Map<number, string>();
  private readonly listeners = new Set<() => void>();
  readonly streams = new Map<number, AbortController>();
  outgoing: ReadonlyMap<number, Outgoing> = new Map();
  private channel: BroadcastChannel | null = null;
  private opened = false;
  private firstLoad: Promise<void> | null = null;
  private loadingMore = false;
  tailFrom: number | null = null;
  /** Numbers of the messages that the list has on the page just now. */
  private onScreen: () => number[] = () => [];
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
    // Replies wait for this: it says where they are read from.
    this.attachAll();
  }

  /** Starts to hear of other tabs and to read replies being written; gives what ends that. */
  open(): () => void {
    this.opened = true;
    if (typeof BroadcastChannel === 'function') {
      this.channel = new BroadcastChannel(`queqiao.thread.${this.uuid}`);
      this.channel.addEventListener('message', ({ data }: MessageEvent<number>) => {
        (data > 0 ? this.reread(data - 1) : this.refresh()).catch(() => {});
      });
    }
    this.attachAll();
    const leave = [
      outboxState.subscribe(this.takeOutgoing),
      onActDone((done, data) => {
        if (done.lane === this.uuid) this.whenWriting((writing) => writing.takeDone(done, data));
      }),
    ];
    if (isWaiting(this.uuid)) loadOutbox().catch(() => {});
    this.takeOutgoing();
    return () => {
      this.opened = false;
      for (const each of leave) each();
      this.channel?.close();
      this.channel = null;
      for (const stream of this.streams.values()) stream.abort();
      this.streams.clear();
      for (const reply of this.live.values()) reply.dispose();
      this.live.clear();
    };
  }

  /** Tells how to find out which messages are on the page; gives what ends that. */
  watchScreen(onScreen: () => number[]): () => void {
    this.onScreen = onScreen;
    return () => {
      this.onScreen = () => [];
    };
  }

  /** What a person does here, and the replies being written: the other half, which comes later. */
  readonly writing = lazyChunk(async () => {
    const { ThreadWriting: Writing } = await import('./thread-writing.ts');
    return new Writing(this);
  });

  /** Does something with the other half once it is there; without a network it may stay away. */
  private whenWriting(use: (writing: ThreadWriting) => void): void {
    this.writing().then(use, () => {});
  }

  /** Shows what the outbox has for this session. */
  private readonly takeOutgoing = (): void => {
    const waits = outboxState.get().acts.some(({ lane }) => lane === this.uuid);
    if (waits || this.outgoing.size > 0) this.whenWriting((writing) => writing.takeOutgoing());
  };

  /** Reads the replies that are being written. */
  private attachAll(): void {
    if (!this.view.loaded || !this.session) return;
    const unread = ({ id, state }: Pick<Message, 'id' | 'state'>) =>
      id > 0 && state === 'streaming' && !this.streams.has(id);
    if (this.messages.some((each) => unread(each) || (each.beside && unread(each.beside))))
      this.whenWriting((writing) => {
        if (this.opened) writing.attachAll();
      });
  }

  /** The newest messages: all of the first page at first, later what is new. */
  async refresh(signal?: AbortSignal): Promise<void> {
    if (!this.view.loaded) {
      // Asked for once, whoever else wants it meanwhile: a second request would fail unheard.
      this.firstLoad ??= (
        this.view.focus === null ? this.loadNewest() : this.loadAround(this.view.focus)
      ).finally(() => {
        this.firstLoad = null;
      });
      return this.firstLoad;
    }
    if (this.only !== null) return this.loadNewest();
    if (this.session?.temporary === true) return undefined;
    const people = this.session?.people === true;
    const known = this.known();
    const after = known.at(people ? -1 - lookedAtAgain : -2)?.id ?? (known[0]?.id ?? 1) - 1;
    if (people) await this.lookAgain(this.view.hasNewer ? Infinity : after, signal);
    return this.view.hasNewer ? undefined : this.reread(after, signal);
  }

  /** Takes everything behind a message as the server has it now. */
  async reread(after: number, signal?: AbortSignal): Promise<void> {
    if (!this.view.loaded || this.session?.temporary === true) return;
    const fresh = await api.lastMessages(
      { sessionId: this.uuid, maxHistoryId: after },
      { quiet: true, ...(signal ? { signal } : {}) },
    );
    const whole = fresh.length < mostLast;
    const end = whole ? Infinity : (fresh.at(-1)?.id ?? 0);
    this.takeStretch(fresh, after, end);
    if (!whole) for (const { id } of this.known()) if (id > end) this.drop(id);
    this.publish(whole ? {} : { hasNewer: true });
    this.attachAll();
  }

  /**
   * Reads again what is on the screen of a session of people: anyone of it may have been changed,
   * taken back or liked by somebody else.
   * @param to number of the newest that need be read
   */
  private async lookAgain(to: number, signal?: AbortSignal): Promise<void> {
    const shown = this.onScreen().filter((id) => id > 0 && id <= to);
    const [first, last] = [Math.min(...shown), Math.max(...shown)];
    const stretch = this.known()
      .filter(({ id }) => id >= first && id <= last)
      .slice(-mostLast);
    const [oldest] = stretch;
    if (!oldest) return;
    const page = await api.historyList(
      { session_id: this.uuid, newest: 1, page_size: stretch.length, before: last + 1 },
      { quiet: true, ...(signal ? { signal } : {}) },
    );
    this.takeStretch(page.list.reverse(), oldest.id - 1, last);
    this.publish();
  }

  /** Puts fresh messages in the place of those with numbers above `after`, up to `end`. */
  private takeStretch(fresh: readonly Message[], after: number, end: number): void {
    const there = new Set(fresh.map(({ id }) => id));
    for (const { id } of this.known()) if (id > after && id <= end && !there.has(id)) this.drop(id);
    for (const message of fresh) if (message.id > after) this.merge(message);
  }

  async loadNewest(): Promise<void> {
    const page = await api.historyList(
      {
        ...newestOf(this.uuid),
        ...(this.only === null ? {} : { id: this.only }),
      },
      { quiet: true },
    );
    this.takeNew(page.list.reverse(), {
      hasOlder: this.only === null && page.list.length >= limits.historyPageSize,
      hasNewer: false,
      focus: null,
    });
  }

  /** The messages around one, whose neighbours load as the list is scrolled. */
  private async loadAround(id: number): Promise<void> {
    const half = Math.ceil(limits.historyPageSize / 2);
    const read = (newest: 0 | 1, where: { before: number } | { after: number }) =>
      api.historyList(
        { session_id: this.uuid, newest, page_size: half, ...where },
        { quiet: true },
      );
    const [older, newer] = await Promise.all([read(1, { before: id + 1 }), read(0, { after: id })]);
    const found = older.list[0]?.id === id;
    this.takeNew([...older.list.reverse(), ...newer.list], {
      hasOlder: older.list.length >= half,
      hasNewer: newer.list.length >= half,
      focus: found ? id : null,
    });
  }

  /** Another stretch of the session takes the place of what is here. */
  private takeNew(
    messages: Message[],
    change: Pick<ThreadView, 'hasOlder' | 'hasNewer' | 'focus'>,
  ) {
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
    this.attachAll();
  }

  /** The page of messages before the oldest here. */
  async loadOlder(): Promise<void> {
    const oldest = this.known()[0];
    if (this.loadingMore || !this.view.hasOlder || !oldest) return;
    this.loadingMore = true;
    try {
      const page = await api.historyList(
        { session_id: this.uuid, newest: 1, page_size: limits.historyPageSize, before: oldest.id },
        { quiet: true },
      );
      const known = new Set(this.messages.map((message) => message.id));
      const older = page.list.filter((message) => !known.has(message.id)).reverse();
      const rowsBefore = this.view.rows.length;
      this.messages = [...older, ...this.messages];
      const built = this.build(this.view.newestFirst);
      const more = this.view.newestFirst ? 0 : built.rows.length - rowsBefore;
      this.publish({
        ...built,
        firstIndex: this.view.firstIndex - more,
        hasOlder: page.list.length >= limits.historyPageSize,
      });
    } finally {
      this.loadingMore = false;
    }
  }

  /** The page of messages behind the newest here, where the list was opened in the middle. */
  async loadNewer(): Promise<void> {
    const newest = this.known().at(-1);
    if (this.loadingMore || !this.view.hasNewer || !newest) return;
    this.loadingMore = true;
    try {
      const page = await api.historyList(
        { session_id: this.uuid, newest: 0, page_size: limits.historyPageSize, after: newest.id },
        { quiet: true },
      );
      const rowsBefore = this.view.rows.length;
      for (const message of page.list) this.merge(message);
      const built = this.build(this.view.newestFirst);
      const more = this.view.newestFirst ? built.rows.length - rowsBefore : 0;
      this.publish({
        ...built,
        firstIndex: this.view.firstIndex - more,
        hasNewer: page.list.length >= limits.historyPageSize,
      });
      this.attachAll();
    } finally {
      this.loadingMore = false;
    }
  }

  /** Brings a message into the list; gives whether it was there, so that the list only has to move. */
  async show(id: number): Promise<boolean> {
    if (this.find(id)) return true;
    await this.loadAround(id);
    return false;
  }

  /** Back to the newest messages where the list was opened in the middle; else nothing. */
  async toNewest(): Promise<void> {
    if (this.view.hasNewer) await this.loadNewest();
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

  /** Reads a message again, and all that are newer. */
  async reload(id: number): Promise<void> {
    if (this.find(id)) await this.reread(this.before(id));
    this.announce(id);
  }

  /** Reads a reply again whose connection was given up; the server may have written on. */
  reconnect(id: number): void {
    this.forgetLive(id);
    this.replace(id, { state: 'streaming', error_code: '', error_message: '' });
    this.publish();
    this.attachAll();
  }

  /** The newest messages that have a reply, newest first: what goes along with the next question. */
  recentPairs(most: number): Pair[] {
    return this.known()
      .filter((message) => message.state !== 'streaming' && message.ai !== '')
      .reverse()
      .slice(0, most)
      .map((message) => {
        const { text, images, detail, files } = readQuestion(message);
        return {
          human: text,
          ai: this.textOf(message),
          pictures: images.length * limits.imageTokens[detail],
          files: files.reduce((sum, file) => sum + (file.chars ?? file.size / bytesOfChar), 0),
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
      const { ai, reasoning, state, error_code, error_message } = known;
      return { ...fresh, ai, reasoning, state, error_code, error_message };
    }
    const live = this.live.get(fresh.id);
    // What is on the page stays as it stands there, if it is the same text.
    if (live && (live.whole !== fresh.ai || fresh.state === 'streaming')) this.forgetLive(fresh.id);
    return fresh;
  }

  /** @param from the first message that others must read again; 0: the newest will do */
  announce(from = 0): void {
    this.channel?.postMessage(from);
  }

  private build(newestFirst: boolean): Rows {
    return buildRows(this.messages, this.live, this.keyOf, {
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
