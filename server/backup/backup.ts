import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { pack as packTar, type Pack } from 'tar-stream';
import { StartupError } from '../db/startup-error.ts';
import { columnList, leftOut, type Manifest, manifestName, quoted, sealedOnly } from './archive.ts';
import { createSeal } from './sealed.ts';

/** Rows of a table go into pieces of about so many bytes: tar wants to know each one's size. */
const pieceBytes = 4 * 1024 * 1024;

const add = (pack: Pack, name: string, data: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    pack.entry({ name, mode: 0o600 }, data, (error) => (error ? reject(error) : resolve()));
  });

/** A file that was deleted meanwhile is left out. */
const addFile = async (pack: Pack, name: string, place: string): Promise<boolean> => {
  const file = await open(place, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (!file) return false;
  try {
    const { size } = await file.stat();
    const entry = pack.entry({ name, size, mode: 0o600 });
    if (size === 0) entry.end(Buffer.alloc(0));
    else
      await pipeline(
        createReadStream(place, { fd: file.fd, autoClose: false, end: size - 1 }),
        entry,
      );
  } finally {
    await file.close();
  }
  return true;
};

const addTable = async (
  pack: Pack,
  client: pg.Client,
  { name, columns }: Manifest['tables'][number],
): Promise<void> => {
  const rows = client.query(copyTo(`COPY ${quoted(name)} (${columnList(columns)}) TO STDOUT`));
  let number = 0;
  let waiting: Buffer[] = [];
  let bytes = 0;
  const send = async () => {
    await add(
      pack,
      `tables/${name}/${String(number++).padStart(6, '0')}.copy`,
      Buffer.concat(waiting),
    );
    waiting = [];
    bytes = 0;
  };
  for await (const chunk of rows as AsyncIterable<Buffer>) {
    waiting.push(chunk);
    bytes += chunk.length;
    if (bytes >= pieceBytes) await send();
  }
  if (bytes > 0) await send();
};

type About = Pick<Manifest, 'version' | 'files_elsewhere'> & { sealed: boolean };

const describe = async (client: pg.Client, { sealed, ...about }: About): Promise<Manifest> => {
  const { rows: schema } = await client.query<{ there: boolean }>(
    `SELECT to_regclass('schema_migrations') IS NOT NULL AS there`,
  );
  if (!schema[0]?.there) throw new StartupError('数据库还是空的，没有东西可以备份。');
  const { rows: tables } = await client.query<Manifest['tables'][number]>(
    `SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
       AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
       AND c.relname <> ALL ($1)
     GROUP BY c.relname ORDER BY c.relname`,
    [sealed ? leftOut : [...leftOut, ...sealedOnly]],
  );
  const { rows: sequences } = await client.query<Manifest['sequences'][number]>(
    `SELECT sequencename AS name, last_value::text AS last FROM pg_sequences
     WHERE schemaname = 'public' ORDER BY 1`,
  );
  const { rows: migrations } = await client.query<{ version: number }>(
    'SELECT version FROM schema_migrations ORDER BY version',
  );
  return {
    format: 1,
    ...about,
    created_at: new Date().toISOString(),
    migrations: migrations.map(({ version }) => version),
    tables,
    sequences,
  };
};

const fill = async (
  pack: Pack,
  client: pg.Client,
  dataDir: string,
  { folders, ...about }: About & { folders: readonly string[] },
): Promise<{ tables: number; files: number }> => {
  // All tables as they were at one moment, while people go on writing.
  await client.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
  const all = await describe(client, about);
  await add(pack, manifestName, Buffer.from(JSON.stringify(all)));
  for (const table of all.tables) await addTable(pack, client, table);
  await client.query('COMMIT');
  let files = 0;
  for (const folder of folders) {
    const found = await readdir(path.join(dataDir, folder), {
      recursive: true,
      withFileTypes: true,
    }).catch(() => []);
    for (const entry of found) {
      if (!entry.isFile() || entry.name.endsWith('.draft')) continue;
      const place = path.join(entry.parentPath, entry.name);
      const name = path.relative(dataDir, place).split(path.sep).join('/');
      if (await addFile(pack, `data/${name}`, place)) files += 1;
    }
  }
  pack.finalize();
  return { tables: all.tables.length, files };
};

/**
 * `before-upgrade`: the database alone, since no migration touches people's files. `kept`: made by
 * button or schedule. Of both only the newest are kept.
 */
export type Purpose = 'before-upgrade' | 'kept';

/** Removes the older ones of a purpose. */
export const keepNewest = async (dataDir: string, purpose: Purpose, count: number) => {
  const folder = path.join(dataDir, 'backups');
  const isOne = (name: string) =>
    /\.tar\.gz(\.sealed)?$/.test(name) && name.includes(`-${purpose}.`);
  const old = (await readdir(folder)).filter(isOne).sort().slice(0, -count);
  for (const name of old) await rm(path.join(folder, name), { force: true });
};

export interface BackupOptions {
  connectionString: string;
  dataDir: string;
  version: string;
  /** People's files are in an S3 service. */
  filesElsewhere: boolean;
  /** Seals the archive; empty: it lies open. */
  passphrase: string;
  /** Part of the archive's name, see `Purpose`; missing: somebody asked for it at a terminal. */
  purpose?: Purpose;
}

/** Lists the backup for 服务状态; a database of an early version has no such list. */
const note = async (client: pg.Client, file: string, bytes: number): Promise<void> => {
  const { rows } = await client.query<{ there: boolean }>(
    `SELECT to_regclass('backups') IS NOT NULL AS there`,
  );
  if (!rows[0]?.there) return;
  await client.query('INSERT INTO backups (name, bytes) VALUES ($1, $2)', [
    path.basename(file),
    bytes,
  ]);
};

/**
 * Writes everything of the service into `<dataDir>/backups/<time>.tar.gz` while it goes on: the
 * database as at one moment and the files of people. The key of keys is not in it: whoever finds a
 * backup must not read the keys of services as well. With a passphrase all of it is sealed, and the
 * name ends in `.sealed`. It is under its name only when it is whole.
 */
export const backUp = async (
  options: BackupOptions,
): Promise<{ file: string; bytes: number; tables: number; files: number }> => {
  const { connectionString, dataDir, version, filesElsewhere, passphrase, purpose } = options;
  const folder = path.join(dataDir, 'backups');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const at = new Date().toISOString().replace(/[:.]/g, '-').slice(0, 23);
  const name = purpose ? `${at}-${purpose}` : at;
  const file = path.join(folder, `${name}.tar.gz${passphrase === '' ? '' : '.sealed'}`);
  const draft = `${file}.draft`;
  const client = new pg.Client({ connectionString, application_name: 'queqiao-backup' });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const pack = packTar();
    const seal = passphrase === '' ? new PassThrough() : await createSeal(passphrase);
    const written = pipeline(
      pack,
      createGzip({ level: 3 }),
      seal,
      createWriteStream(draft, { mode: 0o600, flush: true }),
    );
    const filled = fill(pack, client, dataDir, {
      version,
      files_elsewhere: filesElsewhere,
      sealed: passphrase !== '',
      folders: purpose === 'before-upgrade' ? [] : ['files'],
    }).catch((error: unknown) => {
      pack.destroy(error instanceof Error ? error : new Error(String(error)));
      throw error;
    });
    const [counts] = await Promise.all([filled, written]);
    await rename(draft, file);
    const { size: bytes } = await stat(file);
    await note(client, file, bytes);
    return { file, bytes, ...counts };
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  } finally {
    await client.end();
  }
};
