import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { createFigures } from './http/figures.ts';

/** What is under deploy/ names settings, programs and addresses that this server has. */
const folder = path.join(import.meta.dirname, '../deploy');
const settings = readFileSync(path.join(import.meta.dirname, 'settings.ts'), 'utf8');
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.yaml'),
);

/** Every object below a value, itself included. */
const within = (value: unknown): Record<string, unknown>[] =>
  typeof value !== 'object' || value === null
    ? []
    : [value as Record<string, unknown>, ...Object.values(value).flatMap(within)];

/** Names of settings that a container of this project gets. */
const namesIn = (each: Record<string, unknown>): string[] => {
  const { build, image, environment, stringData, env } = each;
  // Valkey's own container reads its password.
  if (stringData) return Object.keys(stringData).filter((name) => name !== 'VALKEY_PASSWORD');
  if (Array.isArray(env) && !String(image).includes('valkey'))
    return env.map(({ name }: { name: string }) => name);
  return (build || image === 'queqiao') && environment ? Object.keys(environment) : [];
};

test.each(files)('%s names settings that there are', (name) => {
  const text = readFileSync(path.join(folder, name), 'utf8');
  const documents = parseAllDocuments(text, { merge: true });
  const objects = documents.flatMap((document) => {
    expect(document.errors).toEqual([]);
    return within(document.toJS());
  });
  const own = objects.flatMap(namesIn);
  for (const setting of own) expect(settings, setting).toContain(`'${setting}'`);
  for (const part of text.match(/dist\/server\/[\w-]+\.js/g) ?? [])
    expect(readdirSync(import.meta.dirname)).toContain(path.basename(part).replace(/\.js$/, '.ts'));
});

test('what is drawn and watched is measured', async () => {
  const texts = ['grafana.json', 'alerts.yaml'].map((name) =>
    readFileSync(path.join(folder, name), 'utf8'),
  );
  const named = new Set(texts.join('\n').match(/queqiao_\w+/g));
  const sources = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\b(figures|area|reply-figures)\.ts$/.test(name))
    .map((name) => readFileSync(path.join(import.meta.dirname, name), 'utf8'));
  const defaults = (await createFigures().text()).replaceAll(/^(?!# TYPE).*$/gm, '');
  for (const name of named) {
    const base = name.replace(/_(bucket|count|sum)$/, '');
    expect(
      [...sources, defaults].some((text) => text.includes(base)),
      name,
    ).toBe(true);
  }
});

test('probes are asked where the server answers them', () => {
  const probes = readFileSync(path.join(import.meta.dirname, 'http/probes.ts'), 'utf8');
  const asked = ['kubernetes/app.yaml', '../Dockerfile'].flatMap((name) =>
    [...readFileSync(path.join(folder, name), 'utf8').matchAll(/\/(?:livez|readyz|healthz)/g)].map(
      ([each]) => each,
    ),
  );
  expect(asked.length).toBeGreaterThan(3);
  for (const each of asked) expect(probes).toContain(`'${each}'`);
});

const systemdAnalyze = '/usr/bin/systemd-analyze';
test.skipIf(!existsSync(systemdAnalyze))('systemd reads the unit', () => {
  const unit = path.join(mkdtempSync(path.join(tmpdir(), 'queqiao-unit-')), 'queqiao@.service');
  const text = readFileSync(path.join(folder, 'queqiao@.service'), 'utf8');
  writeFileSync(unit, text.replace('/usr/bin/node', process.execPath));
  const { status, stdout, stderr } = spawnSync(systemdAnalyze, ['verify', unit], {
    encoding: 'utf8',
  });
  rmSync(path.dirname(unit), { recursive: true });
  expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: '' });
});

const promtool = '/usr/bin/promtool';
test.skipIf(!existsSync(promtool))('each alert fires when it must, and none on a good day', () => {
  const { status, stdout, stderr } = spawnSync(promtool, ['test', 'rules', 'alerts.test.yaml'], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(status, stdout + stderr).toBe(0);
});

const kubectl = '/usr/bin/kubectl';
test.skipIf(!existsSync(kubectl))('kubectl puts the folder of Kubernetes together', () => {
  const { status, stdout } = spawnSync(kubectl, ['kustomize', path.join(folder, 'kubernetes')], {
    encoding: 'utf8',
  });
  expect(status).toBe(0);
  const made = parseAllDocuments(stdout).map((each) => each.toJS() as { kind: string });
  expect(made.map(({ kind }) => kind).sort()).toEqual(
    expect.arrayContaining(['Deployment', 'Ingress', 'NetworkPolicy', 'PodDisruptionBudget']),
  );
});
