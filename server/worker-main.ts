import { copyBeforeUpgrade } from './backup/copy-before-upgrade.ts';
import { connectDatabase } from './db/connect.ts';
import { StartupError } from './db/startup-error.ts';
import { createLog } from './http/log.ts';
import { createKit } from './kit.ts';
import type { Lifetime } from './lifetime.ts';
import { readSettings } from './settings.ts';
import { requireDataDir } from './start-checks.ts';
import { runProcess, say } from './stopping.ts';
import { startTracing } from './tracing.ts';

/** `npm run worker`: works on jobs beside the servers on the same database, and serves nobody. */
const start = async (life: Lifetime): Promise<() => Promise<void>> => {
  const settings = readSettings(process.env);
  if (settings.workers === 0) throw new StartupError('WORKERS 为 0：这个进程没有事可做');
  for (const doubt of settings.doubts) say(`注意：${doubt}`);
  const log = createLog(settings);
  await requireDataDir(settings);
  life.own(await startTracing(settings, log));
  const connection = await connectDatabase(settings, log, copyBeforeUpgrade(settings, say));
  life.own(connection.close);
  const { jobs } = await createKit(settings, log, connection, life);
  say(`鹊桥的工作进程已启动：同时做 ${settings.workers} 个任务`);
  return async () => {
    say(`正在停止：等正在做的任务做完，最多 ${settings.drainSeconds} 秒，其余的留给别的进程`);
    await jobs.drain(settings.drainSeconds * 1000);
  };
};

await runProcess(start);
