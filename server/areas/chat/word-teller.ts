import type { StoredTool } from '#contract/tool.ts';
import type { Valkey } from '#server/valkey/valkey.ts';
import { doneFrame, errorFrame, textFrame, toolFrame } from './frames.ts';
import type { Ending } from './reader.ts';
import type { ReplyLog } from './reply-log.ts';
import { beatMs, beatOf, keyOf, type Message, packed } from './word-message.ts';

/** The least time between two tellings, and how soon it is tried again while Valkey is away, ms. */
const tellMs = 10;
const againMs = 500;
/** Messages that are kept of a reply, about: what its row does not have yet is far less. */
const mostKept = 512;
/** How long they are kept after the last one, and after the end, ms. */
const keptMs = 600_000;
const keptAfterMs = 30_000;
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

/** Tells what this process writes into a short stream of each reply, and to whoever hears it. */
export const createWordTeller = (valkey: Valkey, instanceId: number) => {
  const { client } = valkey;
  const written = new Map<number, Written>();
  const due = new Set<number>();
  let timer: NodeJS.Timeout | undefined;
  let telling: Promise<void> | null = null;
  let toldAt = 0;

  const tell = async (): Promise<void> => {
    const now = Date.now();
    const pipeline = client.pipeline();
    const told: { id: number; reply: Written; message: ReturnType<typeof newsOf> }[] = [];
    for (const id of due) {
      const reply = written.get(id);
      if (!reply) continue;
      const key = keyOf(valkey, id);
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
      client.publish(beatOf(valkey, instanceId), '').catch(() => undefined);
  }, beatMs);

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
    close: async (): Promise<void> => {
      clearInterval(beat);
      clearTimeout(timer);
      await telling;
      if (due.size > 0 && valkey.isReady()) await tell();
      written.clear();
    },
  };
};
