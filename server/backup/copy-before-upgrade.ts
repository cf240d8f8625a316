import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { StartupError } from '../db/startup-error.ts';
import type { Settings } from '../settings.ts';
import { backUp } from './backup.ts';

/** So many copies of earlier upgrades are kept. */
const keptCopies = 3;
const isCopy = (name: string): boolean => /-before-upgrade\.tar\.gz(\.sealed)?$/.test(name);

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
      const folder = path.dirname(file);
      const old = (await readdir(folder)).filter(isCopy).sort().slice(0, -keptCopies);
      for (const name of old) await rm(path.join(folder, name), { force: true });
      return file;
    } catch (error) {
      throw new StartupError(
        `更新数据库之前的备份没有成功：${error instanceof Error ? error.message : String(error)}。请腾出空间再启动，或用 UPGRADE_BACKUP=off 不备份就更新。`,
      );
    }
  };
};
