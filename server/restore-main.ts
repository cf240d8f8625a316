import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { restore } from './backup/restore.ts';
import { openOnly } from './db/connect.ts';
import { StartupError } from './db/startup-error.ts';
import { createLog } from './http/log.ts';
import { readSettings } from './settings.ts';
import { complain } from './stopping.ts';

/** `npm run restore -- <archive> [--replace]`: the service as it was when it was backed up. */
try {
  const settings = readSettings(process.env);
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      restore: { type: 'boolean' },
      replace: { type: 'boolean' },
      unsealed: { type: 'boolean' },
    },
  });
  const file = positionals[0] === undefined ? '' : path.resolve(positionals[0]);
  if (file === '' || !existsSync(file))
    throw new StartupError('用法：npm run restore -- 备份文件.tar.gz [--replace] [--unsealed]');
  const log = createLog({ ...settings, logLevel: 'warn' });
  const database = await openOnly(settings, log);
  try {
    const done = await restore({
      source: { file, passphrase: settings.backupPassphrase, unsealed: values.unsealed ?? false },
      connectionString: database.connectionString,
      dataDir: settings.dataDir,
      replace: values.replace ?? false,
      log,
    });
    process.stdout.write(
      `已恢复到 ${done.createdAt}：${done.tables} 个表，${done.files} 个文件。现在可以 npm start。\n`,
    );
    if (!done.loginsGoOn)
      process.stdout.write(
        '备份里没有登录令牌的签名密钥：大家要重新登录，浏览器推送要重新打开。\n',
      );
    if (done.filesElsewhere)
      process.stdout.write('大家的文件当时在 S3 服务里：请设置同样的 S3_*。\n');
    if (settings.secretKey === '')
      process.stdout.write(
        '模型服务的密钥要用备份时的 data/secret-key 才读得出来：请把它放回数据文件夹，没有它就重新填写密钥。\n',
      );
    else
      process.stdout.write('设置了 SECRET_KEY：它应与备份时的相同，否则模型服务的密钥读不出来。\n');
  } finally {
    await database.leave();
  }
  process.exit(0);
} catch (error) {
  complain(error);
  process.exit(1);
}
