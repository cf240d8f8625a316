import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import process from 'node:process';
import { browserOutcomes, unitOutcomes } from './test-outcomes.mjs';

/**
 * `npm test`: installs what is missing (packages, a browser), builds if stale, checks, and runs
 * every test. Ends in a line `N passed, N failed` and with exit code 1 if anything failed.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);

const run = (command, args, env = {}) =>
  spawnSync(command, args, {
    stdio: 'inherit',
    env: { ...process.env, ...env },
    shell: process.platform === 'win32',
  }).status === 0;

const stop = (text) => {
  console.error(text);
  console.log('0 passed, 1 failed');
  process.exit(1);
};

// A proxy of the machine must not stand between the tests and their own servers.
const local = '127.0.0.1,localhost';
process.env.NO_PROXY = [process.env.NO_PROXY, local].filter(Boolean).join(',');
process.env.no_proxy = process.env.NO_PROXY;

if (!run(process.execPath, ['scripts/start.mjs', '--prepare'])) stop('安装或构建失败');

// Debian's Chromium, whole and without windows; where there is no Debian, Playwright's.
const whole = ['/usr/bin/chromium', '/usr/bin/chromium-browser'];
const headless = ['/usr/bin/chromium-headless-shell'];
// The engines of iPhones and of Firefox: what they have to do is a small part of the tests.
const others = {
  'webkit2gtk-driver': '/usr/bin/WebKitWebDriver',
  xvfb: '/usr/bin/xvfb-run',
  'firefox-esr': '/usr/bin/firefox-esr',
  // They begin to serve where they are installed: on a machine of tests alone. Elsewhere their tests are skipped.
  ...(process.env.CI
    ? { 'redis-server': '/usr/bin/redis-server', pgbouncer: '/usr/sbin/pgbouncer' }
    : {}),
};
const isThere = (paths) => paths.some((path) => existsSync(path));
if (
  !process.env.E2E_BROWSER_INSTALLED &&
  !(isThere(whole) && isThere(headless) && Object.values(others).every(existsSync))
) {
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  const install = (...packages) =>
    run('apt-get', ['install', '-y', '--no-install-recommends', ...packages], env);
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    run('apt-get', ['update']);
    if (!isThere(whole)) install('chromium', 'fonts-noto-cjk');
    // Only a quicker one: the whole one does what it does.
    if (!isThere(headless)) install('chromium-headless-shell');
    const wanted = Object.keys(others).filter((name) => !existsSync(others[name]));
    if (wanted.length > 0) install(...wanted);
  }
  if (!isThere(whole) && !run('npx', ['playwright', 'install', 'chromium']))
    stop('没有可用的浏览器：请安装 Chromium，或让 Playwright 能够下载');
}

rmSync('test-results', { recursive: true, force: true });
mkdirSync('test-results', { recursive: true });

let passed = 0;
let failed = 0;
const outcomes = { failed: [], again: [], alone: [] };
/** More failures than this are no accident: they are not tried again. */
const mostAlone = 4;
const note = ({ failed, again }) => {
  outcomes.failed.push(...failed);
  outcomes.again.push(...again);
};

const report = (file) => {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
};

/** Whether a command that was begun ends well. */
const ended = (child) =>
  new Promise((resolve) => {
    child.on('error', () => resolve(false));
    child.on('close', (status) => resolve(status === 0));
  });

const begin = (command, args, stdio) =>
  spawn(command, args, { stdio, shell: process.platform === 'win32' });

/** Runs a command behind the others and keeps what it prints until it has ended. */
const runBehind = async (command, args) => {
  const child = begin(command, args, ['ignore', 'pipe', 'pipe']);
  const printed = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part) => printed.push(part));
  try {
    setPriority(child.pid, 5);
  } catch {
    // It only takes turns with the browsers then.
  }
  const ok = await ended(child);
  process.stdout.write(Buffer.concat(printed));
  return ok;
};

const unitsOk = run(process.execPath, [
  join('node_modules', 'vitest', 'vitest.mjs'),
  'run',
  '--reporter=default',
  '--reporter=json',
  '--outputFile.json=test-results/vitest.json',
]);
const units = report('test-results/vitest.json');
if (units) note(unitOutcomes(units, root));
passed += units?.numPassedTests ?? 0;
failed += units?.numFailedTests ?? 0;
if (!unitsOk && !units?.numFailedTests) failed += 1;

// The browsers wait for much of their time, in which the rest is checked. The servers' tests can not
// go beside them: they measure time themselves, and fail where they get too little of the processor.
const checked = runBehind('npm', ['run', '--silent', 'check']);
const playwright = join('node_modules', '@playwright', 'test', 'cli.js');
const e2eOk = await ended(begin(process.execPath, [playwright, 'test'], 'inherit'));
if (await checked) passed += 1;
else {
  failed += 1;
  outcomes.failed.push('npm run check');
}
const e2e = report('test-results/playwright.json');
if (e2e) note(browserOutcomes(e2e));
passed += (e2e?.stats?.expected ?? 0) + (e2e?.stats?.flaky ?? 0);
failed += e2e?.stats?.unexpected ?? 0;
if (!e2eOk && !e2e?.stats?.unexpected) failed += 1;

// What failed is tried once more with nothing beside it: a busy machine may spoil each try of a crowd,
// a fault spoils this one, too. It is told apart from what passed at once.
const failedFiles = (units?.testResults ?? [])
  .filter((each) => each.status === 'failed')
  .map((each) => each.name);
const alone = [
  {
    wanted: failedFiles.length > 0 && failedFiles.length <= mostAlone,
    args: [join('node_modules', 'vitest', 'vitest.mjs'), 'run', ...failedFiles],
    isIts: (line) => /\.test\.tsx?/.test(line.split(' › ')[0]),
    count: units?.numFailedTests || 1,
  },
  {
    wanted: (e2e?.stats?.unexpected ?? 0) > 0 && e2e.stats.unexpected <= mostAlone,
    args: [playwright, 'test', '--last-failed', '--reporter=list', '--workers=1', '--retries=0'],
    isIts: (line) => line.startsWith('['),
    count: e2e?.stats?.unexpected,
  },
];
for (const { wanted, args, isIts, count } of alone) {
  if (!wanted || !run(process.execPath, args)) continue;
  failed -= count;
  passed += count;
  outcomes.alone.push(...outcomes.failed.filter(isIts));
  outcomes.failed = outcomes.failed.filter((line) => !isIts(line));
}

const { again, alone: onlyAlone, failed: broken } = outcomes;
if (onlyAlone.length > 0) console.log(['单独再试才通过：', ...onlyAlone].join('\n  '));
if (again.length > 0) console.log(['第二次才通过：', ...again].join('\n  '));
if (broken.length > 0) console.log(['没有通过：', ...broken].join('\n  '));
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
