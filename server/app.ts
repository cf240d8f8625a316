import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { WaitKind } from '../contract/wait.ts';
import { handlersOf, type Area, type Host } from './area.ts';
import { createAuthService } from './areas/auth/auth.service.ts';
import { createSecondFactor } from './areas/auth/second-factor.service.ts';
import { createReplies } from './areas/chat/replies.ts';
import { keepAct } from './areas/stats/acts.service.ts';
import { openWallet, purse } from './areas/ledger/ledger.service.ts';
import { createKeyBox } from './areas/model/channel-key.ts';
import { startSearchIndexer } from './areas/session/search-indexer.ts';
import { createPaymentService } from './areas/payment/payment.service.ts';
import { createSandbox } from './areas/payment/sandbox.ts';
import { refuseBlocked } from './areas/moderation/blocked-words.service.ts';
import { unreadOf as unreadNews } from './areas/forum/news.service.ts';
import { countThisMonth } from './areas/session/session.service.ts';
import { type Connection, connectDatabase } from './db/connect.ts';
import { StartupError } from './db/startup-error.ts';
import { startHousekeeping } from './housekeeping.ts';
import { removeExpiredAnswers } from './http/idempotency.store.ts';
import { createLog } from './http/log.ts';
import { createFigures } from './http/figures.ts';
import { createHttpServer } from './http/server.ts';
import { createSystemHandlers } from './http/system.handlers.ts';
import { createJobEvents } from './jobs/job-events.ts';
import { createJobNews } from './jobs/job-news.ts';
import { createJobHandlers } from './jobs/job.handlers.ts';
import { moveJobs, openJobsOf, removeDeadEntries } from './jobs/job.service.ts';
import { createProviders } from './payments/providers.ts';
import type { Settings } from './settings.ts';
import { createWaits, type WaitSource } from './waits/wait.service.ts';
import { createWaitHandlers } from './waits/wait.handlers.ts';
import { createKit } from './kit.ts';

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
  const { kit, areas, jobs, kinds, diskReport } = await createKit(settings, log, connection);
  const { instance, models, files } = kit;
  const brought: readonly Area[] = areas;
  const replies = await createReplies({
    db,
    instance,
    models,
    fetchImage: (...asked) => files.imageForModel(...asked),
    box: createKeyBox(settings.secretKey, settings.dataDir),
    log,
    options: {
      firstByteMs: settings.modelFirstWordSeconds * 1000,
      idleMs: settings.modelIdleSeconds * 1000,
    },
  });
  const payables = brought.flatMap((area) => area.payables ?? []);
  const payments = createPaymentService({
    db,
    log,
    ...(await createProviders(settings, () => createSandbox(db, settings.publicUrl))),
    payables,
    checkMs: settings.paymentCheckSeconds * 1000,
  });
  if (payments.provider('sandbox'))
    log.warn(
      { allowed: settings.sandboxAllowed || null },
      'orders are paid with play money: set PAYMENT to wechat, alipay or off where people buy',
    );
  const sources = Object.assign(
    { job: createJobNews(kinds), order: payments.news },
    ...brought.map((area) => area.waits),
  ) as Record<WaitKind, WaitSource>;
  const waits = await createWaits({ db, instance, settings, log, sources });
  const jobEvents = await createJobEvents({ db, instance, log });
  const figures = createFigures();
  const secondFactor = createSecondFactor(createKeyBox(settings.secretKey, settings.dataDir));
  const auth = await createAuthService({
    db,
    secondFactor,
    signInFailed: figures.counter(
      'queqiao_sign_in_failures_total',
      'Passwords and codes that were not right, by what was wrong',
      'reason',
    ),
    settings,
    balances: purse,
    openWallet,
    takeOver: async (tx, fromUserId, toUserId) => {
      await moveJobs(tx, fromUserId, toUserId);
      for (const area of brought) await area.takeOver?.(tx, fromUserId, toUserId);
    },
    countThisMonth,
    unreadNews,
    refuseBlocked,
    registered: async (tx, userId, invite) => {
      for (const area of brought) await area.registered?.(tx, userId, invite);
    },
  });
  const madeUp = await auth.ensureManager();
  if (madeUp !== null) say(`管理员账号 admin，密码 ${madeUp}（只显示这一次，请记下）`);
  for (const area of brought) await area.seed?.(db);

  const host: Host = {
    ...kit,
    figures,
    secondFactor,
    auth,
    replies,
    jobs,
    jobEvents,
    waits,
    payments,
    cancelJobs: async (of) => {
      for (const { id } of await openJobsOf(db, of)) await jobs.cancel(id);
    },
  };
  let closing = false;
  const server = await createHttpServer({
    settings,
    log,
    db,
    auth,
    handlers: {
      ...handlersOf(areas, host),
      ...createJobHandlers({ jobs, events: jobEvents }),
      ...createWaitHandlers(waits),
      ...createSystemHandlers(settings),
    },
    registerMore: (http) => {
      for (const area of brought) area.routes?.(http, host);
    },
    keepAct,
    requireDisk: kit.disk.require,
    wholeUpload: (...asked) => files.whole(...asked),
    onAnswer: figures.note,
    accelerators: () => models.accelerators(),
    isClosing: () => closing,
  });
  const searchIndexer = await startSearchIndexer(db, instance, log);
  const housekeeping = startHousekeeping(db, log, [
    auth.removeExpired,
    removeExpiredAnswers,
    removeDeadEntries,
    waits.removeOld,
    ...brought.flatMap((area) => area.chores ?? []),
    (tx) =>
      files.removeUnused(
        tx,
        brought.flatMap((area) => area.shows ?? []),
      ),
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
      await Promise.all([
        replies.drain(drainMs),
        jobs.drain(drainMs),
        ...brought.map((area) => area.drain?.(drainMs)),
      ]);
      await Promise.race([server.close(), sleep(lingerMs)]);
      server.server.closeAllConnections();
      await searchIndexer.close();
      await housekeeping.close();
      await payments.close();
      await waits.close();
      models.close();
      await diskReport.close();
      await instance.close();
      await connection.close();
    },
  };
};
