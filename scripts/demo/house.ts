import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { StartupError } from '#server/db/startup-error.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What makes a server patient with one address that speaks for many people, and quick at drawing. */
const patient = {
  HOST: '127.0.0.1',
  PORT: '0',
  PUBLIC_URL: '',
  OFFICIAL_SITE: '',
  PAYMENT: 'sandbox',
  SANDBOX_ALLOWED: '',
  CANVAS_SECONDS: '0',
  FILM_SECONDS: '4',
  ASSISTANT_RATE: '0',
  RATE_LIMIT: '1000000',
  CREDENTIALS_LIMIT: '100000',
  MESSAGES_LIMIT: '100000',
  UPLOAD_LIMIT: '10000',
  FREE_REGISTRATIONS: '100000',
  LOCAL_MODELS: 'off',
  LOG_LEVEL: 'error',
};

export interface House {
  baseURL: string;
  close: () => Promise<void>;
}

/** Runs the built server beside whatever else uses the same data, for as long as the demo is built. */
export const openHouse = async (): Promise<House> => {
  const child = spawn(process.execPath, [path.join(root, 'dist/server/main.js')], {
    cwd: root,
    env: { ...process.env, ...patient, NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const baseURL = await new Promise<string>((resolve, reject) => {
    child.once('exit', () => reject(new StartupError('演示用的服务器没有启动')));
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      // The first administrator's password is printed once, and may be printed here.
      const told = chunk.split('\n').filter((line) => /管理员|一次性/.test(line));
      if (told.length > 0) console.log(told.join('\n'));
      const [, address] = /鹊桥已启动：(\S+)/.exec((printed += chunk)) ?? [];
      if (address) resolve(address);
    });
  });
  return {
    baseURL,
    close: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
};
