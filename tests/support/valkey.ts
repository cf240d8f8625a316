import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { answersAt, freePort } from './free-port.ts';
import { scratchFolder } from './scratch.ts';

/** Debian's; Valkey speaks the same. */
export const redisServer = '/usr/bin/redis-server';

/** A Redis that keeps nothing on the disk and can be killed, held up and started again. */
export const startValkey = async () => {
  const port = await freePort();
  const dir = scratchFolder('valkey');
  let child: ChildProcess;
  const start = async (): Promise<void> => {
    const where = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir];
    child = spawn(redisServer, [...where, '--save', '', '--appendonly', 'no'], { stdio: 'ignore' });
    while (!(await answersAt(port))) {
      if (child.exitCode !== null) throw new Error('redis-server ended at its start');
      await sleep(20);
    }
  };
  await start();
  return {
    url: `redis://127.0.0.1:${port}/0`,
    start,
    pid: () => child.pid ?? 0,
    kill9: async (): Promise<void> => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
};
