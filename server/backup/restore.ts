import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm, statfs } from 'node:fs/promises';
import path from 'node:path';
import { type Duplex, PassThrough, type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { finished, pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { FastifyBaseLogger } from 'fastify';
import pg from 'pg';
import { type CopyStreamQuery, from as copyFrom } from 'pg-copy-streams';
import { extract, type Header } from 'tar-stream';
import { livingLock } from '../db/instance.ts';
import { migrate } from '../db/migrate.ts';
import { StartupError } from '../db/startup-error.ts';
import {
  columnList,
  manifest,
  type Manifest,
  manifestName,
  quoted,
  sealedOnly,
} from './archive.ts';
import { beginningBytes, createOpening, isSealed } from './sealed.ts';

type Entry = Readable & { header: Header };

const unreadable = () => new StartupError('这不是鹊桥的备份，或者它不完整。');

/** More than the manifest of any backup has, bytes. */
const longestManifest = 16 * 1024 * 1024;

const readManifest = async (entry: Entry | undefined): Promise<Manifest> => {
  if (entry?.header.name !== manifestName) throw unreadable();
  if ((entry.header.size ?? Infinity) > longestManifest) throw unreadable();
  const read = manifest.safeParse(JSON.parse((await buffer(entry)).toString()));
  if (!read.success) throw unreadable();
  return read.data;
};

/** Where the tables of before lie until the new ones are whole. */
const setAside = 'before_restore';

/** Undoes a restore that did not come to its end. */
const putBack = async (client: pg.Client): Promise<void> => {
  const { rows } = await client.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [setAside]);
  if (rows.length === 0) return;
  await client.query('BEGIN');
  await client.query('DROP SCHEMA IF EXISTS public CASCADE');
  await client.query(`ALTER SCHEMA ${setAside} RENAME TO public`);
  await client.query('COMMIT');
};

/** Refuses where something would be lost that nobody said may go. */
const requireEmpty = async (client: pg.Client, replace: boolean): Promise<void> => {
  const { rows: living } = await client.query(`SELECT 1 FROM pg_locks WHERE ${livingLock}`);
  if (living.length > 0)
    throw new StartupError('还有鹊桥的进程连着这个数据库。请先停止它们，再恢复。');
  await putBack(client);
  const { rows } = await client.query<{ users: string | null }>(
    `SELECT to_regclass('public.users') AS users`,
  );
  if (replace || rows[0]?.users === null) return;
  const { rows: people } = await client.query('SELECT 1 FROM public.users LIMIT 2');
  // A server that was only started once has its administrator.
  if (people.length > 1)
    throw new StartupError(
      '这个数据库里已经有人。要用备份换掉它的全部内容，请在命令后面加 --replace',
    );
};

interface Constraint {
  table: string;
  name: string;
  definition: string;
}

/** Takes references and triggers away, so that tables may come in any order and count nothing twice. */
const loosen = async (client: pg.Client, tables: Manifest['tables']): Promise<Constraint[]> => {
  const { rows } = await client.query<Constraint>(
    `SELECT conrelid::regclass::text AS table, quote_ident(conname) AS name,
       pg_get_constraintdef(oid) AS definition
     FROM pg_constraint WHERE contype = 'f' AND connamespace = 'public'::regnamespace`,
  );
  for (const { table, name } of rows)
    await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
  for (const { name } of tables)
    await client.query(`ALTER TABLE ${quoted(name)} DISABLE TRIGGER USER`);
  // What migrations and nobody else put in. DELETE: some may not be emptied with TRUNCATE.
  for (const { name } of tables) await client.query(`DELETE FROM ${quoted(name)}`);
  return rows;
};

const tighten = async (
  client: pg.Client,
  { tables, sequences }: Manifest,
  constraints: readonly Constraint[],
): Promise<void> => {
  for (const { table, name, definition } of constraints)
    await client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`);
  for (const { name } of tables)
    await client.query(`ALTER TABLE ${quoted(name)} ENABLE TRIGGER USER`);
  for (const { name, last } of sequences)
    if (last !== null) await client.query('SELECT setval($1::regclass, $2)', [quoted(name), last]);
};

const writeAside = async (entry: Entry, place: string): Promise<void> => {
  await mkdir(path.dirname(place), { recursive: true, mode: 0o700 });
  const draft = `${place}.draft`;
  try {
    await pipeline(entry, createWriteStream(draft, { mode: 0o600, flush: true }));
    await rename(draft, place);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
};

/** The first bytes of a file. */
const beginningOf = async (file: string): Promise<Buffer> => {
  const opened = await open(file, 'r');
  try {
    const { buffer: bytes, bytesRead } = await opened.read(
      Buffer.alloc(beginningBytes),
      0,
      beginningBytes,
      0,
    );
    return bytes.subarray(0, bytesRead);
  } finally {
    await opened.close();
  }
};

/** The gzipped tar in an archive, sealed or not, and what is to follow it in a pipeline. */
const openingOf = async ({ file, passphrase, unsealed }: Source): Promise<[Readable, Duplex]> => {
  const beginning = await beginningOf(file);
  if (!isSealed(beginning)) {
    // A seal would prove nothing if an open archive could take its place.
    if (passphrase !== '' && !unsealed)
      throw new StartupError(
        '这份备份没有加密，可能被换过：确定要恢复它，请加上 --unsealed，或去掉 BACKUP_PASSPHRASE。',
      );
    return [createReadStream(file), new PassThrough()];
  }
  if (passphrase === '')
    throw new StartupError('这份备份是加密的：请设置备份时的 BACKUP_PASSPHRASE，再恢复。');
  const opening = await createOpening(passphrase, beginning);
  return [createReadStream(file, { start: beginningBytes }), opening];
};

const tableOf = (name: string): string | undefined => /^tables\/(\w+)\/\d+\.copy$/.exec(name)?.[1];
/**
 * Files of people, and the key of older backups; nothing that leads elsewhere: beside them lies what
 * this server runs.
 */
const isFile = ({ name, type }: Header): boolean =>
  type === 'file' && /^data\/(secret-key|files(\/[\w-][\w.-]*)+)$/.test(name);

interface Source {
  file: string;
  /** Opens a sealed one; empty: there is none. */
  passphrase: string;
  /** One that is not sealed is taken although there is a passphrase. */
  unsealed: boolean;
}

/** Goes through an archive to its very end. @throws StartupError where it is no whole backup */
const readArchive = async (
  source: Source,
  take: (entry: Entry) => Promise<unknown>,
): Promise<void> => {
  const [bytes, opening] = await openingOf(source);
  const archive = extract();
  const read = pipeline(bytes, opening, createGunzip(), archive);
  read.catch(() => undefined);
  try {
    for await (const entry of archive) await take(entry as unknown as Entry);
    await read;
  } catch (error) {
    const broken = error as NodeJS.ErrnoException;
    if (broken.code?.startsWith('Z_') || /tar/i.test(broken.message)) throw unreadable();
    throw error;
  } finally {
    archive.destroy();
  }
};

/** Bytes that are free where the data folder is or will be; Infinity: nobody knows. */
const freeAt = async (dataDir: string): Promise<number> => {
  const disk = await statfs(dataDir)
    .catch(() => statfs(path.dirname(dataDir)))
    .catch(() => null);
  return disk ? disk.bavail * disk.bsize : Infinity;
};

/**
 * What the archive says of itself, once all of it was read and found to be as it says. A few bytes
 * may unpack to more than any disk holds: files that do not fit are refused before one is written.
 */
const verify = async (source: Source, dataDir: string): Promise<Manifest> => {
  const free = await freeAt(dataDir);
  let bytes = 0;
  let about: Manifest | null = null;
  await readArchive(source, async (entry) => {
    if (!about) {
      about = await readManifest(entry);
      return;
    }
    const { name } = entry.header;
    const table = tableOf(name);
    const known = about.tables.some((each) => each.name === table);
    if (table === undefined ? !isFile(entry.header) : !known) throw unreadable();
    if (table === undefined) bytes += entry.header.size ?? 0;
    if (bytes > free)
      throw new StartupError('磁盘放不下备份里的文件，什么都没有改动：请腾出空间，再恢复。');
    entry.resume();
    await finished(entry);
  });
  if (!about) throw unreadable();
  return about;
};

/**
 * Fills an empty database and data folder from a backup. The tables are made as they were then; the
 * next start brings them up to date. A broken archive changes nothing. A queue's entries are made anew by the server for what still waits.
 */
export const restore = async (options: {
  source: Source;
  connectionString: string;
  dataDir: string;
  /** Whatever is in the database may go. */
  replace: boolean;
  log: FastifyBaseLogger;
}): Promise<{
  createdAt: string;
  tables: number;
  files: number;
  filesElsewhere: boolean;
  /** What signs logins was in it. */
  loginsGoOn: boolean;
}> => {
  const { source, connectionString, dataDir, replace, log } = options;
  // Nothing of what is there goes before all of what comes was read.
  const about = await verify(source, dataDir);
  const client = new pg.Client({ connectionString, application_name: 'queqiao-restore' });
  client.on('error', () => undefined);
  await client.connect();
  let rows: CopyStreamQuery | null = null;
  let current = '';
  const endTable = async () => {
    if (!rows) return;
    rows.end();
    await finished(rows);
    rows = null;
  };
  try {
    await requireEmpty(client, replace);
    await client.query(`ALTER SCHEMA public RENAME TO ${setAside}`);
    await client.query('CREATE SCHEMA public');
    await migrate(client, log, { only: new Set(about.migrations) });
    await client.query('BEGIN');
    const columns = new Map(about.tables.map((table) => [table.name, table.columns]));
    const constraints = await loosen(client, about.tables);
    let files = 0;
    let begun = false;
    await readArchive(source, async (entry) => {
      if (!begun) {
        begun = true;
        await readManifest(entry);
        return;
      }
      const { name } = entry.header;
      const table = tableOf(name);
      if (table === undefined) {
        await endTable();
        const place = path.join(dataDir, name.slice('data/'.length));
        await writeAside(entry, name === 'data/secret-key' ? `${place}.restored` : place);
        files += 1;
        return;
      }
      if (table !== current || !rows) {
        await endTable();
        current = table;
        const own = columns.get(table) ?? [];
        rows = client.query(copyFrom(`COPY ${quoted(table)} (${columnList(own)}) FROM STDIN`));
      }
      await pipeline(entry, rows, { end: false });
    });
    await endTable();
    await tighten(client, about, constraints);
    await client.query('COMMIT');
    // From here on it is another database.
    await client.query(`DROP SCHEMA ${setAside} CASCADE`);
    await client.query('DROP SCHEMA IF EXISTS graphile_worker CASCADE');
    const key = path.join(dataDir, 'secret-key');
    await rename(`${key}.restored`, key).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    await client.query('ANALYZE');
    return {
      createdAt: about.created_at,
      tables: about.tables.length,
      files,
      filesElsewhere: about.files_elsewhere,
      loginsGoOn: sealedOnly.every((name) => columns.has(name)),
    };
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    await putBack(client).catch(() => undefined);
    await rm(path.join(dataDir, 'secret-key.restored'), { force: true });
    throw error;
  } finally {
    await client.end();
  }
};
