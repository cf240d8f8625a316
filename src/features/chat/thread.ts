import { api } from '@/shared/api.ts';
import { ApiError, errorText } from '@/shared/api-error.ts';
import { act, onActDone, outboxState, perform, type OfName } from '@/shared/outbox.ts';
import type { Act, NewAct, Part } from '@sw/outbox-engine.ts';
import { isWaiting, loadOutbox } from '@/shared/pending.ts';
import { refreshScreens } from '@/shared/query-client.ts';
import { readQuestion } from '@/shared/question.ts';
import { openStream } from '@/shared/stream.ts';
import { uuid } from '@/shared/uuid.ts';
import { waiting } from '@/shared/waiting.ts';
import type { Message } from '@contract/chat.ts';
import { limits } from '@contract/limits.ts';
import { LiveReply } from './live-reply.ts';
import type { Pair } from './price-ahead.ts';
import { Stopwatch } from './reply-times.ts';
import { asMessage, buildRows, type Outgoing, type Row, type Rows } from './rows.ts';

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

/** What goes along with a message. */
export interface SendOptions {
  /** From a suggestion chip: the minimum length does not apply. */
  suggestion?: boolean;
  /** 1: the text is JSON of the contract's `structuredMessage`. */
  format?: 0 | 1;
  /** In a session of people: the model that shall answer. */
  ai?: string;
  /** A second model that answers the same question beside the session's. */
  beside?: string;
  /** An own message that this one takes the place of, as a new branch. */
  replace?: number;
  /** Title of a question to people. */
  title?: string;
  /** Of a session with a knowledge base: 1 answers from it alone. */
  strictMode?: 0 | 1;
  /** Of a scenario's session: 1 puts the text into the scenario's. */
  withTemplate?: 0 | 1;
  /** Pictures and files that are uploaded when there is a network. */
  parts?: readonly Part[];
}

/** What a thread must know of its session and its reader. */
export interface ThreadSession {
  model: string;
  /** Nothing is stored: what was said goes along with each message. */
  temporary: boolean;
  /** Several people write, and see each other's edits. */
  people: boolean;
  /** Pictures are asked for: no reply is written. */
  pictures: boolean;
  me: { id: number; name: string };
  /** Where a model's replies are read from; empty: this server. */
  streamBase: (model: string) => string;
}

/** A place where words were found. */
export interface Hit {
  history_id: number;
  part: 'human' | 'ai';
  snippet: string;
  created_at: string;
}

const startIndex = 10_000_000;
/** As many messages as last_messages gives at once. */
const mostLast = 100;
/** How many of the newest messages of a session of people are looked at again for edits. */
const lookedAtAgain = 30;
/** Most earlier exchanges that a temporary session sends along. */
const mostContext = 10;
const snippetLength = 80;

const blank: Omit<Message, 'id' | 'human' | 'created_at'> = {
  ai: '',
  reasoning: '',
  type: 0,
  model: '',
  state: 'streaming',
  error_code: '',
  error_message: '',
  user_id: 0,
  user_name: '',
  prompt_tokens: 0,
  completion_tokens: 0,
  deduct_tokens: 0,
  like_count: 0,
  format: 0,
  title: '',
  edited: false,
  job: null,
  siblings: [],
  beside: null,
  liked: false,
  in_favorites: false,
};

const unwritten = {
  state: 'streaming',
  ai: '',
  reasoning: '',
  error_code: '',
  error_message: '',
  prompt_tokens: 0,
  completion_tokens: 0,
  deduct_tokens: 0,
} as const;

/** How a message reads as text. */
export const replyText = (message: Message, live: LiveReply | null): string =>
  live?.whole ?? message.ai;

const snippetAround = (text: string, at: number, length: number): string => {
  const from = Math.max(0, at - Math.floor((snippetLength - length) / 2));
  const part = text.slice(from, from + snippetLength).replace(/\s+/g, ' ');
  return `${from > 0 ? '…' : ''}${part}${from + snippetLength < text.length ? '…' : ''}`;
};

