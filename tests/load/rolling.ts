import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../support/free-port.ts';
import { scratchFolder } from '../support/scratch.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { numbersOf, printTable, quantile, startHelper } from './lib/measure.ts';
import { askAndRead, makeSeats } from './lib/people.ts';

/**
 * Three processes behind the nginx of deploy/nginx.conf are replaced one after the other, while
 * questions are sent and long answers are read: nothing is cut and nothing is refused.
 * `--streams=60 --seconds=40 --sends=15` changes how much. Needs nginx (apt-get install nginx).
 */
const [streams = 60] = numbersOf('streams', [60]);
const [seconds = 40] = numbersOf('seconds', [40]);
const [sends = 15] = numbersOf('sends', [15]);
const rate = 5;

const nginx = '/usr/sbin/nginx';
if (!existsSync(nginx)) throw new Error(`${nginx} is missing: apt-get install nginx`);
const folder = scratchFolder('rolling');
const upstream = await startHelper('upstream.ts');
const ports = [await freePort(), await freePort(), await freePort()];

const start = (port: number): Promise<TestServer> =>
  startServer({
    embedded: true,
    dataDir: path.join(folder, 'data'),
    port,
    env: {
      OPENAI_BASE_URL: `${upstream.baseURL}/v1`,
      OPENAI_API_KEY: 'sk-load',
      OPENAI_MODELS: 'load',
      SIGNUP_TOKENS: '1000000000',
      RATE_LIMIT: '1000000000',
      TRUST_PROXY: 'loopback',
      LOG_LEVEL: 'warn',
    },
  });

/** The shipped configuration at free ports. */
const startNginx = async () => {
  const front = await freePort();
  let site = readFileSync('deploy/nginx.conf', 'utf8').replace(
    'listen 80',
    `listen 127.0.0.1:${front}`,
  );
  for (const [at, port] of ports.entries()) site = site.replace(`:300${at + 1} `, `:${port} `);
  mkdirSync(path.join(folder, 'logs'), { recursive: true });
  const file = path.join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off; pid ${folder}/nginx.pid; error_log ${folder}/logs/error.log; worker_processes 1;
     worker_rlimit_nofile 4096; events { worker_connections 2048; }
     http { access_log off; client_body_temp_path ${folder}/a; proxy_temp_path ${folder}/b;
       fastcgi_temp_path ${folder}/c; uwsgi_temp_path ${folder}/d; scgi_temp_path ${folder}/e;
       ${site} }`,
  );
  const child = spawn(nginx, ['-p', folder, '-c', file], { stdio: 'inherit' });
  await sleep(500);
  return { baseURL: `http://127.0.0.1:${front}`, stop: () => child.kill() };
};

const servers: TestServer[] = [];
for (const port of ports) servers.push(await start(port));
const front = await startNginx();
const [first] = servers;
if (!first) throw new Error('no server');
try {
  const seats = await makeSeats(first, streams + sends * 4);
  const over = new AbortController();
  let sent = 0;
  const refused: string[] = [];
  const cut: string[] = [];
  const delays: number[] = [];
  const asking = seats.slice(streams);

  /** Long answers, one behind the other for as long as processes are replaced. */
  const reading = seats.slice(0, streams).map(async (seat, at) => {
    await sleep((at / streams) * 5_000);
    while (!over.signal.aborted) {
      try {
        const read = await askAndRead(front.baseURL, seat, `chunks=${seconds * rate} rate=${rate}`);
        if (!read.done || read.chunks !== seconds * rate)
          cut.push(`${read.chunks} chunks, done ${read.done}`);
        delays.push(...read.openDelays.slice(1));
      } catch (error) {
        cut.push(String(error));
      }
    }
  });
  const sending = (async () => {
    for (let at = 0; !over.signal.aborted; at += 1) {
      const seat = asking[at % asking.length];
      if (!seat) break;
      sent += 1;
      askAndRead(front.baseURL, seat, 'chunks=2 rate=50').then(
        ({ done }) => (done ? undefined : refused.push('no end')),
        (error: unknown) => refused.push(String(error)),
      );
      await sleep(1000 / sends);
    }
  })();

  await sleep(8_000);
  for (const [at, server] of servers.entries()) {
    process.kill(server.pid, 'SIGTERM');
    const begun = performance.now();
    await server.exited;
    console.log(
      `process ${at + 1} ended after ${((performance.now() - begun) / 1000).toFixed(1)} s`,
    );
    servers[at] = await start(ports[at] ?? 0);
  }
  over.abort();
  await Promise.all([...reading, sending]);
  await sleep(2_000);
  for (const [what, list] of Object.entries({ cut, refused }))
    if (list.length > 0) console.log(what, [...new Set(list)].slice(0, 5));
  printTable([
    { measure: 'long answers cut', value: cut.length, goal: 0, unit: '' },
    { measure: `of ${sent} questions refused`, value: refused.length, goal: 0, unit: '' },
    { measure: 'p99 delay of a chunk', value: quantile(delays, 0.99), goal: 150, unit: 'ms' },
  ]);
} finally {
  front.stop();
  await Promise.all(servers.map((server) => server.stop()));
  upstream.stop();
}
process.exit(0);
