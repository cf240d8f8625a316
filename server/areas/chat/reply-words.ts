import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { StoredTool } from '#contract/tool.ts';
import type { Instance } from '#server/db/instance.ts';
import type { Valkey } from '#server/valkey/valkey.ts';
import { doneFrame, errorFrame, textFrame, toolFrame } from './frames.ts';
import { piecesFrom, type Told } from './reply-pieces.ts';
import type { Ending } from './reader.ts';
import type { ReplyLog } from './reply-log.ts';

/** The least time between two tellings, and how soon it is tried again while Valkey is away, ms. */
const tellMs = 10;
const againMs = 500;
/** Messages that are kept of a reply, about: what its row does not have yet is far less. */
const mostKept = 512;
/** How long they are kept after the last one, and after the end, ms. */
const keptMs = 600_000;
const keptAfterMs = 30_000;
/** How often a process says that it tells, and how long one that says nothing is waited for, ms. */
const beatMs = 250;
const silentMs = 1_500;
/** How long the first message of a reply is waited for that has just begun, ms. */
const firstMs = 500;
/** A process that was silent is not read from for this long, ms. */
const restMs = 10_000;
/** Units of text in one event. */
const sliceSize = 32_768;

/** A reply of this process. */
interface Written {
  log: ReplyLog;
  writing: string;
  /** Up to where its row has it. */
  stored: () => number;
  /** Up to where Valkey has it. */
  position: number;
  tools: Map<string, StoredTool>;
  /** Of the last message; 0: there was none, and what another writing left is removed. */
  number: number;
  expires: number;
  ending: Ending | null;
}

interface Message {
  writing: string;
  number: number;
  start: number;
  end: number;
  frames: string;
}

const packed = ({ writing, number, start, end, frames }: Message): string =>
  `${writing} ${number} ${start} ${end}\n${frames}`;

const unpacked = (text: string): Message => {
  const head = text.indexOf('\n');
  const [writing = '', number, start, end] = text.slice(0, head).split(' ');
  return {
    writing,
    number: Number(number),
    start: Number(start),
    end: Number(end),
    frames: text.slice(head + 1),
  };
};

export type ReplyWords = ReturnType<typeof createReplyWords>;

/**
 * Replies on their way through Valkey: what this process writes goes into a short stream of each
 * reply and out to whoever hears it. Other processes read it there, and end from it the replies of
 * a process that died. Replies that stand in no row stay out of it.
 */
