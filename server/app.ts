import { setImmediate as turnOver, setTimeout as sleep } from 'node:timers/promises';
import type { WaitKind } from '#contract/wait.ts';
import { type Area, type Chore, handlersOf, type Host, type Kit } from './area.ts';
import { createSecondFactor } from './areas/auth/second-factor.service.ts';
import { makeEntry } from './areas/setup/setup.service.ts';
import { keepAct } from './areas/stats/acts.service.ts';
import { createKeyBox } from './areas/model/channel-key.ts';
import { startSearchIndexer } from './areas/session/search-indexer.ts';
import { startBackupPlan } from './backup/backup-plan.ts';
import { copyBeforeUpgrade } from './backup/copy-before-upgrade.ts';
import { connectDatabase } from './db/connect.ts';
import type { Instance } from './db/instance.ts';
import { startHousekeeping } from './housekeeping.ts';
import { removeExpiredAnswers } from './http/idempotency.store.ts';
import { createLog } from './http/log.ts';
import { createFigures } from './http/figures.ts';
import { createHttpServer } from './http/server.ts';
import { shareLimits } from './http/shared-limit.ts';
import { removeOldCounts } from './http/shared-limit.store.ts';
import { allowCall } from './areas/compliance/allow.ts';
import { recordCall } from './areas/compliance/records.service.ts';
import { siteRules } from './areas/compliance/foot.ts';
import { createSystemHandlers } from './http/system.handlers.ts';
import { createJobEvents } from './jobs/job-events.ts';
import { createJobNews } from './jobs/job-news.ts';
import { createJobHandlers } from './jobs/job.handlers.ts';
import { openJobsOf, removeDeadEntries } from './jobs/job.service.ts';
import type { Settings } from './settings.ts';
import { checkStart, requireDataDir } from './start-checks.ts';
import type { WaitSource } from './waits/wait-source.ts';
import { createWaits } from './waits/wait.service.ts';
import { createWaitHandlers } from './waits/wait.handlers.ts';
import { createKit } from './kit.ts';
import { listenAt, reachableAt } from './listen.ts';
import type { Lifetime } from './lifetime.ts';
import { startTracing } from './tracing.ts';
import { openAuth, openPayments, openReplies } from './open-services.ts';

export interface App {
  /**
   * Gives the address, such as http://127.0.0.1:3000, and the link that signs the first owner in
   * once; null: they signed in before, or chose the password.
   */
  listen: () => Promise<{ address: string; firstLink: string | null }>;
  /**
   * Serves as before while a load balancer learns of it, then takes no more requests and lets what
   * runs come to its end. @param say tells how long that may take
   */
  drain: (say: Say) => Promise<void>;
}

type Say = (text: string) => void;

/** How long what runs may go on where no other process serves meanwhile, ms. */
const aloneMs = 10_000;
/** How long requests are still served that came on connections from before the port closed, ms. */
const onTheWayMs = 1_000;
/** How long connections may take to end after that, ms. */
const lingerMs = 2_000;

/** Serves on for some seconds while load balancers learn that this process leaves. */
const giveNotice = async (seconds: number, tell: Say): Promise<void> => {
  if (seconds <= 0) return;
  tell(`正在停止：先再接待 ${seconds} 秒，让负载均衡知道。再按一次立即结束`);
  await sleep(seconds * 1000);
};

/** Connections that wait to be taken, one a turn, would be reset when the port closes. */
const takeWaiting = async (): Promise<void> => {
  for (let turn = 0; turn < 16; turn += 1) await turnOver();
};

/** Tells what is waited for, and for how long; whether another process serves meanwhile. */
const waitFor = async (
  instance: Pick<Instance, 'isServedElsewhere'>,
  settings: Settings,
  tell: Say,
): Promise<{ others: boolean; ms: number }> => {
  const others = await instance.isServedElsewhere().catch(() => false);
  const ms = Math.min(settings.drainSeconds * 1000, others ? Infinity : aloneMs);
  tell(`正在停止：等正在写的回复和正在做的任务，最多 ${ms / 1000} 秒。再按一次立即结束`);
  return { others, ms };
};

/** What is cleared away from time to time, whoever brought it. */
const choresOf = ({ files }: Pick<Kit, 'files'>, brought: readonly Area[]): Chore[] => [
  removeExpiredAnswers,
  removeOldCounts,
  removeDeadEntries,
  ...brought.flatMap((area) => area.chores ?? []),
  (tx) =>
    files.removeUnused(
      tx,
      brought.flatMap((area) => area.shows ?? []),
    ),
];

