import { execFile } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import pg from 'pg';
import { extract, pack } from 'tar-stream';
import { afterAll, expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import { scratchFolder } from '../support/scratch.ts';
import { ADMIN_PASSWORD, makeDatabase, startServer, type TestServer } from '../support/server.ts';
import { noise } from '../support/sample-files.ts';
import { talk } from '../support/world.ts';

const run = promisify(execFile);
const servers: TestServer[] = [];
afterAll(async () => {
  for (const server of servers) await server.stop();
});

const call = (
  program: string,
  place: { databaseUrl: string; dataDir: string; passphrase?: string },
  ...rest: string[]
) =>
  run(process.execPath, [`dist/server/${program}-main.js`, `--${program}`, ...rest], {
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: place.databaseUrl,
      DATA_DIR: place.dataDir,
      ...(place.passphrase === undefined ? {} : { BACKUP_PASSPHRASE: place.passphrase }),
    },
    timeout: 30_000,
  }).then(
    ({ stdout }) => ({ ok: true, said: stdout }),
    (error: { stderr: string }) => ({ ok: false, said: error.stderr }),
  );

/** The one backup of a data folder whose name ends so. */
const backupIn = (dataDir: string, ending: string): string => {
  const folder = path.join(dataDir, 'backups');
  const names = readdirSync(folder).filter((name) => name.endsWith(ending));
  expect(names).toHaveLength(1);
  return path.join(folder, names[0]!);
};

