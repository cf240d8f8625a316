import { api } from '#src/platform/api.ts';
import { newestOf } from '#src/platform/early.ts';
import { heldRun } from '#src/platform/run.ts';
import { readKept } from '#src/platform/stored-first.ts';
import type { Out } from '#contract/calls.ts';
import type { Message } from '#contract/chat.ts';
import { limits } from '#contract/limits.ts';
import type { MessageStore, ThreadView } from './message-store.ts';

type Stretch = Pick<ThreadView, 'hasOlder' | 'hasNewer' | 'focus'>;

/** As many messages as last_messages gives at once. */
const mostLast = 100;
/** How many of the newest messages of a session of people are looked at again for edits. */
const lookedAtAgain = 30;

type Page = Pick<Out<'historyList'>, 'list' | 'page' | 'page_count' | 'page_size'>;

/**
 * Whether more follows a page. One that is heavy ends early, so that its length does not tell; of
 * what is kept here a full one is all that is known.
 */
const hasMore = ({ list, page, page_count: count, page_size: size }: Page): boolean =>
  count > page || list.length >= size;

/** Whether what last_messages gave may have ended early. Asking once more than needed does no harm. */
const mayBeCut = (list: readonly Message[]): boolean =>
  JSON.stringify(list).length > limits.historyPageBytes / 8;

/** Brings a session's messages into their store. Tabs on the same session tell each other of changes. */
export class MessageLoader {
  private readonly store: MessageStore;
  /** Messages came in: some of them may be being written. */
  private readonly onTaken: () => void;
  /** Whether the session is read from its first message on. */
  private readonly fromFirst: () => Promise<boolean>;
  private channel: BroadcastChannel | null = null;
  private firstLoad: Promise<void> | null = null;
  private loadingMore = false;
  /** Numbers of the messages that the list has on the page just now. */
  private onScreen: () => number[] = () => [];

  constructor(store: MessageStore, onTaken: () => void, fromFirst = () => Promise.resolve(false)) {
    this.store = store;
    this.onTaken = onTaken;
    this.fromFirst = fromFirst;
  }

  /** Starts to hear of other tabs; gives what ends that. */
  listen(): () => void {
    if (typeof BroadcastChannel !== 'function') return () => {};
    const channel = new BroadcastChannel(`queqiao.thread.${this.store.uuid}`);
    channel.addEventListener('message', ({ data }: MessageEvent<number>) => {
      (data > 0 ? this.reread(data - 1) : this.refresh()).catch(() => {});
    });
    this.channel = channel;
    return () => {
      channel.close();
      this.channel = null;
    };
  }

  /** @param from the first message that others must read again; 0: the newest will do */
  announce(from = 0): void {
    this.channel?.postMessage(from);
  }

  /** Tells how to find out which messages are on the page; gives what ends that. */
  watchScreen(onScreen: () => number[]): () => void {
    this.onScreen = onScreen;
    return () => {
      this.onScreen = () => [];
    };
  }

  /** The newest messages: all of the first page at first, later what is new. */
  async refresh(signal?: AbortSignal): Promise<void> {
    const { loaded, hasNewer } = this.store.get();
    if (!loaded) {
      // Asked for once, whoever else wants it meanwhile: a second request would fail unheard. The
      // device may have it by now, as where it has begun the session itself.
      if (this.firstLoad) void this.showKept(() => this.store.get().loaded);
      else this.firstLoad = this.open();
      return this.firstLoad;
    }
    if (this.store.only !== null) return this.loadNewest();
    if (this.store.session?.temporary === true) return undefined;
    const people = this.store.session?.people === true;
    const known = this.store.known();
    const after = known.at(people ? -1 - lookedAtAgain : -2)?.id ?? (known[0]?.id ?? 1) - 1;
    if (people) await this.lookAgain(hasNewer ? Infinity : after, signal);
    return hasNewer ? undefined : this.reread(after, signal);
  }

  /** The messages that the list begins with: what is kept here, however the line is, until the server answers. */
  private async open(): Promise<void> {
    let answered = false;
    void this.showKept(() => answered || this.store.get().loaded);
    try {
      const [messages, change] = await this.read();
      answered = true;
      // What is there already keeps its place, as far as the two belong together.
      if (!this.takeOver(messages, change)) this.take(messages, change);
    } finally {
      answered = true;
      this.firstLoad = null;
    }
  }

  private read(): Promise<[Message[], Stretch]> {
    const { focus } = this.store.get();
    return focus === null ? this.readFirst() : this.readAround(focus);
  }

  private showKept(ended: () => boolean): Promise<void> {
    return readKept(
      () => this.read(),
      ended,
      (kept) => this.take(...kept),
    );
  }

  /** Takes a page of the server over what was kept here; false: they are different stretches. */
  private takeOver(messages: Message[], { hasOlder, hasNewer }: Stretch): boolean {
    const [first] = messages;
    const known = this.store.known();
    const meets = first !== undefined && known.some(({ id }) => id >= first.id);
    if (!this.store.get().loaded || hasNewer || !meets) return false;
    this.store.takeStretch(messages, hasOlder ? first.id - 1 : 0, Infinity);
    this.store.publish({ hasOlder });
    this.onTaken();
    return true;
  }

