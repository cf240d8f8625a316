import { Worker } from 'node:worker_threads';
import type { Answer } from '#contract/calls.ts';
import type { Executor } from '#server/db/database.ts';
import { type Identity, Refusal } from '#server/http/handlers.ts';
import { createKeyLimit } from '#server/http/rate-limit.ts';
import { createFairQueue } from '#server/fair-queue.ts';
import type { ModelService } from '../model/model.service.ts';
import { workerUrl } from '#server/worker-url.ts';
import * as store from './export.store.ts';
import { type FromImport, type MessageBatch, runImport } from './import-run.ts';

/** What was read of a file, ready to be kept. */
export interface ReadSessions {
  sessions: { rows: string; count: number }[];
  messages: MessageBatch[];
  skipped: string[];
}

/** What reading may take: time, ms; the thread's heap, MB. */
const bounds = { ms: 120_000, heapMb: 1_200 };
/**
 * Long files that are read at once, one of them for each person. Others wait for their turn: what they
 * hold meanwhile is bounded with all that is held (http/held-bytes.ts), and whoever was refused would
 * have to send it all again.
 */
const mostAtOnce = 2;
/** What one person may have waiting beside it. */
const waitingOfOne = 1;
/** Characters of long files that one person imports in a day, millions: few threads are for all. */
const millionsADay = 300;

/** A text of at most so many characters is read in a few ms, faster than a thread starts. */
const short = 100_000;

const refusalOf = (message: { json: boolean }): Refusal =>
  message.json
    ? new Refusal('import_unreadable')
    : new Refusal('bad_body', '请求内容不是有效的 JSON');

/** Puts what is read where it belongs. @throws Refusal where it is nothing that is known */
const take = (found: ReadSessions, message: FromImport): void => {
  if (message.kind === 'sessions') found.sessions.push(message);
  else if (message.kind === 'messages') found.messages.push(message.batch);
  else if (message.kind === 'done') found.skipped = message.skipped;
  else throw refusalOf(message);
};

const readHere = (text: string): ReadSessions => {
  const found: ReadSessions = { sessions: [], messages: [], skipped: [] };
  runImport(text, Date.now(), (message) => take(found, message));
  return found;
};

const readApart = (text: string): Promise<ReadSessions> =>
  new Promise((resolve, reject) => {
    const found: ReadSessions = { sessions: [], messages: [], skipped: [] };
    const worker = new Worker(workerUrl('./import-worker.ts', import.meta.url), {
      workerData: { text, now: Date.now() },
      resourceLimits: { maxOldGenerationSizeMb: bounds.heapMb, maxYoungGenerationSizeMb: 64 },
      stdout: true,
      stderr: true,
    });
    let ended = false;
    const end = (settle: () => void) => {
      if (ended) return;
      ended = true;
      clearTimeout(timer);
      void worker.terminate().finally(settle);
    };
    const fail = () => end(() => reject(new Refusal('import_unreadable')));
    const timer = setTimeout(fail, bounds.ms);
    worker.on('message', (message: FromImport) => {
      if (message.kind === 'unreadable') end(() => reject(refusalOf(message)));
      else take(found, message);
      if (message.kind === 'done') end(() => resolve(found));
    });
    worker.on('error', fail);
    worker.on('exit', fail);
  });

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

export const createImportService = (models: ModelService) => {
  const inTurn = createFairQueue(mostAtOnce, waitingOfOne);
  const limitDay = createKeyLimit(millionsADay, 86_400, 'imports');

  return {
    /** Reads a file's text, a long one in a thread of its own. @throws Refusal import_unreadable, bad_body, too_many */
    async read(text: unknown, user: Identity): Promise<ReadSessions> {
      if (user.sessionBlacklist) throw new Refusal('sessions_forbidden');
      if (typeof text !== 'string') throw new Refusal('import_unreadable');
      if (text.length <= short) return readHere(text);
      return inTurn({ person: String(user.id), guest: false }, async () => {
        await limitDay(String(user.id), Math.ceil(text.length / 1_000_000));
        return readApart(text);
      });
    },

    /** Keeps what was read, as private sessions of the person, all or nothing. */
    async keep(
      db: Executor,
      found: ReadSessions,
      user: Identity,
    ): Promise<Answer<'importSessions'>> {
      const importer = await store.lockImporter(db, user.id);
      if (!importer || importer.blacklisted) throw new Refusal('sessions_forbidden');
      const sessionCount = sum(found.sessions.map((each) => each.count));
      const messageCount = sum(found.messages.map((each) => each.sessions.length));
      let uuid: string | null = null;
      if (sessionCount > 0) {
        const model = (await models.defaultModel(db, user)).name;
        const sessionIds = await store.reserveIds(db, 'sessions', sessionCount);
        const messageIds = await store.reserveIds(db, 'history', messageCount);
        let at = 0;
        for (const { rows, count } of found.sessions) {
          const ids = sessionIds.slice(at, at + count);
          const made = await store.insertSessions(db, rows, ids, { userId: user.id, model });
          uuid ??= made.find((each) => each.id === sessionIds[0])?.uuid ?? null;
          at += count;
        }
        const numberOf = (place: number) => (place < 0 ? 0 : (messageIds[place] ?? 0));
        at = 0;
        for (const { rows, sessions, before, groups } of found.messages) {
          await store.insertMessages(
            db,
            rows,
            {
              ids: messageIds.slice(at, at + sessions.length),
              sessions: sessions.map((place) => sessionIds[place] ?? 0),
              before: before.map(numberOf),
              groups: groups.map(numberOf),
            },
            user.id,
          );
          at += sessions.length;
        }
      }
      return { sessions: sessionCount, messages: messageCount, skipped: found.skipped, uuid };
    },
  };
};

export type ImportService = ReturnType<typeof createImportService>;
