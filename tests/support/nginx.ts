import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { answersAt, freePort } from './free-port.ts';

/** Debian's. */
export const nginx = '/usr/sbin/nginx';

/** nginx with the configuration of deploy/nginx.conf, before these ports. */
export const startNginx = async (folder: string, ports: readonly number[]) => {
  const front = await freePort();
  const site = readFileSync('deploy/nginx.conf', 'utf8')
    .replace('listen 80', `listen 127.0.0.1:${front}`)
    .replace(
      /( *server 127\.0\.0\.1:\d+ .*\n)+/,
      ports.map((port) => `  server 127.0.0.1:${port} max_fails=0;\n`).join(''),
    );
  const home = path.join(folder, `nginx-${front}`);
  mkdirSync(home, { recursive: true });
  const file = path.join(home, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off; pid ${home}/pid; error_log ${home}/error.log; worker_processes 1;
     worker_rlimit_nofile 16384; events { worker_connections 16000; }
     http { access_log off; client_body_temp_path ${home}/a; proxy_temp_path ${home}/b;
       fastcgi_temp_path ${home}/c; uwsgi_temp_path ${home}/d; scgi_temp_path ${home}/e;
       ${site} }`,
  );
  const child: ChildProcess = spawn(nginx, ['-p', home, '-c', file], { stdio: 'inherit' });
  while (!(await answersAt(front))) {
    if (child.exitCode !== null) throw new Error('nginx ended at its start');
    await sleep(20);
  }
  return {
    baseURL: `http://127.0.0.1:${front}`,
    pid: child.pid ?? 0,
    /** The file of its errors. */
    errors: `${home}/error.log`,
    stop: () => void child.kill(),
  };
};
