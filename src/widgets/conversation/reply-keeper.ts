import { keepMessage } from '#src/platform/cache.ts';
import type { Message } from '#contract/chat.ts';
import type { MessageStore } from './message-store.ts';

/** What is read is in this browser after so long, ms; of a very long reply later: all of it is written. */
const soon = 150;
const longText = 100_000;

/**
 * Writes a message into this browser while its reply is being read: whatever is cut, the question and
 * every word that was seen are there again.
 */
export class ReplyKeeper {
  private readonly store: MessageStore;
  private readonly due = new Map<number, ReturnType<typeof setTimeout>>();

  constructor(store: MessageStore) {
    this.store = store;
  }

  /** More of the message at this place was read. */
  touch(place: number): void {
    if (this.due.has(place)) return;
    const length = this.store.live.get(place)?.whole.length ?? 0;
    const wait = soon * Math.max(1, length / longText);
    this.due.set(
      place,
      setTimeout(() => this.keep(place), wait),
    );
  }

  /**
   * Writes the message at this place as it stands now.
   * @param ended how an answer of it has just ended, which the list shows only once it is drawn
   */
  keep(place: number, ended?: { id: number; change: Partial<Message> }): void {
    clearTimeout(this.due.get(place));
    this.due.delete(place);
    const message = this.store.placeOf(place);
    // A temporary session leaves nothing in this browser.
    if (!message || message.id <= 0 || this.store.session?.temporary !== false) return;
    const { beside } = message;
    keepMessage(this.store.uuid, {
      ...this.read(message, ended),
      beside: beside && this.read(beside, ended),
    });
  }

  /** An answer with all that was read of it. */
  private read<T extends Pick<Message, 'id' | 'ai' | 'reasoning'>>(
    answer: T,
    ended: { id: number; change: Partial<Message> } | undefined,
  ): T {
    const live = this.store.live.get(answer.id);
    return {
      ...answer,
      ...(live && { ai: live.whole, reasoning: live.reasoning }),
      ...(live && live.tools.length > 0 && { tools: [...live.tools] }),
      ...(ended?.id === answer.id && ended.change),
    };
  }
}
