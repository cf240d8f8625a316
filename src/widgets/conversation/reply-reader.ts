import { ApiError, errorText } from '#src/platform/api-error.ts';
import { loadOutbox } from '#src/platform/load-outbox.ts';
import { refreshScreens } from '#src/platform/query-client.ts';
import { openStream } from '#src/platform/stream.ts';
import { waiting } from '#src/platform/waiting.ts';
import type { Message } from '#contract/chat.ts';
import { LiveReply } from './live-reply.ts';
import { ReplyKeeper } from './reply-keeper.ts';
import type { MessageLoader } from './message-loader.ts';
import type { MessageStore } from './message-store.ts';
import type { Stopwatch } from './reply-times.ts';

/** Reads the replies of a session while they are being written. */
export class ReplyReader {
  private readonly store: MessageStore;
  private readonly loader: MessageLoader;
  private readonly times: Stopwatch;
  private readonly keeper: ReplyKeeper;

  constructor(store: MessageStore, loader: MessageLoader, times: Stopwatch) {
    this.store = store;
    this.loader = loader;
    this.times = times;
    this.keeper = new ReplyKeeper(store);
  }

  /** Reads every reply that is being written. */
  attachAll(): void {
    for (const message of this.store.messages)
      for (const each of [message, message.beside])
        if (each && each.id > 0 && each.state === 'streaming' && !this.store.streams.has(each.id))
          this.attach(each, message.id, this.store.isMine(message));
  }

  /** What a finished reply changes here and elsewhere. */
  private afterReply(): void {
    // Tokens, price and the true state are the server's to tell.
    void refreshScreens();
    this.loader.announce();
    // What was written meanwhile goes on at once.
    if (this.store.outgoing.size > 0)
      loadOutbox().then(
        ({ wakeLane }) => wakeLane(this.store.uuid),
        () => {},
      );
  }

  /** Reads an answer on from what of it is here. @param place the message that it stands at */
  private attach(answer: NonNullable<Message['beside']>, place: number, mine: boolean): void {
    const { id, model } = answer;
    // Events are numbered by the text before them.
    const read = answer.ai.length + answer.reasoning.length;
    const abort = new AbortController();
    this.store.streams.set(id, abort);
    if (mine) waiting.set(`answer:${id}`, Date.now());
    if (mine) this.times.watch(id, model === '' ? (this.store.session?.model ?? '') : model);
    let started = false;
    const reply = new LiveReply(() => {
      // Rows at the end of the list follow the reply themselves.
      const inTail = this.store.tailFrom !== null && place >= this.store.tailFrom;
      if (this.store.get().newestFirst || !inTail || !started) {
        started = reply.started;
        this.store.publish();
      }
    }, answer);
    this.store.live.set(id, reply);
    if (this.store.placeOf(id) === this.store.messages.at(-1)) this.store.tailFrom ??= place;
    this.store.publish();
    this.keeper.keep(place);
    const finish = (change: Partial<Message>) => {
      // A lost connection says nothing of the reply itself.
      const lost = change.error_code === 'connection';
      if (!lost) waiting.delete(`answer:${id}`);
      // Before it is drawn to its end: who reads it may be cut off meanwhile.
      this.keeper.keep(place, lost ? undefined : { id, change });
      reply.end(() => {
        if (abort.signal.aborted) return;
        this.store.streams.delete(id);
        this.store.replace(id, {
          ai: reply.whole,
          reasoning: reply.reasoning,
          ...(reply.thoughtMs ? { thought_ms: reply.thoughtMs } : {}),
          ...(reply.tools.length > 0 ? { tools: [...reply.tools] } : {}),
          ...change,
        });
        this.store.publish({ reconnecting: false });
        // The last words are drawn first.
        setTimeout(() => this.afterReply());
        // Said by src/app/phone.tsx.
        dispatchEvent(new CustomEvent('answered', { detail: [change.error_message, reply.whole] }));
      });
    };
    const fail = (error_code: string, error_message: string) => {
      this.times.end(id, 'error');
      finish({ state: 'error', error_code, error_message });
    };
    const reading = openStream({
      sessionId: this.store.uuid,
      historyId: id,
      base: this.store.session?.streamBase(model) ?? '',
      lastEventId: read > 0 ? String(read) : '',
      signal: abort.signal,
      onText: (text) => {
        this.times.chunk(id);
        reply.addText(text);
        this.keeper.touch(place);
      },
      onReasoning: (text) => {
        this.times.chunk(id);
        reply.addReasoning(text);
        this.keeper.touch(place);
      },
      onTool: (tool) => reply.putTool(tool),
      onDone: () => {
        this.times.end(id, 'success');
        const asks = reply.tools.some(({ state }) => state === 'asking');
        finish({ state: asks ? 'waiting' : 'done' });
      },
      onError: ({ code, message }) => fail(code, message),
      onConnection: (connected) => {
        if (this.store.get().reconnecting === connected)
          this.store.publish({ reconnecting: !connected });
      },
    });
    reading.catch((error: unknown) =>
      fail(error instanceof ApiError ? String(error.code) : 'connection', errorText(error)),
    );
  }
}
