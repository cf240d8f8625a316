import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createKeyBox } from './channel-key.ts';

const dataDir = mkdtempSync(path.join(tmpdir(), 'queqiao-keys-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

test('a sealed key opens again, only for its channel and with the same secret', () => {
  const box = createKeyBox('', dataDir);
  const sealed = box.seal('sk-密钥', 'environment');
  expect(sealed.toString('utf8')).not.toContain('sk-');
  expect(createKeyBox('', dataDir).open(sealed, 'environment')).toBe('sk-密钥');
  expect(box.open(sealed, 'other')).toBeNull();
  expect(createKeyBox('another secret', dataDir).open(sealed, 'environment')).toBeNull();
  const altered = Buffer.from(sealed);
  altered[altered.length - 1] = (altered.at(-1) ?? 0) ^ 1;
  expect(box.open(altered, 'environment')).toBeNull();
  expect(box.open(sealed.subarray(0, 20), 'environment')).toBeNull();
  expect(box.seal('sk-密钥', 'environment').equals(sealed)).toBe(false);
  expect(statSync(path.join(dataDir, 'secret-key')).mode & 0o777).toBe(0o600);
});
