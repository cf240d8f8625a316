import { createChangedIds } from '#server/changed-ids.ts';
import { streamCodes } from '#contract/page-errors.ts';
import type { KeyBox } from '../model/channel-key.ts';
import { textFrame } from './frames.ts';
import { newLive, type Live, type RepliesContext } from './live-replies.ts';
import type { Ending } from './reader.ts';
import { ReplyLog } from './reply-log.ts';
import { createReplyLines } from './reply-line.ts';
import { createReplyRelay, type Piece } from './reply-relay.ts';
import * as store from './reply.store.ts';
import type { StoredTool } from '#contract/tool.ts';

/** How long the process that has a reply without a row may be silent before it is given up, ms. */
const silentMs = 3000;
/** How far the row may lie behind a line that broke, ms. */
const lagMs = 5000;

export const endingOf = ({
  state,
  errorCode: code,
  errorMessage: message,
  temporary,
}: Pick<store.ReplyRow, 'state' | 'errorCode' | 'errorMessage' | 'temporary'>): Ending => {
  if (temporary) return { error: { code: 'temporary', message: streamCodes.temporary } };
  return { error: state === 'error' || state === 'interrupted' ? { code, message } : null };
};

type Lives = RepliesContext['live'];

const endFollowed = (live: Lives, id: number, entry: Live, ending: Ending): void => {
  live.delete(id);
  entry.line?.close();
  for (const reader of entry.readers) reader.end(ending);
};

/** A piece of a reply that stands in no row. */
const takePiece = (live: Lives, { id, start, kind, text, ending }: Piece): void => {
  const entry = live.get(id);
  if (!entry || entry.own) return;
  entry.heardAt = Date.now();
  const { length } = entry.log;
  // What is missing was asked for, or will be.
  if (start > length) return;
  const more = text.slice(length - start);
  if (more !== '') {
    entry.log.append(kind, more);
    const frame = textFrame(kind, more, entry.log.length);
    for (const reader of entry.readers) reader.push(frame, length, entry.log.length);
  }
  if (ending) endFollowed(live, id, entry, ending);
};

const takeTool = (live: Lives, id: number, tool: StoredTool): void => {
  const entry = live.get(id);
  if (!entry || entry.own) return;
  entry.log.putTool(tool);
  for (const reader of entry.readers) reader.pushTools();
};

/** Reads here what other processes write. */
export const createFollowing = async (
  context: RepliesContext,
  box: KeyBox,
  lineBroke: (id: number, owner: number) => Promise<void>,
) => {
  const { db, instance, log, live, kept, words } = context;
  const lines = await createReplyLines({ db, instance, words, log });

  /** Reads the reply from the process that writes it, from where this one has it. */
  const openLine = (id: number, entry: Live, owner: number): void => {
    entry.line = lines.open(owner, id, entry.log.length, entry.writing, {
      onWriting: (writing) => (entry.writing = writing),
      onPiece: (piece) => takePiece(live, piece),
      onTool: (id, tool) => takeTool(live, id, tool),
      onOver: () => {
        entry.line = null;
        entry.lostAt = Date.now();
        if (live.get(id) !== entry) return;
        lineBroke(id, owner)
          .catch((error: unknown) => log.warn({ err: error, id }, 'a reply could not be ended'))
          .finally(() => {
            changed.add(id);
            void changed.read();
          });
      },
    });
  };

  const relay = await createReplyRelay({
    db,
    instance,
    box,
    source: (id) => {
      const answer = live.get(id)?.own?.answer;
      if (!answer) return kept.get(id) ?? null;
      return answer.request.temporary ? { log: answer.log, ending: null } : null;
    },
    onPiece: (piece) => takePiece(live, piece),
    log,
  });

  const follow = (id: number): Live => {
    const entry = newLive(new ReplyLog(), null);
    live.set(id, entry);
    changed.add(id);
    return entry;
  };

  const changed = createChangedIds(
    async (ids) => {
      const rows = new Map((await store.readReplies(db, ids)).map((row) => [row.id, row]));
      for (const id of ids) updateFollowed(id, rows.get(id));
    },
    (error) => log.warn({ err: error }, 'replies of other processes could not be read for now'),
  );

  const updateFollowed = (id: number, row: store.ReplyRow | undefined): void => {
    const entry = live.get(id);
    if (!entry || entry.own || entry.line?.isOpen()) return;
    const end = (ending: Ending): void => endFollowed(live, id, entry, ending);
    if (!row) return end({ error: { code: 'connection', message: streamCodes.connection } });
    const { owner, state } = row;
    const written = owner !== null && owner !== instance.id && state === 'streaming';
    if (row.temporary) {
      if (written && entry.line === null) openLine(id, entry, owner);
      // Its text is in the other process's memory alone.
      if (Date.now() - entry.heardAt > silentMs) return end(endingOf(row));
      relay
        .ask(id, entry.log.length)
        .catch((error: unknown) => log.warn({ err: error, id }, 'a reply could not be asked for'));
      return;
    }
    const next = ReplyLog.of(row);
    if (next.length < entry.log.length) {
      // The line told more than is stored yet; it may do so while it is being opened.
      const lately = entry.line !== null || Date.now() - entry.lostAt < lagMs;
      if (written && lately && entry.log.continues(next)) {
        if (entry.line === null) openLine(id, entry, owner);
        return;
      }
      // Its process died with words that were read, and they are lost.
      if (state === 'interrupted' && entry.log.continues(next)) return end(endingOf(row));
      // It was begun again since: whoever reads the old one has to open it anew.
      return end({ error: { code: 'connection', message: streamCodes.connection } });
    }
    entry.log = next;
    for (const reader of entry.readers) reader.follow(next);
    if (state !== 'streaming') end(endingOf(row));
    else if (written && entry.line === null) openLine(id, entry, owner);
  };

  const noticeChange = (payload: string): void => {
    for (const text of payload.split(',')) {
      const entry = live.get(Number(text));
      if (entry && !entry.own && !entry.line?.isOpen()) changed.add(Number(text));
    }
    void changed.read();
  };

  const pollFollowed = (): void => {
    for (const [id, { own, line }] of live) if (!own && !line?.isOpen()) changed.add(id);
    void changed.read();
  };

  return {
    follow,
    readChanged: changed.read,
    noticeChange,
    pollFollowed,
    tellNews: relay.tellNews,
    lines,
  };
};
