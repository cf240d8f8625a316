import pg from 'pg';
import { limits } from '#contract/limits.ts';
import { openOnly } from './db/connect.ts';
import { openDatabase } from './db/database.ts';
import { createLog } from './http/log.ts';
import { renewEntry } from './areas/setup/setup.service.ts';
import { readSettings } from './settings.ts';
import { complain, say } from './stopping.ts';

/** `npm run owner`: prints a link that lets the first owner in who lost their password. */
try {
  const settings = readSettings(process.env);
  const database = await openOnly(settings, createLog({ ...settings, logLevel: 'warn' }));
  const pool = new pg.Pool({ connectionString: database.connectionString });
  try {
    const found = await renewEntry(openDatabase(pool));
    const origin = settings.publicUrl || `http://localhost:${settings.port}`;
    if (found)
      say(
        `用户名 ${found.account}。用这个链接进去，在 ${limits.confirmedFor / 60} 分钟内定一个新的密码：\n` +
          `${origin}/manager/setup#${found.code} （24 小时内，只能用一次）\n` +
          '定好后其他登录随即失效。可能有别人进去过的话，再到账户里看看其他登录方式、通行密钥、动态验证码和 API 密钥。',
      );
    else say('这里还没有管理员：先运行一次 npm start。');
  } finally {
    await pool.end();
    await database.leave();
  }
  process.exit(0);
} catch (error) {
  complain(error);
  process.exit(1);
}