/** Rows of every table but those that only tell of running processes. */
const countsOf = async (databaseUrl: string): Promise<Record<string, number>> => {
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  const { rows } = await database.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('instances', 'backups')`,
  );
  const counts: Record<string, number> = {};
  for (const { name } of rows) {
    const { rows: counted } = await database.query<{ count: number }>(
      `SELECT count(*)::int FROM "${name}"`,
    );
    counts[name] = counted[0]?.count ?? -1;
  }
  await database.end();
  return counts;
};

/** Of a backup that lies open: nothing in it opens what it holds. */
const holdsNoKey = async (from: TestServer, file: string): Promise<void> => {
  const key = readFileSync(path.join(from.dataDir, 'secret-key'), 'utf8').trim();
  const database = new pg.Client({ connectionString: from.databaseUrl });
  await database.connect();
  const { rows } = await database.query<{ value: string }>(
    `SELECT value FROM secrets WHERE name = 'jwt'`,
  );
  await database.end();
  expect(rows).toHaveLength(1);
  const plain = gunzipSync(readFileSync(file));
  expect(plain.includes('tables/users/')).toBe(true);
  for (const secret of ['secret-key', 'tables/secrets/', key, rows[0]!.value])
    expect(plain.includes(secret)).toBe(false);
};

test('what was backed up while people wrote is whole again on another machine, and holds no key', async () => {
  const from = await startServer({ env: { ASSISTANT_RATE: '0' } });
  servers.push(from);
  const account = `u${Date.now()}`;
  const person = await TestClient.register(from.baseURL, account);
  const own = await talk(person, '备份以后还要能读到这一句');
  const photo = await noise(60, 40, 'png');
  const { image } = await person.upload(
    'uploadImage',
    new Blob([new Uint8Array(photo)], { type: 'image/png' }),
    'a.png',
  );
  const shown = await fetch(new URL(image.url, from.baseURL));
  expect(shown.status).toBe(200);
  const original = Buffer.from(await shown.arrayBuffer());
  const before = await person.call('userInfo', {});
  const earlier = await countsOf(from.databaseUrl);
  const saved = await call('backup', from);
  expect(saved).toMatchObject({ ok: true, said: expect.stringContaining('BACKUP_PASSPHRASE') });
  const later = await countsOf(from.databaseUrl);
  // The server notes things of its own meanwhile: what did not change must be there to the row.
  const settled = (counts: Record<string, number>) =>
    Object.fromEntries(
      Object.keys(later).map((table) => [
        table,
        earlier[table] === later[table] ? counts[table] : 'changing',
      ]),
    );
  expect(settled(later)).toMatchObject({ users: 2, history: 1, files: 1 });
  const file = backupIn(from.dataDir, '.tar.gz');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await holdsNoKey(from, file);

  const refused = await call('restore', from, file);
  expect(refused).toMatchObject({ ok: false, said: expect.stringContaining('还有鹊桥的进程') });

  const to = { databaseUrl: await makeDatabase(), dataDir: scratchFolder('restored') };
  const cut = path.join(to.dataDir, 'cut.tar.gz');
  mkdirSync(to.dataDir, { recursive: true });
  copyFileSync(file, cut);
  truncateSync(cut, Math.floor(statSync(file).size / 2));
  const broken = await call('restore', to, cut);
  expect(broken).toMatchObject({ ok: false, said: expect.stringContaining('不完整') });

  // What was there before a broken one came is still there.
  const kept = await startServer({ env: { ASSISTANT_RATE: '0' } });
  await TestClient.register(kept.baseURL);
  const place = { databaseUrl: kept.databaseUrl, dataDir: scratchFolder('kept') };
  await kept.stop();
  const untouched = await countsOf(place.databaseUrl);
  expect(await call('restore', place, cut, '--replace')).toMatchObject({
    ok: false,
    said: expect.stringContaining('不完整'),
  });
  expect(await countsOf(place.databaseUrl)).toEqual(untouched);

  const brought = await call('restore', to, file);
  expect(brought).toMatchObject({ ok: true, said: expect.stringContaining('重新登录') });
  const { secrets: _left, ...open } = settled(later);
  expect(settled(await countsOf(to.databaseUrl))).toMatchObject(open);

  const restored = await startServer({ ...to, env: { ASSISTANT_RATE: '0' } });
  servers.push(restored);
  const back = new TestClient(restored.baseURL);
  back.token = person.token;
  // What signs logins was not in a backup that lies open: nobody enters with one that it holds.
  expect((await back.raw('userInfo', {})).status).toBe(401);
  await back.login(account, 'password-1');
  const { list } = await back.call('historyList', { session_id: own.uuid });
  expect(JSON.stringify(list)).toContain('备份以后还要能读到这一句');
  expect((await back.call('userInfo', {})).chatgpt_balance).toBe(before.chatgpt_balance);
  const served = await fetch(new URL(image.url, restored.baseURL));
  expect(Buffer.from(await served.arrayBuffer()).equals(original)).toBe(true);
  const again = new TestClient(restored.baseURL);
  await again.login('admin', ADMIN_PASSWORD);
  // Its numbers go on behind the restored ones, and its counters count.
  await talk(back, '恢复以后也能接着写');
});

test('a sealed backup opens for its passphrase alone, whole and unaltered', async () => {
  const passphrase = '一句只有我知道的话';
  const from = await startServer({ env: { ASSISTANT_RATE: '0' } });
  servers.push(from);
  const person = await TestClient.register(from.baseURL);
  const own = await talk(person, '封好的备份里的这一句');
  // Longer than several of the pieces that are sealed.
  const photo = await noise(400, 400, 'png');
  const { image } = await person.upload(
    'uploadImage',
    new Blob([new Uint8Array(photo)], { type: 'image/png' }),
    'a.png',
  );
  const original = Buffer.from(await (await fetch(new URL(image.url, from.baseURL))).arrayBuffer());
  expect(await call('backup', { ...from, passphrase })).toMatchObject({
    ok: true,
    said: expect.stringContaining('整个加密'),
  });
  const file = backupIn(from.dataDir, '.tar.gz.sealed');
  const sealed = readFileSync(file);
  expect(sealed.length).toBeGreaterThan(300_000);
  expect(() => gunzipSync(sealed)).toThrow();

  const to = { databaseUrl: await makeDatabase(), dataDir: scratchFolder('sealed') };
  mkdirSync(to.dataDir, { recursive: true });
  const before = await countsOf(to.databaseUrl);
  const refuses = async (given: Buffer, words: string, said: string | undefined) => {
    const place = path.join(to.dataDir, 'given.sealed');
    writeFileSync(place, given);
    const secret = said === undefined ? {} : { passphrase: said };
    expect(await call('restore', { ...to, ...secret }, place, '--replace')).toMatchObject({
      ok: false,
      said: expect.stringContaining(words),
    });
  };
  await refuses(sealed, '是加密的', undefined);
  await refuses(sealed, '密码不对', '另外一句话');
  await refuses(gzipSync('谁换上的'), '没有加密', passphrase);
  const altered = Buffer.from(sealed);
  altered[200_000]! ^= 1;
  await refuses(altered, '被改动过', passphrase);
  // Cut at the end of a piece, so that each that is left is whole.
  await refuses(sealed.subarray(0, 33 + 2 * (65_536 + 16)), '不完整', passphrase);
  expect(await countsOf(to.databaseUrl)).toEqual(before);

  expect(await call('restore', { ...to, passphrase }, file)).toMatchObject({ ok: true });
  const restored = await startServer({ ...to, env: { ASSISTANT_RATE: '0' } });
  servers.push(restored);
  const back = new TestClient(restored.baseURL);
  back.token = person.token;
  const { list } = await back.call('historyList', { session_id: own.uuid });
  expect(JSON.stringify(list)).toContain('封好的备份里的这一句');
  const served = await fetch(new URL(image.url, restored.baseURL));
  expect(Buffer.from(await served.arrayBuffer()).equals(original)).toBe(true);
});

/** A backup as somebody else might hand it over: its manifest changed, and more entries at the end. */
const forged = async (
  file: string,
  {
    about = {},
    more = [],
    end,
  }: { about?: object; more?: [string, string][]; /** In place of a tar's own. */ end?: Buffer },
): Promise<Buffer> => {
  const archive = extract();
  archive.end(gunzipSync(readFileSync(file)));
  const made = pack();
  const whole = buffer(made);
  for await (const entry of archive) {
    const { name } = entry.header;
    const data = await buffer(entry);
    const told =
      name === 'manifest.json'
        ? JSON.stringify({ ...(JSON.parse(data.toString()) as object), ...about })
        : data;
    made.entry({ name }, told);
  }
  for (const [name, data] of more) made.entry({ name }, data);
  made.finalize();
  const tar = await whole;
  // A tar ends with two empty blocks.
  return gzipSync(end ? Buffer.concat([tar.subarray(0, -1024), end]) : tar);
};

test('a forged backup writes nothing beside the files of people, and leaves what was there', async () => {
  const from = await startServer({ env: { ASSISTANT_RATE: '0' } });
  servers.push(from);
  await TestClient.register(from.baseURL);
  expect(await call('backup', from)).toMatchObject({ ok: true });
  const file = backupIn(from.dataDir, '.tar.gz');
  const to = { databaseUrl: await makeDatabase(), dataDir: scratchFolder('forged') };
  mkdirSync(path.join(to.dataDir, 'files'), { recursive: true });
  writeFileSync(path.join(to.dataDir, 'secret-key'), 'the key of before');
  const before = await countsOf(to.databaseUrl);
  const refuses = async (archive: Buffer, words = '') => {
    const place = path.join(to.dataDir, 'given.tar.gz');
    writeFileSync(place, archive);
    expect(await call('restore', to, place, '--replace')).toMatchObject({
      ok: false,
      said: expect.stringContaining(words),
    });
    expect(await countsOf(to.databaseUrl)).toEqual(before);
    expect(readdirSync(to.dataDir).sort()).toEqual(['files', 'given.tar.gz', 'secret-key']);
    expect(readFileSync(path.join(to.dataDir, 'secret-key'), 'utf8')).toBe('the key of before');
  };
  const commands = '{"mcpServers":{"a":{"command":"/bin/sh"}}}';
  for (const name of [
    // What stands there is run at the next start.
    'data/files/../mcp.json',
    'data/files/../../beside.txt',
    'data/files//etc/passwd',
    'data/mcp.json',
  ])
    await refuses(await forged(file, { more: [[name, commands]] }));
  // A few kilobytes of gzip may be more than any disk holds: it is told before it was unpacked.
  const huge = pack();
  const header = once(huge, 'data').then(([bytes]) => bytes as Buffer);
  huge.entry({ name: 'data/files/aa/huge', size: 2 ** 50 });
  await refuses(await forged(file, { end: await header }), '放不下');
  huge.destroy();
  // Found out only when its rows come: the tables of before are still there.
  const rows: [string, string] = ['tables/users/9.copy', 'no row of any table\n'];
  await refuses(await forged(file, { more: [['data/secret-key', 'another key'], rows] }));
  await refuses(
    await forged(file, { about: { sequences: [{ name: 'no_such_sequence', last: '1' }] } }),
  );
  expect(await call('restore', to, file)).toMatchObject({ ok: true });
});
