import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { createAuthHandlers } from './auth/auth.handlers.ts';
import { createAuthService } from './auth/auth.service.ts';
import { answerNews } from './chat/answer-news.ts';
import { createAnswers } from './chat/answers.ts';
import { createChatHandlers } from './chat/chat.handlers.ts';
import { type Connection, connectDatabase } from './db/connect.ts';
import { StartupError } from './db/startup-error.ts';
import { createFileHandlers } from './file/file.handlers.ts';
import { registerFiles } from './file/file.route.ts';
import { createEmbeddingHandlers } from './embedding/embedding.handlers.ts';
import { createExportHandlers } from './export/export.handlers.ts';
import { createExportService } from './export/export.service.ts';
import { createImportService } from './export/import.service.ts';
import { createHelpHandlers } from './help/help.handlers.ts';
import { startHousekeeping } from './housekeeping.ts';
import { removeExpiredAnswers } from './http/idempotency.store.ts';
import { createLog } from './http/log.ts';
import { createHttpServer } from './http/server.ts';
import { createSystemHandlers } from './http/system.handlers.ts';
import { createImageHandlers } from './image/image.handlers.ts';
import { moveImages } from './image/made.service.ts';
import { createJobEvents } from './jobs/job-events.ts';
import { createJobHandlers } from './jobs/job.handlers.ts';
import { jobNews } from './jobs/job-news.ts';
import { moveJobs, openJobsOf, removeDeadEntries } from './jobs/job.service.ts';
import { createLedgerHandlers } from './ledger/ledger.handlers.ts';
import { balances, openWallet } from './ledger/ledger.service.ts';
import { createKeyBox } from './model/channel-key.ts';
import { createModelHandlers } from './model/model.handlers.ts';
import { removeOldStats } from './model/model-stat.service.ts';
import { createNoticeHandlers } from './notice/notice.handlers.ts';
import { createPromptHandlers } from './prompt/prompt.handlers.ts';
import { createScenarioHandlers } from './scenario/scenario.handlers.ts';
import { seedScenarios } from './scenario/scenario.service.ts';
import { startSearchIndexer } from './session/search-indexer.ts';
import { createSessionHandlers } from './session/session.handlers.ts';
import { countThisMonth, moveSessions, removeTemporary } from './session/session.service.ts';
import type { Settings } from './settings.ts';
import { createShareHandlers } from './share/share.handlers.ts';
import { createWaitHandlers } from './wait/wait.handlers.ts';
import { createWaits } from './wait/wait.service.ts';
import { createWorkshop } from './workshop.ts';

/** How many ports after the usual one are tried when nobody chose one. */
const otherPorts = 20;

export interface App {
  /** Gives the address, such as http://127.0.0.1:3000. */
  listen: () => Promise<string>;
  /** Takes no more requests, lets what runs come to its end, and leaves the database. */
  close: () => Promise<void>;
}

type Say = (text: string) => void;

/** How long replies that are being written may go on after the call to stop, ms. */
const drainMs = 10_000;
/** How long connections may take to end after that, ms. */
const lingerMs = 2_000;

/**
 * Builds the whole server from its settings; it does not listen yet. `say` tells whoever starts it
 * what must not get lost, such as the password made up for the first administrator.
 */
export const createApp = async (settings: Settings, say: Say): Promise<App> => {
  const log = createLog(settings.logLevel);
  const connection = await connectDatabase(settings, log);
  try {
    return await compose(settings, say, log, connection);
  } catch (error) {
    await connection.close();
    throw error;
  }
};

