import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packagesAreFresh } from './stale.mjs';

/** `npm run dev`: the server, started anew at every change, and Vite's page in front of it, as one. */
const root = fileURLToPath(new URL('..', import.meta.url));

if (!packagesAreFresh(true)) {
  console.log('正在安装依赖…');
  const { status } = spawnSync('npm', ['ci', '--include=dev', '--no-audit', '--no-fund'], {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) process.exit(status ?? 1);
}

const tool = (path, ...args) =>
  spawn(process.execPath, [join(root, 'node_modules', path), ...args], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    // Ctrl+C reaches this process alone, which tells each of them once.
    detached: true,
    // The page's proxy expects the server there.
    env: { ...process.env, PORT: '3000' },
  });

const children = [
  tool('tsx/dist/cli.mjs', 'watch', '--clear-screen=false', 'server/main.ts'),
  tool('vite/bin/vite.js'),
];
console.log('开发页面在 http://localhost:5173 （Ctrl+C 结束）');

let ending = false;
const end = () => {
  if (ending) return;
  ending = true;
  for (const child of children) if (child.exitCode === null) child.kill('SIGTERM');
};
for (const child of children) {
  child.on('exit', (code) => {
    process.exitCode ||= code ?? 0;
    end();
  });
}
process.on('SIGINT', end);
process.on('SIGTERM', end);
