import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs, {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { leftOut, removePackages } from './optional-packages.mjs';
import { buildIsFresh, packagesAreFresh } from './stale.mjs';

/**
 * `npm start`: installs the packages and builds where that is not done yet, removes the packages
 * that WITHOUT_PACKAGES names, then runs the server.
 * With --worker it runs what only works on jobs, with --backup and --restore it saves everything and
 * brings it back, with --migrate it only brings the database up to date, with --doctor it looks at
 * the configuration, with --owner it prints a link that lets its owner in, with --prepare it stops before running; --no-backup is UPGRADE_BACKUP=off.
 * Plain Node: it must run before anything is installed.
 */
const root = fileURLToPath(new URL('..', import.meta.url));

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `鹊桥需要 Node 20.19 或更新的版本，现在是 ${process.versions.node}。请到 https://nodejs.org 下载长期支持版（或 nvm install 22），再运行一次。`,
  );
  process.exit(1);
}

/** Free bytes where the project lies; Infinity: this cannot be told. */
const freeDisk = () => {
  try {
    const { bavail, bsize } = fs.statfsSync(root);
    return bavail * bsize;
  } catch {
    return Infinity;
  }
};
/** What installing and building take together at most, bytes, and what is too little to go on. */
const needed = 2 * 1024 ** 3;
const nothing = 64 * 1024 ** 2;
const inGigabytes = (bytes) => `${(bytes / 1024 ** 3).toFixed(1)} GB`;

/** Who waits for minutes sees that it goes on, ms. */
const telling = 30_000;

const run = async (doing, command, args) => {
  const began = Date.now();
  const tell = setInterval(() => {
    console.log(`还在${doing}，过了 ${Math.round((Date.now() - began) / 1000)} 秒…`);
  }, telling);
  const result = await once(spawn(command, args, { cwd: root, stdio: 'inherit' }), 'close').then(
    ([status]) => ({ status, error: null }),
    (error) => ({ status: 1, error }),
  );
  clearInterval(tell);
  if (result.status === 0) return;
  if (freeDisk() < nothing)
    console.error(
      `磁盘满了（${root} 所在的盘只剩 ${inGigabytes(freeDisk())}）：腾出空间后再 npm start。`,
    );
  console.error(
    `没有成功：${[command, ...args].join(' ')}${result.error ? `（${result.error.message}）` : ''}`,
  );
  process.exit(result.status || 1);
};

const install = (...args) => {
  const cli = process.env.npm_execpath ?? '';
  return cli.endsWith('npm-cli.js')
    ? run('安装', process.execPath, [cli, ...args])
    : run('安装', 'npm', args);
};

const isAlive = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
};

/** Two starts at once must not install or build at once; the second waits. */
const lockFile = join(root, '.stamp-preparing');
const lock = async () => {
  try {
    accessSync(root, constants.W_OK);
  } catch {
    console.error(
      `需要安装或构建，但没有写入 ${root} 的权限：换用拥有这个文件夹的用户，或把它移到自己的文件夹里，再运行一次。`,
    );
    process.exit(1);
  }
  for (;;) {
    try {
      const file = openSync(lockFile, 'wx');
      writeSync(file, String(process.pid));
      closeSync(file);
      process.on('exit', () => rmSync(lockFile, { force: true }));
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    let holder = 0;
    try {
      holder = Number(readFileSync(lockFile, 'utf8'));
    } catch (error) {
      if (error.code !== 'ENOENT') throw error;
      continue;
    }
    if (holder > 0 && !isAlive(holder)) rmSync(lockFile, { force: true });
    await sleep(200);
  }
};

/** A line of `.env`, where the environment says nothing: no package can read it here yet. */
const setting = (name) => {
  if (process.env[name] !== undefined) return process.env[name];
  const file = join(root, '.env');
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return new RegExp(`^\\s*${name}\\s*=\\s*["']?([^"'#\\n]*)`, 'm').exec(text)?.[1]?.trim() ?? '';
};

let without = [];
try {
  without = leftOut(setting('WITHOUT_PACKAGES'));
} catch (error) {
  console.error(error.message);
  process.exit(1);
}

if (!packagesAreFresh(false) || !buildIsFresh() || process.argv.includes('--prepare')) {
  await lock();
  const building = !buildIsFresh();
  if (!packagesAreFresh(building) && freeDisk() < needed)
    console.log(
      `注意：这个盘只剩 ${inGigabytes(freeDisk())}，安装和构建大约要 ${inGigabytes(needed)}，可能放不下。`,
    );
  // The tools of the build count as development dependencies, which settings may leave out.
  if (!packagesAreFresh(building || process.argv.includes('--prepare'))) {
    console.log('正在安装依赖（第一次要几分钟，约 1.6 GB）…');
    await install('ci', '--include=dev', '--no-audit', '--no-fund');
  }
  if (building) {
    console.log('正在构建（约一分钟）…');
    await run('构建', process.execPath, [
      join(root, 'node_modules', 'vite', 'bin', 'vite.js'),
      'build',
      '--logLevel=warn',
    ]);
    await run('构建', process.execPath, [join(root, 'scripts', 'build-server.mjs')]);
  }
  rmSync(lockFile, { force: true });
}

const gone = removePackages(without);
if (gone.length > 0) console.log(`按 WITHOUT_PACKAGES 删去了 ${gone.join('、')}`);

if (!process.argv.includes('--prepare')) {
  // Whoever started it by hand reads along; the log of a service is read by programs.
  if (process.stdout.isTTY && process.env.NODE_ENV !== 'production' && !setting('LOG_FORMAT'))
    process.env.LOG_FORMAT = 'words';
  process.env.NODE_ENV ??= 'production';
  if (process.argv.includes('--no-backup')) process.env.UPGRADE_BACKUP = 'off';
  const kind = ['--worker', '--backup', '--restore', '--migrate', '--doctor', '--owner'].find(
    (flag) => process.argv.includes(flag),
  );
  const main = kind ? `${kind.slice(2)}-main.js` : 'main.js';
  await import(pathToFileURL(join(root, 'dist', 'server', main)).href);
}
