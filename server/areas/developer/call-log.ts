import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '#server/db/database.ts';
import type { CallNote } from '#server/http/open-handlers.ts';
import { createKeyLimit } from '#server/http/rate-limit.ts';
import { insertCalls, type LoggedCall } from './call-log.store.ts';

/** How often notes are written, and how many are kept till then: more are dropped. */
const writeMs = 1000;
const most = 5000;
/** Letters of a request or an answer that are kept. */
const longest = 64_000;
/** What is kept of a person in a day, of calls that failed and cost nothing as of others. */
const aDay = { kilobytes: 20 * 1024, failed: 20_000 };

const fits = (counted: Promise<void>): Promise<boolean> =>
  counted.then(
    () => true,
    () => false,
  );

const cut = (text: string | null): string | null => {
  if (text === null) return null;
  // PostgreSQL keeps no NUL.
  const kept = text.slice(0, longest).replaceAll('\0', '\uFFFD');
  return text.length > longest ? `${kept}……（后面的省略）` : kept;
};

/** Writes down what was asked with keys, for their owners: together, so that a call waits for none of it. */
export const createCallLog = (deps: { db: Database; log: Pick<FastifyBaseLogger, 'warn'> }) => {
  let notes: LoggedCall[] = [];
  const limitBytes = createKeyLimit(aDay.kilobytes, 86_400, 'kilobytes of calls');
  const limitFailed = createKeyLimit(aDay.failed, 86_400, 'failed calls');

  /** What there is room for of a note; null: for nothing of it. */
  const bounded = async (note: LoggedCall): Promise<LoggedCall | null> => {
    const { userId, request, answer } = note;
    if (note.status >= 400 && !(await fits(limitFailed(String(userId))))) return null;
    const bytes = Buffer.byteLength(request ?? '') + Buffer.byteLength(answer ?? '');
    if (bytes === 0 || (await fits(limitBytes(String(userId), Math.ceil(bytes / 1024)))))
      return note;
    return { ...note, request: null, answer: null };
  };

  const write = async (): Promise<void> => {
    if (notes.length === 0) return;
    const now = notes;
    notes = [];
    try {
      const kept: LoggedCall[] = [];
      for (const note of now) {
        const room = await bounded(note);
        if (room) kept.push(room);
      }
      if (kept.length > 0) await insertCalls(deps.db, kept);
    } catch (error) {
      deps.log.warn({ err: error, calls: now.length }, 'calls of the API were not written down');
    }
  };
  const timer = setInterval(() => void write(), writeMs).unref();
  return {
    note({ caller, request, answer, ...rest }: CallNote): void {
      if (notes.length >= most) return;
      notes.push({
        ...rest,
        keyId: caller.keyId,
        userId: caller.user.id,
        ...caller.used,
        request: caller.logBodies ? cut(request) : null,
        answer: caller.logBodies ? cut(answer) : null,
      });
    },
    async close(): Promise<void> {
      clearInterval(timer);
      await write();
    },
  };
};
