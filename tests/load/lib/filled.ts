import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import type pg from 'pg';
import { connectDatabase } from '#server/db/connect.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The folder for filled databases: the given one, which is kept, or one for this run. */
export const dataFolder = (given: string | undefined): string => {
  const folder = given ?? mkdtempSync(path.join(tmpdir(), 'queqiao-load-'));
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o755);
  return folder;
};

/** A folder below `folder` with a database of that many messages, made when it is not there. */
export const filled = (folder: string, messages: string): string => {
  const dataDir = path.join(folder, messages);
  if (existsSync(dataDir)) return dataDir;
  console.log(`filling a database with ${messages} messages…`);
  const { status } = spawnSync(
    process.execPath,
    [path.join(root, 'node_modules/tsx/dist/cli.mjs'), 'scripts/demo.ts', '--messages', messages],
    {
      cwd: root,
      env: { ...process.env, DATA_DIR: dataDir, DATABASE_URL: '' },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  if (status !== 0) throw new Error('the database could not be filled');
  return dataDir;
};

/** Joins the embedded database of a data folder, beside the server if one runs. */
export const withDatabase = async <T>(
  dataDir: string,
  act: (pool: pg.Pool) => Promise<T>,
): Promise<T> => {
  const { pool, close } = await connectDatabase({ dataDir }, pino({ level: 'warn' }));
  try {
    return await act(pool);
  } finally {
    await close();
  }
};
