import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { Instance } from '#server/db/instance.ts';
import type { Valkey } from '#server/valkey/valkey.ts';
import { doneFrame } from './frames.ts';
import { piecesFrom, type Told } from './reply-pieces.ts';
import type { ReplyLog } from './reply-log.ts';
import { beatMs, beatOf, keptWords, keyOf, type Message, unpacked } from './word-message.ts';

/** How long a process that says nothing is waited for, ms. */
const silentMs = 1_500;
/** How long the first message of a reply is waited for that has just begun, ms. */
const firstMs = 500;
/** A process that was silent is not read from for this long, ms. */
const restMs = 10_000;

/** Reads what other processes write, while they say that they live. */
export const createWordReader = ({
  valkey,
  instance,
  log,
}: {
  valkey: Valkey;
  instance: Pick<Instance, 'isAlive'>;
  log: Pick<FastifyBaseLogger, 'info'>;
}) => {
  /** Until when a process that fell silent is not read from, ms. */
  const silent = new Map<number, number>();

  /** Reads until the line is over. False: it is not told here. */
  const read = async (
    {
      owner,
      id,
      position,
      writing,
    }: { owner: number; id: number; position: number; writing: string },
    told: Told,
    signal: AbortSignal,
    onOpen: () => void,
  ): Promise<boolean> => {
    if (!valkey.isReady() || (silent.get(owner) ?? 0) > Date.now()) return false;
    const leaves: (() => void)[] = [];
    const over = new AbortController();
    const ended = AbortSignal.any([over.signal, signal]);
    const parser = piecesFrom(id, told);
    let at = position;
    let last = 0;
    let heardAt = Date.now();
    let waiting: Message[] | null = [];
    let done = false;

    /** False: something is missing before it. */
    const take = (message: Message): boolean => {
      if (ended.aborted || message.number <= last) return true;
      if (message.start > at) return false;
      last = message.number;
      at = Math.max(at, message.end);
      done ||= message.frames.endsWith(doneFrame);
      parser.feed(message.frames);
      return true;
    };
    /** `missing`: what is there begins behind what is known here, or is another writing. */
    const catchUp = async (): Promise<'whole' | 'nothing' | 'missing'> => {
      waiting ??= [];
      const messages = await keptWords(valkey, id);
      if (messages[0] === undefined) return 'nothing';
      if (writing !== '' && messages[0].writing !== writing) return 'missing';
      if (writing === '') told.onWriting((writing = messages[0].writing));
      const came = [...messages, ...waiting].filter((each) => each.writing === writing);
      waiting = null;
      // What it begins with may be older than what is known here.
      return came.every(take) ? 'whole' : 'missing';
    };
    try {
      leaves.push(await valkey.hear(beatOf(valkey, owner), () => (heardAt = Date.now())));
      leaves.push(
        await valkey.hear(keyOf(valkey, id), (text) => {
          heardAt = Date.now();
          const message = unpacked(text);
          if (waiting) waiting.push(message);
          else if (message.writing !== writing) over.abort();
          else if (!take(message))
            catchUp().then(
              (found) => found === 'whole' || over.abort(),
              () => over.abort(),
            );
        }),
      );
      for (let waited = 0; ; waited += firstMs / 10) {
        const found = await catchUp();
        if (found === 'whole') break;
        if (ended.aborted || found === 'missing' || waited >= firstMs) return false;
        await sleep(firstMs / 10, undefined, { signal: ended }).catch(() => undefined);
      }
      if (!(await instance.isAlive(owner))) return true;
      onOpen();
      while (!ended.aborted) {
        await sleep(beatMs, undefined, { signal: ended }).catch(() => undefined);
        if (ended.aborted || Date.now() - heardAt < silentMs) continue;
        // Who has said all of it has nothing to say.
        if (!done) silent.set(owner, Date.now() + restMs);
        over.abort();
      }
      return true;
    } catch (error) {
      log.info({ err: error, owner, id }, 'a reply could not be read through Valkey');
      return false;
    } finally {
      over.abort();
      for (const leave of leaves) leave();
    }
  };

  return {
    read,
    /** Adds to what is stored of a reply what its process told beyond that. */
    complete: async (id: number, stored: ReplyLog): Promise<void> => {
      if (!valkey.isReady()) return;
      let whole = true;
      const parser = piecesFrom(id, {
        onPiece: ({ start, kind, text, ending }) => {
          whole &&= start <= stored.length && ending === null;
          const more = whole ? text.slice(stored.length - start) : '';
          if (more !== '') stored.append(kind, more);
        },
        // They stand in the row.
        onTool: () => {},
      });
      const messages = await keptWords(valkey, id).catch(() => []);
      // One that has an end belongs to a writing before.
      if (messages.some(({ frames }) => frames.endsWith(doneFrame))) return;
      for (const { frames } of messages) parser.feed(frames);
    },
  };
};
