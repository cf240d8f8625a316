import { parseArgs } from 'node:util';
import pino from 'pino';
import { connectDatabase } from '#server/db/connect.ts';
import type { Database } from '#server/db/database.ts';
import { StartupError } from '#server/db/startup-error.ts';
import { joinInstances } from '#server/db/instance.ts';
import { createModelService } from '#server/areas/model/model.service.ts';
import { rollUp } from '#server/areas/stats/roll-up.store.ts';
import { indexQueued } from '#server/areas/session/search.service.ts';
import { readSettings } from '#server/settings.ts';
import { fillBooks, fillDesk } from './demo/books.ts';
import { fill } from './demo/conversations.ts';
import { addPeople } from './demo/people.ts';
import { livingPlace } from './demo/place.ts';

/**
 * `npm run demo` fills every area as after a good month (demo/place.ts). With `--messages 10000` or
 * `--users n` it adds so many people and conversations to measure with instead: each run adds new
 * ones, and nothing that is there is touched.
 */

const wholeNumber = (name: string, text: string | undefined, otherwise: number): number => {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new StartupError(`--${name} 应为正整数`);
  return value;
};

const index = async (db: Database): Promise<void> => {
  for (let sum = 0, told = 0; ;) {
    const done = await indexQueued(db, 2000);
    // A running server is at it: it goes on by itself.
    if (done === 0 || done === null) return;
    sum += done;
    if (sum - told >= 100_000) console.log(`${(told = sum)} 条消息可以搜索`);
  }
};

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      messages: { type: 'string' },
      users: { type: 'string' },
      remove: { type: 'boolean' },
    },
  });
  if (values.messages === undefined && values.users === undefined)
    return livingPlace(values.remove === true);
  const messages = wholeNumber('messages', values.messages, 10_000);
  const count = wholeNumber('users', values.users, Math.max(3, Math.ceil(messages / 200)));
  const settings = readSettings(process.env);
  const log = pino({ level: 'warn' });
  const { db, pool, connectionString, close } = await connectDatabase(settings, log);
  try {
    // The models that a first start would add.
    const instance = await joinInstances(connectionString, log);
    const models = createModelService({ db, settings, log, instance });
    await models.start();
    models.close();
    await instance.close();
    const began = Date.now();
    const { people, accounts, password } = await addPeople(pool, count);
    const sessions = await fill(pool, people, messages, settings.signupTokens);
    await fillBooks(pool, people, 2000);
    await fillDesk(pool, people);
    await db.transaction((tx) => rollUp(tx, true));
    await index(db);
    const client = await pool.connect();
    await client.query('SET statement_timeout = 0');
    await client.query('VACUUM (ANALYZE)');
    client.release(true);
    console.log(
      `已添加 ${count} 个账号、${sessions} 个会话、${messages} 条消息，用时 ${Math.round((Date.now() - began) / 1000)} 秒。\n` +
        `账号：${accounts[0]}${count > 1 ? ` 到 ${accounts.at(-1)}` : ''}，密码都是 ${password}`,
    );
  } finally {
    await close();
  }
};

try {
  await main();
} catch (error) {
  if (!(error instanceof StartupError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
