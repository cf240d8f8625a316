import { api, signInFirst } from '@/platform/api.ts';
import { ApiError, errorText } from '@/platform/api-error.ts';
import type { OfName } from '@/platform/note.ts';
import { act, outboxState, perform } from '@/platform/outbox.ts';
import type { Act, NewAct, Part } from '@common/outbox/engine.ts';
import { loadOutbox } from '@/platform/pending.ts';
import { refreshScreens } from '@/platform/query-client.ts';
import { openStream } from '@/platform/stream.ts';
import { uuid } from '@/platform/uuid.ts';
import { waiting } from '@/platform/waiting.ts';
import type { Message } from '@contract/chat.ts';
import { LiveReply } from './live-reply.ts';
import { Stopwatch } from './reply-times.ts';
import { order, type Outgoing } from './rows.ts';
import type { Thread } from './thread.ts';

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

/** Most earlier exchanges that a temporary session sends along. */
const mostContext = 10;

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
  content: '',
  made: null,
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

/**
 * What a person does in an open session, what waits in the outbox for it, and the replies that are
 * being written. It comes once the messages stand there, or when it is first needed.
 */
export class ThreadWriting {
  private readonly thread: Thread;
  private readonly times = new Stopwatch();
  /** Messages that the outbox has or is about to get: by their key their number here. */
  private readonly unsent = new Map<string, number>();
  private pending = 0;

  constructor(thread: Thread) {
    this.thread = thread;
  }

