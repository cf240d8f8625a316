import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '../db/database.ts';
import type { Instance } from '../db/instance.ts';
import type { Settings } from '../settings.ts';
import { backUp, keepNewest } from './backup.ts';
import * as store from './backup.store.ts';
import { createBackupsInS3 } from './backups-in-s3.ts';

/** How often it is looked whether a backup is due, ms. */
const lookMs = 60_000;

export interface BackupState {
  running: boolean;
  /** Why the last one failed; empty: it did not. */
  error: string;
  /** Hours between two; 0: none is made by itself. */
  hours: number;
  /** The bucket where they are put, too; empty: none. */
  bucket: string;
}

/** Backups by button and by schedule: one at a time, whichever process makes it. */
export interface BackupPlan {
  /** Begins one; false: one is being made. */
  begin: () => Promise<boolean>;
  state: () => Promise<BackupState>;
  close: () => Promise<void>;
}

export const startBackupPlan = ({
  db,
  connectionString,
  instance,
  settings,
  log,
}: {
  db: Database;
  connectionString: string;
  instance: Pick<Instance, 'id'>;
  settings: Settings;
  log: FastifyBaseLogger;
}): BackupPlan => {
  const { backupHours: hours, backupKeep, dataDir, version, backupPassphrase } = settings;
  const { s3, backupBucket } = settings;
  const elsewhere = s3 && backupBucket ? createBackupsInS3(db, s3, backupBucket) : null;
  let running: Promise<void> = Promise.resolve();
  const make = async (): Promise<void> => {
    let error = '';
    try {
      const { file, bytes } = await backUp({
        connectionString,
        dataDir,
        version,
        filesElsewhere: settings.s3 !== null,
        passphrase: backupPassphrase,
        purpose: 'kept',
      });
      await keepNewest(dataDir, 'kept', backupKeep);
      await elsewhere?.put(file, backupKeep);
      log.info({ file, bytes }, 'a backup was made');
    } catch (failure) {
      error = failure instanceof Error ? failure.message : String(failure);
      log.error({ err: failure }, 'a backup could not be made');
    }
    await store.endBackup(db, error).catch(() => undefined);
  };
  const beginIf = async (due: number): Promise<boolean> => {
    if (!(await store.claimBackup(db, instance.id, due))) return false;
    running = make();
    return true;
  };
  const look = () => {
    beginIf(hours).catch((error: unknown) =>
      log.warn({ err: error }, 'whether a backup is due could not be told'),
    );
  };
  const timer = hours > 0 ? setInterval(look, lookMs).unref() : undefined;
  if (hours > 0) look();
  return {
    begin: () => beginIf(0),
    state: async () => {
      const plan = await store.readPlan(db);
      return {
        running: plan?.running ?? false,
        error: plan?.error ?? '',
        hours,
        bucket: backupBucket,
      };
    },
    close: async () => {
      clearInterval(timer);
      await running;
    },
  };
};
