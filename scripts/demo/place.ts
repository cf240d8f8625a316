import pino from 'pino';
import { rollUp } from '#server/areas/stats/roll-up.store.ts';
import { indexQueued } from '#server/areas/session/search.service.ts';
import { connectDatabase } from '#server/db/connect.ts';
import type { Database } from '#server/db/database.ts';
import { readSettings } from '#server/settings.ts';
import { createStorage } from '#server/storage/storage.ts';
import { hashPassword } from '#server/areas/auth/password.ts';
import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { openHouse } from './house.ts';
import { removeDemo } from './removal.ts';
import { invite, type Stage } from './stage.ts';
import {
  bringTalks,
  complain,
  fillForum,
  fillMarket,
  furnishGuide,
  makeBases,
  makeScenarios,
  pinUp,
  shop,
} from './talks.ts';
import { addUsage, spreadTimes } from './times.ts';
import { makeWorks } from './works.ts';

/**
 * The living place: `npm run demo` fills every area through the calls that people use, as after a
 * good month; `npm run demo -- --remove` takes it away whole.
 */

/** The people leave: one may be entered, whose password is printed; nobody manages anything. */
const leaveStage = async (pool: pg.Pool, stage: Stage): Promise<string> => {
  const ids = stage.players.map(({ id }) => id);
  const password = randomBytes(6).toString('hex');
  await pool.query(`UPDATE users SET manager = false, password_hash = $2 WHERE id = ANY($1)`, [
    ids,
    await hashPassword(randomBytes(24).toString('base64url')),
  ]);
  await pool.query(`DELETE FROM logins WHERE user_id = ANY($1)`, [ids]);
  const { rows } = await pool.query<{ account: string }>(
    `UPDATE users SET password_hash = $2 WHERE id = $1 RETURNING account`,
    [stage.guide.id, await hashPassword(password)],
  );
  return `${rows[0]?.account} 的密码是 ${password}`;
};

const settle = async (db: Database): Promise<void> => {
  await db.transaction((tx) => rollUp(tx, true));
  for (let done: number | null = 1; done;) done = await indexQueued(db, 2000);
};

const fill = async (pool: pg.Pool): Promise<string> => {
  const house = await openHouse();
  try {
    const stage = await invite(pool, house.baseURL);
    console.log(`${stage.players.length} 位居民`);
    await makeBases(stage);
    await fillForum(stage);
    await complain(stage);
    await furnishGuide(stage);
    await bringTalks(stage);
    await makeScenarios(stage);
    await fillMarket(stage);
    await pinUp(stage);
    await shop(stage);
    console.log('社区、会话、场景、知识库、市场、公告、订单');
    await makeWorks(stage);
    await spreadTimes(stage);
    await addUsage(stage);
    return await leaveStage(pool, stage);
  } finally {
    await house.close();
  }
};

export const livingPlace = async (remove: boolean): Promise<void> => {
  const settings = readSettings(process.env);
  const { db, pool, close } = await connectDatabase(settings, pino({ level: 'warn' }));
  const storage = createStorage(settings);
  const began = Date.now();
  try {
    // What is there is the demo as it was: it is made anew, so that its times end today.
    const gone = await removeDemo(pool, storage);
    if (remove) {
      await settle(db);
      console.log(gone ? '演示已经整个拿走' : '这里没有演示');
      return;
    }
    const way = await fill(pool);
    await settle(db);
    console.log(
      `演示好了，用时 ${Math.round((Date.now() - began) / 1000)} 秒。${way}\n` +
        '拿走：npm run demo -- --remove',
    );
  } catch (error) {
    // Half a demo is none.
    if (!remove) await removeDemo(pool, storage).catch(() => false);
    throw error;
  } finally {
    await close();
  }
};