/**
 * Builds the whole server from its settings; it does not listen yet. `say` tells whoever starts it
 * what must not get lost, such as the password made up for the first administrator. What it opens
 * belongs to `life`, also when it fails.
 */
export const createApp = async (settings: Settings, say: Say, life: Lifetime): Promise<App> => {
  const log = createLog(settings);
  for (const doubt of settings.doubts) say(`注意：${doubt}`);
  await requireDataDir(settings);
  life.own(await startTracing(settings, log));
  const connection = await connectDatabase(settings, log, copyBeforeUpgrade(settings, say));
  life.own(connection.close);
  const { db } = connection;
  const { kit, areas, jobs, kinds } = await createKit(settings, log, connection, life);
  const { instance, models, files, valkey } = kit;
  for (const wrong of await checkStart(db, kit.storage, settings)) say(`注意：${wrong}`);
  if (valkey?.isReady() === false)
    say('注意：VALKEY_URL 连不上，先不用它，连上了就用：回复由进程之间直接经 HTTP 传');
  const brought: readonly Area[] = areas;
  const figures = createFigures();
  const keys = createKeyBox(settings.secretKey, settings.dataDir);
  const replies = await openReplies({ settings, log, kit, jobs, keys, figures });
  life.own(() => replies.drain(0));
  life.own(shareLimits(db, valkey, log).close);
  const payments = await openPayments({ settings, log, db, brought });
  life.own(payments.close);
  const sources = Object.assign(
    { job: createJobNews(kinds), order: payments.news },
    ...brought.map((area) => area.waits),
  ) as Record<WaitKind, WaitSource>;
  const waits = await createWaits({ db, instance, settings, log, sources });
  life.own(waits.close);
  const jobEvents = await createJobEvents({ db, instance, log });
  life.own(jobEvents.close);
  const secondFactor = createSecondFactor(keys);
  const auth = await openAuth({ db, settings, log, keys, figures, secondFactor, brought });
  const madeUp = await auth.ensureManager();
  if (madeUp !== null) say(`管理员账号 admin，密码 ${madeUp}（只显示这一次，请记下）`);
  const entry = await makeEntry(db, settings);
  for (const area of brought) await area.seed?.(db);

  const backups = startBackupPlan({ ...kit, connectionString: connection.connectionString });
  life.own(backups.close);

  const host: Host = {
    ...kit,
    backups,
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
  let stage: 'serving' | 'leaving' | 'closing' = 'serving';
  const { server, probes } = await createHttpServer({
    settings,
    log,
    db,
    instanceId: instance.id,
    auth,
    handlers: {
      ...handlersOf(areas, host),
      ...createJobHandlers({ jobs, events: jobEvents }),
      ...createWaitHandlers(waits),
      ...createSystemHandlers(
        settings,
        async () => (await kit.services.find('search')) !== null,
        siteRules,
      ),
    },
    registerMore: (http) => {
      for (const area of brought) area.routes?.(http, host);
    },
    keepAct,
    allow: allowCall,
    record: recordCall,
    requireDisk: kit.disk.require,
    wholeUpload: (...asked) => files.whole(...asked),
    onAnswer: figures.note,
    accelerators: () => models.accelerators(),
    stage: () => stage,
  });
  life.own(async () => {
    await Promise.race([server.close(), sleep(lingerMs)]);
    server.server.closeAllConnections();
  });
  const searchIndexer = await startSearchIndexer(db, instance, log);
  life.own(searchIndexer.close);
  const housekeeping = startHousekeeping(db, log, [
    auth.removeExpired,
    waits.removeOld,
    ...choresOf(kit, brought),
  ]);
  life.own(housekeeping.close);

  return {
    listen: async () => {
      const address = await listenAt(server, settings);
      await instance.serveAt(reachableAt(address));
      const shown = address.replace('0.0.0.0', 'localhost');
      const firstLink = entry && `${settings.publicUrl || shown}/manager/setup#${entry}`;
      return { address: shown, firstLink };
    },
    drain: async (tell) => {
      stage = 'leaving';
      if (probes.isWatched()) await giveNotice(settings.drainNoticeSeconds, tell);
      const { others, ms } = await waitFor(instance, settings, tell);
      await takeWaiting();
      // The port is free at once for the process that comes after.
      server.server.close();
      if (others) await sleep(onTheWayMs);
      stage = 'closing';
      jobEvents.close();
      await Promise.all([
        replies.drain(ms),
        jobs.drain(ms),
        ...brought.map((area) => area.drain?.(ms)),
      ]);
    },
  };
};
