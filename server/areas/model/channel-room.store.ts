import { sql } from 'drizzle-orm';
import type { Database, Transaction } from '#server/db/database.ts';
import { livingLock } from '#server/db/instance.ts';
import { statement } from '#server/db/statement.ts';
import { channelRunning } from './model.tables.ts';

const take = statement<{ given: number }>(
  'channel_room_take',
  'SELECT channel_room_take($1::bigint, $2::int, $3::int, $4::int, $5::int) AS given',
);

/** Says how many calls a process has running at a channel, and takes more: gives how many of them it may begin. */
export const takeChannelRoom = async (
  db: Database,
  {
    channelId,
    instance,
    running,
    more,
    most,
  }: { channelId: number; instance: number; running: number; more: number; most: number },
): Promise<number> => (await take(db, [channelId, instance, running, more, most]))[0]?.given ?? 0;

/** Forgets what processes had running that are gone. */
export const dropDeadRooms = async (tx: Transaction): Promise<void> => {
  await tx.delete(channelRunning).where(sql`NOT EXISTS (SELECT FROM pg_locks
    WHERE objid = ${channelRunning.instanceId}::oid AND ${sql.raw(livingLock)})`);
};
