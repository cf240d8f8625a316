import { connectDatabase } from './db/connect.ts';
import { StartupError } from './db/startup-error.ts';
import { createLog } from './http/log.ts';
import { readSettings } from './settings.ts';
import { untilAsked } from './stopping.ts';
import { createKit } from './kit.ts';

/** `npm run worker`: works on jobs beside the servers on the same database, and serves nobody. */
const drainMs = 10_000;

const say = (text: string) => process.stdout.write(`${text}\n`);

const asked = untilAsked();

try {
  const settings = readSettings(process.env);
  if (settings.workers === 0) throw new StartupError('WORKERS 为 0：这个进程没有事可做');
  const log = createLog(settings.logLevel);
  const connection = await connectDatabase(settings, log);
  const { kit, jobs, diskReport } = await createKit(settings, log, connection);
  const { instance, models } = kit;
  say(`鹊桥的工作进程已启动：同时做 ${settings.workers} 个任务`);
  await asked;
  say('正在停止：等正在做的任务做完，最多十秒，其余的留给别的进程');
  await jobs.drain(drainMs);
  models.close();
  await diskReport.close();
  await instance.close();
  await connection.close();
  process.exit(0);
} catch (error) {
  const text = error instanceof StartupError ? error.message : error;
  process.stderr.write(`${text instanceof Error ? (text.stack ?? text.message) : String(text)}\n`);
  process.exit(1);
}
