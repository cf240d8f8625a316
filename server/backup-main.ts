import { backUp } from './backup/backup.ts';
import { openOnly } from './db/connect.ts';
import { createLog } from './http/log.ts';
import { readSettings } from './settings.ts';
import { complain } from './stopping.ts';

/** `npm run backup`: everything into one archive, while the service runs or not. */
try {
  const settings = readSettings(process.env);
  // As it is: a backup before an upgrade must not begin it.
  const database = await openOnly(settings, createLog({ ...settings, logLevel: 'warn' }));
  try {
    const { file, bytes, tables, files } = await backUp({
      connectionString: database.connectionString,
      dataDir: settings.dataDir,
      version: settings.version,
      filesElsewhere: settings.s3 !== null,
      passphrase: settings.backupPassphrase,
    });
    process.stdout.write(
      `已备份：${file}\n${(bytes / 1_000_000).toFixed(1)} MB，${tables} 个表，${files} 个文件。` +
        (settings.backupPassphrase === ''
          ? '里面有所有人的会话，没有加密，请像密码一样保管；设置 BACKUP_PASSPHRASE 就整个加密。\n' +
            '登录令牌的签名密钥（secrets 表）因此不在里面：从它恢复后，大家要重新登录，浏览器推送要重新打开。\n'
          : '已用 BACKUP_PASSPHRASE 整个加密：没有这个密码谁也打不开，请另外记好。\n') +
        (settings.secretKey === ''
          ? '模型服务的密钥是加密的，解开它的 data/secret-key 不在备份里：请把它另外存在安全的地方。\n'
          : ''),
    );
    if (settings.s3)
      process.stdout.write('大家的文件在 S3 服务里，不在这个备份里：请用它自己的办法备份。\n');
  } finally {
    await database.leave();
  }
  process.exit(0);
} catch (error) {
  complain(error);
  process.exit(1);
}
