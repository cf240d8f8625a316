import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { scratchFolder } from './scratch.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * A checkout of its own, whose node_modules can lose packages: sources and packages are links, what
 * is run is a copy. Gives the path of what `npm start` runs in it.
 */
export const houseApart = (): string => {
  const house = scratchFolder('house');
  const copied = new Set(['dist', 'package.json', 'scripts']);
  const left = new Set(['node_modules', 'data', '.git', '.env']);
  for (const name of readdirSync(root)) {
    if (left.has(name) || name.startsWith('.stamp')) continue;
    if (copied.has(name))
      cpSync(path.join(root, name), path.join(house, name), { recursive: true });
    else symlinkSync(path.join(root, name), path.join(house, name));
  }
  const modules = path.join(root, 'node_modules');
  mkdirSync(path.join(house, 'node_modules'));
  for (const name of readdirSync(modules)) {
    if (name === '.cache' || name === '.vite') continue;
    const scoped = name.startsWith('@');
    if (scoped) mkdirSync(path.join(house, 'node_modules', name));
    for (const each of scoped ? readdirSync(path.join(modules, name)) : [''])
      symlinkSync(path.join(modules, name, each), path.join(house, 'node_modules', name, each));
  }
  return path.join(house, 'scripts', 'start.mjs');
};
