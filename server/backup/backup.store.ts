import { desc, eq, isNotNull, sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { livingLock } from '../db/instance.ts';
import { backups } from '../db/schema.ts';

const isHeld = sql`EXISTS (SELECT FROM pg_locks
  WHERE ${sql.raw(livingLock)} AND objid = backup_plan.instance::oid)`;

/** False: one is being made. @param due only where the last backup is as old as that, hours */
export const claimBackup = async (
  db: Database,
  instanceId: number,
  due: number,
): Promise<boolean> => {
  const { rowCount } = await db.execute(sql`UPDATE backup_plan
    SET begun_at = now(), instance = ${instanceId}, error = ''
    WHERE NOT ${isHeld} AND (${due} = 0 OR NOT EXISTS (
      SELECT FROM backups WHERE created_at > now() - make_interval(hours => ${due})))`);
  return (rowCount ?? 0) > 0;
};

/** @param error why it failed; empty: it did not */
export const endBackup = async (db: Database, error: string): Promise<void> => {
  await db.execute(sql`UPDATE backup_plan SET begun_at = NULL, instance = NULL, error = ${error}`);
};

export const readPlan = async (db: Database) => {
  const { rows } = await db.execute<{ running: boolean; error: string }>(
    sql`SELECT ${isHeld} AS running, error FROM backup_plan`,
  );
  return rows[0];
};

/** Where a backup lies in a bucket; null: not any more. */
export const noteElsewhere = async (
  db: Database,
  name: string,
  place: string | null,
): Promise<void> => {
  await db.update(backups).set({ elsewhere: place }).where(eq(backups.name, name));
};

/** Those that lie in a bucket, newest first. */
export const keptElsewhere = (db: Database) =>
  db.select().from(backups).where(isNotNull(backups.elsewhere)).orderBy(desc(backups.createdAt));
