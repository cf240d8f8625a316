import { sessionTypes } from '#contract/kinds.ts';
import { keepMessage } from '#src/platform/cache.ts';
import { outboxState } from '#src/platform/outbox-state.ts';
import type { OfName } from '#src/platform/note.ts';
import type { Act, NewAct } from '#common/outbox/act.ts';
import type { Message } from '#contract/chat.ts';
import type { MessageLoader } from './message-loader.ts';
import type { MessageStore } from './message-store.ts';
import type { Outgoing } from './rows.ts';

/** A message of which only the question is known. */
export const blank: Omit<Message, 'id' | 'human' | 'created_at'> = {
  ai: '',
  reasoning: '',
  type: sessionTypes.chat,
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

/** Own messages that the server does not have yet, at the end of the list; their numbers are below 0. */
export class UnsentMessages {
  private readonly store: MessageStore;
  private readonly loader: MessageLoader;
  /** A message that the outbox has sent is there: its reply is being written. */
  private readonly onArrived: () => void;
  /** Messages that the outbox has or is about to get: by their key their number here. */
  readonly keys = new Map<string, number>();
  private last = 0;

  constructor(store: MessageStore, loader: MessageLoader, onArrived: () => void) {
    this.store = store;
    this.loader = loader;
    this.onArrived = onArrived;
  }

  /** The number of the next. */
  number(): number {
    this.last -= 1;
    return this.last;
  }

  /** Puts an own message at the end before the server has it; gives its number here, below 0. */
  put(message: Pick<Message, 'human' | 'format' | 'type' | 'state'>, key: string): number {
    const { model = '', me = { id: 0, name: '' } } = this.store.session ?? {};
    const id = this.number();
    this.store.keys.set(id, key);
    this.keys.set(key, id);
    this.store.messages = [
      ...this.store.messages,
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
    this.store.tailFrom = null;
    this.store.publish();
    return id;
  }

  /** What was put in is with the server now, as this; null: it was not taken and leaves the list. */
  settle(id: number, taken: Pick<Message, 'id' | 'created_at'> | null): void {
    this.keys.delete(this.store.keys.get(id) ?? '');
    if (taken && !this.store.find(taken.id)) {
      this.store.keys.set(taken.id, this.store.keys.get(id) ?? String(taken.id));
      this.store.replace(id, taken);
    } else this.store.drop(id);
    this.store.publish();
    this.loader.announce();
  }

  /** A message has got its number: it takes its own place, wherever else it may have come in. */
  arrived(
    id: number,
    key: string,
    fresh: Message,
    sent: { id: number; msg: string; created_at: string; beside: number | null },
    siblings: number[] = [],
  ): void {
    this.store.keys.set(sent.id, this.store.keys.get(id) ?? key);
    const known = this.store.messages.some((message) => message.id === sent.id);
    const taken: Message = {
      ...fresh,
      id: sent.id,
      // Of a temporary session the server gives no text back.
      human: sent.msg || fresh.human,
      created_at: sent.created_at,
      siblings,
      beside: fresh.beside && sent.beside !== null ? { ...fresh.beside, id: sent.beside } : null,
    };
    if (this.store.session?.temporary === false) keepMessage(this.store.uuid, taken);
    this.store.messages = known
      ? this.store.messages.filter((message) => message.id !== id)
      : this.store.messages.map((message) => (message.id === id ? taken : message));
  }

  /** A message of the outbox as it stands in the list. */
  private unsentMessage(id: number, { input, made }: OfName<NewAct, 'sendMessage'>): Message {
    const { me = { id: 0, name: '' } } = this.store.session ?? {};
    return {
      ...blank,
      id,
      human: input.msg,
      type: this.store.session?.makes === true ? this.store.session.type : 0,
      format: Number(input.format ?? 0),
      title: input.title ?? '',
      model:
        this.store.session?.people === true ? (input.ai ?? '') : (this.store.session?.model ?? ''),
      state: 'none',
      created_at: made,
      user_id: me.id,
      user_name: me.name,
    };
  }

  /** Shows what the outbox has for this session, and nothing that it no longer has. */
  readonly takeOutgoing = (): void => {
    if (this.store.only !== null) return;
    const { acts, sending, held } = outboxState.get();
    const own = acts.filter(({ lane }) => lane === this.store.uuid);
    const failed = own.find((act) => act.failed !== null);
    const outgoing = new Map<number, Outgoing>();
    for (const act of own) {
      if (act.name !== 'sendMessage') continue;
      const id = this.keys.get(act.key) ?? this.number();
      const here = this.store.find(id);
      if (!here) {
        this.keys.set(act.key, id);
        this.store.keys.set(id, act.key);
        this.store.messages = [...this.store.messages, this.unsentMessage(id, act)];
      } else if (here.state === 'streaming')
        this.store.replace(id, { state: 'none', beside: null });
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
        held: held.has(act.key),
        retryKey: (refused ? failed : act).key,
        parts: (act.parts ?? []).map(({ name }) => name),
      });
    }
    const left = [...this.store.outgoing.keys()].filter((id) => !outgoing.has(id));
    if (left.length === 0 && outgoing.size === 0) return;
    for (const [key, id] of this.keys)
      if (left.includes(id)) {
        this.keys.delete(key);
        this.store.drop(id);
      }
    this.store.outgoing = outgoing;
    if (this.store.get().loaded) this.store.publish();
  };

  /** The outbox has brought a message to the server. */
  readonly takeDone = (done: Act, data: unknown): void => {
    if (done.lane !== this.store.uuid || done.name !== 'sendMessage') return;
    const id = this.keys.get(done.key);
    const sent = data as Parameters<UnsentMessages['arrived']>[3];
    if (id === undefined || !this.store.find(id)) {
      this.loader.refresh().catch(() => {});
      return;
    }
    this.keys.delete(done.key);
    this.store.outgoing = new Map([...this.store.outgoing].filter(([each]) => each !== id));
    const { people = false, makes = false } = this.store.session ?? {};
    const answers = !makes && (!people || done.input.ai !== undefined);
    const fresh: Message = {
      ...this.unsentMessage(id, done),
      state: answers ? 'streaming' : 'none',
      beside:
        done.input.beside === undefined
          ? null
          : {
              ...blank,
              id: this.number(),
              human: '',
              created_at: done.made,
              model: done.input.beside,
            },
    };
    this.store.tailFrom = null;
    this.arrived(id, done.key, fresh, sent);
    this.store.publish();
    this.onArrived();
    this.loader.announce();
  };
}