/**
 * The messages of one open session, outside React: what was loaded, what is being sent, and the
 * replies being written. Tabs on the same session tell each other of changes.
 */
export class Thread {
  readonly uuid: string;
  /** Only this message is shown (a favourite); null: the whole session. */
  readonly only: number | null;
  private session: ThreadSession | null = null;
  private messages: Message[] = [];
  private readonly live = new Map<number, LiveReply>();
  private readonly keys = new Map<number, string>();
  private readonly listeners = new Set<() => void>();
  private readonly streams = new Map<number, AbortController>();
  private readonly times = new Stopwatch();
  /** Messages that the outbox has or is about to get: by their key their number here. */
  private readonly unsent = new Map<string, number>();
  private outgoing: ReadonlyMap<number, Outgoing> = new Map();
  private channel: BroadcastChannel | null = null;
  private firstLoad: Promise<void> | null = null;
  private loadingMore = false;
  private pending = 0;
  private tailFrom: number | null = null;
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
    if (typeof BroadcastChannel === 'function') {
      this.channel = new BroadcastChannel(`queqiao.thread.${this.uuid}`);
      this.channel.addEventListener('message', ({ data }: MessageEvent<number>) => {
        (data > 0 ? this.reread(data - 1) : this.refresh()).catch(() => {});
      });
    }
    this.attachAll();
    const leave = [outboxState.subscribe(this.takeOutgoing), onActDone(this.takeDone)];
    if (isWaiting(this.uuid)) loadOutbox().catch(() => {});
    this.takeOutgoing();
    return () => {
      for (const each of leave) each();
      this.channel?.close();
      this.channel = null;
      for (const stream of this.streams.values()) stream.abort();
      this.streams.clear();
      for (const reply of this.live.values()) reply.dispose();
      this.live.clear();
    };
  }

  /** The newest messages: all of the first page at first, later what is new. */
  async refresh(signal?: AbortSignal): Promise<void> {
    if (!this.view.loaded) {
      const first = this.view.focus === null ? this.loadNewest() : this.loadAround(this.view.focus);
      this.firstLoad ??= first.finally(() => {
        this.firstLoad = null;
      });
      return this.firstLoad;
    }
    if (this.only !== null) return this.loadNewest();
    if (this.session?.temporary === true || this.view.hasNewer) return undefined;
    const known = this.known();
    const back = this.session?.people === true ? lookedAtAgain : 1;
    return this.reread(known.at(-1 - back)?.id ?? (known[0]?.id ?? 1) - 1, signal);
  }

  /** Takes everything behind a message as the server has it now. */
  private async reread(after: number, signal?: AbortSignal): Promise<void> {
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
   * Looks again at the messages that a person sees in the middle of a long session of people.
   * @param from number of the first of them @param to of the last
   */
  async look(from: number, to: number): Promise<void> {
    const recent = this.known().at(-lookedAtAgain);
    if (this.session?.people !== true || !recent || to >= recent.id) return;
    const page = await api.historyList(
      { session_id: this.uuid, newest: 1, page_size: limits.historyPageSize, before: to + 1 },
      { quiet: true },
    );
    const fresh = page.list.reverse();
    this.takeStretch(fresh, Math.max(from - 1, (fresh[0]?.id ?? from) - 1), to);
    this.publish();
  }

  /** Puts fresh messages in the place of those with numbers above `after`, up to `end`. */
  private takeStretch(fresh: readonly Message[], after: number, end: number): void {
    const there = new Set(fresh.map(({ id }) => id));
    for (const { id } of this.known()) if (id > after && id <= end && !there.has(id)) this.drop(id);
    for (const message of fresh) if (message.id > after) this.merge(message);
  }

  private async loadNewest(): Promise<void> {
    const page = await api.historyList(
      {
        session_id: this.uuid,
        newest: 1,
        page_size: limits.historyPageSize,
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

  /**
   * Sends a message; it stands in the list at once. Rejects with ApiError when the server did not
   * take it: then the list is as it was.
   * @param key names this sending: the same key never sends twice
   */
  async send(text: string, key: string, options: SendOptions = {}): Promise<void> {
    const { suggestion, strictMode, withTemplate, parts, ...rest } = options;
    if (this.view.hasNewer) await this.loadNewest().catch(() => {});
    const replaced = rest.replace === undefined ? undefined : this.find(rest.replace);
    const after = replaced ? this.messages.filter((each) => order(each) >= order(replaced)) : [];
    const id = --this.pending;
    this.keys.set(id, replaced ? this.keyOf(replaced) : key);
    const human = text;
    const created_at = new Date().toISOString();
    const { people = false, model = '', me = { id: 0, name: '' } } = this.session ?? {};
    const fresh: Message = {
      ...blank,
      id,
      human,
      created_at,
      user_id: me.id,
      user_name: me.name,
      format: rest.format ?? 0,
      title: rest.title ?? '',
      model: people ? (rest.ai ?? '') : model,
      state: people && rest.ai === undefined ? 'none' : 'streaming',
      beside:
        rest.beside === undefined
          ? null
          : { ...blank, id: --this.pending, human, created_at, model: rest.beside },
    };
    // The server keeps nothing of what was said before.
    const context =
      this.session?.temporary === true ? this.recentPairs(mostContext).reverse() : null;
    this.messages = [...this.messages.filter((each) => !after.includes(each)), fresh];
    // The list goes to its end now, where nobody sees the replies before change their place.
    this.tailFrom = null;
    this.times.start();
    const later = this.view.replying !== null || this.view.reconnecting;
    this.publish({ sending: true });
    const input = {
      session_id: this.uuid,
      msg: text,
      suggestion: suggestion === true ? (1 as const) : (0 as const),
      strict_mode: strictMode,
      with_template: withTemplate,
      ...(context ? { context } : {}),
      ...rest,
    };
    // A temporary session leaves nothing in this browser, and a branch needs what it branches from.
    const mayWait = context === null && !replaced;
    try {
      this.unsent.set(key, id);
      const before = this.view.lastId ?? 0;
      const sending = {
        name: 'sendMessage',
        key,
        lane: this.uuid,
        input,
        made: created_at,
      } as const;
      const sent = mayWait
        ? await perform<'sendMessage'>({ ...sending, before, parts }, later)
        : await api.sendMessage(input, { idempotencyKey: key, quiet: true });
      // It stays in the list, and is sent from the outbox.
      if (sent === null) return;
      this.unsent.delete(key);
      const siblings = replaced
        ? [...(replaced.siblings.length > 0 ? replaced.siblings : [replaced.id]), sent.id]
        : [];
      this.arrived(id, key, fresh, sent, siblings);
      for (const each of after) this.forgetLive(each.id);
      this.announce(replaced ? replaced.id : 0);
    } catch (error) {
      this.unsent.delete(key);
      this.messages = [...this.messages.filter((message) => message.id !== id), ...after];
      throw error;
    } finally {
      this.publish({ sending: false });
      this.attachAll();
      this.times.settle();
    }
  }

  /** A message has got its number: it takes its own place, wherever else it may have come in. */
  private arrived(
    id: number,
    key: string,
    fresh: Message,
    sent: { id: number; msg: string; created_at: string; beside: number | null },
    siblings: number[] = [],
  ): void {
    this.keys.set(sent.id, this.keys.get(id) ?? key);
    const known = this.messages.some((message) => message.id === sent.id);
    const taken: Message = {
      ...fresh,
      id: sent.id,
      // Of a temporary session the server gives no text back.
      human: sent.msg || fresh.human,
      created_at: sent.created_at,
      siblings,
      beside: fresh.beside && sent.beside !== null ? { ...fresh.beside, id: sent.beside } : null,
    };
    this.messages = known
      ? this.messages.filter((message) => message.id !== id)
      : this.messages.map((message) => (message.id === id ? taken : message));
  }

  /** A message of the outbox as it stands in the list. */
  private unsentMessage(id: number, { input, made }: OfName<NewAct, 'sendMessage'>): Message {
    const { me = { id: 0, name: '' } } = this.session ?? {};
    return {
      ...blank,
      id,
      human: input.msg,
      type: this.session?.pictures === true ? 1 : 0,
      format: Number(input.format ?? 0),
      title: input.title ?? '',
      model: this.session?.people === true ? (input.ai ?? '') : (this.session?.model ?? ''),
      state: 'none',
      created_at: made,
      user_id: me.id,
      user_name: me.name,
    };
  }

  /** Shows what the outbox has for this session, and nothing that it no longer has. */
  private readonly takeOutgoing = (): void => {
    if (this.only !== null) return;
    const { acts, sending } = outboxState.get();
    const own = acts.filter(({ lane }) => lane === this.uuid);
    const failed = own.find((act) => act.failed !== null);
    const outgoing = new Map<number, Outgoing>();
    for (const act of own) {
      if (act.name !== 'sendMessage') continue;
      const id = this.unsent.get(act.key) ?? --this.pending;
      const here = this.find(id);
      if (!here) {
        this.unsent.set(act.key, id);
        this.keys.set(id, act.key);
        this.messages = [...this.messages, this.unsentMessage(id, act)];
      } else if (here.state === 'streaming') this.replace(id, { state: 'none', beside: null });
      const refused = failed === act || failed?.name === 'newSession';
      outgoing.set(id, {
        key: act.key,
        state: refused
          ? 'failed'
          : failed
            ? 'behind'
            : sending.has(act.key)
              ? 'sending'
              : 'waiting',
        reason: refused ? (failed.failed?.message ?? '') : '',
        retryKey: (refused ? failed : act).key,
        parts: (act.parts ?? []).map(({ name }) => name),
      });
    }
    const left = [...this.outgoing.keys()].filter((id) => !outgoing.has(id));
    if (left.length === 0 && outgoing.size === 0) return;
    for (const [key, id] of this.unsent)
      if (left.includes(id)) {
        this.unsent.delete(key);
        this.drop(id);
      }
    this.outgoing = outgoing;
    if (this.view.loaded) this.publish();
  };

  /** The outbox has brought a message to the server. */
  private readonly takeDone = (done: Act, data: unknown): void => {
    if (done.lane !== this.uuid || done.name !== 'sendMessage') return;
    const id = this.unsent.get(done.key);
    const sent = data as Parameters<Thread['arrived']>[3];
    if (id === undefined || !this.find(id)) {
      this.refresh().catch(() => {});
      return;
    }
    this.unsent.delete(done.key);
    this.outgoing = new Map([...this.outgoing].filter(([each]) => each !== id));
    const { people = false, pictures = false } = this.session ?? {};
    const answers = !pictures && (!people || done.input.ai !== undefined);
    const fresh: Message = {
      ...this.unsentMessage(id, done),
      state: answers ? 'streaming' : 'none',
      beside:
        done.input.beside === undefined
          ? null
          : {
              ...blank,
              id: --this.pending,
              human: '',
              created_at: done.made,
              model: done.input.beside,
            },
    };
    this.tailFrom = null;
    this.arrived(id, done.key, fresh, sent);
    this.publish();
    this.attachAll();
    this.announce();
  };
  /** Puts an own message at the end before the server has it; gives its number here, below 0. */
  put(message: Pick<Message, 'human' | 'format' | 'type' | 'state'>, key: string): number {
    const { model = '', me = { id: 0, name: '' } } = this.session ?? {};
    const id = --this.pending;
    this.keys.set(id, key);
    this.unsent.set(key, id);
    this.messages = [
      ...this.messages,
      {
        ...blank,
        ...message,
        id,
        model,
        created_at: new Date().toISOString(),
        user_id: me.id,
        user_name: me.name,
      },
    ];
    this.tailFrom = null;
    this.publish();
    return id;
  }

  /** What was put in is with the server now, as this; null: it was not taken and leaves the list. */
  settle(id: number, taken: Pick<Message, 'id' | 'created_at'> | null): void {
    this.unsent.delete(this.keys.get(id) ?? '');
    if (taken && !this.find(taken.id)) {
      this.keys.set(taken.id, this.keys.get(id) ?? String(taken.id));
      this.replace(id, taken);
    } else this.drop(id);
    this.publish();
    this.announce();
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

  /** Asks for a new reply to a message whose reply failed or is missing. */
  async retry(id: number): Promise<void> {
    const message = this.find(id);
    if (!message) return;
    if (this.session?.temporary === true) {
      // The server has nothing to repeat it from.
      this.drop(id);
      await this.send(message.human, uuid(), { format: message.format === 1 ? 1 : 0 });
      return;
    }
    this.times.start();
    this.publish({ sending: true });
    try {
      await api.retryMessage({ session_id: this.uuid, history_id: id }, { quiet: true });
      this.forgetLive(id);
      this.replace(id, unwritten);
      this.announce();
    } finally {
      this.publish({ sending: false });
      this.attachAll();
      this.times.settle();
    }
  }

  /** Answers a message once more, as a new branch. Without `model` by the one that answered before. */
  async regenerate(id: number, model?: string): Promise<void> {
    const message = this.find(id);
    if (!message) return;
    this.times.start();
    this.publish({ sending: true });
    try {
      const sent = await api.regenerateMessage(
        { session_id: this.uuid, history_id: id, ...(model === undefined ? {} : { model }) },
        { quiet: true },
      );
      const place = this.placeOf(id) ?? message;
      this.keys.set(sent.id, this.keyOf(place));
      const siblings = place.siblings.length > 0 ? place.siblings : [place.id];
      for (const each of this.known()) if (each.id > place.id) this.drop(each.id);
      this.forgetLive(place.id);
      this.tailFrom = null;
      const fresh: Message = {
        ...place,
        ...unwritten,
        id: sent.id,
        model: model ?? message.model,
        siblings: [...siblings, sent.id],
        beside: null,
        like_count: 0,
        liked: false,
        in_favorites: false,
      };
      this.messages = this.messages.map((each) => (each.id === place.id ? fresh : each));
      this.announce(place.id);
    } finally {
      this.publish({ sending: false });
      this.attachAll();
      this.times.settle();
    }
  }

  /** Shows another branch, or goes on with the other of two answers. */
  async choose(id: number): Promise<void> {
    const place = this.messages.find(
      (each) => each.siblings.includes(id) || each.beside?.id === id,
    );
    if (!place) return;
    await api.switchBranch({ session_id: this.uuid, history_id: id });
    const before = this.before(place.id);
    this.keys.set(id, this.keyOf(place));
    if (place.beside?.id === id) {
      const { beside, ...other } = place;
      this.messages = this.messages.map((each) =>
        each === place ? { ...beside, beside: other } : each,
      );
      this.publish();
    }
    this.announce(before + 1);
    await this.reread(before);
  }

  /** Changes an own message in a session of people. */
  async update(id: number, content: string, title?: string): Promise<void> {
    await api.updateMessage({
      id,
      session_id: this.uuid,
      content,
      ...(title === undefined ? {} : { title }),
    });
    await this.reread(this.before(id));
    this.announce(id);
  }

  /** Likes a message, or no longer; shown at once. */
  async like(id: number): Promise<void> {
    const message = this.find(id);
    if (!message) return;
    const { liked, like_count } = message;
    this.replace(id, { liked: !liked, like_count: Math.max(0, like_count + (liked ? -1 : 1)) });
    this.publish();
    try {
      const held = await act('historyLike', this.uuid, {
        history_id: id,
        session_id: this.uuid,
        liked: liked ? 0 : 1,
      });
      if (held) this.replace(id, held);
    } catch (error) {
      this.replace(id, { liked, like_count });
      if (!(error instanceof ApiError)) throw error;
    }
    this.publish();
  }

  /** Takes a message into the favourites, or out; shown at once. */
  async favourite(id: number): Promise<void> {
    const message = this.find(id);
    if (!message) return;
    const { in_favorites } = message;
    this.replace(id, { in_favorites: !in_favorites });
    this.publish();
    try {
      const input = { session_id: this.uuid, history_id: id };
      await act(in_favorites ? 'removeFromFavorites' : 'addToFavorites', this.uuid, input);
    } catch (error) {
      this.replace(id, { in_favorites });
      this.publish();
      if (!(error instanceof ApiError)) throw error;
    }
  }

  /** Reads a reply again whose connection was given up; the server may have written on. */
  reconnect(id: number): void {
    this.forgetLive(id);
    this.replace(id, { state: 'streaming', error_code: '', error_message: '' });
    this.publish();
    this.attachAll();
  }

  /** Stops one reply, or all of one's own that are being written. */
  async stop(id?: number): Promise<void> {
    const running = this.messages
      .filter((each) => this.isMine(each))
      .flatMap((each) => [each, ...(each.beside ? [each.beside] : [])])
      .filter((each) => each.state === 'streaming' && each.id > 0)
      .map((each) => each.id);
    const stopping = id === undefined ? running : [id];
    for (const each of stopping) this.times.stopped(each);
    await Promise.all(stopping.map((each) => api.stopStream({ history_id: each })));
  }

  /** Gives whether the whole session went with it. */
  async remove(id: number): Promise<boolean> {
    const message = this.find(id);
    const done = await act('deleteHistory', this.uuid, { id, session_id: this.uuid });
    const is_session = done?.is_session ?? false;
    const before = this.before(id);
    this.drop(id);
    this.publish();
    this.announce(before + 1);
    // Another branch or answer takes its place.
    if (done && !is_session && message && (message.siblings.length > 0 || message.beside !== null))
      await this.reread(before);
    return is_session;
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
          files: files.reduce((sum, file) => sum + file.size, 0),
        };
      });
  }

  /** Messages here that hold the words, newest first. */
  search(words: string): Hit[] {
    const wanted = words.trim().toLowerCase();
    if (wanted === '') return [];
    return this.known()
      .reverse()
      .flatMap((message) =>
        (['human', 'ai'] as const).flatMap((part) => {
          // The reply of a picture is its data.
          if (part === 'ai' && message.type === 1) return [];
          const text = part === 'ai' ? this.textOf(message) : readQuestion(message).text;
          const at = text.toLowerCase().indexOf(wanted);
          if (at < 0) return [];
          const snippet = snippetAround(text, at, wanted.length);
          return [{ history_id: message.id, part, snippet, created_at: message.created_at }];
        }),
      );
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

  private known(): Message[] {
    return this.messages.filter((message) => message.id > 0);
  }

  private textOf(message: Message): string {
    return replyText(message, this.live.get(message.id) ?? null);
  }

  private isMine(message: Message): boolean {
    return this.session?.people !== true || message.user_id === this.session.me.id;
  }

  /** The message itself or the second answer with this number. */
  private find(id: number): Message | undefined {
    for (const message of this.messages) {
      if (message.id === id) return message;
      if (message.beside?.id === id) return asMessage(message.beside);
    }
    return undefined;
  }

  /** The message at whose place the number stands, as itself or as the second answer. */
  private placeOf(id: number): Message | undefined {
    return this.messages.find((each) => each.id === id || each.beside?.id === id);
  }

  /** A number that the message at this place is newer than, and the one before it is not. */
  private before(id: number): number {
    const at = this.messages.findIndex((each) => each.id === id || each.beside?.id === id);
    const { siblings = [], beside = null } = this.messages[at] ?? {};
    // Branches and second answers are all newer than what they follow.
    return this.messages[at - 1]?.id ?? Math.min(id, beside?.id ?? id, ...siblings) - 1;
  }

  /** Names the rows of a place in the list, whichever of its branches is shown. */
  private readonly keyOf = (message: Message): string => {
    const first = message.siblings[0] ?? Math.min(message.id, message.beside?.id ?? message.id);
    return this.keys.get(message.id) ?? this.keys.get(first) ?? String(first);
  };

  private replace(id: number, change: Partial<Message>): void {
    this.messages = this.messages.map((message) => {
      if (message.id === id) return { ...message, ...change };
      if (message.beside?.id !== id) return message;
      return { ...message, beside: { ...message.beside, ...change } };
    });
  }

  private drop(id: number): void {
    const message = this.messages.find((each) => each.id === id);
    if (!message) return;
    this.forgetLive(id);
    if (message.beside) this.forgetLive(message.beside.id);
    this.messages = this.messages.filter((each) => each !== message);
  }

  private forgetLive(id: number): void {
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

  private attachAll(): void {
    if (!this.view.loaded || !this.session) return;
    for (const message of this.messages)
      for (const each of [message, message.beside])
        if (each && each.id > 0 && each.state === 'streaming' && !this.streams.has(each.id))
          this.attach(each.id, message.id, each.model, this.isMine(message));
  }

  private attach(id: number, place: number, model: string, mine: boolean): void {
    const abort = new AbortController();
    this.streams.set(id, abort);
    if (mine) waiting.set(`answer:${id}`, Date.now());
    if (mine) this.times.watch(id, model === '' ? (this.session?.model ?? '') : model);
    let started = false;
    const reply = new LiveReply(() => {
      // Rows at the end of the list follow the reply themselves.
      const inTail = this.tailFrom !== null && place >= this.tailFrom;
      if (this.view.newestFirst || !inTail || !started) {
        started = reply.started;
        this.publish();
      }
    });
    this.live.set(id, reply);
    if (this.placeOf(id) === this.messages.at(-1)) this.tailFrom ??= place;
    this.publish();
    const finish = (change: Partial<Message>) => {
      // A lost connection says nothing of the reply itself.
      if (change.error_code !== 'connection') waiting.delete(`answer:${id}`);
      reply.end(() => {
        if (abort.signal.aborted) return;
        this.streams.delete(id);
        this.replace(id, { ai: reply.whole, reasoning: reply.reasoning, ...change });
        this.publish({ reconnecting: false });
        // Tokens, price and the true state are the server's to tell.
        const lost = change.error_code === 'connection';
        if (!lost) this.refresh().catch(() => {});
        void refreshScreens();
        this.announce();
        // What was written meanwhile goes on at once.
        if (this.outgoing.size > 0)
          loadOutbox().then(
            ({ wakeLane }) => wakeLane(this.uuid),
            () => {},
          );
      });
    };
    const fail = (error_code: string, error_message: string) => {
      this.times.end(id, 'error');
      finish({ state: 'error', error_code, error_message });
    };
    const read = openStream({
      sessionId: this.uuid,
      historyId: id,
      base: this.session?.streamBase(model) ?? '',
      signal: abort.signal,
      onText: (text) => {
        this.times.chunk(id);
        reply.addText(text);
      },
      onReasoning: (text) => {
        this.times.chunk(id);
        reply.addReasoning(text);
      },
      onDone: () => {
        this.times.end(id, 'success');
        finish({ state: 'done' });
      },
      onError: ({ code, message }) => fail(code, message),
      onConnection: (connected) => {
        if (this.view.reconnecting === connected) this.publish({ reconnecting: !connected });
      },
    });
    read.catch((error: unknown) =>
      fail(error instanceof ApiError ? String(error.code) : 'connection', errorText(error)),
    );
  }

  /** @param from the first message that others must read again; 0: the newest will do */
  private announce(from = 0): void {
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

  private publish(change: Partial<ThreadView> = {}): void {
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

/** Messages not yet on the server come last, in the order they were written. */
const order = (message: Message): number =>
  message.id > 0 ? message.id : Number.MAX_SAFE_INTEGER / 2 - message.id;

const same = (a: object, b: object): boolean =>
  Object.entries(b).every(([key, value]) => {
    const other = (a as Record<string, unknown>)[key];
    if (other === value) return true;
    const deep = typeof other === 'object' && typeof value === 'object' && other && value;
    return Boolean(deep) && JSON.stringify(other) === JSON.stringify(value);
  });