  /**
   * Sends a message; it stands in the list at once. Rejects with ApiError when the server did not
   * take it: then the list is as it was.
   * @param key names this sending: the same key never sends twice
   */
  async send(text: string, key: string, options: SendOptions = {}): Promise<void> {
    const { suggestion, strictMode, withTemplate, parts, ...rest } = options;
    if (this.thread.get().hasNewer) await this.thread.loadNewest().catch(() => {});
    const replaced = rest.replace === undefined ? undefined : this.thread.find(rest.replace);
    const after = replaced
      ? this.thread.messages.filter((each) => order(each) >= order(replaced))
      : [];
    const id = --this.pending;
    this.thread.keys.set(id, replaced ? this.thread.keyOf(replaced) : key);
    const human = text;
    const created_at = new Date().toISOString();
    const { people = false, model = '', me = { id: 0, name: '' } } = this.thread.session ?? {};
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
      this.thread.session?.temporary === true
        ? this.thread.recentPairs(mostContext).reverse()
        : null;
    this.thread.messages = [...this.thread.messages.filter((each) => !after.includes(each)), fresh];
    // The list goes to its end now, where nobody sees the replies before change their place.
    this.thread.tailFrom = null;
    this.times.start();
    const later = this.thread.get().replying !== null || this.thread.get().reconnecting;
    this.thread.publish({ sending: true });
    const input = {
      session_id: this.thread.uuid,
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
      const before = this.thread.get().lastId ?? 0;
      const sending = {
        name: 'sendMessage',
        key,
        lane: this.thread.uuid,
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
      for (const each of after) this.thread.forgetLive(each.id);
      this.thread.announce(replaced ? replaced.id : 0);
    } catch (error) {
      this.unsent.delete(key);
      this.times.refused(fresh.model, error);
      this.thread.messages = [
        ...this.thread.messages.filter((message) => message.id !== id),
        ...after,
      ];
      throw error;
    } finally {
      this.thread.publish({ sending: false });
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
    this.thread.keys.set(sent.id, this.thread.keys.get(id) ?? key);
    const known = this.thread.messages.some((message) => message.id === sent.id);
    const taken: Message = {
      ...fresh,
      id: sent.id,
      // Of a temporary session the server gives no text back.
      human: sent.msg || fresh.human,
      created_at: sent.created_at,
      siblings,
      beside: fresh.beside && sent.beside !== null ? { ...fresh.beside, id: sent.beside } : null,
    };
    this.thread.messages = known
      ? this.thread.messages.filter((message) => message.id !== id)
      : this.thread.messages.map((message) => (message.id === id ? taken : message));
  }

  /** A message of the outbox as it stands in the list. */
  private unsentMessage(id: number, { input, made }: OfName<NewAct, 'sendMessage'>): Message {
    const { me = { id: 0, name: '' } } = this.thread.session ?? {};
    return {
      ...blank,
      id,
      human: input.msg,
      type: this.thread.session?.makes === true ? this.thread.session.type : 0,
      format: Number(input.format ?? 0),
      title: input.title ?? '',
      model:
        this.thread.session?.people === true
          ? (input.ai ?? '')
          : (this.thread.session?.model ?? ''),
      state: 'none',
      created_at: made,
      user_id: me.id,
      user_name: me.name,
    };
  }

  /** Shows what the outbox has for this session, and nothing that it no longer has. */
  readonly takeOutgoing = (): void => {
    if (this.thread.only !== null) return;
    const { acts, sending } = outboxState.get();
    const own = acts.filter(({ lane }) => lane === this.thread.uuid);
    const failed = own.find((act) => act.failed !== null);
    const outgoing = new Map<number, Outgoing>();
    for (const act of own) {
      if (act.name !== 'sendMessage') continue;
      const id = this.unsent.get(act.key) ?? --this.pending;
      const here = this.thread.find(id);
      if (!here) {
        this.unsent.set(act.key, id);
        this.thread.keys.set(id, act.key);
        this.thread.messages = [...this.thread.messages, this.unsentMessage(id, act)];
      } else if (here.state === 'streaming')
        this.thread.replace(id, { state: 'none', beside: null });
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
    const left = [...this.thread.outgoing.keys()].filter((id) => !outgoing.has(id));
    if (left.length === 0 && outgoing.size === 0) return;
    for (const [key, id] of this.unsent)
      if (left.includes(id)) {
        this.unsent.delete(key);
        this.thread.drop(id);
      }
    this.thread.outgoing = outgoing;
    if (this.thread.get().loaded) this.thread.publish();
  };

  /** The outbox has brought a message to the server. */
  readonly takeDone = (done: Act, data: unknown): void => {
    if (done.lane !== this.thread.uuid || done.name !== 'sendMessage') return;
    const id = this.unsent.get(done.key);
    const sent = data as Parameters<ThreadWriting['arrived']>[3];
    if (id === undefined || !this.thread.find(id)) {
      this.thread.refresh().catch(() => {});
      return;
    }
    this.unsent.delete(done.key);
    this.thread.outgoing = new Map([...this.thread.outgoing].filter(([each]) => each !== id));
    const { people = false, makes = false } = this.thread.session ?? {};
    const answers = !makes && (!people || done.input.ai !== undefined);
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
    this.thread.tailFrom = null;
    this.arrived(id, done.key, fresh, sent);
    this.thread.publish();
    this.attachAll();
    this.thread.announce();
  };

  /** Puts an own message at the end before the server has it; gives its number here, below 0. */
  put(message: Pick<Message, 'human' | 'format' | 'type' | 'state'>, key: string): number {
    const { model = '', me = { id: 0, name: '' } } = this.thread.session ?? {};
    const id = --this.pending;
    this.thread.keys.set(id, key);
    this.unsent.set(key, id);
    this.thread.messages = [
      ...this.thread.messages,
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
    this.thread.tailFrom = null;
    this.thread.publish();
    return id;
  }

  /** What was put in is with the server now, as this; null: it was not taken and leaves the list. */
  settle(id: number, taken: Pick<Message, 'id' | 'created_at'> | null): void {
    this.unsent.delete(this.thread.keys.get(id) ?? '');
    if (taken && !this.thread.find(taken.id)) {
      this.thread.keys.set(taken.id, this.thread.keys.get(id) ?? String(taken.id));
      this.thread.replace(id, taken);
    } else this.thread.drop(id);
    this.thread.publish();
    this.thread.announce();
  }

  /** Asks for a new reply to a message whose reply failed or is missing. */
  async retry(id: number): Promise<void> {
    const message = this.thread.find(id);
    if (!message) return;
    if (this.thread.session?.temporary === true) {
      // The server has nothing to repeat it from.
      this.thread.drop(id);
      await this.send(message.human, uuid(), { format: message.format === 1 ? 1 : 0 });
      return;
    }
    this.times.start();
    this.thread.publish({ sending: true });
    try {
      await api.retryMessage({ session_id: this.thread.uuid, history_id: id }, { quiet: true });
      this.thread.forgetLive(id);
      this.thread.replace(id, unwritten);
      this.thread.announce();
    } catch (error) {
      this.times.refused(message.model, error);
      throw error;
    } finally {
      this.thread.publish({ sending: false });
      this.attachAll();
      this.times.settle();
    }
  }

  /** Answers a message once more, as a new branch. Without `model` by the one that answered before. */
  async regenerate(id: number, model?: string): Promise<void> {
    const message = this.thread.find(id);
    if (!message) return;
    this.times.start();
    this.thread.publish({ sending: true });
    try {
      const sent = await api.regenerateMessage(
        { session_id: this.thread.uuid, history_id: id, ...(model === undefined ? {} : { model }) },
        { quiet: true },
      );
      const place = this.thread.placeOf(id) ?? message;
      this.thread.keys.set(sent.id, this.thread.keyOf(place));
      const siblings = place.siblings.length > 0 ? place.siblings : [place.id];
      for (const each of this.thread.known()) if (each.id > place.id) this.thread.drop(each.id);
      this.thread.forgetLive(place.id);
      this.thread.tailFrom = null;
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
      this.thread.messages = this.thread.messages.map((each) =>
        each.id === place.id ? fresh : each,
      );
      this.thread.announce(place.id);
    } catch (error) {
      this.times.refused(model ?? message.model, error);
      throw error;
    } finally {
      this.thread.publish({ sending: false });
      this.attachAll();
      this.times.settle();
    }
  }

  /** Shows another branch, or goes on with the other of two answers. */
  async choose(id: number): Promise<void> {
    const place = this.thread.messages.find(
      (each) => each.siblings.includes(id) || each.beside?.id === id,
    );
    if (!place) return;
    await api.switchBranch({ session_id: this.thread.uuid, history_id: id });
    const before = this.thread.before(place.id);
    this.thread.keys.set(id, this.thread.keyOf(place));
    if (place.beside?.id === id) {
      const { beside, ...other } = place;
      this.thread.messages = this.thread.messages.map((each) =>
        each === place ? { ...beside, beside: other } : each,
      );
      this.thread.publish();
    }
    this.thread.announce(before + 1);
    await this.thread.reread(before);
  }

  /** Changes an own message in a session of people; gives whether the server has it already. */
  async update(id: number, content: string, title?: string, group?: number): Promise<boolean> {
    const { uuid: session_id } = this.thread;
    const changed = {
      content,
      ...(title === undefined ? {} : { title }),
      ...(group === undefined ? {} : { group_id: group }),
    };
    const done = await act('updateMessage', session_id, { id, session_id, ...changed });
    if (done === null) {
      // It is written down, and shown as it will be.
      const before = this.thread.find(id)?.title ?? '';
      this.thread.replace(id, { human: content, title: title ?? before, edited: true });
      this.thread.publish();
      return false;
    }
    await this.thread.reread(this.thread.before(id));
    this.thread.announce(id);
    return true;
  }

  /** Likes a message, or no longer; shown at once. */
  async like(id: number): Promise<void> {
    const message = this.thread.find(id);
    if (!message || signInFirst()) return;
    const { liked, like_count } = message;
    this.thread.replace(id, {
      liked: !liked,
      like_count: Math.max(0, like_count + (liked ? -1 : 1)),
    });
    this.thread.publish();
    try {
      const held = await act('historyLike', this.thread.uuid, {
        history_id: id,
        session_id: this.thread.uuid,
        liked: liked ? 0 : 1,
      });
      if (held) this.thread.replace(id, held);
    } catch (error) {
      this.thread.replace(id, { liked, like_count });
      if (!(error instanceof ApiError)) throw error;
    }
    this.thread.publish();
  }

  /** Takes a message into the favourites, or out; shown at once. */
  async favourite(id: number): Promise<void> {
    const message = this.thread.find(id);
    if (!message || signInFirst()) return;
    const { in_favorites } = message;
    this.thread.replace(id, { in_favorites: !in_favorites });
    this.thread.publish();
    try {
      const input = { session_id: this.thread.uuid, history_id: id };
      await act(in_favorites ? 'removeFromFavorites' : 'addToFavorites', this.thread.uuid, input);
    } catch (error) {
      this.thread.replace(id, { in_favorites });
      this.thread.publish();
      if (!(error instanceof ApiError)) throw error;
    }
  }

  /** Stops one reply, or all of one's own that are being written. */
  async stop(id?: number): Promise<void> {
    const running = this.thread.messages
      .filter((each) => this.thread.isMine(each))
      .flatMap((each) => [each, ...(each.beside ? [each.beside] : [])])
      .filter((each) => each.state === 'streaming' && each.id > 0)
      .map((each) => each.id);
    const stopping = id === undefined ? running : [id];
    for (const each of stopping) this.times.stopped(each);
    await Promise.all(stopping.map((each) => api.stopStream({ history_id: each })));
  }

  /** Gives whether the whole session went with it. */
  async remove(id: number): Promise<boolean> {
    const message = this.thread.find(id);
    const done = await act('deleteHistory', this.thread.uuid, { id, session_id: this.thread.uuid });
    const is_session = done?.is_session ?? false;
    const before = this.thread.before(id);
    this.thread.drop(id);
    this.thread.publish();
    this.thread.announce(before + 1);
    // Another branch or answer takes its place.
    if (done && !is_session && message && (message.siblings.length > 0 || message.beside !== null))
      await this.thread.reread(before);
    return is_session;
  }

  /** Reads every reply that is being written. */
  attachAll(): void {
    for (const message of this.thread.messages)
      for (const each of [message, message.beside])
        if (each && each.id > 0 && each.state === 'streaming' && !this.thread.streams.has(each.id))
          this.attach(each.id, message.id, each.model, this.thread.isMine(message));
  }

  /** What a finished reply changes here and elsewhere. */
  private afterReply(): void {
    // Tokens, price and the true state are the server's to tell.
    void refreshScreens();
    this.thread.announce();
    // What was written meanwhile goes on at once.
    if (this.thread.outgoing.size > 0)
      loadOutbox().then(
        ({ wakeLane }) => wakeLane(this.thread.uuid),
        () => {},
      );
  }

  private attach(id: number, place: number, model: string, mine: boolean): void {
    const abort = new AbortController();
    this.thread.streams.set(id, abort);
    if (mine) waiting.set(`answer:${id}`, Date.now());
    if (mine) this.times.watch(id, model === '' ? (this.thread.session?.model ?? '') : model);
    let started = false;
    const reply = new LiveReply(() => {
      // Rows at the end of the list follow the reply themselves.
      const inTail = this.thread.tailFrom !== null && place >= this.thread.tailFrom;
      if (this.thread.get().newestFirst || !inTail || !started) {
        started = reply.started;
        this.thread.publish();
      }
    });
    this.thread.live.set(id, reply);
    if (this.thread.placeOf(id) === this.thread.messages.at(-1)) this.thread.tailFrom ??= place;
    this.thread.publish();
    const finish = (change: Partial<Message>) => {
      // A lost connection says nothing of the reply itself.
      if (change.error_code !== 'connection') waiting.delete(`answer:${id}`);
      reply.end(() => {
        if (abort.signal.aborted) return;
        this.thread.streams.delete(id);
        this.thread.replace(id, { ai: reply.whole, reasoning: reply.reasoning, ...change });
        this.thread.publish({ reconnecting: false });
        // The last words are drawn first.
        setTimeout(() => this.afterReply());
      });
    };
    const fail = (error_code: string, error_message: string) => {
      this.times.end(id, 'error');
      finish({ state: 'error', error_code, error_message });
    };
    const read = openStream({
      sessionId: this.thread.uuid,
      historyId: id,
      base: this.thread.session?.streamBase(model) ?? '',
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
        if (this.thread.get().reconnecting === connected)
          this.thread.publish({ reconnecting: !connected });
      },
    });
    read.catch((error: unknown) =>
      fail(error instanceof ApiError ? String(error.code) : 'connection', errorText(error)),
    );
  }
}
