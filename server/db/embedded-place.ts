import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  chown,
  link,
  mkdir,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  statfs,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from './make-folder.ts';
import { StartupError } from './startup-error.ts';

/**
 * Where the embedded database lives and as whom it runs.
 *
 * It lives in DATA_DIR/postgres and runs as whoever starts the server. PostgreSQL refuses to run
 * as root, however: started by root, it runs as `postgres` or `nobody`, and where that user may
 * not enter DATA_DIR (say below /root), it lives in a folder of its own below /var/lib/queqiao,
 * to which DATA_DIR/postgres.location points. Deleting DATA_DIR deletes the pointer too, so that
 * the next start begins afresh either way.
 */
export interface Place {
  /** The database's folder. */
  home: string;
  /** PostgreSQL's own folder in it, PGDATA. */
  data: string;
  /** There is no database yet. */
  isNew: boolean;
  /** Whom the binaries run as; null: as this process. */
  runAs: RunAs | null;
  /** Folders for a copy of the binaries, should those of node_modules not do; best first. */
  shelves: string[];
  /** Databases below /var/lib/queqiao whose DATA_DIR was this one and was deleted. */
  forgotten: string[];
}

export interface RunAs {
  uid: number;
  gid: number;
}

const rootShelf = '/var/lib/queqiao';

export const hasCode = (error: unknown, ...codes: string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code));

export const exists = async (path: string): Promise<boolean> => {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return false;
    throw error;
  }
};

const numberOf = (flag: '-u' | '-g', name: string): number =>
  Number.parseInt(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout, 10);

const unprivilegedUser = (): RunAs => {
  for (const name of ['postgres', 'nobody']) {
    const user = { uid: numberOf('-u', name), gid: numberOf('-g', name) };
    if (user.uid > 0 && user.gid > 0) return user;
  }
  throw new StartupError(
    '以 root 启动时，内置数据库要以另一个普通用户运行，但系统里没有 postgres 或 nobody 用户。\n' +
      '请换一个普通用户启动，或用 DATABASE_URL 指定一个 PostgreSQL。',
  );
};

/** Whether that user may enter the folder, every folder above it included. */
const mayEnter = (runAs: RunAs, folder: string): boolean =>
  spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { ...runAs, cwd: '/', stdio: 'ignore' })
    .status === 0;

/** Of folders that others may pass through and not list. */
const passable = 0o711;

const makeHome = async (home: string, runAs: RunAs | null): Promise<void> => {
  await mkdir(home, { recursive: true, mode: 0o700 });
  if (runAs) await chown(home, runAs.uid, runAs.gid);
};

const readText = async (path: string): Promise<string | null> => {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
};

/** Writes a file that appears whole or not at all; when another was quicker, theirs stays. */
const writeOnce = async (path: string, text: string): Promise<void> => {
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, `${text}\n`, { mode: 0o600 });
  try {
    await link(draft, path);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    await rm(draft);
  }
};

/** A copied DATA_DIR must not share the original's database without anybody having asked for it. */
const checkPointer = async (pointer: string, dataDir: string, home: string): Promise<void> => {
  if (!(await exists(home))) {
    throw new StartupError(
      `数据库的文件夹 ${home} 不见了（由 ${pointer} 指向）。\n` +
        '请把它恢复到原处；如果确定要从空数据库开始，删除这个指向文件后再启动。',
    );
  }
  const owner = await readText(join(home, 'data-dir'));
  if (!owner || owner === dataDir) return;
  if ((await readText(join(owner, 'postgres.location'))) === home) {
    throw new StartupError(
      `${dataDir} 看起来是 ${owner} 的副本，两者指向同一个数据库 ${home}。\n` +
        `要让副本从空数据库开始，删除 ${pointer}；要共用数据库，请把 DATA_DIR 设为 ${owner}。`,
    );
  }
  await writeFile(join(home, 'data-dir'), `${dataDir}\n`);
};