const compose = async (
  settings: Settings,
  say: Say,
  log: FastifyBaseLogger,
  connection: Connection,
): Promise<App> => {
  const { db } = connection;
  const { instance, models, storage, files, prompts, jobs } = await createWorkshop(
    settings,
    log,
    connection,
  );
  const answers = await createAnswers({
    db,
    instance,
    models,
    box: createKeyBox(settings.secretKey, settings.dataDir),
    log,
    options: {
      firstByteMs: settings.modelFirstWordSeconds * 1000,
      idleMs: settings.modelIdleSeconds * 1000,
    },
  });
  const waits = await createWaits({
    db,
    instance,
    settings,
    log,
    sources: { answer: answerNews, job: jobNews },
  });
  const jobEvents = await createJobEvents({ db, instance, log });
  /** Ends what is being made for a message or a session that somebody deleted. */
  const cancelJobs = async (of: { historyId: number } | { sessionId: number }): Promise<void> => {
    for (const { id } of await openJobsOf(db, of)) await jobs.cancel(id);
  };
  const exports = createExportService({
    storage,
    picture: (address, signal) => files.jpegForDocument(address, signal),
  });
  const auth = await createAuthService({
    db,
    settings,
    balances,
    openWallet,
    takeOver: async (tx, fromUserId, toUserId) => {
      await moveSessions(tx, fromUserId, toUserId);
      await files.move(tx, fromUserId, toUserId);
      await moveJobs(tx, fromUserId, toUserId);
      await moveImages(tx, fromUserId, toUserId);
    },
    countThisMonth,
  });
  const madeUp = await auth.ensureManager();
  if (madeUp !== null) say(`管理员账号 admin，密码 ${madeUp}（只显示这一次，请记下）`);

  await seedScenarios(db);

  let closing = false;
  const server = await createHttpServer({
    settings,
    log,
    db,
    auth,
    handlers: {
      ...createAuthHandlers(auth),
      ...createModelHandlers({ models }),
      ...createSessionHandlers({
        models,
        createGuest: auth.createGuest,
        stopSession: async (sessionId) => {
          await Promise.all([answers.stopSession(sessionId), cancelJobs({ sessionId })]);
        },
      }),
      ...createChatHandlers({
        answers,
        models,
        attachments: files,
        minPromptBytes: settings.minPromptBytes,
        cancelJobs,
      }),
      ...createJobHandlers({ jobs, events: jobEvents }),
      ...createImageHandlers({ models, files }),
      ...createLedgerHandlers(),
      ...createShareHandlers(),
      ...createScenarioHandlers(),
      ...createEmbeddingHandlers(),
      ...createNoticeHandlers(),
      ...createWaitHandlers(waits),
      ...createPromptHandlers(prompts),
      ...createHelpHandlers(),
      ...createSystemHandlers(settings),
      ...createFileHandlers(files),
      ...createExportHandlers({
        exports,
        imports: createImportService(models),
        publicUrl: settings.publicUrl,
      }),
    },
    registerMore: (http) => registerFiles(http, files),
    accelerators: () => models.accelerators(),
    isClosing: () => closing,
  });
  const searchIndexer = await startSearchIndexer(db, instance, log);
  const housekeeping = startHousekeeping(db, log, [
    auth.removeExpired,
    removeExpiredAnswers,
    (tx) => files.removeUnused(tx),
    removeTemporary,
    removeOldStats,
    removeDeadEntries,
    (tx) => exports.removeExpired(tx),
    waits.removeOld,
  ]);

  return {
    listen: async () => {
      const { port: first, host } = settings;
      // A second start beside the first takes the next port, unless one was asked for.
      const last = settings.portChosen ? first : first + otherPorts;
      for (let port = first; ; port += 1) {
        try {
          return await server.listen({ port, host });
        } catch (error) {
          const code = (error as NodeJS.ErrnoException).code ?? '';
          if (code === 'EADDRINUSE') {
            if (port < last) continue;
            throw new StartupError(`端口 ${port} 已被别的程序占用，请用 PORT 换一个`);
          }
          if (code === 'EACCES' || code === 'EADDRNOTAVAIL')
            throw new StartupError(`不能在 ${host} 的端口 ${port} 上监听，请检查 HOST 与 PORT`);
          throw error;
        }
      }
    },
    close: async () => {
      closing = true;
      // The port is free at once for the process that comes after.
      server.server.close();
      jobEvents.close();
      await Promise.all([answers.drain(drainMs), jobs.drain(drainMs)]);
      await Promise.race([server.close(), sleep(lingerMs)]);
      server.server.closeAllConnections();
      await searchIndexer.close();
      await housekeeping.close();
      await waits.close();
      models.close();
      await instance.close();
      await connection.close();
    },
  };
};