  /** Takes everything behind a message as the server has it now. */
  async reread(after: number, signal?: AbortSignal): Promise<void> {
    if (!this.store.get().loaded || this.store.session?.temporary === true) return;
    const fresh: Message[] = [];
    for (let from = after, cut = true; cut && fresh.length < mostLast;) {
      const part = await api.lastMessages(
        { sessionId: this.store.uuid, maxHistoryId: from },
        { quiet: true, ...(signal ? { signal } : {}) },
      );
      fresh.push(...part);
      const last = part.at(-1)?.id ?? 0;
      cut = last > from && mayBeCut(part);
      from = last;
    }
    const whole = fresh.length < mostLast;
    const end = whole ? Infinity : (fresh.at(-1)?.id ?? 0);
    this.store.takeStretch(fresh, after, end);
    if (!whole) for (const { id } of this.store.known()) if (id > end) this.store.drop(id);
    this.store.publish(whole ? {} : { hasNewer: true });
    this.onTaken();
  }

  /**
   * Reads again what is on the screen of a session of people: anyone of it may have been changed,
   * taken back or liked by somebody else.
   * @param to number of the newest that need be read
   */
  private async lookAgain(to: number, signal?: AbortSignal): Promise<void> {
    const shown = this.onScreen().filter((id) => id > 0 && id <= to);
    const [first, last] = [Math.min(...shown), Math.max(...shown)];
    const stretch = this.store
      .known()
      .filter(({ id }) => id >= first && id <= last)
      .slice(-mostLast);
    const [oldest] = stretch;
    if (!oldest) return;
    const page = await api.historyList(
      { session_id: this.store.uuid, newest: 1, page_size: stretch.length, before: last + 1 },
      { quiet: true, ...(signal ? { signal } : {}) },
    );
    const end = hasMore(page) ? (page.list.at(-1)?.id ?? 0) : 0;
    this.store.takeStretch(page.list.reverse(), Math.max(oldest.id, end) - 1, last);
    this.store.publish();
  }

  async loadNewest(): Promise<void> {
    const newest = await this.readNewest();
    const hasOlder = hasMore(newest);
    this.take(newest.list.reverse(), { hasOlder, hasNewer: false, focus: null });
  }

  private readNewest(): Promise<Page> {
    const only = this.store.only === null ? {} : { id: this.store.only };
    return api.historyList({ ...newestOf(this.store.uuid), ...only }, { quiet: true });
  }

  /** The newest messages, or the first ones of what is read from its beginning. */
  private async readFirst(): Promise<[Message[], Stretch]> {
    // Of what is kept the newest may be all that there is.
    const keptOnly = heldRun()?.keptOnly === true;
    const newest = await this.readNewest();
    const fromFirst = !keptOnly && hasMore(newest) && (await this.fromFirst());
    const oldest = fromFirst ? await this.readOldest().catch(() => null) : null;
    // Without a network the newest may be all that this device has.
    return oldest
      ? [oldest.list, { hasOlder: false, hasNewer: hasMore(oldest), focus: null }]
      : [newest.list.reverse(), { hasOlder: hasMore(newest), hasNewer: false, focus: null }];
  }

  private readOldest(): Promise<Page> {
    return api.historyList(
      { session_id: this.store.uuid, newest: 0, page_size: limits.historyPageSize },
      { quiet: true },
    );
  }

  /** The messages around one, whose neighbours load as the list is scrolled. */
  private async loadAround(id: number): Promise<void> {
    this.take(...(await this.readAround(id)));
  }

  private async readAround(id: number): Promise<[Message[], Stretch]> {
    const half = Math.ceil(limits.historyPageSize / 2);
    const read = (newest: 0 | 1, where: { before: number } | { after: number }) =>
      api.historyList(
        { session_id: this.store.uuid, newest, page_size: half, ...where },
        { quiet: true },
      );
    const [older, newer] = await Promise.all([read(1, { before: id + 1 }), read(0, { after: id })]);
    const found = older.list[0]?.id === id;
    return [
      [...older.list.reverse(), ...newer.list],
      {
        hasOlder: hasMore(older),
        hasNewer: hasMore(newer),
        focus: found ? id : null,
      },
    ];
  }

  private take(messages: Message[], change: Stretch): void {
    this.store.takeNew(messages, change);
    this.onTaken();
  }

  /** The page of messages before the oldest here. */
  async loadOlder(): Promise<void> {
    const oldest = this.store.known()[0];
    if (this.loadingMore || !this.store.get().hasOlder || !oldest) return;
    this.loadingMore = true;
    try {
      const found = await api.historyList(
        {
          session_id: this.store.uuid,
          newest: 1,
          page_size: limits.historyPageSize,
          before: oldest.id,
        },
        { quiet: true },
      );
      this.store.takeOlder(found.list.reverse(), hasMore(found));
    } finally {
      this.loadingMore = false;
    }
  }

  /** The page of messages behind the newest here, where the list was opened in the middle. */
  async loadNewer(): Promise<void> {
    const newest = this.store.known().at(-1);
    if (this.loadingMore || !this.store.get().hasNewer || !newest) return;
    this.loadingMore = true;
    try {
      const found = await api.historyList(
        {
          session_id: this.store.uuid,
          newest: 0,
          page_size: limits.historyPageSize,
          after: newest.id,
        },
        { quiet: true },
      );
      this.store.takeNewer(found.list, hasMore(found));
      this.onTaken();
    } finally {
      this.loadingMore = false;
    }
  }

  /** Brings a message into the list; gives whether it was there, so that the list only has to move. */
  async show(id: number): Promise<boolean> {
    if (this.store.find(id)) return true;
    await this.loadAround(id);
    return false;
  }

  /** Back to the newest messages where the list was opened in the middle; else nothing. */
  async toNewest(): Promise<void> {
    if (this.store.get().hasNewer) await this.loadNewest();
  }

  /** Reads a message again, and all that are newer. */
  async reload(id: number): Promise<void> {
    if (this.store.find(id)) await this.reread(this.store.before(id));
    this.announce(id);
  }
}
