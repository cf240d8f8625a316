import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { freePort } from '#tests/support/free-port.ts';

/**
 * `npx tsx scripts/planted.ts [round or name …]`: plants the faults of tests/planted.md in a copy of
 * this checkout, runs the tests that are named there, and tells which of them fell. Round `none`
 * plants nothing: all must pass then, or a fall would say nothing. Begins with `dist` as it is.
 */
interface Fault {
  name: string;
  round: string;
  file: string;
  from: string;
  to: string;
  /** The file of the test that must fall, and how its title begins; empty: any of the file. */
  test: string;
  title: string;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const line = /^- (\w+) (\w+) (\S+): `(.*?)` → `(.*?)` ⊢ (\S+?)(?:: (.+))?$/;

const readFaults = (): Fault[] =>
  readFileSync(join(root, 'tests/planted.md'), 'utf8')
    .split('\n')
    .filter((text) => text.startsWith('- '))
    .map((text) => {
      const [, name, round, file, from, to, test, title = ''] = line.exec(text) ?? [];
      if (!name || !round || !file || !from || to === undefined || !test)
        throw new Error(`not a fault: ${text}`);
      return { name, round, file, from: from.replaceAll('\\n', '\n'), to, test, title };
    });

const makeCopy = (): string => {
  const copy = mkdtempSync(join(tmpdir(), 'queqiao-planted-'));
  const { stdout } = spawnSync('git', ['ls-files', '-co', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1e8,
  });
  for (const file of stdout.split('\n').filter(Boolean)) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
};

const plant = (copy: string, { name, file, from, to }: Fault): void => {
  const text = readFileSync(join(copy, file), 'utf8');
  if (text.split(from).length !== 2) throw new Error(`${name}: not once in ${file}: ${from}`);
  writeFileSync(
    join(copy, file),
    text.replace(from, () => to),
  );
};

interface Outcome {
  file: string;
  title: string;
  ok: boolean;
}

interface Suite {
  file: string;
  suites?: Suite[];
  specs?: { title: string; ok: boolean; file: string }[];
}

const specsOf = (suite: Suite): Outcome[] => [
  ...(suite.specs ?? []).map(({ title, ok }) => ({ file: `tests/e2e/${suite.file}`, title, ok })),
  ...(suite.suites ?? []).flatMap(specsOf),
];

const pattern = (faults: readonly Fault[]): string =>
  faults.map(({ title }) => title.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');

const files = (faults: readonly Fault[]): string[] => [...new Set(faults.map(({ test }) => test))];

/** Runs the named tests of these faults; gives how each test that ran ended. */
const runNamed = async (copy: string, faults: readonly Fault[]): Promise<Outcome[]> => {
  const out = join(copy, 'planted.json');
  const outcomes: Outcome[] = [];
  const run = (args: string[], env: Record<string, string> = {}): unknown => {
    rmSync(out, { force: true });
    const { stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: copy,
      encoding: 'utf8',
      maxBuffer: 1e9,
      env: { ...process.env, ...env },
    });
    try {
      return JSON.parse(readFileSync(out, 'utf8'));
    } catch {
      throw new Error(`the tests did not run:\n${stdout.slice(-3_000)}\n${stderr.slice(-3_000)}`);
    }
  };
  const vitest = (some: readonly Fault[], more: string[]) => {
    if (some.length === 0) return;
    // A test that fell for want of time caught nothing.
    const patience = ['--testTimeout=300000', '--hookTimeout=300000'];
    const args = ['run', ...files(some), ...more, ...patience, '--retry=0', '--reporter=json'];
    const told = run(['node_modules/vitest/vitest.mjs', ...args, `--outputFile=${out}`]) as {
      testResults: {
        name: string;
        status: string;
        assertionResults: { fullName: string; status: string }[];
      }[];
    };
    for (const { name, status, assertionResults } of told.testResults) {
      const file = name.slice(name.lastIndexOf(copy) + copy.length + 1);
      const ran = assertionResults.filter((each) => /passed|failed/.test(each.status));
      if (ran.length === 0 && status === 'failed') outcomes.push({ file, title: '', ok: false });
      for (const each of ran)
        outcomes.push({ file, title: each.fullName, ok: each.status === 'passed' });
    }
  };
  const browsers = faults.filter(({ test }) => test.startsWith('tests/e2e/'));
  const others = faults.filter((fault) => !browsers.includes(fault));
  vitest(
    others.filter(({ title }) => title === ''),
    [],
  );
  const named = others.filter(({ title }) => title !== '');
  vitest(named, ['-t', pattern(named)]);
  if (browsers.length > 0) {
    const args = ['test', ...files(browsers), '-g', pattern(browsers), '--project=pixel*'];
    const told = run(
      ['node_modules/@playwright/test/cli.js', ...args, '--retries=0', '--reporter=json'],
      { PLAYWRIGHT_JSON_OUTPUT_NAME: out, E2E_PORT: String(await freePort()) },
    ) as { suites: Suite[] };
    outcomes.push(...told.suites.flatMap(specsOf));
  }
  return outcomes;
};

type Part = 'server' | 'page';

const build = (copy: string, part: Part): void => {
  const args =
    part === 'page' ? ['node_modules/vite/bin/vite.js', 'build'] : ['scripts/build-server.mjs'];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8' });
  if (status !== 0) throw new Error(`the ${part} cannot be built: ${stderr}`);
};

/** What stands in these files runs in the page, or in the server. */
const ofPage = ({ file }: Fault) => /^(?:src|sw|common|contract)\//.test(file);
const ofServer = ({ file }: Fault) => /^(?:server|packages|common|contract)\//.test(file);
const isUnit = ({ test }: Fault) => !test.startsWith('tests/');

const all = readFaults();
const wanted = process.argv.slice(2);
const isWanted = ({ name, round }: Fault) =>
  wanted.length === 0 || wanted.includes(name) || wanted.includes(round);
const chosen = all.filter(isWanted);
const copy = makeCopy();
const missed: string[] = [];
/** What was built with faults that are taken out again. */
let dirty: readonly Part[] = ['page', 'server'];
try {
  if (existsSync(join(root, 'dist'))) {
    cpSync(join(root, 'dist'), join(copy, 'dist'), { recursive: true });
    dirty = [];
  }
  const rounds = [...new Set(chosen.map(({ round }) => round))];
  for (const round of [
    ...(wanted.length === 0 || wanted.includes('none') ? ['none'] : []),
    ...rounds,
  ]) {
    const planted = round === 'none' ? [] : chosen.filter((fault) => fault.round === round);
    const tried = round === 'none' ? all : planted;
    for (const fault of planted) plant(copy, fault);
    const built = planted.filter((fault) => !isUnit(fault));
    const parts: Part[] = [];
    if (built.some((fault) => ofPage(fault) && fault.test.startsWith('tests/e2e/')))
      parts.push('page');
    if (built.some((fault) => ofServer(fault))) parts.push('server');
    for (const part of new Set([...dirty, ...parts])) build(copy, part);
    dirty = parts;
    const outcomes = await runNamed(copy, tried);
    for (const { name, test, title } of tried) {
      const ran = outcomes.filter(
        (each) => each.file === test && (each.title === '' || each.title.includes(title)),
      );
      const fell = ran.some(({ ok }) => !ok);
      const right = ran.length > 0 && fell === (round !== 'none');
      if (!right) missed.push(`${round} ${name}`);
      const word = ran.length === 0 ? 'its test is not there' : fell ? 'falls' : 'passes';
      console.log(`${round}\t${name}\t${word}\t${test} ${title}`);
    }
    for (const { file } of planted) cpSync(join(root, file), join(copy, file));
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
console.log(missed.length === 0 ? 'all as they must be' : `not caught:\n  ${missed.join('\n  ')}`);
process.exitCode = missed.length === 0 ? 0 : 1;