export const createReplyWords = ({
  valkey,
  instance,
  log,
}: {
  valkey: Valkey;
  instance: Pick<Instance, 'id' | 'isAlive'>;
  log: Pick<FastifyBaseLogger, 'info'>;
}) => {
  const { client } = valkey;
  const keyOf = (id: number): string => valkey.key(`reply:${id}`);
  const beatOf = (owner: number): string => valkey.key(`beat:${owner}`);
  const written = new Map<number, Written>();
  const due = new Set<number>();
  let timer: NodeJS.Timeout | undefined;
  let telling: Promise<void> | null = null;
  let toldAt = 0;

  /** What is new of a reply, as the events of its stream. */
  const newsOf = (reply: Written): Message & { tools: StoredTool[] } => {
    const { log: text, writing, position: start, number } = reply;
    let frames = '';
    let end = start;
    for (let slice; (slice = text.sliceFrom(end, sliceSize)); end = slice.end)
      frames += textFrame(slice.kind, slice.text, slice.end);
    const tools = text.tools.filter((tool) => reply.tools.get(tool.id) !== tool);
    for (const tool of tools) frames += toolFrame(end, tool, 'process');
    if (reply.ending) {
      const { error } = reply.ending;
      frames += (error ? errorFrame(error.code, error.message) : '') + doneFrame;
    }
    return { writing, number: number + 1, start, end, frames, tools };
  };

  const tell = async (): Promise<void> => {
    const now = Date.now();
    const pipeline = client.pipeline();
    const told: { id: number; reply: Written; message: ReturnType<typeof newsOf> }[] = [];
    for (const id of due) {
      const reply = written.get(id);
      if (!reply) continue;
      const key = keyOf(id);
      const message = newsOf(reply);
      if (reply.number === 0) pipeline.del(key);
      const text = packed(message);
      pipeline.xadd(key, 'MAXLEN', '~', mostKept, '*', 'm', text).publish(key, text);
      if (reply.ending) pipeline.pexpire(key, keptAfterMs);
      else if (reply.expires < now + keptMs / 2) pipeline.pexpire(key, keptMs);
      told.push({ id, reply, message });
    }
    due.clear();
    const failed = await pipeline.exec().then(
      (results) => results?.find(([error]) => error)?.[0] ?? null,
      (error: unknown) => error,
    );
    for (const { id, reply, message } of told) {
      // Some of it may have arrived: the next message has another number.
      reply.number = message.number;
      if (!failed) {
        reply.position = message.end;
        for (const tool of message.tools) reply.tools.set(tool.id, tool);
        if (reply.expires < now + keptMs / 2) reply.expires = now + keptMs;
      } else {
        // Valkey may have come back empty: it gets all that the row does not have.
        reply.position = Math.min(reply.position, reply.stored());
        reply.tools.clear();
        reply.expires = 0;
        due.add(id);
      }
      if (reply.ending && message.frames.endsWith(doneFrame) && written.get(id) === reply) {
        written.delete(id);
        due.delete(id);
      }
    }
  };

  const schedule = (): void => {
    if (timer || telling || due.size === 0) return;
    timer = setTimeout(
      () => {
        timer = undefined;
        if (!valkey.isReady()) {
          // Whoever reads it elsewhere has it from its row by now.
          for (const [id, { ending }] of written) if (ending) written.delete(id);
          for (const id of due) if (!written.has(id)) due.delete(id);
          return schedule();
        }
        toldAt = performance.now();
        telling = tell().finally(() => {
          telling = null;
          schedule();
        });
      },
      valkey.isReady() ? Math.max(0, toldAt + tellMs - performance.now()) : againMs,
    );
  };
  const note = (id: number): void => {
    if (!written.has(id)) return;
    due.add(id);
    schedule();
  };

  const beat = setInterval(() => {
    if (written.size > 0 && valkey.isReady())
      client.publish(beatOf(instance.id), '').catch(() => undefined);
  }, beatMs);

  /** What Valkey has of the last writing of a reply. */
  const kept = async (id: number): Promise<Message[]> => {
    const entries = await client.xrange(keyOf(id), '-', '+');
    const messages = entries.map(([, fields]) => unpacked(fields[1] ?? ''));
    const last = messages.at(-1)?.writing;
    return messages.filter(({ writing }) => writing === last);
  };

  // ---- reading ---------------------------------------------------------------------------------

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
      const messages = await kept(id);
      if (messages[0] === undefined) return 'nothing';
      if (writing !== '' && messages[0].writing !== writing) return 'missing';
      if (writing === '') told.onWriting((writing = messages[0].writing));
      const came = [...messages, ...waiting].filter((each) => each.writing === writing);
      waiting = null;
      // What it begins with may be older than what is known here.
      return came.every(take) ? 'whole' : 'missing';
    };
    try {
      leaves.push(await valkey.hear(beatOf(owner), () => (heardAt = Date.now())));
      leaves.push(
        await valkey.hear(keyOf(id), (text) => {
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
    /** Tells a reply from its beginning. @param stored up to where its row has it */
    begin: (id: number, text: ReplyLog, writing: string, stored: () => number): void => {
      const fresh = { position: 0, number: 0, expires: 0, ending: null, tools: new Map() };
      written.set(id, { log: text, writing, stored, ...fresh });
      note(id);
    },
    note,
    /** Its row is ended; null: it is another process's now, or another writing's. */
    end: (id: number, writing: string, ending: Ending | null): void => {
      const reply = written.get(id);
      if (reply?.writing !== writing) return;
      if (ending) reply.ending = ending;
      else written.delete(id);
      note(id);
    },
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
      const messages = await kept(id).catch(() => []);
      // One that has an end belongs to a writing before.
      if (messages.some(({ frames }) => frames.endsWith(doneFrame))) return;
      for (const { frames } of messages) parser.feed(frames);
    },
    close: async (): Promise<void> => {
      clearInterval(beat);
      clearTimeout(timer);
      await telling;
      if (due.size > 0 && valkey.isReady()) await tell();
      written.clear();
    },
  };
};