const placeAt = async (home: string, runAs: RunAs | null, shelves: string[]): Promise<Place> => {
  const data = join(home, 'data');
  const isNew = !(await exists(data));
  const place = { home, data, isNew, runAs, shelves, forgotten: [] };
  if (!runAs || isNew) return place;
  // The owner of an existing database runs it, whoever that was.
  const { uid, gid } = await stat(data);
  return uid > 0 ? { ...place, runAs: { uid, gid } } : place;
};

const forgottenBy = async (dataDir: string): Promise<string[]> => {
  const homes = [];
  for (const name of await readdir(rootShelf)) {
    const home = join(rootShelf, name);
    if ((await readText(join(home, 'data-dir'))) === dataDir) homes.push(home);
  }
  return homes;
};

const findPlaceAsRoot = async (dataDir: string): Promise<Place> => {
  const runAs = unprivilegedUser();
  const inside = join(dataDir, 'postgres');
  if (await exists(join(inside, 'data'))) return placeAt(inside, runAs, [dataDir, rootShelf]);

  const pointer = join(dataDir, 'postgres.location');
  let outside = await readText(pointer);
  const forgotten: string[] = [];
  if (!outside && mayEnter(runAs, dataDir)) {
    try {
      await makeHome(inside, runAs);
      return await placeAt(inside, runAs, [dataDir, rootShelf]);
    } catch (error) {
      // Some file systems, such as those shared with a host, know no owners.
      if (!hasCode(error, 'EPERM', 'EINVAL', 'ENOTSUP')) throw error;
    }
  }
  if (outside) {
    await checkPointer(pointer, dataDir, outside);
  } else {
    const home = join(rootShelf, randomUUID());
    await makeFolder(rootShelf, passable);
    forgotten.push(...(await forgottenBy(dataDir)));
    await makeHome(home, runAs);
    await writeFile(join(home, 'data-dir'), `${dataDir}\n`);
    await writeOnce(pointer, home);
    outside = (await readText(pointer)) ?? home;
    if (outside !== home) await rm(home, { recursive: true });
  }
  return { ...(await placeAt(outside, runAs, [rootShelf])), forgotten };
};

/** What a new database takes with what it soon writes, bytes. */
const roomOfNew = 200 * 1024 ** 2;

/** @throws StartupError where a new database would not fit */
const requireRoom = async ({ home, isNew }: Place): Promise<void> => {
  if (!isNew) return;
  const { bavail, bsize } = await statfs(home);
  const free = bavail * bsize;
  if (free >= roomOfNew) return;
  throw new StartupError(
    `${home} 所在的盘只剩 ${Math.floor(free / 1024 ** 2)} MB，新的数据库要 ${roomOfNew / 1024 ** 2} MB：腾出空间，或用 DATA_DIR 换一个盘`,
  );
};

const placeOf = async (dataDir: string): Promise<Place> => {
  if (process.getuid?.() === 0) return findPlaceAsRoot(dataDir);
  const home = (await readText(join(dataDir, 'postgres.location'))) ?? join(dataDir, 'postgres');
  await makeHome(home, null);
  return placeAt(home, null, [dataDir]);
};

/** Finds the database's place for this DATA_DIR, or chooses and makes it. */
export const findPlace = async (dataDirSetting: string): Promise<Place> => {
  try {
    await makeFolder(dataDirSetting, passable);
    const place = await placeOf(await realpath(dataDirSetting));
    await requireRoom(place);
    return place;
  } catch (error) {
    if (hasCode(error, 'ENOSPC'))
      throw new StartupError(
        `数据文件夹 ${dataDirSetting} 所在的盘满了：腾出空间，或用 DATA_DIR 换一个盘`,
      );
    if (!hasCode(error, 'EACCES', 'EPERM', 'EROFS')) throw error;
    throw new StartupError(
      `没有读写数据文件夹 ${dataDirSetting} 的权限（${(error as Error).message}）。\n` +
        '请换用建立它的用户启动，或用 DATA_DIR 指定另一个文件夹。',
    );
  }
};
