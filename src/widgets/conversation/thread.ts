import { lazyChunk } from '#src/platform/lazy-chunk.ts';
import { onActDone, outboxState } from '#src/platform/outbox-state.ts';
import { loadOutbox } from '#src/platform/load-outbox.ts';
import { hasUnsentIn } from '#src/platform/unsent.ts';
import type { Message } from '#contract/chat.ts';
import { MessageLoader } from './message-loader.ts';
import { MessageStore, type ThreadSession } from './message-store.ts';
import type { ThreadCommands } from './thread-commands.ts';

/** One open session: its messages, how they come, and what can be done with them. */
export class Thread {
  readonly store: MessageStore;
  readonly loader: MessageLoader;
  private opened = false;

  constructor(
    uuid: string,
    options: {
      focus?: number | null;
      only?: number | null;
      /** Whether it is read from its first message on. */
      fromFirst?: () => Promise<boolean>;
    } = {},
  ) {
    this.store = new MessageStore(uuid, options);
    this.loader = new MessageLoader(this.store, () => this.attachAll(), options.fromFirst);
  }

  get uuid(): string {
    return this.store.uuid;
  }

  /** Only this message is shown (a favourite); null: the whole session. */
  get only(): number | null {
    return this.store.only;
  }

  /** Tells what the session is, once that is known or has changed. */
  know(session: ThreadSession): void {
    this.store.know(session);
    // Replies wait for this: it says where they are read from.
    this.attachAll();
  }

  /** Starts to hear of other tabs and to read replies being written; gives what ends that. */
  open(): () => void {
    this.opened = true;
    this.attachAll();
    const leave = [
      this.loader.listen(),
      outboxState.subscribe(this.takeOutgoing),
      onActDone((done, data) => {
        if (done.lane === this.uuid)
          this.whenThere((commands) => commands.unsent.takeDone(done, data));
      }),
    ];
    if (hasUnsentIn(this.uuid)) loadOutbox().catch(() => {});
    this.takeOutgoing();
    return () => {
      this.opened = false;
      for (const each of leave) each();
      this.store.endStreams();
    };
  }

  /** What a person does here, and the replies being written: the other half, which comes later. */
  readonly commands = lazyChunk(async (): Promise<ThreadCommands> => {
    const { ThreadCommands: Commands } = await import('./thread-commands.ts');
    return new Commands(this.store, this.loader);
  });

  /** Does something with the other half once it is there; without a network it may stay away. */
  private whenThere(use: (commands: ThreadCommands) => void): void {
    this.commands().then(use, () => {});
  }

  /** Ends the reply that is being written. */
  readonly stop = (): void => this.whenThere((commands) => void commands.stop().catch(() => {}));

  /** Shows what the outbox has for this session. */
  private readonly takeOutgoing = (): void => {
    const waits = outboxState.get().acts.some(({ lane }) => lane === this.uuid);
    if (waits || this.store.outgoing.size > 0)
      this.whenThere((commands) => commands.unsent.takeOutgoing());
  };

  /** Reads the replies that are being written. */
  private attachAll(): void {
    const { store } = this;
    if (!store.get().loaded || !store.session) return;
    const unread = ({ id, state }: Pick<Message, 'id' | 'state'>) =>
      id > 0 && state === 'streaming' && !store.streams.has(id);
    if (store.messages.some((each) => unread(each) || (each.beside && unread(each.beside))))
      this.whenThere((commands) => {
        if (this.opened) commands.reader.attachAll();
      });
  }

  /** Reads a reply again whose connection was given up; the server may have written on. */
  reconnect(id: number): void {
    this.store.forgetLive(id);
    this.store.replace(id, { state: 'streaming', error_code: '', error_message: '' });
    this.store.publish();
    this.attachAll();
  }
}
