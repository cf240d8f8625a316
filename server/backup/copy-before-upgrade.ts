import { StartupError } from '../db/startup-error.ts';
import type { Settings } from '../settings.ts';
import { backUp, keepNewest } from './backup.ts';

/** So many copies of earlier upgrades are kept. */
const keptCopies = 3;

/**
 * What copies the database before its schema changes: the tables alone, since no migration touches
 * people's files. Undefined where UPGRADE_BACKUP says off.
 * @throws StartupError from the copy, when it cannot be written
 */
export const copyBeforeUpgrade = (
  settings: Settings,
  say: (text: string) => void,
): ((connectionString: string) => Promise<string>) | undefined => {
  const { dataDir, version, backupPassphrase: passphrase } = settings;
  if (!settings.upgradeBackup) return undefined;
  return async (connectionString) => {
    say('更新数据库之前先备份……');
    try {
      const { file, bytes } = await backUp({
        connectionString,
        dataDir,
        version,
        filesElsewhere: settings.s3 !== null,
        passphrase,
        purpose: 'before-upgrade',
      });
      say(`已备份：${file}（${(bytes / 1_000_000).toFixed(1)} MB）`);
      await keepNewest(dataDir, 'before-upgrade', keptCopies);
      return file;
    } catch (error) {
      throw new StartupError(
        `更新数据库之前的备份没有成功：${error instanceof Error ? error.message : String(error)}。请腾出空间再启动，或用 UPGRADE_BACKUP=off 不备份就更新。`,
      );
    }
  };
};
