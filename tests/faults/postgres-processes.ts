import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Where the embedded database of a data folder is. */
const homeOf = (dataDir: string): string => {
  const pointer = path.join(dataDir, 'postgres.location');
  return existsSync(pointer)
    ? readFileSync(pointer, 'utf8').trim()
    : path.join(dataDir, 'postgres');
};

export const postmasterFile = (dataDir: string): string =>
  path.join(homeOf(dataDir), 'data', 'postmaster.pid');

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = `/proc/${pid}/stat`;
  // A zombie has ended; only its parent has not heard of it.
  return !existsSync(stat) || !/\) Z /.test(readFileSync(stat, 'utf8'));
};

/** The process of the embedded database; null when it does not run. */
export const postmasterOf = (dataDir: string): number | null => {
  const file = postmasterFile(dataDir);
  if (!existsSync(file)) return null;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  return isAlive(pid) ? pid : null;
};

const childrenOf = (pid: number): number[] => {
  if (!existsSync('/proc/self/stat')) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((child) => {
      try {
        const stat = readFileSync(`/proc/${child}/stat`, 'utf8');
        return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === pid;
      } catch {
        return false;
      }
    });
};

/** Kills the database with all of its processes, as a power cut would end them. */
export const killDatabase = async (dataDir: string): Promise<void> => {
  const postmaster = postmasterOf(dataDir);
  if (postmaster === null) throw new Error('the database does not run');
  const all = [postmaster, ...childrenOf(postmaster)];
  for (const pid of all) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended with its postmaster.
    }
  }
  while (all.some(isAlive)) await sleep(10);
};

/** Waits until the database has stopped. @throws Error when it still runs after `timeout` ms. */
export const databaseStopped = async (dataDir: string, timeout = 10_000): Promise<void> => {
  for (const until = Date.now() + timeout; postmasterOf(dataDir) !== null; await sleep(20)) {
    if (Date.now() > until) throw new Error('the database still runs');
  }
};
