import { signInFirst } from '#src/platform/server-api.ts';
import { api } from '#src/platform/api.ts';
import { ApiError } from '#src/platform/api-error.ts';
import { act, perform } from '#src/platform/outbox.ts';
import { sleep } from '#src/platform/sleep.ts';
import { thinkingOf } from '#src/platform/thinking-choice.ts';
import { webOf } from '#src/platform/web-choice.ts';
import { uuid } from '#src/platform/uuid.ts';
import type { Part } from '#common/outbox/act.ts';
import type { Message } from '#contract/chat.ts';
import type { QuestionAnswers, ToolAnswer } from './chat-context.ts';
import type { MessageLoader } from './message-loader.ts';
import type { MessageStore } from './message-store.ts';
import { ReplyReader } from './reply-reader.ts';
import { Stopwatch } from './reply-times.ts';
import { order } from './rows.ts';
import { blank, UnsentMessages } from './unsent-messages.ts';

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
  /** Images and files that are uploaded when there is a network. */
  parts?: readonly Part[];
}

/** Most earlier exchanges that a temporary session sends along. */
const mostContext = 10;

/** So long a message waits for the end of the list, where it is put, ms: the line may be away. */
const endPatience = 1_000;

const unwritten = {
  state: 'streaming',
  ai: '',
  reasoning: '',
  tools: undefined,
  thought_ms: undefined,
  error_code: '',
  error_message: '',
  prompt_tokens: 0,
  completion_tokens: 0,
  deduct_tokens: 0,
} as const;

/** What a person does in an open session. It comes once the messages stand there, or when first needed. */
export class ThreadCommands {
  private readonly store: MessageStore;
  private readonly loader: MessageLoader;
  private readonly times = new Stopwatch();
  readonly reader: ReplyReader;
  readonly unsent: UnsentMessages;

  constructor(store: MessageStore, loader: MessageLoader) {
    this.store = store;
    this.loader = loader;
    this.reader = new ReplyReader(store, loader, this.times);
    this.unsent = new UnsentMessages(store, loader, () => this.reader.attachAll());
  }

