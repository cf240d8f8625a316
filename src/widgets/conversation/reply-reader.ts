import { ApiError, errorText } from '@/platform/api-error.ts';
import { loadOutbox } from '@/platform/load-outbox.ts';
import { refreshScreens } from '@/platform/query-client.ts';
import { openStream } from '@/platform/stream.ts';
import { waiting } from '@/platform/waiting.ts';
import type { Message } from '@contract/chat.ts';
import { LiveReply } from './live-reply.ts';
import type { MessageLoader } from './message-loader.ts';
import type { MessageStore } from './message-store.ts';
import type { Stopwatch } from './reply-times.ts';

/** Reads the replies of a session while they are being written. */
export class ReplyReader {
  private readonly store: MessageStore;
  private readonly loader: MessageLoader;
  private readonly times: Stopwatch;

  constructor(store: MessageStore, loader: MessageLoader, times: Stopwatch) {
    this.store = store;
    this.loader = loader;
    this.times = times;
  }

  /** Reads every reply that is being written. */
  attachAll(): void {
    for (const message of this.store.messages)
      for (const each of [message, message.beside])
        if (each && each.id > 0 && each.state === 'streaming' && !this.store.streams.has(each.id))
          this.attach(each.id, message.id, each.model, this.store.isMine(message));
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

  private attach(id: number, place: number, model: string, mine: boolean): void {
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
    });
    this.store.live.set(id, reply);
    if (this.store.placeOf(id) === this.store.messages.at(-1)) this.store.tailFrom ??= place;
    this.store.publish();
    const finish = (change: Partial<Message>) => {
      // A lost connection says nothing of the reply itself.
      if (change.error_code !== 'connection') waiting.delete(`answer:${id}`);
      reply.end(() => {
        if (abort.signal.aborted) return;
        this.store.streams.delete(id);
        this.store.replace(id, { ai: reply.whole, reasoning: reply.reasoning, ...change });
        this.store.publish({ reconnecting: false });
        // The last words are drawn first.
        setTimeout(() => this.afterReply());
      });
    };
    const fail = (error_code: string, error_message: string) => {
      this.times.end(id, 'error');
      finish({ state: 'error', error_code, error_message });
    };
    const read = openStream({
      sessionId: this.store.uuid,
      historyId: id,
      base: this.store.session?.streamBase(model) ?? '',
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
        if (this.store.get().reconnecting === connected)
          this.store.publish({ reconnecting: !connected });
      },
    });
    read.catch((error: unknown) =>
      fail(error instanceof ApiError ? String(error.code) : 'connection', errorText(error)),
    );
  }
}
