import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '#server/db/database.ts';
import { statement } from '#server/db/statement.ts';
import type { Instance } from '#server/db/instance.ts';
import type { KeyBox } from '../model/channel-key.ts';
import type { ReplyLog, PartKind } from './reply-log.ts';
import type { Ending } from './reader.ts';

/** NOTIFY channels: somebody reads a reply elsewhere; a piece of it. */
const wantedChannel = 'reply_wanted';
const pieceChannel = 'reply_piece';
/** UTF-16 units of a piece: sealed and in base64 they stay below the 8,000 bytes of a NOTIFY. */
const pieceSize = 1500;
/** How long a reply is told without being asked for again, ms. */
const askedFor = 10_000;
/** What binds a sealed piece to its use. */
const purpose = 'temporary reply';

/** What lies between a position and the next one; of a reply that is over how it ended. */
export interface Piece {
  id: number;
  start: number;
  kind: PartKind;
  text: string;
  ending: Ending | null;
}

export interface RelayedReply {
  log: ReplyLog;
  /** Null while it is being written. */
  ending: Ending | null;
}

const notify = statement('reply_notify', 'SELECT pg_notify($1, $2)');

const isPiece = (value: unknown): value is Piece =>
  typeof value === 'object' && value !== null && 'id' in value && 'start' in value;

const unsealed = (box: KeyBox, payload: string): Piece | null => {
  const text = box.open(Buffer.from(payload, 'base64'), purpose);
  if (text === null) return null;
  const head = text.indexOf('\n');
  const value: unknown = JSON.parse(text.slice(0, head));
  return isPiece(value) ? { ...value, text: text.slice(head + 1) } : null;
};

/**
 * Replies that stand in no row, handed to the processes that do not write them: who reads one asks
 * for it by NOTIFY, and the process that has it tells it piece by piece. Pieces are sealed with the
 * key that all processes share, for a NOTIFY lies in the database's files for a moment.
 * @param source the reply where this process has it
 */
export const createReplyRelay = async ({
  db,
  instance,
  box,
  source,
  onPiece,
  log,
}: {
  db: Database;
  instance: Pick<Instance, 'listen'>;
  box: KeyBox;
  source: (id: number) => RelayedReply | null;
  onPiece: (piece: Piece) => void;
  log: Pick<FastifyBaseLogger, 'warn'>;
}) => {
  /** Up to where each was told, and until when it is wanted. */
  const wanted = new Map<number, { position: number; until: number }>();

  const tell = (piece: Piece): Promise<unknown> => {
    const { text, ...head } = piece;
    const sealed = box.seal(`${JSON.stringify(head)}\n${text}`, purpose);
    return notify(db, [pieceChannel, sealed.toString('base64')]);
  };

  const tellOf = async (id: number, entry: { position: number; until: number }): Promise<void> => {
    for (;;) {
      const told = source(id);
      if (!told || entry.until < Date.now()) {
        wanted.delete(id);
        return;
      }
      const start = entry.position;
      const slice = told.log.sliceFrom(start, pieceSize);
      if (!slice) {
        if (!told.ending) return;
        wanted.delete(id);
        await tell({ id, start, kind: 'text', text: '', ending: told.ending });
        return;
      }
      entry.position = slice.end;
      await tell({ id, start, kind: slice.kind, text: slice.text, ending: null });
    }
  };

  let telling = false;
  /** Tells what is new of all that are wanted. */
  const tellNews = async (): Promise<void> => {
    if (telling || wanted.size === 0) return;
    telling = true;
    try {
      for (const [id, entry] of wanted) await tellOf(id, entry);
    } catch (error) {
      log.warn({ err: error }, 'replies could not be handed to other processes for now');
    } finally {
      telling = false;
    }
  };

  await instance.listen(wantedChannel, (payload) => {
    const [id = 0, position = 0] = payload.split(':').map(Number);
    if (!source(id)) return;
    const before = wanted.get(id);
    wanted.set(id, {
      position: Math.min(position, before?.position ?? position),
      until: Date.now() + askedFor,
    });
    // Says at least that it is there.
    tell({ id, start: position, kind: 'text', text: '', ending: null }).then(tellNews, (error) =>
      log.warn({ err: error }, 'a reply could not be handed to another process'),
    );
  });
  await instance.listen(pieceChannel, (payload) => {
    const piece = unsealed(box, payload);
    if (piece) onPiece(piece);
  });

  return {
    tellNews,
    /** Asks whichever process has the reply for what follows a position. */
    ask: (id: number, position: number): Promise<unknown> =>
      notify(db, [wantedChannel, `${id}:${position}`]),
  };
};