  /**
   * Sends a message; it stands in the list at once. Rejects with ApiError when the server did not
   * take it: then the list is as it was.
   * @param key names this sending: the same key never sends twice
   */
  async send(text: string, key: string, options: SendOptions = {}): Promise<void> {
    const { suggestion, strictMode, withTemplate, parts, ...rest } = options;
    if (this.store.get().hasNewer)
      await Promise.race([this.loader.loadNewest().catch(() => {}), sleep(endPatience)]);
    const replaced = rest.replace === undefined ? undefined : this.store.find(rest.replace);
    const after = replaced
      ? this.store.messages.filter((each) => order(each) >= order(replaced))
      : [];
    const id = this.unsent.number();
    this.store.keys.set(id, replaced ? this.store.keyOf(replaced) : key);
    const human = text;
    const created_at = new Date().toISOString();
    const { people = false, model = '', me = { id: 0, name: '' } } = this.store.session ?? {};
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
          : { ...blank, id: this.unsent.number(), human, created_at, model: rest.beside },
    };
    // The server keeps nothing of what was said before.
    const context =
      this.store.session?.temporary === true
        ? this.store.recentExchanges(mostContext).reverse()
        : null;
    // Until the server has it nobody writes a reply to it.
    const unsent: Message = { ...fresh, state: 'none', beside: null };
    this.store.messages = [...this.store.messages.filter((each) => !after.includes(each)), unsent];
    // The list goes to its end now, where nobody sees the replies before change their place.
    this.store.tailFrom = null;
    this.times.start();
    const later = this.store.get().replying !== null || this.store.get().reconnecting;
    this.store.publish({ sending: true });
    const input = {
      session_id: this.store.uuid,
      msg: text,
      suggestion: suggestion === true ? (1 as const) : (0 as const),
      strict_mode: strictMode,
      with_template: withTemplate,
      ...webOf(this.store.uuid),
      ...thinkingOf(this.store.session?.model),
      ...(context ? { context } : {}),
      ...rest,
    };
    // A temporary session leaves nothing in this browser, and a branch needs what it branches from.
    const mayWait = context === null && !replaced;
    try {
      this.unsent.keys.set(key, id);
      const before = this.store.get().lastId ?? 0;
      const sending = {
        name: 'sendMessage',
        key,
        lane: this.store.uuid,
        input,
        made: created_at,
      } as const;
      const sent = mayWait
        ? await perform<'sendMessage'>({ ...sending, before, parts }, later)
        : await api.sendMessage(input, { idempotencyKey: key, quiet: true });
      // It stays in the list, and is sent from the outbox.
      if (sent === null) return;
      this.unsent.keys.delete(key);
      const siblings = replaced
        ? [...(replaced.siblings.length > 0 ? replaced.siblings : [replaced.id]), sent.id]
        : [];
      this.unsent.arrived(id, key, fresh, sent, siblings);
      for (const each of after) this.store.forgetLive(each.id);
      this.loader.announce(replaced ? replaced.id : 0);
    } catch (error) {
      this.unsent.keys.delete(key);
      this.times.refused(fresh.model, error);
      this.store.messages = [
        ...this.store.messages.filter((message) => message.id !== id),
        ...after,
      ];
      throw error;
    } finally {
      this.store.publish({ sending: false });
      this.reader.attachAll();
      this.times.settle();
    }
  }

  /** Asks for a new reply to a message whose reply failed or is missing. */
  async retry(id: number): Promise<void> {
    const message = this.store.find(id);
    if (!message) return;
    if (this.store.session?.temporary === true) {
      // The server has nothing to repeat it from.
      this.store.drop(id);
      await this.send(message.human, uuid(), { format: message.format === 1 ? 1 : 0 });
      return;
    }
    this.times.start();
    this.store.publish({ sending: true });
    try {
      await api.retryMessage(
        {
          session_id: this.store.uuid,
          history_id: id,
          ...webOf(this.store.uuid),
          ...thinkingOf(message.model),
        },
        { quiet: true },
      );
      this.store.forgetLive(id);
      this.store.replace(id, unwritten);
      this.loader.announce();
    } catch (error) {
      this.times.refused(message.model, error);
      throw error;
    } finally {
      this.store.publish({ sending: false });
      this.reader.attachAll();
      this.times.settle();
    }
  }

  /** Answers a message once more, as a new branch. Without `model` by the one that answered before. */
  async regenerate(id: number, model?: string): Promise<void> {
    const message = this.store.find(id);
    if (!message) return;
    this.times.start();
    this.store.publish({ sending: true });
    try {
      const sent = await api.regenerateMessage(
        {
          session_id: this.store.uuid,
          history_id: id,
          ...(model === undefined ? {} : { model }),
          ...webOf(this.store.uuid),
          ...thinkingOf(model ?? message.model),
        },
        { quiet: true },
      );
      const place = this.store.placeOf(id) ?? message;
      this.store.keys.set(sent.id, this.store.keyOf(place));
      const siblings = place.siblings.length > 0 ? place.siblings : [place.id];
      for (const each of this.store.known()) if (each.id > place.id) this.store.drop(each.id);
      this.store.forgetLive(place.id);
      this.store.tailFrom = null;
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
      this.store.messages = this.store.messages.map((each) =>
        each.id === place.id ? fresh : each,
      );
      this.loader.announce(place.id);
    } catch (error) {
      this.times.refused(model ?? message.model, error);
      throw error;
    } finally {
      this.store.publish({ sending: false });
      this.reader.attachAll();
      this.times.settle();
    }
  }

  /** Shows another branch, or goes on with the other of two answers. */
  async choose(id: number): Promise<void> {
    const place = this.store.messages.find(
      (each) => each.siblings.includes(id) || each.beside?.id === id,
    );
    if (!place) return;
    await api.switchBranch({ session_id: this.store.uuid, history_id: id });
    const before = this.store.before(place.id);
    this.store.keys.set(id, this.store.keyOf(place));
    if (place.beside?.id === id) {
      const { beside, ...other } = place;
      this.store.messages = this.store.messages.map((each) =>
        each === place ? { ...beside, beside: other } : each,
      );
      this.store.publish();
    }
    this.loader.announce(before + 1);
    await this.loader.reread(before);
  }

  /** Changes an own message in a session of people; gives whether the server has it already. */
  async update(id: number, content: string, title?: string, group?: number): Promise<boolean> {
    const { uuid: session_id } = this.store;
    const changed = {
      content,
      ...(title === undefined ? {} : { title }),
      ...(group === undefined ? {} : { group_id: group }),
    };
    const done = await act('updateMessage', session_id, { id, session_id, ...changed });
    if (done === null) {
      // It is written down, and shown as it will be.
      const before = this.store.find(id)?.title ?? '';
      this.store.replace(id, { human: content, title: title ?? before, edited: true });
      this.store.publish();
      return false;
    }
    await this.loader.reread(this.store.before(id));
    this.loader.announce(id);
    return true;
  }

  /** Likes a message, or no longer; shown at once. */
  async like(id: number): Promise<void> {
    const message = this.store.find(id);
    if (!message || signInFirst()) return;
    const { liked, like_count } = message;
    this.store.replace(id, {
      liked: !liked,
      like_count: Math.max(0, like_count + (liked ? -1 : 1)),
    });
    this.store.publish();
    try {
      const held = await act('historyLike', this.store.uuid, {
        history_id: id,
        session_id: this.store.uuid,
        liked: liked ? 0 : 1,
      });
      if (held) this.store.replace(id, held);
    } catch (error) {
      this.store.replace(id, { liked, like_count });
      if (!(error instanceof ApiError)) throw error;
    }
    this.store.publish();
  }

  /** Takes a message into the favourites, or out; shown at once. */
  async favourite(id: number): Promise<void> {
    const message = this.store.find(id);
    if (!message || signInFirst()) return;
    const { in_favorites } = message;
    this.store.replace(id, { in_favorites: !in_favorites });
    this.store.publish();
    try {
      const input = { session_id: this.store.uuid, history_id: id };
      await act(in_favorites ? 'removeFromFavorites' : 'addToFavorites', this.store.uuid, input);
    } catch (error) {
      this.store.replace(id, { in_favorites });
      this.store.publish();
      if (!(error instanceof ApiError)) throw error;
    }
  }

  /** Answers what a call of a tool asks; the reply goes on once none asks any more. */
  async answerTool(
    id: number,
    call_id: string,
    answer: ToolAnswer,
    answers?: QuestionAnswers,
  ): Promise<void> {
    const { going, tools } = await api.answerTool({
      session_id: this.store.uuid,
      history_id: id,
      call_id,
      answer,
      ...(answers && { answers }),
    });
    // What is here of it is what the stream goes on from.
    const said = this.store.find(id);
    if (said) {
      const live = this.store.live.get(id);
      const known = live ? { ai: live.whole, reasoning: live.reasoning } : {};
      this.store.forgetLive(id);
      this.store.replace(id, { ...known, tools, state: going ? 'streaming' : 'waiting' });
    }
    this.store.publish();
    this.reader.attachAll();
  }

  /** Stops one reply, or all of one's own that are being written. */
  async stop(id?: number): Promise<void> {
    const running = this.store.messages
      .filter((each) => this.store.isMine(each))
      .flatMap((each) => [each, ...(each.beside ? [each.beside] : [])])
      .filter((each) => each.state === 'streaming' && each.id > 0)
      .map((each) => each.id);
    const stopping = id === undefined ? running : [id];
    for (const each of stopping) this.times.stopped(each);
    await Promise.all(stopping.map((each) => api.stopStream({ history_id: each })));
  }

  /** Gives whether the whole session went with it. */
  async remove(id: number): Promise<boolean> {
    const message = this.store.find(id);
    const done = await act('deleteHistory', this.store.uuid, { id, session_id: this.store.uuid });
    const is_session = done?.is_session ?? false;
    const before = this.store.before(id);
    this.store.drop(id);
    this.store.publish();
    this.loader.announce(before + 1);
    // Another branch or answer takes its place.
    if (done && !is_session && message && (message.siblings.length > 0 || message.beside !== null))
      await this.loader.reread(before);
    return is_session;
  }
}
