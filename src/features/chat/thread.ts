import { api } from '@/shared/api.ts';
import { ApiError, errorText } from '@/shared/api-error.ts';
import { readQuestion } from '@/shared/question.ts';
import { refreshScreens } from '@/shared/query-client.ts';
import { openStream } from '@/shared/stream.ts';
import type { Message } from '@contract/chat.ts';
import { limits } from '@contract/limits.ts';
import { LiveReply } from './live-reply.ts';
import { buildRows, type Row, type Rows } from './rows.ts';

export interface ThreadView {
  /** False until the first page of messages is there. */
  loaded: boolean;
  rows: readonly Row[];
  /** Rows behind those, from the reply on that began to be written since this page sent last. */
  tail: readonly Row[];
  /** What the list calls its first row; falls as older messages come before it. */
  firstIndex: number;
  count: number;
  hasOlder: boolean;
  newestFirst: boolean;
  /** A message is on its way to the server. */
  sending: boolean;
  /** The message whose reply is being written, or null. */
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
}

const startIndex = 10_000_000;

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
  siblings: [],
  beside: null,
  liked: false,
  in_favorites: false,
};

/** How a message reads as text. */
export const replyText = (message: Message, live: LiveReply | null): string =>
  live?.whole ?? message.ai;

/**
 * The messages of one open session, outside React: what was loaded, what is being sent, and the
 * replies being written. Tabs on the same session tell each other of changes.
 */
export class Thread {
  readonly uuid: string;
  private messages: Message[] = [];
  private readonly live = new Map<number, LiveReply>();
  private readonly keys = new Map<number, string>();
  private readonly listeners = new Set<() => void>();
  private readonly streams = new Map<number, AbortController>();
  private channel: BroadcastChannel | null = null;
  private firstLoad: Promise<void> | null = null;
  private loadingOlder = false;
  private pending = 0;
  private tailFrom: number | null = null;
  private view: ThreadView = {
    loaded: false,
    rows: [],
    tail: [],
    firstIndex: startIndex,
    count: 0,
    hasOlder: false,
    newestFirst: false,
    sending: false,
    replying: null,
    replyStarted: false,
    reconnecting: false,
  };

  constructor(uuid: string) {
    this.uuid = uuid;
  }

