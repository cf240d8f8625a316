import { backUp } from './backup/backup.ts';
import { connectDatabase } from './db/connect.ts';
import { StartupError } from './db/startup-error.ts';
import { createLog } from './http/log.ts';
import { readSettings } from './settings.ts';

/** `npm run backup`: everything into one archive, while the service runs or not. */
try {
  const settings = readSettings(process.env);
  const connection = await connectDatabase(settings, createLog('warn'));
  try {
    const { file, bytes, tables, files } = await backUp({
      connectionString: connection.connectionString,
      dataDir: settings.dataDir,
      version: settings.version,
      filesElsewhere: settings.s3 !== null,
    });
    process.stdout.write(
      `已备份：${file}\n${(bytes / 1_000_000).toFixed(1)} MB，${tables} 个表，${files} 个文件。` +
        '里面有所有人的会话与密钥，请像密码一样保管。\n',
    );
    if (settings.s3)
      process.stdout.write('大家的文件在 S3 服务里，不在这个备份里：请用它自己的办法备份。\n');
  } finally {
    await connection.close();
  }
  process.exit(0);
} catch (error) {
  const text = error instanceof StartupError ? error.message : error;
  process.stderr.write(`${text instanceof Error ? (text.stack ?? text.message) : String(text)}\n`);
  process.exit(1);
}
