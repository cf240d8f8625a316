import type { ReplyState } from '#contract/chat.ts';
import type { Sink } from '#server/http/sink.ts';
import type { Live, RepliesContext } from './live-replies.ts';
import { type Ending, Reader } from './reader.ts';
import { endingOf } from './reply-following.ts';
import { ReplyLog } from './reply-log.ts';
import * as store from './reply.store.ts';
import type { ToolViewer } from './stored-tool.ts';

/** Lets connections read replies: what is written here or in another process, and what is over. */
export const createReading = (
  { db, live, kept, settings }: Pick<RepliesContext, 'db' | 'live' | 'kept' | 'settings'>,
  { follow, readChanged }: { follow: (id: number) => Live; readChanged: () => Promise<void> },
) => {
  /** Those that are sent what is over, as fast as they take it. */
  const replays = new Set<Reader>();
  const replay = (reader: Reader, ending: Ending) => {
    reader.end(ending);
    replays.add(reader);
    return () => replays.delete(reader);
  };

  return {
    /**
     * Lets a connection read a reply from a position on; gives what to call when it is gone.
     * @param state as the row had it a moment ago
     */
    read: async (
      id: number,
      state: ReplyState,
      sink: Sink,
      position: number,
      viewer: ToolViewer | null = null,
    ): Promise<() => void> => {
      const readerOf = (log: ReplyLog) => new Reader(sink, log, position, viewer);
      const over = kept.get(id);
      if (over) return replay(readerOf(over.log), over.ending);
      let entry = live.get(id);
      if (!entry && state === 'streaming') entry = follow(id);
      if (!entry) {
        const [row] = await store.readReplies(db, [id]);
        if (!row) return replay(readerOf(new ReplyLog()), { error: null });
        if (!row.temporary) return replay(readerOf(ReplyLog.of(row)), endingOf(row));
        // The process that wrote it may still have it.
        entry = live.get(id) ?? follow(id);
      }
      const { readers } = entry;
      const reader = readerOf(entry.log);
      readers.add(reader);
      if (!entry.own) void readChanged();
      return () => {
        readers.delete(reader);
        const now = live.get(id);
        if (!now || now.own || now.readers.size > 0) return;
        live.delete(id);
        now.line?.close();
      };
    },

    /** Keeps the connections alive, and closes those that take nothing. */
    tend(now: number): void {
      for (const { readers } of live.values())
        for (const reader of readers) reader.tend(now, settings);
      for (const reader of replays) reader.tend(now, settings);
    },

    /** Lets all readers go. */
    close(): void {
      for (const { readers } of live.values()) for (const reader of readers) reader.close();
      for (const reader of replays) reader.close();
    },
  };
};