  readonly get = (): ThreadView => this.view;
  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  };

  /** Starts to hear of other tabs and to read replies being written; gives what ends that. */
  open(): () => void {
    if (typeof BroadcastChannel === 'function') {
      this.channel = new BroadcastChannel(`queqiao.thread.${this.uuid}`);
      this.channel.addEventListener('message', () => {
        this.refresh().catch(() => {});
      });
    }
    this.attachAll();
    return () => {
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
      this.firstLoad ??= this.loadFirst().finally(() => {
        this.firstLoad = null;
      });
      return this.firstLoad;
    }
    const known = this.messages.filter((message) => message.id > 0);
    const fresh = await api.lastMessages(
      { sessionId: this.uuid, maxHistoryId: known.at(-2)?.id ?? 0 },
      { quiet: true, ...(signal ? { signal } : {}) },
    );
    const last = known.at(-1);
    // The newest message was deleted in another tab.
    if (last && !fresh.some((message) => message.id === last.id)) this.drop(last.id);
    for (const message of fresh) this.merge(message);
    this.publish();
    this.attachAll();
  }

  private async loadFirst(): Promise<void> {
    const page = await api.historyList(
      { session_id: this.uuid, newest: 1, page_size: limits.historyPageSize },
      { quiet: true },
    );
    this.messages = page.list.reverse();
    this.publish({ loaded: true, hasOlder: page.total > page.list.length });
    this.attachAll();
  }

  /** The page of messages before the oldest here. */
  async loadOlder(): Promise<void> {
    const oldest = this.messages.find((message) => message.id > 0);
    if (this.loadingOlder || !this.view.hasOlder || !oldest) return;
    this.loadingOlder = true;
    try {
      const page = await api.historyList(
        {
          session_id: this.uuid,
          newest: 1,
          page_size: limits.historyPageSize,
          before: oldest.id,
        },
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
      this.loadingOlder = false;
    }
  }

  setNewestFirst(newestFirst: boolean): void {
    this.publish({ newestFirst, ...this.build(newestFirst), firstIndex: startIndex });
  }

  /**
   * Sends a message; it stands in the list at once. Rejects with ApiError when the server did not
   * take it: then it is out of the list again.
   * @param key names this sending: the same key never sends twice
   */
  async send(text: string, key: string, options: SendOptions = {}): Promise<void> {
    const { suggestion, strictMode, withTemplate, ...rest } = options;
    const id = --this.pending;
    this.keys.set(id, key);
    const created = new Date().toISOString();
    this.messages = [...this.messages, { ...blank, id, human: text, created_at: created }];
    // The list goes to its end now, where nobody sees the replies before change their place.
    this.tailFrom = null;
    this.publish({ sending: true });
    try {
      const sent = await api.sendMessage(
        {
          session_id: this.uuid,
          msg: text,
          suggestion: suggestion === true ? 1 : 0,
          strict_mode: strictMode,
          with_template: withTemplate,
          ...rest,
        },
        { idempotencyKey: key, quiet: true },
      );
      this.keys.set(sent.id, key);
      const known = this.messages.some((message) => message.id === sent.id);
      this.messages = known
        ? this.messages.filter((message) => message.id !== id)
        : this.messages.map((message) =>
            message.id === id
              ? { ...message, id: sent.id, human: sent.msg, created_at: sent.created_at }
              : message,
          );
      this.announce();
    } catch (error) {
      this.messages = this.messages.filter((message) => message.id !== id);
      throw error;
    } finally {
      this.publish({ sending: false });
      this.attachAll();
    }
  }

  /** Asks for a new reply to a message whose reply failed or is missing. */
  async retry(id: number): Promise<void> {
    const message = this.find(id);
    if (!message) return;
    this.publish({ sending: true });
    try {
      await api.retryMessage({ session_id: this.uuid, history_id: id }, { quiet: true });
      this.forgetLive(id);
      this.replace(id, {
        state: 'streaming',
        ai: '',
        reasoning: '',
        error_code: '',
        error_message: '',
      });
      this.announce();
    } finally {
      this.publish({ sending: false });
      this.attachAll();
    }
  }

  /** Reads a reply again whose connection was given up; the server may have written on. */
  reconnect(id: number): void {
    this.forgetLive(id);
    this.replace(id, { state: 'streaming', error_code: '', error_message: '' });
    this.publish();
    this.attachAll();
  }

  async stop(): Promise<void> {
    const { replying } = this.view;
    if (replying && replying.id > 0) await api.stopStream({ history_id: replying.id });
  }

  /** Gives whether the whole session went with it. */
  async remove(id: number): Promise<boolean> {
    const { is_session } = await api.deleteHistory({ id, session_id: this.uuid });
    this.drop(id);
    this.publish();
    this.announce();
    return is_session;
  }

  /** The newest messages that have a reply, newest first: what goes along with the next question. */
  recentPairs(most: number): { human: string; ai: string }[] {
    return this.messages
      .filter((message) => message.id > 0 && message.state !== 'streaming' && message.ai !== '')
      .reverse()
      .slice(0, most)
      .map((message) => ({ human: readQuestion(message).text, ai: message.ai }));
  }

  private find(id: number): Message | undefined {
    return this.messages.find((message) => message.id === id);
  }

  private replace(id: number, change: Partial<Message>): void {
    this.messages = this.messages.map((message) =>
      message.id === id ? { ...message, ...change } : message,
    );
  }

  private drop(id: number): void {
    this.forgetLive(id);
    this.messages = this.messages.filter((message) => message.id !== id);
  }

  private forgetLive(id: number): void {
    this.streams.get(id)?.abort();
    this.streams.delete(id);
    this.live.get(id)?.dispose();
    this.live.delete(id);
  }

  /** Takes a message as the server has it; one being read from its stream stays as it is. */
  private merge(fresh: Message): void {
    const known = this.find(fresh.id);
    if (!known) {
      this.messages = [...this.messages, fresh].sort((a, b) => order(a) - order(b));
      return;
    }
    if (this.streams.has(fresh.id)) return;
    const live = this.live.get(fresh.id);
    // What is on the page stays as it stands there, if it is the same text.
    if (live && live.whole !== fresh.ai) this.forgetLive(fresh.id);
    if (same(known, fresh)) return;
    this.messages = this.messages.map((message) => (message.id === fresh.id ? fresh : message));
  }

  private attachAll(): void {
    if (!this.view.loaded) return;
    for (const message of this.messages)
      if (message.id > 0 && message.state === 'streaming' && !this.streams.has(message.id))
        this.attach(message.id);
  }

  private attach(id: number): void {
    const abort = new AbortController();
    this.streams.set(id, abort);
    const reply = new LiveReply(() => {
      // Rows at the end of the list follow the reply themselves.
      if (this.view.newestFirst || this.tailFrom === null || !this.view.replyStarted)
        this.publish();
    });
    this.live.set(id, reply);
    this.tailFrom ??= id;
    this.publish();
    const finish = (change: Partial<Message>) => {
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
      });
    };
    const read = openStream({
      sessionId: this.uuid,
      historyId: id,
      signal: abort.signal,
      onText: (text) => reply.addText(text),
      onReasoning: (text) => reply.addReasoning(text),
      onDone: () => finish({ state: 'done' }),
      onError: ({ code, message }) =>
        finish({ state: 'error', error_code: code, error_message: message }),
      onConnection: (connected) => {
        if (this.view.reconnecting === connected) this.publish({ reconnecting: !connected });
      },
    });
    read.catch((error: unknown) =>
      finish({
        state: 'error',
        error_code: error instanceof ApiError ? String(error.code) : 'connection',
        error_message: errorText(error),
      }),
    );
  }

  private announce(): void {
    this.channel?.postMessage(1);
  }

  private build(newestFirst: boolean): Rows {
    return buildRows(this.messages, this.live, this.keys, newestFirst, this.tailFrom);
  }

  private publish(change: Partial<ThreadView> = {}): void {
    const newestFirst = change.newestFirst ?? this.view.newestFirst;
    const replying =
      this.messages.filter((message) => message.state === 'streaming').at(-1) ?? null;
    const reply = replying ? this.live.get(replying.id) : undefined;
    this.view = {
      ...this.view,
      ...(change.rows ? {} : this.build(newestFirst)),
      count: this.messages.length,
      replying,
      replyStarted: reply?.started ?? false,
      ...change,
    };
    for (const listener of this.listeners) listener();
  }
}

/** Messages not yet on the server come last, in the order they were written. */
const order = (message: Message): number =>
  message.id > 0 ? message.id : Number.MAX_SAFE_INTEGER / 2 - message.id;

const same = (a: Message, b: Message): boolean =>
  (Object.keys(b) as (keyof Message)[]).every((key) => a[key] === b[key]);
