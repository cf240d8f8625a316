import { copyBeforeUpgrade } from './backup/copy-before-upgrade.ts';
import { upgradeDatabase } from './db/connect.ts';
import { createLog } from './http/log.ts';
import { readSettings } from './settings.ts';
import { complain, say } from './stopping.ts';

/** `npm run migrate`: brings the schema of the database up to date, and starts nothing. */
try {
  const settings = readSettings(process.env);
  const log = createLog({ ...settings, logLevel: 'warn' });
  const done = await upgradeDatabase(settings, log, copyBeforeUpgrade(settings, say));
  for (const name of done) say(`已完成 ${name}`);
  say(done.length === 0 ? '数据库已是最新，没有要做的迁移。' : `完成了 ${done.length} 个迁移。`);
  process.exit(0);
} catch (error) {
  complain(error);
  process.exit(1);
}
